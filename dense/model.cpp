#include "dense/model.hpp"

#include <algorithm>

#include "core/text.hpp"
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

std::string_view kernel_of(std::string_view explanation) noexcept {
  std::string_view name = explanation.substr(0, explanation.find_first_of(",;\n"));
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last != std::string_view::npos && last + 1 < name.size() && name[last] == ' ')
    name = name.substr(0, last);
  return name;
}

std::string_view arithmetic_of(DType in, Math math) noexcept {
  if (is_half(in)) return "half";
  if (math == Math::tf32) return "tf32";
  if (math == Math::tf32x3) return "tf32x3";
  return name(in);
}

const KernelModel* find_model(std::string_view explanation, GemmFamily family, DType in,
                              Math math) noexcept {
  const std::string_view kernel = kernel_of(explanation);
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

std::string describe_time(const KernelModel* model, const Problem& problem, const Bound& bound) {
  if (model == nullptr) return "";
  return concat("predicted: ", model->predict(problem, bound), " us: ", model->start, " us, then ",
                model->bandwidth, " of the bandwidth or ", model->peak, " of the peak",
                model->granule > 1 ? concat(", short sides as multiples of ", model->granule) : "",
                model->kernel.empty() ? "; a kernel not measured yet, its family's figures" : "",
                "\n");
}

}  // namespace lanky::dense
