#include <algorithm>
#include <limits>

#include "bench/report/summary.hpp"

namespace lanky::report {

namespace {

/// A contestant's time on a case, in times of lanky where lanky has one.
struct Entry {
  std::string contestant;
  double time;
};

/// The rivals and lanky, each in the same manner of timing as lanky; where lanky failed, by graphs
/// if all have them.
std::vector<Entry> entries_of(const Case& product) {
  const Line* lanky = counted_line(product);
  std::vector<const Line*> right;
  for (const Line& line : product.lines)
    if ((line.contestant != kLanky || &line == lanky) && time_of(product.product, line))
      right.push_back(&line);
  const Line* reference = lanky != nullptr && time_of(product.product, *lanky) ? lanky : nullptr;
  const bool graphs = std::all_of(right.begin(), right.end(),
                                  [](const Line* line) { return line->graph_us.has_value(); });
  std::vector<Entry> entries;
  for (const Line* line : right) {
    const std::string name = line->contestant == kLanky ? kLanky : line->name();
    if (reference != nullptr) {
      if (const auto times = comparable_times(product.product, *reference, *line))
        entries.push_back({name, times->other_us / times->own_us});
    } else if (is_sparse(product.product) && graphs) {
      entries.push_back({name, *line->graph_us});
    } else if (line->warm_us) {
      entries.push_back({name, *line->warm_us});
    }
  }
  return entries;
}

Profile& profile_of(std::vector<Profile>& profiles, const std::string& contestant) {
  const auto found =
      std::find_if(profiles.begin(), profiles.end(),
                   [&contestant](const Profile& p) { return p.contestant == contestant; });
  if (found != profiles.end()) return *found;
  profiles.push_back({contestant, {}, 0});
  return profiles.back();
}

}  // namespace

double Profile::share_within(double tau) const {
  const auto within = std::upper_bound(ratios.begin(), ratios.end(), tau) - ratios.begin();
  return cases == 0 ? 0 : static_cast<double>(within) / static_cast<double>(cases);
}

std::vector<Profile> performance_profiles(const Results& results, Product product,
                                          const std::string& dtype) {
  std::vector<Profile> profiles;
  std::size_t cases = 0;
  for (const Case& each : results.cases) {
    if (each.product != product || (!dtype.empty() && each.dtype != dtype)) continue;
    const std::vector<Entry> entries = entries_of(each);
    if (entries.empty()) continue;
    ++cases;
    double best = std::numeric_limits<double>::infinity();
    for (const Entry& entry : entries)
      best = std::min(best, entry.time);
    for (const Entry& entry : entries)
      profile_of(profiles, entry.contestant).ratios.push_back(entry.time / best);
  }
  for (Profile& profile : profiles) {
    profile.cases = cases;
    std::sort(profile.ratios.begin(), profile.ratios.end());
  }
  std::stable_sort(profiles.begin(), profiles.end(), [](const Profile& a, const Profile& b) {
    if ((a.contestant == kLanky) != (b.contestant == kLanky)) return a.contestant == kLanky;
    return a.share_within(1) > b.share_within(1);
  });
  return profiles;
}

}  // namespace lanky::report
