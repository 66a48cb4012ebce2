#include "bench/report/figures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lanky::report {

namespace {

bool lowers_precision(const Line& line) {
  return line.variant == "tf32" || line.variant == "tf32x3";
}

/// Whether `line` goes before `other` where lanky has no auto.
bool goes_before(Product product, const Line& line, const Line& other) {
  const Quantity time = time_of(product, line);
  const Quantity others = time_of(product, other);
  if (!time || !others) return time.has_value();
  if (lowers_precision(line) != lowers_precision(other)) return lowers_precision(other);
  return *time < *others;
}

Quantity ratio(const Quantity& above, const Quantity& below) {
  return above && below && *below > 0 ? Quantity(*above / *below) : Quantity();
}

/// Of the floor that was timed as lanky was: by graphs or in batches, never mixed.
Quantity floor_share_of(Product product, const Line& line) {
  if (is_sparse(product) && line.graph_us) return ratio(line.floor_us, line.graph_us);
  return ratio(line.floor_batch_us, line.warm_us);
}

Quantity break_even_of(const Line& lanky, const Line& rival, const TimePair& times) {
  if (times.own_us > times.other_us) return std::numeric_limits<double>::infinity();
  if (!lanky.setup_us || !rival.setup_us) return {};
  const double longer = *lanky.setup_us - *rival.setup_us;
  if (longer <= 0) return 0;
  return longer / (times.other_us - times.own_us);  // infinite where they are equally fast
}

/// The rival that is fastest beside lanky, and both times.
void choose_rival(const Case& product, Figures& figures) {
  for (const Line& line : product.lines) {
    if (line.contestant == kLanky) continue;
    const auto times = comparable_times(product.product, *figures.lanky, line);
    if (!times) continue;
    const double speedup = times->other_us / times->own_us;
    if (figures.speedup && speedup >= *figures.speedup) continue;
    figures.rival = &line;
    figures.speedup = speedup;
    figures.time_us = times->own_us;
    figures.rival_us = times->other_us;
    figures.break_even = break_even_of(*figures.lanky, line, *times);
  }
}

void fill_rates(const Case& product, Figures& figures) {
  const Line& lanky = *figures.lanky;
  figures.floor_share = floor_share_of(product.product, lanky);
  figures.gflops = ratio(lanky.flops, figures.time_us);
  figures.gbs = ratio(lanky.bytes, figures.time_us);
  figures.rival_gflops = ratio(lanky.flops, figures.rival_us);
  for (Quantity* rate : {&figures.gflops, &figures.gbs, &figures.rival_gflops})
    if (*rate) **rate /= 1e3;  // of flops or bytes per microsecond
  figures.intensity = ratio(lanky.flops, lanky.bytes);
  figures.setup_runs = ratio(lanky.setup_us, figures.time_us);
}

}  // namespace

const Line* counted_line(const Case& product) {
  const Line* counted = nullptr;
  for (const Line& line : product.lines) {
    if (line.contestant != kLanky) continue;
    if (line.variant == "auto") return &line;
    if (counted == nullptr || goes_before(product.product, line, *counted)) counted = &line;
  }
  return counted;
}

std::optional<TimePair> comparable_times(Product product, const Line& own, const Line& other) {
  if (!own.ok() || !other.ok()) return {};
  if (is_sparse(product) && own.graph_us && other.graph_us)
    return TimePair{*own.graph_us, *other.graph_us};
  if (own.warm_us && other.warm_us) return TimePair{*own.warm_us, *other.warm_us};
  return {};
}

Quantity time_of(Product product, const Line& line) {
  if (!line.ok()) return {};
  return is_sparse(product) && line.graph_us ? line.graph_us : line.warm_us;
}

Figures figures_of(const Case& product) {
  Figures figures;
  const Line* counted = counted_line(product);
  if (counted == nullptr || !time_of(product.product, *counted)) return figures;
  figures.lanky = counted;
  figures.time_us = time_of(product.product, *counted);
  choose_rival(product, figures);
  fill_rates(product, figures);
  if (figures.rival != nullptr) {
    const double noise = std::hypot(counted->noise.value_or(0), figures.rival->noise.value_or(0));
    figures.within_noise = std::abs(std::log(*figures.speedup)) <= noise;
  }
  return figures;
}

std::vector<Measured> measured_cases(const Results& results, Product product) {
  std::vector<Measured> found;
  for (const Case& each : results.cases) {
    if (each.product != product) continue;
    const Figures figures = figures_of(each);
    if (figures.lanky != nullptr) found.push_back({&each, figures});
  }
  return found;
}

std::vector<const Measured*> of_type(const std::vector<Measured>& cases, const std::string& dtype) {
  std::vector<const Measured*> found;
  for (const Measured& each : cases)
    if (dtype.empty() || each.product->dtype == dtype) found.push_back(&each);
  return found;
}

}  // namespace lanky::report
