#include "sparse/cuda/device_csr.hpp"

#include "core/arguments.hpp"
#include "core/plan_types.hpp"
#include "sparse/errors.hpp"

namespace lanky::sparse {

namespace {

template <class T>
CsrPattern pattern_of(const CsrView<T>& a) {
  return {.rows = a.rows,
          .cols = a.cols,
          .nnz = a.nnz,
          .columns = a.col_indices,
          .index_base = a.index_base};
}

template <class Integer>
cuda::ExaminedRows examine(const Stream& stream, const Integer* offsets, const CsrPattern& a) {
  const DeviceArray<Integer> array(stream, offsets, a.rows + 1, "the row offsets of A");
  return cuda::examine_rows(stream, array.data(), a);
}

template <class T>
cuda::ExaminedRows examine_rows(const Stream& stream, const CsrView<T>& a) {
  extents_of(a).check();
  if (a.rows == 0 && a.nnz == 0) {
    cuda::ExaminedRows none{Buffer<std::int64_t>(stream, 1), {.cols = a.cols}};
    none.offsets.fill_zero();
    return none;
  }
  const void* const offsets = a.row_offsets.data();
  return a.row_offsets.wide()
             ? examine(stream, static_cast<const std::int64_t*>(offsets), pattern_of(a))
             : examine(stream, static_cast<const std::int32_t*>(offsets), pattern_of(a));
}

}  // namespace

template <class T>
DeviceArray<T>::DeviceArray(const Stream& stream, const T* data, std::int64_t count,
                            std::string_view what)
    : copy_(stream, 0), data_(data) {
  const bool remote = count > 0 && only_on_device(data);
  check_on_device(data, count, remote ? stream.device() : Device::cpu(), what);
  // Complex elements are loaded whole, to whose size a caller's pointer need not be aligned.
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % sizeof(T) == 0;
  if (count == 0 || (remote && aligned)) return;
  copy_ = Buffer<T>(stream, count);
  copy_.copy_from({data, static_cast<std::size_t>(count)});
  data_ = copy_.data();
}

template <class T>
DeviceCsr<T>::DeviceCsr(const Stream& stream, const CsrView<T>& a)
    : rows_(examine_rows(stream, a)),
      columns_(stream, a.col_indices, a.nnz, "the column indices of A"),
      values_(stream, a.values, a.nnz, "the values of A"),
      index_base_(a.index_base) {
  CsrPattern pattern = pattern_of(a);
  pattern.row_offsets = rows_.offsets.data();
  pattern.columns = columns_.data();
  cuda::check_columns(stream, pattern);
}

template <class T>
Csr<T> DeviceCsr<T>::csr() const {
  const RowFacts& rows = facts();
  return {rows.rows,       rows.cols,      rows.nnz,   rows_.offsets.data(),
          columns_.data(), values_.data(), index_base_};
}

#define LANKY_INSTANTIATE(T)     \
  template class DeviceArray<T>; \
  template class DeviceCsr<T>;
LANKY_FOR_EACH_ELEMENT(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse
