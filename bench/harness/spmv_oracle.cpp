#include "bench/harness/spmv_oracle.hpp"

#include <array>
#include <lanky/dispatch.hpp>

#include "bench/cases/operand.hpp"
#include "bench/harness/gpu.hpp"

namespace lanky::bench {

namespace {
constexpr double kTf32Roundoff = 0x1p-11;  // of a factor
}

void SpmvOracle::compute(const SpmvData& data) {
  data_ = data;
  const SpmvRows a = matrix_.on_device();
  if (stream_.device().is_cuda()) return gpu::references(stream_, data, a, references_.data());
  constexpr std::int64_t kEntriesWorthThreads = 1 << 16;
#pragma omp parallel for schedule(guided) if (matrix_.nnz() > kEntriesWorthThreads)
  for (std::int64_t i = 0; i < a.rows; ++i) {
    InnerProduct sum;
    for (std::int64_t e = a.offsets[i]; e < a.offsets[i + 1]; ++e)
      data.add_term(sum, e, a.columns[e]);
    references_.data()[i] = sum.result();
  }
}

Verdict SpmvOracle::judge(const ErrorModel& model, std::span<const double> computed,
                          std::span<const Reference> expected, std::int64_t first) const {
  return data_.fill == Fill::integers
             ? check_exact(data_.dtype, computed, expected, Roundings::once, first)
             : check_bound(model, computed, expected, first);
}

Verdict SpmvOracle::check(const void* y, Math math) const {
  const ErrorModel model = ErrorModel::of(math, data_.dtype, kTf32Roundoff);
  if (!stream_.device().is_cuda()) {
    return dispatch_real(data_.dtype, [&]<class T>(std::type_identity<T>) {
      const T* elements = static_cast<const T*>(y);
      const std::vector<double> computed(elements, elements + matrix_.rows());
      return judge(model, computed, references_.to_host(), 0);
    });
  }
  const gpu::WorstElement worst = gpu::worst_element(
      stream_, data_, model, y, {references_.data(), static_cast<std::size_t>(references_.size())});
  if (worst.index < 0) return {};
  const Reference expected = gpu::fetch(stream_, references_.data() + worst.index);
  const StoredArray stored{data_.dtype, const_cast<void*>(y), matrix_.rows(), 1, matrix_.rows()};
  const std::array<std::int64_t, 1> offset = {worst.index};
  Verdict verdict = judge(model, gather(stream_, stored, offset), {&expected, 1}, worst.index);
  if (verdict.right && worst.share == kWrong) {
    verdict.right = false;
    verdict.message = "element " + std::to_string(worst.index) + " is wrong for the GPU alone";
  }
  return verdict;
}

}  // namespace lanky::bench
