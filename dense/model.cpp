#include "dense/model.hpp"

#include <algorithm>

#include "dense/model_table.hpp"

namespace lanky::dense {

namespace {

/// How many times `side` its next multiple of the granule is.
double waste(std::int64_t side, int granule) {
  if (side == 0) return 1;
  const std::int64_t granules = (side + granule - 1) / granule;
  return static_cast<double>(granules * granule) / static_cast<double>(side);
}

}  // namespace

double KernelModel::predict(const Problem& problem, const Bound& bound) const noexcept {
  double flops = bound.flops * waste(problem.n, granule);
  if (family == GemmFamily::gram) flops *= waste(problem.m, granule);
  return start +
         1e6 * std::max(bound.bytes / (bandwidth * bound.bandwidth), flops / (peak * bound.peak));
}

std::string_view arithmetic_of(DType in, Math math) noexcept {
  if (is_half(in)) return "half";
  if (math == Math::tf32) return "tf32";
  if (math == Math::tf32x3) return "tf32x3";
  return name(in);
}

const KernelModel* find_model(std::string_view kernel, GemmFamily family, DType in,
                              Math math) noexcept {
  const std::string_view arithmetic = arithmetic_of(in, math);
  const KernelModel* found = nullptr;
  const auto rank = [&](const KernelModel& row) {  // the row of most words that all fit
    if (row.family != family || (row.kernel != kernel && !row.kernel.empty())) return 0;
    if (row.arithmetic != arithmetic && !row.arithmetic.empty()) return 0;
    return 1 + 2 * (row.kernel.empty() ? 0 : 1) + (row.arithmetic.empty() ? 0 : 1);
  };
  for (const KernelModel& row : kKernelModels) {
    if (rank(row) > (found == nullptr ? 0 : rank(*found))) found = &row;
  }
  return found;
}

}  // namespace lanky::dense
