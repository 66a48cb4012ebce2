// Roofline: S. Williams, A. Waterman, D. Patterson, Roofline, Commun. ACM 52 (2009). One panel a
// type; the roof is the bandwidth that the run's own floor reached, and the arithmetic peak where
// it is told.
#include <algorithm>
#include <cmath>

#include "bench/report/chart.hpp"
#include "bench/report/markup.hpp"
#include "bench/report/number_text.hpp"
#include "bench/report/section.hpp"

namespace lanky::report {

namespace {

constexpr ChartSize kPanel{310, 260};

struct Roof {
  Quantity gbs;     // GB/s
  Quantity gflops;  // at the arithmetic peak

  Quantity at(double intensity) const {
    if (!gbs) return gflops;
    const double streamed = *gbs * intensity;
    return gflops ? std::min(streamed, *gflops) : streamed;
  }
};

/// The best bandwidth of the runs that the cases are of, and the peak of most of them.
Roof roof_of(const Section& section, const Cases& cases) {
  Roof roof;
  std::vector<double> peaks;
  for (const Measured* each : cases) {
    const Line& line = *each->figures.lanky;
    if (line.peak_us && line.flops) peaks.push_back(*line.flops / *line.peak_us / 1e3);
    if (line.environment == kNoEnvironment) continue;
    const Quantity tbs = section.results.environments[line.environment].read_floor_tbs;
    if (tbs) roof.gbs = std::max(roof.gbs.value_or(0), *tbs * 1e3);
  }
  roof.gflops = median(peaks);
  return roof;
}

struct Axes {
  Range intensity;
  Range rate;
};

Axes axes_of(const Section& section) {
  Axes axes;
  for (const std::string& dtype : section.dtypes) {
    const Cases cases = of_type(section.cases, dtype);
    const Roof roof = roof_of(section, cases);
    for (const Measured* each : cases) {
      const Figures& figures = each->figures;
      if (!figures.intensity || !figures.gflops) continue;
      axes.intensity.add(*figures.intensity);
      for (const Quantity& rate :
           {figures.gflops, figures.rival_gflops, roof.at(*figures.intensity)})
        if (rate) axes.rate.add(*rate);
    }
  }
  return axes;
}

void draw_roof(Chart& chart, const Roof& roof) {
  std::vector<Place> places;
  std::vector<double> corners = {chart.x().low(), chart.x().high()};
  if (roof.gbs) {
    corners.push_back(chart.y().low() / *roof.gbs);
    corners.push_back(chart.y().high() / *roof.gbs);
    if (roof.gflops) corners.push_back(*roof.gflops / *roof.gbs);
  }
  std::sort(corners.begin(), corners.end());
  constexpr double kRounding = 1 + 1e-9;
  for (const double x : corners) {
    const Quantity y = roof.at(x);
    if (chart.x().holds(x) && y && *y <= chart.y().high() * kRounding &&
        *y >= chart.y().low() / kRounding)
      places.push_back({x, *y});
  }
  chart.line(places, "roof");
}

std::string panel(const Section& section, const std::string& dtype, const Axes& axes) {
  const Cases cases = of_type(section.cases, dtype);
  const Roof roof = roof_of(section, cases);
  Chart chart(axes.intensity.axis(), axes.rate.axis(), kPanel);
  chart.label("Flops a byte", "GFLOP/s");
  std::vector<Place> rivals;
  for (const Measured* each : cases)
    if (each->figures.intensity && each->figures.rival_gflops)
      rivals.push_back({*each->figures.intensity, *each->figures.rival_gflops});
  chart.faint_points(rivals, "rivals");
  chart.begin_type(dtype, section.point_classes());
  for (const Measured* each : cases)
    if (each->figures.intensity && each->figures.gflops)
      chart.point({*each->figures.intensity, *each->figures.gflops}, section.row_of(*each));
  chart.end();
  draw_roof(chart, roof);
  std::string heading =
      "<h4><span class=\"" + type_class(dtype) + "\"><i></i>" + html(dtype) + "</span>";
  if (roof.gbs) heading += " <small>" + significant(*roof.gbs / 1e3, 3) + " TB/s</small>";
  if (roof.gflops) heading += " <small>" + significant(*roof.gflops / 1e3, 3) + " TFLOP/s</small>";
  return "<div class=\"panel\" data-type=\"" + html(dtype) + "\">" + heading + "</h4>" +
         chart.svg("Roofline of " + dtype) + "</div>\n";
}

}  // namespace

std::string roofline_charts(const Section& section) {
  const Axes axes = axes_of(section);
  std::string panels;
  for (const std::string& dtype : section.dtypes)
    panels += panel(section, dtype, axes);
  const std::string heading = "Declared flops and bytes, lanky in colour, the best rival in grey. ";
  return figure(section.id + "-roofline", "Roofline",
                heading + (is_sparse(section.product)
                               ? "The line is the bandwidth at which the run read its floor; above "
                                 "it are matrices that stay in the cache, or that lanky’s plan "
                                 "holds in fewer bytes than CSR."
                               : "The line is the bandwidth at which the run read its floor, and "
                                 "the arithmetic peak that it measured."),
                "<div class=\"panels\">\n" + panels + "</div>\n");
}

}  // namespace lanky::report
