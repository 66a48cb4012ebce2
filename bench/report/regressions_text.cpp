#include <algorithm>

#include "bench/report/markup.hpp"
#include "bench/report/number_text.hpp"
#include "bench/report/regressions.hpp"
#include "bench/report/summary.hpp"

namespace lanky::report {

namespace {

constexpr std::size_t kNameWidth = 40;

const char* word_of(Change change) {
  switch (change) {
    case Change::gone:
      return "gone";
    case Change::failed:
      return "failed";
    case Change::slower:
      return "slower";
    case Change::faster:
      return "faster";
    case Change::same:
      return "same";
    case Change::repaired:
      return "repaired";
    case Change::fresh:
      return "new";
    case Change::no_time:
      return "no time";
  }
  return "";
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

/// "+12.3 %" of a ratio of 1.123
std::string change_text(double ratio) {
  return (ratio >= 1 ? "+" : "") + percent(ratio - 1, 1);
}

std::string line_text(const Difference& each) {
  std::string text = padded(word_of(each.change), 9) + padded(terminal_text(each.name), kNameWidth);
  if (each.before_us && each.after_us) {
    text += "  " + significant(*each.before_us, 4) + " -> " + significant(*each.after_us, 4) +
            " us, " + change_text(each.ratio);
    if (each.over_floor) text += ", over the floor " + change_text(*each.over_floor);
    text += " (beyond " + percent(each.margin, 1) + " counts)";
  }
  if (!each.reason.empty()) text += "  " + terminal_text(each.reason);
  return text + "\n";
}

bool is_told(Change change, bool all) {
  return all || (change != Change::same && change != Change::no_time);
}

std::string means_text(const Comparison& comparison) {
  std::vector<double> ratios;
  std::vector<double> over_floor;
  for (const Difference& each : comparison.differences) {
    if (!each.before_us) continue;
    ratios.push_back(each.ratio);
    if (each.over_floor) over_floor.push_back(*each.over_floor);
  }
  if (ratios.empty()) return "no case has a time on both sides\n";
  std::string text = "geometric mean of after / before over " + std::to_string(ratios.size()) +
                     " times: " + fixed(*geometric_mean(ratios), 4);
  if (const Quantity mean = geometric_mean(over_floor))
    text += ", over the floor's own change " + fixed(*mean, 4);
  return text + "\n";
}

}  // namespace

std::string comparison_text(const Comparison& comparison, bool all) {
  std::string text;
  for (const Difference& each : comparison.differences)
    if (is_told(each.change, all)) text += line_text(each);
  if (!text.empty()) text += "\n";
  std::string counts;
  for (const Change change : {Change::slower, Change::failed, Change::gone, Change::faster,
                              Change::same, Change::repaired, Change::fresh, Change::no_time}) {
    const std::size_t count = comparison.count(change);
    if (count > 0 || change == Change::slower || change == Change::faster || change == Change::same)
      counts += (counts.empty() ? "" : ", ") + std::to_string(count) + " " + word_of(change);
  }
  return text + counts + "\n" + means_text(comparison);
}

}  // namespace lanky::report
