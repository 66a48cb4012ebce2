#include "cli/convergence_plot.hpp"

#include <cstddef>

#include "bench/report/chart.hpp"
#include "bench/report/number_text.hpp"

namespace lanky::cli {

namespace {

constexpr char kStyle[] =
    "text{font:11.5px system-ui,sans-serif;fill:#57606a}.title{font-size:12px}"
    ".grid{stroke:#d8dee4;fill:none}.axis{stroke:#8c959f;fill:none}"
    ".residual{stroke:#1f6feb;stroke-width:1.6;fill:none}"
    ".tolerance{stroke:#d4761a;stroke-dasharray:5 4;fill:none}"
    "@media(prefers-color-scheme:dark){text{fill:#9da7b3}.grid{stroke:#30363d}"
    ".residual{stroke:#58a6ff}.tolerance{stroke:#f0a35e}}";

}  // namespace

std::string convergence_plot(const std::string& title, const std::string& residual_axis,
                             const std::vector<SolverProgress>& history, double tolerance) {
  report::Range residuals;
  residuals.add(tolerance);
  for (const SolverProgress& each : history)
    residuals.add(each.residual);
  const double last = history.empty() ? 1 : history.back().iteration;
  report::Chart chart(report::Axis::count(last), residuals.axis());
  chart.label("iteration", residual_axis);
  // No more places than a drawing shows; the last one always.
  constexpr std::size_t kMostPlaces = 2000;
  const std::size_t step = history.size() / kMostPlaces + 1;
  std::vector<report::Place> places;
  for (std::size_t i = 0; i < history.size(); i += step)
    places.push_back({static_cast<double>(history[i].iteration), history[i].residual});
  if (!history.empty() && (history.size() - 1) % step != 0)
    places.push_back({last, history.back().residual});
  chart.line(places, "residual");
  if (tolerance > 0) {
    chart.line({{0, tolerance}, {last, tolerance}}, "tolerance");
    chart.text({0, tolerance}, 6, -5, "start", "tolerance " + report::shortest(tolerance));
  }
  chart.text({last, chart.y().high()}, -6, 14, "end", title);
  return chart.document(title + ": " + residual_axis + " by iteration", kStyle);
}

}  // namespace lanky::cli
