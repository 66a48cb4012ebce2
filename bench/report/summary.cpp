#include "bench/report/summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <unordered_map>

namespace lanky::report {

namespace {

constexpr int kResamples = 2000;
constexpr std::uint64_t kSeed = 20020117;

/// Uniform in 0..count-1, by the same draws on every platform.
std::size_t draw(std::mt19937_64& random, std::size_t count) {
  return static_cast<std::size_t>((random() >> 32) * static_cast<std::uint64_t>(count) >> 32);
}

std::vector<std::vector<double>> clusters_of(const Cases& cases) {
  std::vector<std::vector<double>> clusters;
  std::unordered_map<std::string, std::size_t> index;
  for (const Measured* each : cases) {
    if (!each->figures.speedup) continue;
    const std::string key = each->product->identity + "\n" + each->product->device;
    const auto [position, is_new] = index.try_emplace(key, clusters.size());
    if (is_new) clusters.emplace_back();
    clusters[position->second].push_back(*each->figures.speedup);
  }
  return clusters;
}

template <class Value>
std::vector<double> collect(const Cases& cases, Value value) {
  std::vector<double> values;
  for (const Measured* each : cases)
    if (const Quantity found = value(each->figures)) values.push_back(*found);
  return values;
}

}  // namespace

Quantity geometric_mean(const std::vector<double>& values) {
  if (values.empty()) return {};
  double sum = 0;
  for (const double value : values)
    sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

Quantity median(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return values[middle - 1] / 2 + values[middle] / 2;
}

std::optional<Interval> bootstrap_interval(const std::vector<std::vector<double>>& clusters) {
  if (clusters.size() < 2) return {};
  std::vector<double> sums;  // of logarithms
  for (const auto& cluster : clusters) {
    sums.push_back(0);
    for (const double value : cluster)
      sums.back() += std::log(value);
  }
  std::mt19937_64 random(kSeed);
  std::vector<double> means;
  for (int i = 0; i < kResamples; ++i) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t j = 0; j < clusters.size(); ++j) {
      const std::size_t drawn = draw(random, clusters.size());
      sum += sums[drawn];
      count += clusters[drawn].size();
    }
    means.push_back(sum / static_cast<double>(count));
  }
  std::sort(means.begin(), means.end());
  constexpr std::size_t kTail = kResamples / 40;  // 2.5 %
  return Interval{std::exp(means[kTail - 1]), std::exp(means[kResamples - kTail])};
}

Summary summarize(const Cases& cases) {
  Summary summary;
  summary.cases = cases.size();
  for (const Measured* each : cases) {
    const Figures& figures = each->figures;
    if (!figures.speedup) continue;
    ++summary.compared;
    summary.wins += *figures.speedup > 1 ? 1 : 0;
    summary.losses += *figures.speedup < 1 ? 1 : 0;
    summary.within_noise += figures.within_noise ? 1 : 0;
  }
  summary.speedup = geometric_mean(collect(cases, [](const Figures& f) { return f.speedup; }));
  summary.interval = bootstrap_interval(clusters_of(cases));
  summary.floor_share =
      geometric_mean(collect(cases, [](const Figures& f) { return f.floor_share; }));
  summary.setup_runs = median(collect(cases, [](const Figures& f) { return f.setup_runs; }));
  summary.break_even = median(collect(cases, [](const Figures& f) { return f.break_even; }));
  return summary;
}

Cases worst_cases(const Cases& cases, std::size_t count) {
  Cases compared;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(compared),
               [](const Measured* each) { return each->figures.speedup.has_value(); });
  std::stable_sort(compared.begin(), compared.end(), [](const Measured* a, const Measured* b) {
    return *a->figures.speedup < *b->figures.speedup;
  });
  compared.resize(std::min(count, compared.size()));
  return compared;
}

std::vector<std::pair<std::string, Cases>> by_group(const Cases& cases) {
  std::vector<std::pair<std::string, Cases>> groups;
  for (const Measured* each : cases) {
    const auto found = std::find_if(groups.begin(), groups.end(), [each](const auto& group) {
      return group.first == each->product->group;
    });
    if (found == groups.end())
      groups.push_back({each->product->group, {each}});
    else
      found->second.push_back(each);
  }
  return groups;
}

std::vector<std::string> dtypes_of(const Results& results) {
  std::vector<std::string> present;
  const auto add = [&present](const std::string& dtype) {
    if (!dtype.empty() && std::find(present.begin(), present.end(), dtype) == present.end())
      present.push_back(dtype);
  };
  const auto has = [&results](const std::string& dtype) {
    return std::any_of(results.cases.begin(), results.cases.end(),
                       [&dtype](const Case& each) { return each.dtype == dtype; });
  };
  for (const char* dtype : {"f64", "f32", "tf32x3", "tf32", "f16", "bf16", "c64", "c128"})
    if (has(dtype)) add(dtype);
  for (const Case& each : results.cases)
    add(each.dtype);
  return present;
}

}  // namespace lanky::report
