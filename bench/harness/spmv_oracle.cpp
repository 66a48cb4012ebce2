#include "bench/harness/spmv_oracle.hpp"

#include <array>
#include <lanky/visit_dtype.hpp>
#include <utility>

#include "bench/cases/operand.hpp"
#include "bench/harness/gpu.hpp"

namespace lanky::bench {

namespace {
constexpr double kTf32Roundoff = 0x1p-11;  // of a factor
constexpr std::int64_t kTermsWorthThreads = 1 << 16;
}  // namespace

Reference* SparseReferences::prepare(const SpmvData& data, std::int64_t size) {
  if (size > references_.size()) {
    references_ = Buffer<Reference>(stream_, 0);  // both at once may be too much
    references_ = Buffer<Reference>(stream_, size);
  }
  data_ = data;
  return references_.data();
}

void SpmvOracle::compute(const SpmvData& data, std::int64_t columns) {
  if (references_.data() == data && columns <= columns_) return;
  const SpmvRows a = matrix_.on_device();
  const int parts = components(data.dtype);
  columns_ = 0;  // where there is no room
  Reference* const references = references_.prepare(data, columns * a.rows * parts);
  columns_ = columns;
  if (stream_.device().is_cuda()) return gpu::references(stream_, data, a, columns, references);
#pragma omp parallel for schedule(guided) if (matrix_.nnz() * columns > kTermsWorthThreads)
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = 0; k < columns * parts; ++k) {
      const std::int64_t c = k / parts;
      const int part = static_cast<int>(k % parts);
      InnerProduct sum;
      for (std::int64_t e = a.offsets[i]; e < a.offsets[i + 1]; ++e)
        data.add_term(sum, e, a.columns[e] + c * a.cols, part);
      references[(i + c * a.rows) * parts + part] = sum.result();
    }
  }
}

Verdict SpmvOracle::check(const void* y, Math math, SpmvColumns columns) const {
  return references_.check({y, matrix_.rows(), columns, components(references_.data().dtype)},
                           math);
}

void SddmmOracle::compute(const SpmvData& data, std::int64_t columns) {
  const SpmvRows a = matrix_.on_device();
  const std::int64_t nnz = matrix_.nnz();
  const int parts = components(data.dtype);
  Reference* const references = references_.prepare(data, nnz * parts);
  if (stream_.device().is_cuda())
    return gpu::sampled_references(stream_, data, a, nnz, columns, references);
#pragma omp parallel for schedule(guided) if (nnz * columns > kTermsWorthThreads)
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = a.offsets[i] * parts; k < a.offsets[i + 1] * parts; ++k) {
      InnerProduct sum;
      for (std::int64_t c = 0; c < columns; ++c)
        data.add_term(sum, i + c * a.rows, a.columns[k / parts] + c * a.cols,
                      static_cast<int>(k % parts));
      references[k] = sum.result();
    }
  }
}

Verdict SddmmOracle::check(const void* values) const {
  return references_.check({values, matrix_.nnz(), {}, components(references_.data().dtype)},
                           Math::ieee);
}

Verdict SparseReferences::judge(const ErrorModel& model, std::span<const double> computed,
                                const Reference* expected, std::int64_t first,
                                const SpmvResult& result, std::int64_t column) const {
  const std::span<const Reference> all(expected, computed.size());
  Verdict verdict = data_.fill == Fill::integers
                        ? check_exact(model.dtype, computed, all, Roundings::once, first)
                        : check_bound(model, computed, all, first);
  if (!verdict.right && result.parts > 1)
    verdict.message = "of real and imaginary parts, " + verdict.message;
  if (!verdict.right && result.columns.count > 1)
    verdict.message = "column " + std::to_string(column) + ", " + verdict.message;
  return verdict;
}

Verdict SparseReferences::check_on_cpu(const ErrorModel& model, const SpmvResult& result) const {
  return visit_real_dtype(model.dtype, [&]<class T>(std::type_identity<T>) {
    const T* elements = static_cast<const T*>(result.data);
    std::vector<double> computed(static_cast<std::size_t>(result.column_size()));
    const auto share = [](const Verdict& verdict) {
      return !verdict.right ? kWrong : verdict.bound > 0 ? verdict.error / verdict.bound : 0;
    };
    Verdict worst;
    std::uint64_t digest = 0;
    for (std::int64_t c = 0; c < result.columns.count; ++c) {
      const std::int64_t first = c * result.column_size();
      for (std::int64_t i = 0; i < result.column_size(); ++i) {
        const T element = elements[result.offset(first + i)];
        computed[i] = static_cast<double>(element);
        digest += digest_term(first + i, element);
      }
      Verdict verdict = judge(model, computed, references_.data() + first, 0, result, c);
      if (c == 0 || share(verdict) > share(worst)) worst = std::move(verdict);
    }
    worst.digest = digest;
    return worst;
  });
}

Verdict SparseReferences::check(const SpmvResult& result, Math math) const {
  const ErrorModel model = ErrorModel::of(math, component_type(data_.dtype), kTf32Roundoff);
  if (!stream_.device().is_cuda()) return check_on_cpu(model, result);
  const gpu::Findings found = gpu::judge(stream_, data_, model, result, references_.data());
  const gpu::WorstElement& worst = found.worst;
  if (worst.index < 0) return {};
  const Reference expected = gpu::fetch(stream_, references_.data() + worst.index);
  const StoredArray stored{data_.dtype, const_cast<void*>(result.data), result.size(), 1,
                           result.size()};
  const std::array<std::int64_t, 1> offset = {result.offset(worst.index)};
  Verdict verdict =
      judge(model, gather(stream_, stored, offset), &expected, worst.index % result.column_size(),
            result, worst.index / result.column_size());
  if (verdict.right && worst.share == kWrong) {
    verdict.right = false;
    verdict.message = "element " + std::to_string(worst.index) + " is wrong for the GPU alone";
  }
  verdict.digest = found.digest;
  return verdict;
}

}  // namespace lanky::bench
