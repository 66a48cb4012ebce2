#include "sparse/load.hpp"

#include <utility>

#include "core/arguments.hpp"
#include "core/plan_types.hpp"
#include "core/text.hpp"
#include "sparse/errors.hpp"
#include "sparse/load_pattern.hpp"

namespace lanky::sparse {

namespace {

template <class Integer>
ExaminedRows rows_at(const Stream& stream, const Integer* offsets, const CsrPattern& a,
                     const Examination& examine) {
  const LoadedArray<Integer> array(stream, offsets, a.rows + 1, "the row offsets of A");
  return examine.rows(stream, array.data(), a);
}

ExaminedRows rows_of(const Stream& stream, const RowOffsets& offsets, const CsrPattern& a,
                     const Examination& examine) {
  check_extents(a);
  if (a.rows == 0 && a.nnz == 0) {
    ExaminedRows none{Buffer<std::int64_t>(stream, 1), {.cols = a.cols}};
    none.offsets.fill_zero();
    return none;
  }
  return offsets.wide()
             ? rows_at(stream, static_cast<const std::int64_t*>(offsets.data()), a, examine)
             : rows_at(stream, static_cast<const std::int32_t*>(offsets.data()), a, examine);
}

/// Columns are looked at once the row offsets have confirmed nnz.
struct PatternArrays {
  ExaminedRows rows;
  LoadedArray<std::int32_t> columns;  // [nnz]
};

}  // namespace

template <class T>
LoadedArray<T>::LoadedArray(const Stream& stream, const T* data, std::int64_t count,
                            std::string_view what)
    : copy_(stream, 0), data_(data) {
  const bool remote = count > 0 && only_on_device(data);
  check_on_device(data, count, remote ? stream.device() : Device::cpu(), what);
  if (count == 0 || !stream.device().is_cuda()) return;
  // Complex elements are loaded whole, to whose size a caller's pointer need not be aligned.
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % sizeof(T) == 0;
  if (remote && aligned) return;
  refuse_capture(stream,
                 concat("the copy of ", what, " from ", remote ? "an odd address" : "host memory"));
  copy_ = Buffer<T>(stream, count);
  copy_.copy_from({data, static_cast<std::size_t>(count)});
  data_ = copy_.data();
}

LoadedPattern load_pattern(const Stream& stream, const CsrPattern& extents,
                           const RowOffsets& offsets, const std::int32_t* columns,
                           const Examination& examine) {
  const auto arrays = std::make_shared<const PatternArrays>(
      PatternArrays{rows_of(stream, offsets, extents, examine),
                    {stream, columns, extents.nnz, "the column indices of A"}});
  CsrPattern pattern = extents;
  pattern.row_offsets = arrays->rows.offsets.data();
  pattern.columns = arrays->columns.data();
  examine.columns(stream, pattern);
  return {pattern, arrays->rows.facts, arrays};
}

template <class T>
LoadedCsr<T> load(const Stream& stream, const CsrView<T>& a, const Examination& examine) {
  using Arrays = std::pair<LoadedPattern, LoadedArray<T>>;
  LoadedPattern loaded = load_pattern(stream, extents_of(a), a.row_offsets, a.col_indices, examine);
  const auto arrays = std::make_shared<const Arrays>(
      std::move(loaded), LoadedArray<T>(stream, a.values, a.nnz, "the values of A"));
  const CsrPattern& pattern = arrays->first.pattern;
  const Csr<T> csr{.rows = a.rows,
                   .cols = a.cols,
                   .nnz = a.nnz,
                   .row_offsets = pattern.row_offsets,
                   .columns = pattern.columns,
                   .values = arrays->second.data(),
                   .index_base = a.index_base};
  return {csr, arrays->first.facts, arrays};
}

#define LANKY_INSTANTIATE(T)     \
  template class LoadedArray<T>; \
  template LoadedCsr<T> load(const Stream&, const CsrView<T>&, const Examination&);
LANKY_FOR_EACH_ELEMENT(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse
