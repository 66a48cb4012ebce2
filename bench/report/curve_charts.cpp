// Charts of shares of the cases: performance profile, and break-even.
#include <algorithm>
#include <cmath>

#include "bench/report/chart.hpp"
#include "bench/report/markup.hpp"
#include "bench/report/number_text.hpp"
#include "bench/report/section.hpp"

namespace lanky::report {

namespace {

constexpr double kLeastTau = 4;  // that the axis of a profile reaches
constexpr double kMostTau = 32;
constexpr double kFewestProducts = 100;  // that the axis of break-even reaches
constexpr double kMostProducts = 1e6;
constexpr int kRivalColours = 7;

/// Share of the ascending values that are at most x, all over `count`, told where it changes by a
/// pixel and more.
std::vector<Place> distribution(const std::vector<double>& values, std::size_t count,
                                const Chart& chart) {
  const double low = chart.x().low();
  const double high = chart.x().high();
  const int samples = static_cast<int>(chart.inner_width());
  std::vector<Place> places;
  double last = -1;
  for (int i = 0; i <= samples; ++i) {
    const double x = low * std::pow(high / low, static_cast<double>(i) / samples);
    const auto within = std::upper_bound(values.begin(), values.end(), x) - values.begin();
    const double share = static_cast<double>(within) / static_cast<double>(count);
    if (share == last && i < samples) continue;
    places.push_back({x, share});
    last = share;
  }
  return places;
}

double worst_ratio(const std::vector<Profile>& profiles) {
  double worst = kLeastTau;
  for (const Profile& profile : profiles)
    if (!profile.ratios.empty()) worst = std::max(worst, profile.ratios.back());
  return std::min(worst, kMostTau);
}

/// What all but a hundredth of the cases that break even need.
double most_products(const Section& section) {
  std::vector<double> needed;
  for (const Measured& each : section.cases)
    if (each.figures.break_even && std::isfinite(*each.figures.break_even))
      needed.push_back(*each.figures.break_even);
  if (needed.empty()) return kFewestProducts;
  std::sort(needed.begin(), needed.end());
  return std::clamp(needed[needed.size() * 99 / 100], kFewestProducts, kMostProducts);
}

/// The class of report.css with a contestant's colour and dashes: by its place among those of all
/// types, so that it has the same in each.
std::string contestant_class(const std::vector<Profile>& all, const std::string& contestant) {
  if (contestant == kLanky) return "who who-0";
  const auto found = std::find_if(all.begin(), all.end(), [&contestant](const Profile& profile) {
    return profile.contestant == contestant;
  });
  return "who who-" + std::to_string(1 + (found - all.begin()) % kRivalColours);
}

std::string choice(const std::string& dtype) {
  return dtype.empty() ? " data-only=\"all\"" : " class=\"off\" data-only=\"" + html(dtype) + "\"";
}

std::string profile_legend(const std::vector<Profile>& profiles, const std::vector<Profile>& all,
                           const std::string& dtype) {
  std::string legend = "<div" + choice(dtype) + "><p class=\"legend\">";
  for (const Profile& profile : profiles) {
    legend += "<span class=\"" + contestant_class(all, profile.contestant) +
              "\"><svg viewBox=\"0 0 24 8\" aria-hidden=\"true\"><path d=\"M0 4H24\"/></svg>" +
              html(profile.contestant) + " <small>" + percent(profile.share_within(1), 1) +
              "</small></span> ";
  }
  return legend + "</p></div>";
}

}  // namespace

std::string profile_chart(const Section& section) {
  const std::vector<Profile> all = performance_profiles(section.results, section.product, "");
  Chart chart(Axis::logarithmic(1, worst_ratio(all)), Axis::share());
  chart.label("Factor τ of the best time", "Share of the cases");
  std::string legends;
  std::vector<std::string> choices = {""};
  choices.insert(choices.end(), section.dtypes.begin(), section.dtypes.end());
  for (const std::string& dtype : choices) {
    const auto profiles = performance_profiles(section.results, section.product, dtype);
    chart.begin_choice(dtype);
    for (auto profile = profiles.rbegin(); profile != profiles.rend(); ++profile) {
      chart.steps(distribution(profile->ratios, profile->cases, chart),
                  contestant_class(all, profile->contestant));
    }
    chart.end();
    legends += profile_legend(profiles, all, dtype);
  }
  return figure(section.id + "-profile", "Performance profile",
                "Share of the cases that a contestant computes within a factor τ of the best of "
                "all; in the legend, how often it is the best (Dolan and Moré 2002).",
                chart.svg("Performance profile of all contestants") + legends);
}

std::string break_even_chart(const Section& section) {
  Chart chart(Axis::logarithmic(1, most_products(section)), Axis::share());
  chart.label("Products", "Share of the cases");
  for (const std::string& dtype : section.dtypes) {
    std::vector<double> needed;
    for (const Measured* each : of_type(section.cases, dtype))
      if (each->figures.break_even) needed.push_back(*each->figures.break_even);
    if (needed.empty()) continue;
    std::sort(needed.begin(), needed.end());
    chart.begin_type(dtype, "curve");
    chart.steps(distribution(needed, needed.size(), chart), "curve");
    chart.end();
  }
  return figure(section.id + "-break-even", "Break-even",
                "Share of the cases in which lanky, its setup included, is ahead of the best rival "
                "and its setup after so many products.",
                chart.svg("Share of the cases that have broken even, by number of products") +
                    type_legend(section.dtypes));
}

}  // namespace lanky::report
