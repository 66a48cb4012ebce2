#include "examples/abft/trials.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <lanky/buffer.hpp>
#include <lanky/dtype.hpp>

#include "examples/abft/protected_gemm.hpp"
#include "examples/support/uniform.hpp"

namespace lanky::examples::abft {

namespace {

constexpr double kLeastFault = 1e-3;  // of the bound, and the most: drawn log-uniformly
constexpr double kMostFault = 1e12;
constexpr Data kAllData[] = {Data::uniform, Data::positive, Data::spread, Data::constant};

/// Random fault number `t`: a number added, or a bit turned over, in turns.
template <class T>
Fault draw_fault(const TrialOptions& options, std::int64_t t,
                 const typename ProtectedGemm<T>::Bounds& bounds) {
  const auto draw = [&](std::int64_t number) { return uniform(~options.seed, 8 * t + number); };
  Fault fault;
  fault.row = static_cast<std::int64_t>(draw(0) * static_cast<double>(options.m));
  fault.col = static_cast<std::int64_t>(draw(1) * static_cast<double>(options.n));
  if (t % 2 == 0) {
    fault.kind = Fault::Kind::flip;
    fault.bit = static_cast<std::int32_t>(draw(2) * 8 * sizeof(T));
    return fault;
  }
  const double bound = std::max(bounds.columns[static_cast<std::size_t>(fault.col)],
                                bounds.rows[static_cast<std::size_t>(fault.row)]);
  const double exponent =
      std::log(kLeastFault) + draw(2) * (std::log(kMostFault) - std::log(kLeastFault));
  fault.value = (draw(3) < 0.5 ? -1 : 1) * bound * std::exp(exponent);
  return fault;
}

std::vector<FaultClass> classes(std::initializer_list<double> edges) {
  std::vector<FaultClass> all;
  for (const double edge : edges)
    all.push_back({.below = edge});
  all.push_back({});  // of what is larger, or not finite
  return all;
}

void count(std::vector<FaultClass>& all, double ratio, bool detected, bool corrected) {
  for (FaultClass& fault_class : all) {
    if (!(ratio <= fault_class.below) && &fault_class != &all.back()) continue;
    ++fault_class.trials;
    fault_class.detected += detected;
    fault_class.corrected += corrected;
    return;
  }
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Adds what became of one fault. bound: the larger of its column's and its row's; unit: that of
/// its element.
void judge_trial(const Fault& fault, const Report& report, double bound, double unit,
                 TrialResult& result) {
  const double size = std::fabs(report.faulty - report.injected);
  const bool detected = report.verdict != Verdict::clean;
  const bool right = report.row == fault.row && report.col == fault.col;
  const bool located = report.verdict == Verdict::located;
  const bool corrected =
      located && right && std::fabs(report.recomputed - report.injected) <= report.rounding;
  const bool harmless = size <= kHarmlessUnits * unit;
  ++result.trials;
  result.detected += detected;
  result.corrected += corrected;
  result.one_sided += report.verdict == Verdict::checksum;
  result.misplaced += located && !right;
  result.ratio_right +=
      located && right && report.ratio_row == fault.row && report.ratio_col == fault.col;
  result.harmless += harmless;
  result.hidden += !detected && !harmless;
  if (!corrected && !(size <= bound)) ++(size <= 2 * bound ? result.marginal : result.missed);
  count(result.by_bound, size / bound, detected, corrected);
  count(result.by_unit, size / unit, detected, corrected);
  count(result.by_element, size / std::fabs(report.injected), detected, corrected);
}

/// A and B at random, and C = A B with all that is needed to check it.
template <class T>
void multiply_at_random(ProtectedGemm<T>& gemm, const Stream& stream, Data data, std::uint64_t seed,
                        Matrix<T>& a, Matrix<T>& b, Matrix<T>& c) {
  gemm.elements().fill(stream, data, seed, a.view());
  gemm.elements().fill(stream, data, ~seed, b.view());
  gemm.prepare(a.view(), b.view());
  gemm.multiply(a.view(), b.view(), c.view());
}

}  // namespace

template <class T>
TrialResult run_trials(const Stream& stream, const TrialOptions& options) {
  TrialResult result;
  ProtectedGemm<T> gemm(stream, options.m, options.n, options.k);
  Matrix<T> a(stream, options.m, options.k);
  Matrix<T> b(stream, options.k, options.n);
  Matrix<T> c(stream, options.m, options.n);

  result.fault_free = options.fault_free;
  Buffer<Report> clean_reports(stream, std::max<std::int64_t>(1, options.fault_free));
  for (std::int64_t t = 0; t < options.fault_free; ++t) {
    const auto seed = mix(options.seed) + static_cast<std::uint64_t>(t);
    multiply_at_random(gemm, stream, kAllData[static_cast<std::size_t>(t) % std::size(kAllData)],
                       seed, a, b, c);
    gemm.check(a.view(), b.view(), c.view(), clean_reports.data() + t);
  }
  if (options.fault_free > 0) {
    for (const Report& report : clean_reports.to_host()) {
      result.false_alarms += report.verdict != Verdict::clean;
      result.largest_share = std::max(result.largest_share, report.share);
    }
  }

  Buffer<Report> reports(stream, options.trials + 1);
  Report* const first = reports.data() + options.trials;  // of the product that faults are put in
  multiply_at_random(gemm, stream, options.data, options.seed, a, b, c);
  gemm.check(a.view(), b.view(), c.view(), first);
  const auto bounds = gemm.bounds();
  const std::vector<T> fault_free_c = c.buffer().to_host();

  std::vector<Fault> faults;
  for (std::int64_t t = 0; t < options.trials; ++t) {
    faults.push_back(draw_fault<T>(options, t, bounds));
    Report* const report = reports.data() + t;
    gemm.elements().inject(stream, faults.back(), c.view(), report);
    gemm.check(a.view(), b.view(), c.view(), report);
    gemm.correct(c.view(), report);
    gemm.elements().restore(stream, faults.back(), c.view(), report);
  }
  const std::vector<Report> outcomes = reports.to_host();
  const std::vector<T> restored_c = c.buffer().to_host();
  result.restored =
      std::memcmp(restored_c.data(), fault_free_c.data(), restored_c.size() * sizeof(T)) == 0;
  ++result.fault_free;
  result.false_alarms += outcomes.back().verdict != Verdict::clean;
  result.largest_share = std::max(result.largest_share, outcomes.back().share);

  result.by_bound = classes({1e-2, 1e-1, 1, 2, 10, 1e3, 1e6, 1e12});
  result.by_unit = classes({1, 2, 4, kHarmlessUnits, 16, 32, 1e3, 1e6});
  result.by_element = classes({1e-12, 1e-9, 1e-6, 1e-3, 1, 1e3, 1e9, 1e300});
  result.median_bound = median(bounds.columns);
  std::vector<double> sizes;
  for (std::size_t t = 0; t < faults.size(); ++t) {
    const auto row = static_cast<std::size_t>(faults[t].row);
    const auto col = static_cast<std::size_t>(faults[t].col);
    const double unit = unit_roundoff(kDType<T>) * std::sqrt(static_cast<double>(options.k)) *
                        bounds.norms_of_a[row] * bounds.norms_of_b[col];
    judge_trial(faults[t], outcomes[t], std::max(bounds.columns[col], bounds.rows[row]), unit,
                result);
    sizes.push_back(std::fabs(outcomes[t].injected));
  }
  if (!sizes.empty()) result.median_bound_per_element = result.median_bound / median(sizes);
  return result;
}

template TrialResult run_trials<double>(const Stream&, const TrialOptions&);
template TrialResult run_trials<float>(const Stream&, const TrialOptions&);

}  // namespace lanky::examples::abft
