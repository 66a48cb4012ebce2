// Charts with a point a case: speed-up, GFLOP/s and setup over the size of the case.
#include "bench/report/chart.hpp"
#include "bench/report/section.hpp"

namespace lanky::report {

namespace {

constexpr double kBelowParity = 0.8;  // a speed-up that the axis always reaches

/// Entries of a matrix; bytes of a dense product's operands.
Quantity size_of(const Section& section, const Measured& each) {
  return is_sparse(section.product) ? each.product->nnz : each.figures.lanky->bytes;
}

std::string size_label(const Section& section) {
  return is_sparse(section.product) ? "Entries of the matrix" : "Bytes of the operands";
}

using Value = Quantity Figures::*;

/// Axes that hold every case's `value`, `other` too where it is given, and `always` where it is
/// above 0.
Chart empty_scatter(const Section& section, Value value, Value other, double always) {
  Range sizes;
  Range values;
  values.add(always);
  for (const Measured& each : section.cases) {
    if (!(each.figures.*value)) continue;
    if (const Quantity size = size_of(section, each)) sizes.add(*size);
    values.add(*(each.figures.*value));
    if (other != nullptr && each.figures.*other) values.add(*(each.figures.*other));
  }
  return {sizes.axis(), values.axis()};
}

void add_points(Chart& chart, const Section& section, Value value) {
  for (const std::string& dtype : section.dtypes) {
    chart.begin_type(dtype, section.point_classes());
    for (const Measured& each : section.cases) {
      const Quantity size = size_of(section, each);
      const Quantity y = each.figures.*value;
      if (each.product->dtype == dtype && size && *size > 0 && y && *y > 0)
        chart.point({*size, *y}, section.row_of(each));
    }
    chart.end();
  }
}

void add_rivals(Chart& chart, const Section& section) {
  for (const std::string& dtype : section.dtypes) {
    std::vector<Place> places;
    for (const Measured* each : of_type(section.cases, dtype)) {
      const Quantity size = size_of(section, *each);
      if (size && *size > 0 && each->figures.rival_gflops)
        places.push_back({*size, *each->figures.rival_gflops});
    }
    chart.begin_type(dtype, "");
    chart.faint_points(places, "rivals");
    chart.end();
  }
}

}  // namespace

std::string speedup_chart(const Section& section) {
  Chart chart = empty_scatter(section, &Figures::speedup, nullptr, kBelowParity);
  chart.label(size_label(section), "Speed-up over the best rival");
  const Place left{chart.x().low(), 1};
  const Place right{chart.x().high(), 1};
  chart.line({left, right}, "parity");
  add_points(chart, section, &Figures::speedup);
  chart.text(left, 6, -6, "start", "lanky faster ↑");
  chart.text(left, 6, 14, "start", "rival faster ↓");
  return figure(section.id + "-speedup", "Speed-up",
                "Time of the best rival over that of lanky, each case a point. Hover to read it, "
                "click to find it in the table.",
                chart.svg("Speed-up of lanky over the best rival, by size of the case") +
                    type_legend(section.dtypes));
}

std::string rate_chart(const Section& section) {
  Chart chart = empty_scatter(section, &Figures::gflops, &Figures::rival_gflops, 0);
  chart.label(size_label(section), "GFLOP/s");
  add_rivals(chart, section);
  add_points(chart, section, &Figures::gflops);
  return figure(section.id + "-rate", "Arithmetic rate",
                "GFLOP/s of lanky in colour, of the best rival in grey.",
                chart.svg("GFLOP/s of lanky and of the best rival, by size of the case") +
                    type_legend(section.dtypes));
}

std::string floor_chart(const Section& section) {
  Chart chart = empty_scatter(section, &Figures::floor_share, nullptr, 1);
  chart.label(size_label(section), "Time of the floor over lanky’s");
  chart.line({{chart.x().low(), 1}, {chart.x().high(), 1}}, "parity");
  add_points(chart, section, &Figures::floor_share);
  return figure(
      section.id + "-floor", "Share of the floor",
      "Time of a kernel that only streams the declared bytes over that of lanky.",
      chart.svg("Share of the streaming floor, by size of the case") + type_legend(section.dtypes));
}

std::string setup_chart(const Section& section) {
  Chart chart = empty_scatter(section, &Figures::setup_runs, nullptr, 0);
  chart.label(size_label(section), "Setup, in products");
  add_points(chart, section, &Figures::setup_runs);
  return figure(section.id + "-setup", "Cost of the setup",
                "Time to make lanky’s plan, as a number of its products.",
                chart.svg("Setup time of lanky in products, by size of the case") +
                    type_legend(section.dtypes));
}

}  // namespace lanky::report
