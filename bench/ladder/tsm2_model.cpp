#include "bench/ladder/tsm2_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace lanky::ladder {

namespace {

/// Registers of a thread: addresses and counters, then words of C, of A now and next, and of the
/// next tile of B.
double registers_of_thread(int size, double t2, double t3) {
  constexpr double kOther = 24;
  constexpr double kMost = 255;
  const double words = size / 4.0;
  return std::min(kMost, kOther + words * (2 * t2 + 2 * t3));
}

double ceil_div(double a, double b) {
  return std::ceil(a / b);
}

/// Threads that one multiprocessor holds. Whole blocks, but of fractional size in t2 and t3, so
/// that the descent sees a slope.
double resident_threads(const Tsm2Card& card, const Tsm2Product& product, int t1, double t2,
                        double t3) {
  const double by_registers = static_cast<double>(card.registers_per_multiprocessor) /
                              registers_of_thread(product.size, t2, t3);
  const double by_shared =
      static_cast<double>(card.shared_bytes_per_multiprocessor) / (t2 * product.size);
  const double by_blocks = static_cast<double>(card.blocks_per_multiprocessor) * t1;
  // Rows of A are all the threads there are: the paper's cards had fewer places than that.
  const double blocks = ceil_div(static_cast<double>(product.m), t1);
  const double by_grid = blocks / card.multiprocessors * t1;
  return std::max(1.0, std::min({static_cast<double>(card.threads_per_multiprocessor), by_registers,
                                 by_shared, by_blocks, by_grid}));
}

/// Those of `values`, in ascending order, that `wanted` lies between.
std::array<int, 2> around(std::span<const int> values, double wanted) {
  const auto above = std::lower_bound(values.begin(), values.end(), wanted);
  if (above == values.begin()) return {*above, *above};
  if (above == values.end()) return {above[-1], above[-1]};
  return {above[-1], *above};
}

}  // namespace

Tsm2Estimate estimate_tsm2(const Tsm2Card& card, const Tsm2Product& product, int t1, double t2,
                           double t3) {
  const auto m = static_cast<double>(product.m);
  const auto n = static_cast<double>(product.n);
  const auto k = static_cast<double>(product.k);
  Tsm2Estimate estimate;
  estimate.threads = resident_threads(card, product, t1, t2, t3);
  // Little's law: what must be under way is latency times throughput.
  const double bytes_needed =
      card.memory_latency / card.clock_hz * card.bytes_per_second / card.multiprocessors;
  estimate.memory_share = std::min(1.0, estimate.threads * t3 * product.size / bytes_needed);
  const double fmas_needed =
      card.arithmetic_latency / card.clock_hz * card.flops_per_second / 2 / card.multiprocessors;
  estimate.arithmetic_share = std::min(1.0, estimate.threads * t2 / fmas_needed);
  const double passes = std::max(1.0, n / t2);
  const double bytes = (m * k * passes + k * n + m * n) * product.size;
  estimate.memory_seconds = bytes / (card.bytes_per_second * estimate.memory_share);
  estimate.arithmetic_seconds =
      2 * m * k * std::max(n, t2) / (card.flops_per_second * estimate.arithmetic_share);
  return estimate;
}

double tsm2_threshold(const Tsm2Card& card, int size) {
  return card.flops_per_second * size / (2 * card.bytes_per_second);
}

Tsm2Choice descend_tsm2(const Tsm2Card& card, const Tsm2Product& product, int t1) {
  constexpr int kSteps = 400;
  constexpr double kProbe = 1e-3;
  // In logarithms: t2 and t3 are scales, and neither may come to 0.
  double log_t2 = 0;
  double log_t3 = 0;
  const double most_t2 = std::log(std::max(1.0, static_cast<double>(product.n)));
  const double most_t3 = std::log(static_cast<double>(std::end(kTsm2T3)[-1]));
  const auto log_seconds = [&](double a, double b) {
    return std::log(estimate_tsm2(card, product, t1, std::exp(a), std::exp(b)).seconds());
  };
  double rate = 0.25;
  for (int step = 0; step < kSteps; ++step) {
    const double here = log_seconds(log_t2, log_t3);
    const double slope_t2 = (log_seconds(log_t2 + kProbe, log_t3) - here) / kProbe;
    const double slope_t3 = (log_seconds(log_t2, log_t3 + kProbe) - here) / kProbe;
    const double next_t2 = std::clamp(log_t2 - rate * slope_t2, 0.0, most_t2);
    const double next_t3 = std::clamp(log_t3 - rate * slope_t3, 0.0, most_t3);
    if (log_seconds(next_t2, next_t3) < here) {
      log_t2 = next_t2;
      log_t3 = next_t3;
    } else {
      rate /= 2;
    }
  }
  Tsm2Choice best;
  double least = 0;
  for (const int t2 : around(kTsm2T2, std::exp(log_t2))) {
    for (const int t3 : around(kTsm2T3, std::exp(log_t3))) {
      const double seconds = estimate_tsm2(card, product, t1, t2, t3).seconds();
      if (best.t1 != 0 && seconds >= least) continue;
      best = {t1, t2, t3};
      least = seconds;
    }
  }
  return best;
}

}  // namespace lanky::ladder
