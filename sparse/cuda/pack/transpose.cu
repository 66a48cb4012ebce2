// Matrices made of A's entries: the transpose, by a stable sort of entries by columns; and what a
// triangle expands to, each row a part of it and a part of its transpose. Sorting takes 16 bytes an
// entry of A, expanding 28 in all.
#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <utility>

#include "core/plan_types.hpp"
#include "device/element.cuh"
#include "sparse/cuda/pack/cub_memory.cuh"
#include "sparse/cuda/pack/grid.cuh"
#include "sparse/cuda/steps.hpp"
#include "sparse/errors.hpp"

namespace lanky::sparse::cuda {

namespace {

constexpr int kEntriesPerThread = 8;
constexpr int kBlockEntries = kThreads * kEntriesPerThread;

/// keys, entries: [nnz] the column of each entry, zero-based, and its number
__global__ void __launch_bounds__(kThreads)
    list_entries_kernel(CsrPattern a, std::uint32_t* keys, std::uint32_t* entries) {
  const std::int64_t i = thread_of_grid();
  if (i >= a.nnz) return;
  keys[i] = static_cast<std::uint32_t>(a.columns[i] - a.index_base);
  entries[i] = static_cast<std::uint32_t>(i);
}

/// offsets: [cols + 1] first of the sorted keys that is not below each column
__global__ void __launch_bounds__(kThreads)
    find_offsets_kernel(const std::uint32_t* keys, std::int64_t nnz, std::int64_t cols,
                        std::int64_t* offsets) {
  const std::int64_t column = thread_of_grid();
  if (column > cols) return;
  std::int64_t first = 0;
  std::int64_t end = nnz;
  while (first < end) {
    const std::int64_t middle = (first + end) / 2;
    if (keys[middle] < column) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  offsets[column] = first;
}

/// rows: [nnz] the row of each entry. A block looks up the rows of its first and last entry;
/// threads look between them.
__global__ void __launch_bounds__(kThreads)
    expand_rows_kernel(const std::int64_t* offsets, std::int64_t row_count, std::int64_t nnz,
                       std::int32_t* rows) {
  __shared__ std::int64_t ends[2];
  const std::int64_t first = std::int64_t{blockIdx.x} * kBlockEntries;
  const std::int64_t last = min(first + kBlockEntries, nnz) - 1;
  if (threadIdx.x < 2)
    ends[threadIdx.x] =
        row_of(offsets, std::int64_t{0}, row_count, threadIdx.x == 0 ? first : last);
  __syncthreads();  // both rows are there
  for (std::int64_t i = first + threadIdx.x; i <= last; i += kThreads)
    rows[i] = static_cast<std::int32_t>(row_of(offsets, ends[0], ends[1] + 1, i));
}

template <class E>
__device__ E negative(E value) {
  return -value;
}
template <class Real>
__device__ device::Complex<Real> negative(device::Complex<Real> value) {
  return {-value.re, -value.im};
}

template <class E>
__global__ void __launch_bounds__(kThreads)
    gather_kernel(ValueMap map, const E* source, E* target) {
  const std::int64_t i = thread_of_grid();
  if (i >= map.count) return;
  const std::uint32_t entry = map.entries[i];
  const E value = device::conjugate_if(map.conjugates(entry), source[map.number(entry)]);
  target[i] = map.negates(entry) ? negative(value) : value;
}

template <class E>
void launch_gather(const Stream& stream, const ValueMap& map, const E* source, E* target) {
  if (map.count == 0) return;
  launch(stream, "gather_kernel", gather_kernel<E>, blocks_of(map.count), map, source, target);
}

/// Two arrays between which a sort goes back and forth.
struct SortArrays {
  SortArrays(const Stream& stream, std::int64_t count, Allocator* allocator)
      : first(stream, count, allocator),
        second(stream, count, allocator),
        both(first.data(), second.data()) {}
  /// The one that holds what is sorted.
  Buffer<std::uint32_t> take() {
    return std::move(both.Current() == first.data() ? first : second);
  }

  Buffer<std::uint32_t> first;
  Buffer<std::uint32_t> second;
  cub::DoubleBuffer<std::uint32_t> both;
};

void sort(const Stream& stream, SortArrays& keys, SortArrays& entries, std::int64_t count,
          std::int64_t cols) {
  const int bits = std::bit_width(static_cast<std::uint64_t>(cols));
  with_cub_memory(stream, "cub::DeviceRadixSort::SortPairs", [&](void* memory, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(memory, bytes, keys.both, entries.both, count, 0, bits,
                                           stream.native());
  });
}

/// offsets: [cols + 1] of the transpose; the numbers of its entries, in memory of `allocator`.
Buffer<std::uint32_t> sort_entries(const Stream& stream, const CsrPattern& a, std::int64_t* offsets,
                                   Allocator* allocator) {
  SortArrays keys(stream, a.nnz, nullptr);
  SortArrays entries(stream, a.nnz, allocator);
  if (a.nnz > 0) {
    launch(stream, "list_entries_kernel", list_entries_kernel, blocks_of(a.nnz), a,
           keys.first.data(), entries.first.data());
    sort(stream, keys, entries, a.nnz, a.cols);
  }
  launch(stream, "find_offsets_kernel", find_offsets_kernel, blocks_of(a.cols + 1),
         keys.both.Current(), a.nnz, a.cols, offsets);
  return entries.take();
}

/// [nnz] the row of each entry, of which there are some.
Buffer<std::int32_t> rows_of_entries(const Stream& stream, const CsrPattern& a) {
  Buffer<std::int32_t> rows(stream, a.nnz);
  launch(stream, "expand_rows_kernel", expand_rows_kernel, blocks_of(a.nnz, kBlockEntries),
         a.row_offsets, a.rows, a.nnz, rows.data());
  return rows;
}

/// Of the first entry on each side of the diagonal, its distance from the end; 0 where there is
/// none.
struct Sides {
  std::uint32_t below;
  std::uint32_t above;
};

/// off_diagonal: [nnz + 1] 1 for an entry off the diagonal, else 0; the last is 0
__global__ void __launch_bounds__(kThreads)
    examine_triangle_kernel(CsrPattern a, const std::int32_t* rows, std::uint32_t* off_diagonal,
                            Sides* sides) {
  std::uint32_t below = 0;
  std::uint32_t above = 0;
  const std::int64_t first = thread_of_grid();
  for (std::int64_t i = first; i < a.nnz; i += threads_of_grid()) {
    const std::int32_t row = rows[i];
    const std::int32_t column = a.columns[i] - a.index_base;
    const auto from_end = static_cast<std::uint32_t>(a.nnz - i);
    if (column < row) below = max(below, from_end);
    if (column > row) above = max(above, from_end);
    off_diagonal[i] = column != row ? 1 : 0;
  }
  if (first == 0) off_diagonal[a.nnz] = 0;
  below = __reduce_max_sync(0xffffffffU, below);
  above = __reduce_max_sync(0xffffffffU, above);
  if (threadIdx.x % 32 != 0) return;
  if (below > 0) atomicMax(&sides->below, below);
  if (above > 0) atomicMax(&sides->above, above);
}

EntryPlace place_of(const Stream& stream, const CsrPattern& a, const std::int32_t* rows,
                    std::int64_t entry) {
  return {entry, to_host(stream, rows + entry), to_host(stream, a.columns + entry) - a.index_base};
}

/// Whether no entry is above the diagonal; throws Error where there are entries on both sides.
/// off_diagonal: [nnz + 1] how many of the entries before each are off the diagonal
bool examine_triangle(const Stream& stream, const CsrPattern& a, const std::int32_t* rows,
                      std::uint32_t* off_diagonal) {
  Buffer<Sides> sides(stream, 1);
  sides.fill_zero();
  launch(stream, "examine_triangle_kernel", examine_triangle_kernel,
         blocks_at_most(blocks_of(a.nnz)), a, rows, off_diagonal, sides.data());
  const Sides found = to_host(stream, sides.data());
  if (found.below > 0 && found.above > 0) {
    throw_both_sides(a, place_of(stream, a, rows, a.nnz - found.below),
                     place_of(stream, a, rows, a.nnz - found.above));
  }
  with_cub_memory(stream, "cub::DeviceScan::ExclusiveSum", [&](void* memory, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(memory, bytes, off_diagonal, off_diagonal, a.nnz + 1,
                                         stream.native());
  });
  return found.above == 0;
}

/// A triangle about to be expanded. A row of the result is the given entries off the diagonal, then
/// the row of the transpose; of an upper triangle it is the other way round. So given entries move
/// by what the transpose has before them, and entries of the transpose by given ones.
struct Expansion {
  CsrPattern a;
  bool lower;
  TriangleMarks marks;
  const std::int32_t* rows;                // [a.nnz] of the entries
  const std::uint32_t* off_diagonal;       // [a.nnz + 1] of the entries before each
  const std::int64_t* transposed_offsets;  // [a.rows + 1]
  const std::uint32_t* transposed;         // [a.nnz] numbers of the entries of the transpose

  __device__ std::int64_t given_before(std::int64_t row) const {
    return off_diagonal[a.row_offsets[row]];
  }
};

/// offsets: [rows + 1] of the result
__global__ void __launch_bounds__(kThreads)
    expand_offsets_kernel(Expansion expansion, std::int64_t* offsets) {
  const std::int64_t row = thread_of_grid();
  if (row > expansion.a.rows) return;
  offsets[row] = expansion.given_before(row) + expansion.transposed_offsets[row];
}

/// columns, entries: of the result. A thread puts an entry of A and one of the transpose.
__global__ void __launch_bounds__(kThreads)
    expand_entries_kernel(Expansion expansion, std::int32_t* columns, std::uint32_t* entries) {
  const std::int64_t i = thread_of_grid();
  const CsrPattern& a = expansion.a;
  if (i >= a.nnz) return;
  const std::int32_t row = expansion.rows[i];
  const std::int32_t column = a.columns[i] - a.index_base;
  if (column != row) {
    const std::int64_t place =
        expansion.off_diagonal[i] + expansion.transposed_offsets[row + (expansion.lower ? 0 : 1)];
    columns[place] = column;
    entries[place] = static_cast<std::uint32_t>(i) | expansion.marks.given;
  }
  const std::uint32_t entry = expansion.transposed[i];
  const std::int32_t mirrored_row = a.columns[entry] - a.index_base;
  const std::int32_t mirrored_column = expansion.rows[entry];
  const std::int64_t place = i + expansion.given_before(mirrored_row + (expansion.lower ? 1 : 0));
  columns[place] = mirrored_column;
  entries[place] = entry | (mirrored_column == mirrored_row ? 0 : expansion.marks.mirrored);
}

}  // namespace

template <class T>
void gather_values(const Stream& stream, const ValueMap& map, const T* source, T* target) {
  launch_gather(stream, map, device::device_pointer(source), device::device_pointer(target));
}

Arrangement transpose(const Stream& stream, const CsrPattern& a, Allocator* allocator) {
  Buffer<std::int64_t> offsets(stream, a.cols + 1);
  Buffer<std::uint32_t> entries = sort_entries(stream, a, offsets.data(), allocator);
  Buffer<std::int32_t> columns(stream, a.nnz);
  if (a.nnz > 0) {
    const ValueMap map{entries.data(), a.nnz, Symmetry::general, false};
    launch_gather(stream, map, rows_of_entries(stream, a).data(), columns.data());
  }
  const RowFacts facts =
      examine_rows(stream, offsets.data(), {.rows = a.cols, .cols = a.rows, .nnz = a.nnz}).facts;
  return {facts, std::move(offsets), std::move(columns), std::move(entries)};
}

Arrangement expand(const Stream& stream, const CsrPattern& a, const TriangleMarks& marks,
                   Allocator* allocator) {
  if (a.nnz == 0) return transpose(stream, a, allocator);
  Buffer<std::int32_t> rows = rows_of_entries(stream, a);
  Buffer<std::uint32_t> off_diagonal(stream, a.nnz + 1);
  const bool lower = examine_triangle(stream, a, rows.data(), off_diagonal.data());
  Buffer<std::int64_t> transposed_offsets(stream, a.rows + 1);
  const Buffer<std::uint32_t> transposed =
      sort_entries(stream, a, transposed_offsets.data(), nullptr);
  const Expansion expansion{.a = a,
                            .lower = lower,
                            .marks = marks,
                            .rows = rows.data(),
                            .off_diagonal = off_diagonal.data(),
                            .transposed_offsets = transposed_offsets.data(),
                            .transposed = transposed.data()};
  const std::int64_t nnz = a.nnz + to_host(stream, off_diagonal.data() + a.nnz);
  Buffer<std::int64_t> offsets(stream, a.rows + 1);
  Buffer<std::int32_t> columns(stream, nnz);
  Buffer<std::uint32_t> entries(stream, nnz, allocator);
  launch(stream, "expand_offsets_kernel", expand_offsets_kernel, blocks_of(a.rows + 1), expansion,
         offsets.data());
  launch(stream, "expand_entries_kernel", expand_entries_kernel, blocks_of(a.nnz), expansion,
         columns.data(), entries.data());
  const RowFacts facts =
      examine_rows(stream, offsets.data(), {.rows = a.rows, .cols = a.cols, .nnz = nnz}).facts;
  return {facts, std::move(offsets), std::move(columns), std::move(entries)};
}

#define LANKY_INSTANTIATE(T) \
  template void gather_values(const Stream&, const ValueMap&, const T*, T*);
LANKY_FOR_EACH_ELEMENT(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cuda
