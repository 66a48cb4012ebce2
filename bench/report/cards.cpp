#include <algorithm>

#include "bench/report/axis.hpp"
#include "bench/report/chart.hpp"
#include "bench/report/markup.hpp"
#include "bench/report/number_text.hpp"
#include "bench/report/section.hpp"

namespace lanky::report {

namespace {

constexpr std::size_t kWorst = 10;
constexpr double kForestWidth = 180;

std::string ratio_text(double ratio) {
  return fixed(ratio, 2);
}

std::string interval_text(const std::optional<Interval>& interval) {
  return interval ? ratio_text(interval->low) + " – " + ratio_text(interval->high) : "–";
}

std::string card(const std::string& name, const std::string& label, const std::string& figure,
                 const std::string& unit, const std::string& below) {
  return "<div class=\"card " + name + "\"><h3>" + label + "</h3><p class=\"figure\"><b>" + figure +
         "</b>" + unit + "</p><p class=\"below\">" + below + "</p></div>\n";
}

/// Wins, cases within the noise, and losses as shares of a bar.
std::string wins_bar(const Summary& summary, std::size_t sure_wins, std::size_t sure_losses) {
  const auto width = [&summary](std::size_t count) {
    return fixed(100.0 * static_cast<double>(count) / static_cast<double>(summary.compared), 2);
  };
  return "<svg class=\"bar\" viewBox=\"0 0 100 3\" preserveAspectRatio=\"none\" "
         "aria-hidden=\"true\"><rect class=\"tie\" width=\"100\" height=\"3\"/>"
         "<rect class=\"win\" width=\"" +
         width(sure_wins) + "\" height=\"3\"/><rect class=\"loss\" x=\"" +
         width(summary.compared - sure_losses) + "\" width=\"" + width(sure_losses) +
         "\" height=\"3\"/></svg>";
}

std::string wins_card(const Cases& cases, const Summary& summary) {
  std::size_t sure_wins = 0;
  std::size_t sure_losses = 0;
  for (const Measured* each : cases) {
    if (!each->figures.speedup || each->figures.within_noise) continue;
    ++(*each->figures.speedup > 1 ? sure_wins : sure_losses);
  }
  std::string below =
      wins_bar(summary, sure_wins, sure_losses) + grouped(summary.losses) + " slower";
  if (summary.within_noise > 0)
    below += "; " + grouped(summary.within_noise) + " of all within the noise";
  return card("wins", "Faster than the best rival", grouped(summary.wins),
              " of " + grouped(summary.compared), below);
}

std::string setup_card(const Summary& summary) {
  std::string below = "median";
  if (summary.break_even) {
    const std::string products = break_even_text(*summary.break_even);
    below += *summary.break_even > 0 && products != "never"
                 ? "; ahead after " + products + (products == "1" ? " product" : " products")
                 : "; breaks even " + products;
  }
  return card("setup", "Cost of the setup", significant(*summary.setup_runs, 3), " products",
              below);
}

std::string number_cards(const Cases& cases, const Summary& summary) {
  std::string html = "<div class=\"cards\">\n";
  if (summary.speedup) {
    html += card("speedup", "Speed-up, geometric mean", ratio_text(*summary.speedup), " ×",
                 summary.interval ? "95 % interval " + interval_text(summary.interval)
                                  : std::string("one case has no interval"));
    html += wins_card(cases, summary);
  } else {
    html += card("speedup", "Cases measured", grouped(summary.cases), "", "without a rival");
  }
  if (summary.floor_share)
    html += card("floor", "Share of the streaming floor", fixed(100 * *summary.floor_share, 1),
                 " %", "geometric mean");
  if (summary.setup_runs) html += setup_card(summary);
  return html + "</div>\n";
}

/// A mean and its interval on a logarithmic axis, the line of parity beside it.
std::string forest_mark(const Summary& summary, const Axis& axis) {
  const std::string parity = fixed(axis.at(1), 1);
  std::string mark =
      "<svg class=\"forest\" viewBox=\"0 0 180 14\" aria-hidden=\"true\">"
      "<path class=\"parity\" d=\"M" +
      parity + " 0V14\"/>";
  if (summary.interval)
    mark += "<path d=\"M" + fixed(axis.at(summary.interval->low), 1) + " 7H" +
            fixed(axis.at(summary.interval->high), 1) + "\"/>";
  return mark + "<circle cx=\"" + fixed(axis.at(*summary.speedup), 1) +
         "\" cy=\"7\" r=\"3\"/></svg>";
}

Axis forest_axis(const std::vector<std::pair<std::string, Summary>>& rows) {
  Range range;
  range.add(1);
  for (const auto& [name, summary] : rows) {
    if (summary.speedup) range.add(*summary.speedup);
    if (!summary.interval) continue;
    range.add(summary.interval->low);
    range.add(summary.interval->high);
  }
  Axis axis = range.axis();
  axis.place(4, kForestWidth - 4);
  return axis;
}

std::string class_row(const std::string& name, const Summary& summary, const Axis& axis) {
  std::string row = "<tr><th scope=\"row\">" + (name.empty() ? "–" : html(name)) + "</th><td>" +
                    grouped(summary.cases) + "</td>";
  if (summary.speedup) {
    row += "<td>" + ratio_text(*summary.speedup) + "</td><td>" + interval_text(summary.interval) +
           "</td><td class=\"mark\">" + forest_mark(summary, axis) + "</td><td>" +
           percent(static_cast<double>(summary.wins) / static_cast<double>(summary.compared), 0) +
           "</td>";
  } else {
    row += "<td>–</td><td>–</td><td class=\"mark\"></td><td>–</td>";
  }
  return row + "<td>" + (summary.floor_share ? percent(*summary.floor_share, 0) : "–") +
         "</td></tr>\n";
}

std::string classes(const Section& section, const Cases& cases) {
  std::vector<std::pair<std::string, Summary>> rows;
  for (const auto& [name, members] : by_group(cases))
    rows.emplace_back(name, summarize(members));
  const Axis axis = forest_axis(rows);
  const bool compared = std::any_of(rows.begin(), rows.end(),
                                    [](const auto& row) { return row.second.speedup.has_value(); });
  const bool sparse = is_sparse(section.product);
  std::string table =
      std::string("<div class=\"classes") + (compared ? "" : " alone") + "\"><h3>By " +
      (sparse ? "class" : "family") +
      "</h3><div class=\"wide\"><table><thead><tr><th scope=\"col\">" +
      (sparse ? "Class" : "Family") +
      "</th><th scope=\"col\">Cases</th><th scope=\"col\">Speed-up</th>"
      "<th scope=\"col\">95 % interval</th><th class=\"mark\"></th><th scope=\"col\">Faster</th>"
      "<th scope=\"col\">Of the floor</th></tr></thead><tbody>\n";
  for (const auto& [name, summary] : rows)
    table += class_row(name, summary, axis);
  return table + "</tbody></table></div></div>\n";
}

std::string worst(const Section& section, const Cases& cases) {
  const Cases chosen = worst_cases(cases, kWorst);
  if (chosen.empty()) return "";
  std::string table = "<div class=\"worst\"><h3>Worst " + std::to_string(chosen.size()) +
                      "</h3><div class=\"wide\"><table><thead><tr><th scope=\"col\">Case</th>"
                      "<th scope=\"col\">Type</th><th scope=\"col\">Speed-up</th>"
                      "<th scope=\"col\">Best rival</th></tr></thead><tbody>\n";
  for (const Measured* each : chosen) {
    table += "<tr><th scope=\"row\"><a href=\"#" + section.id + "-" +
             std::to_string(section.row_of(*each)) + "\">" + html(each->product->name) + "</a>";
    if (!each->product->way.empty()) table += " <small>" + html(each->product->way) + "</small>";
    table += "</th><td>" + html(each->product->dtype) + "</td><td>" +
             ratio_text(*each->figures.speedup) +
             (each->figures.within_noise ? " <small>within noise</small>" : "") + "</td><td>" +
             html(each->figures.rival->name()) + "</td></tr>\n";
  }
  return table + "</tbody></table></div></div>\n";
}

}  // namespace

std::string cards(const Section& section) {
  std::vector<std::string> choices = {""};
  choices.insert(choices.end(), section.dtypes.begin(), section.dtypes.end());
  std::string all;
  for (const std::string& dtype : choices) {
    const Cases cases = of_type(section.cases, dtype);
    all += dtype.empty() ? std::string("<div class=\"summary\" data-only=\"all\">\n")
                         : "<div class=\"summary off\" data-only=\"" + html(dtype) + "\">\n";
    all += number_cards(cases, summarize(cases)) + "<div class=\"pair\">\n" +
           classes(section, cases) + worst(section, cases) + "</div>\n</div>\n";
  }
  return all;
}

}  // namespace lanky::report
