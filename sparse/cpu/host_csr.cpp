#include "sparse/cpu/host_csr.hpp"

#include <algorithm>

#include "core/arguments.hpp"
#include "core/plan_types.hpp"
#include "core/runtime.hpp"
#include "sparse/errors.hpp"

namespace lanky::sparse {

namespace {

template <class Integer>
std::vector<std::int64_t> widened(const Stream& stream, const Integer* offsets,
                                  std::int64_t count) {
  const HostArray<Integer> host(stream, offsets, count, "the row offsets of A");
  return std::vector<std::int64_t>(host.data(), host.data() + count);
}

/// Row offsets, zero-based, after checks of the extents and that offsets rise from the base to nnz.
template <class T>
std::vector<std::int64_t> checked_offsets(const Stream& stream, const CsrView<T>& a) {
  extents_of(a).check();
  if (a.rows == 0 && a.nnz == 0) return {0};
  const void* const data = a.row_offsets.data();
  std::vector<std::int64_t> offsets =
      a.row_offsets.wide() ? widened(stream, static_cast<const std::int64_t*>(data), a.rows + 1)
                           : widened(stream, static_cast<const std::int32_t*>(data), a.rows + 1);
  const CsrExtents extents = extents_of(a);
  if (offsets.front() != a.index_base) extents.throw_offsets_start(offsets.front());
  for (std::int64_t row = 0; row < a.rows; ++row) {
    if (offsets[row] > offsets[row + 1])
      extents.throw_offsets_fall(row, offsets[row], offsets[row + 1]);
  }
  if (offsets.back() - a.index_base != a.nnz) extents.throw_offsets_end(offsets.back());
  for (std::int64_t& offset : offsets)
    offset -= a.index_base;
  return offsets;
}

template <class T>
void check_columns(const Csr<T>& a) {
  const std::int64_t least = a.index_base;
  const std::int64_t most = a.cols - 1 + a.index_base;
  const std::int64_t nnz = a.nnz;
  std::int64_t wrong = nnz;  // the first entry out of range
#pragma omp parallel for schedule(static) reduction(min : wrong) if (nnz >= kThreadsLeast)
  for (std::int64_t entry = 0; entry < nnz; ++entry) {
    if (a.columns[entry] < least || a.columns[entry] > most) wrong = std::min(wrong, entry);
  }
  if (wrong == nnz) return;
  const auto row =
      std::upper_bound(a.row_offsets, a.row_offsets + a.rows + 1, wrong) - a.row_offsets - 1;
  extents_of(a).throw_column(wrong, row, a.columns[wrong]);
}

}  // namespace

template <class T>
HostArray<T>::HostArray(const Stream& stream, const T* data, std::int64_t count,
                        std::string_view what)
    : data_(data) {
  const bool remote = count > 0 && only_on_device(data);
  check_on_device(data, count, remote ? stream.device() : Device::cpu(), what);
  if (!remote) return;
  copy_.resize(static_cast<std::size_t>(count));
  runtime::copy(copy_.data(), data, copy_.size() * sizeof(T), stream.native(),
                stream.device().index());
  stream.synchronize();
  data_ = copy_.data();
}

template <class T>
CheckedCsr<T>::CheckedCsr(const Stream& stream, const CsrView<T>& a)
    : row_offsets_(checked_offsets(stream, a)),
      columns_(stream, a.col_indices, a.nnz, "the column indices of A"),
      values_(stream, a.values, a.nnz, "the values of A"),
      csr_{a.rows,          a.cols,         a.nnz,       row_offsets_.data(),
           columns_.data(), values_.data(), a.index_base} {
  check_columns(csr_);
}

template <class T>
RowFacts CheckedCsr<T>::facts() const {
  RowFacts facts{csr_.rows, csr_.cols, csr_.nnz};
  for (std::int64_t row = 0; row < csr_.rows; ++row)
    facts.count_row(row_offsets_[row + 1] - row_offsets_[row]);
  return facts;
}

#define LANKY_INSTANTIATE(T)   \
  template class HostArray<T>; \
  template class CheckedCsr<T>;
LANKY_FOR_EACH_ELEMENT(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse
