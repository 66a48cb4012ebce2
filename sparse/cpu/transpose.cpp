// The transpose of a CSR matrix: its entries counted by columns, then put there in their order.
#include <algorithm>
#include <lanky/dtype.hpp>
#include <numeric>

#include "core/plan_types.hpp"
#include "sparse/backend.hpp"

namespace lanky::sparse::cpu {

template <class T>
void gather_values(const std::uint32_t* entries, std::int64_t count, bool conjugated,
                   const T* source, T* target) {
  for (std::int64_t i = 0; i < count; ++i) {
    target[i] = source[entries[i]];
    if constexpr (is_complex(kDType<T>)) {
      if (conjugated) target[i] = std::conj(target[i]);
    }
  }
}

template <class T>
TransposedCsr<T> transpose(const Stream& stream, const Csr<T>& a, bool conjugated,
                           Allocator* allocator) {
  TransposedCsr<T> transposed(stream, a);
  transposed.entries = Buffer<std::uint32_t>(stream, a.nnz, allocator);
  std::int64_t* const offsets = transposed.row_offsets.data();
  std::fill(offsets, offsets + a.cols + 1, std::int64_t{0});
  for (std::int64_t entry = 0; entry < a.nnz; ++entry)
    ++offsets[a.columns[entry] - a.index_base + 1];
  std::partial_sum(offsets, offsets + a.cols + 1, offsets);
  for (std::int64_t column = 0; column < a.cols; ++column) {
    const std::int64_t length = offsets[column + 1] - offsets[column];
    transposed.facts.longest = std::max(transposed.facts.longest, length);
    transposed.facts.empty += length == 0 ? 1 : 0;
  }
  std::vector<std::int64_t> next(offsets, offsets + a.cols);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t entry = a.row_offsets[row]; entry < a.row_offsets[row + 1]; ++entry) {
      const std::int64_t place = next[a.columns[entry] - a.index_base]++;
      transposed.columns.data()[place] = static_cast<std::int32_t>(row);
      transposed.entries.data()[place] = static_cast<std::uint32_t>(entry);
    }
  }
  gather_values(transposed.entries.data(), a.nnz, conjugated, a.values, transposed.values.data());
  return transposed;
}

#define LANKY_INSTANTIATE(T)                                                           \
  template void gather_values(const std::uint32_t*, std::int64_t, bool, const T*, T*); \
  template TransposedCsr<T> transpose(const Stream&, const Csr<T>&, bool, Allocator*);
LANKY_FOR_EACH_ELEMENT(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cpu
