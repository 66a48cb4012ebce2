#include "sparse/cuda/columns/rows_copy.hpp"

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <utility>

#include "core/plan_types.hpp"
#include "core/runtime.hpp"
#include "device/element.cuh"
#include "sparse/cuda/columns/policy.hpp"
#include "sparse/cuda/columns/strip.hpp"
#include "sparse/cuda/multiply/cells.cuh"
#include "sparse/cuda/multiply/wide_walk.cuh"
#include "sparse/cuda/pack/cub_memory.cuh"
#include "sparse/cuda/pack/grid.cuh"

namespace lanky::sparse::cuda {

namespace {

static_assert(group_most({.piece_most = 4, .window_cost = 1 << 16}) == 4 * kCellsOfThread);

/// What rows come to.
struct RowTotals {
  unsigned parts;      // of blocks
  int pieces_most;     // of these
  unsigned by_blocks;  // rows
  unsigned too_many;   // rows of more pieces than a group adds up
  RowLengths lengths;
};

/// What groups have: entries, and as many if each group took as long as the longest of
/// kRowsTogether.
struct GroupTotals {
  Count entries;
  Count taken;
};
constexpr int kRowsTogether = 16;

/// `parts`: nullptr while they are counted.
__device__ void append(const RowPart& part, int piece_most, RowPart* parts, RowTotals* totals) {
  const unsigned place = atomicAdd(&totals->parts, 1U);
  if (parts != nullptr) parts[place] = part;
  atomicMax(&totals->pieces_most, pieces_of(part.length, piece_most));
}

/// spans: [rows], in their own order, and the parts of rows that blocks have and that are not
/// split. A thread a row.
__global__ void __launch_bounds__(kThreads)
    list_rows_kernel(CsrPattern a, Shape shape, RowSpan* spans, RowPart* parts, RowTotals* totals) {
  __shared__ unsigned rows[kRowLengths];
  __shared__ Count entries[kRowLengths];
  for (int i = thread_of_block(); i < kRowLengths; i += kThreads) {
    rows[i] = 0;
    entries[i] = 0;
  }
  __syncthreads();  // before any is counted
  const std::int64_t row = thread_of_grid();
  if (row < a.rows) {
    const std::int64_t first = a.row_offsets[row];
    const std::int64_t length = a.row_offsets[row + 1] - first;
    spans[row] = {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(length)};
    const int place = length > 1 ? 32 - __clz(static_cast<int>(length - 1)) : 0;
    atomicAdd(rows + place, 1U);
    atomicAdd(entries + place, static_cast<Count>(length));
    if (length > group_most(shape)) atomicAdd(&totals->too_many, 1U);
    if (length > warp_most(shape)) {
      atomicAdd(&totals->by_blocks, 1U);
      if (!is_split(length, shape)) {
        append({static_cast<std::uint32_t>(first), static_cast<std::int32_t>(length),
                static_cast<std::int32_t>(row), -1, 0},
               shape.piece_most, parts, totals);
      }
    }
  }
  __syncthreads();  // all are counted
  for (int i = thread_of_block(); i < kRowLengths; i += kThreads) {
    if (rows[i] == 0) continue;
    atomicAdd(totals->lengths.rows + i, rows[i]);
    atomicAdd(totals->lengths.entries + i, entries[i]);
  }
}

/// Of rows of at most `limit` entries. A thread a row.
__global__ void __launch_bounds__(kThreads)
    compare_rows_kernel(const RowSpan* spans, std::int64_t rows, std::uint32_t limit,
                        GroupTotals* totals) {
  const std::int64_t row = thread_of_grid();
  const std::uint32_t length = row < rows ? spans[row].length & kRowLengthMost : 0;
  const std::uint32_t grouped = length <= limit ? length : 0;
  std::uint32_t longest = grouped;
  for (int mask = 1; mask < kRowsTogether; mask *= 2)
    longest = max(longest, __shfl_xor_sync(kAllLanes, longest, mask));
  std::int64_t entries;
  std::int64_t taken;
  device::block_exclusive_sum(std::int64_t{grouped}, entries);
  device::block_exclusive_sum(std::int64_t{longest}, taken);
  if (threadIdx.x > 0) return;
  atomicAdd(&totals->entries, static_cast<Count>(entries));
  atomicAdd(&totals->taken, static_cast<Count>(taken));
}

/// Marks the rows to whose sums one vector's product adds 0: those of windows that cut rows, and
/// pieces of wide slices that are shorter than the steps that WideWalk takes. Lists the parts of
/// split rows. A block a window.
template <class E>
__global__ void __launch_bounds__(kThreads)
    mark_rows_kernel(PatternView a, const std::int64_t* row_offsets, RowSpan* spans, RowPart* parts,
                     RowTotals* totals) {
  const Window& window = a.windows[blockIdx.x];
  if (window.partial >= 0) {
    if (threadIdx.x > 0) return;
    const std::int64_t left = row_offsets[window.first_row + 1] - window.first_entry;
    const auto length =
        static_cast<std::int32_t>(min(left, std::int64_t{a.header.shape.window_cost}));
    append({static_cast<std::uint32_t>(window.first_entry), length, window.first_row,
            window.partial, window.split},
           a.header.shape.piece_most, parts, totals);
    return;
  }
  if (window.first_row_cell >= 0) {
    for (int row = thread_of_block(); row < window.rows; row += threads_of_block())
      spans[window.first_row + row].length |= kZeroAdded;
    return;
  }
  for (int i = warp_of_block(); i < window.slices; i += warps_of_block()) {
    const Slice& slice = a.slices[std::int64_t{blockIdx.x} * a.header.slices_most + i];
    if (!is_wide(slice) || slice.shortest == slice.depth) continue;
    const auto steps = static_cast<int>(round_up(slice.depth, kRaggedSteps<E>));
    for (int piece = lane_of_warp(); piece < slice.width; piece += kLanes) {
      if (a.length_of(window, slice, piece) < steps)
        spans[window.first_row + a.cell_of(window, slice, piece)].length |= kZeroAdded;
    }
  }
}

/// columns[i] = a.columns[i], zero-based.
__global__ void __launch_bounds__(kThreads)
    copy_columns_kernel(CsrPattern a, std::int32_t* columns) {
  for (std::int64_t i = thread_of_grid(); i < a.nnz; i += threads_of_grid())
    columns[i] = a.columns[i] - a.index_base;
}

/// keys, order: [rows] what rows are sorted by, and their numbers: those of more than `limit`
/// entries by their lengths, longest first; the others likewise, or as they stand.
__global__ void __launch_bounds__(kThreads)
    list_keys_kernel(const RowSpan* spans, std::int64_t rows, std::uint32_t limit,
                     std::uint32_t* keys, std::int32_t* order) {
  const std::int64_t row = thread_of_grid();
  if (row >= rows) return;
  const std::uint32_t length = spans[row].length & kRowLengthMost;
  keys[row] = kRowLengthMost - (length > limit ? length : 0);
  order[row] = static_cast<std::int32_t>(row);
}

/// sorted[i] = spans[order[i]].
__global__ void __launch_bounds__(kThreads)
    order_spans_kernel(const RowSpan* spans, const std::int32_t* order, std::int64_t rows,
                       RowSpan* sorted) {
  const std::int64_t i = thread_of_grid();
  if (i < rows) sorted[i] = spans[order[i]];
}

/// Rows of more than `limit` entries, which is group_most() or a power of two.
unsigned rows_above(const RowTotals& totals, std::int64_t limit, const Shape& shape) {
  if (limit == group_most(shape)) return totals.too_many;
  unsigned rows = 0;
  for (int i = 0; i < kRowLengths; ++i) {
    if (std::int64_t{1} << i > limit) rows += totals.lengths.rows[i];
  }
  return rows;
}

/// Rows of more than `limit` entries first, longest first.
template <class T>
void sort_rows(const Stream& stream, std::int64_t limit, RowsCopy<T>& copy, Allocator* allocator) {
  const std::int64_t rows = copy.spans.size();
  Buffer<std::uint32_t> keys(stream, rows);
  Buffer<std::uint32_t> sorted_keys(stream, rows);
  Buffer<std::int32_t> numbers(stream, rows);
  Buffer<std::int32_t> order(stream, rows, allocator);
  Buffer<RowSpan> sorted(stream, rows, allocator);
  launch(stream, "list_keys_kernel", list_keys_kernel, blocks_of(rows), copy.spans.data(), rows,
         static_cast<std::uint32_t>(limit), keys.data(), numbers.data());
  const auto sort = [&](void* memory, std::size_t& bytes) {
    constexpr int kBits = 31;
    return cub::DeviceRadixSort::SortPairs(memory, bytes, keys.data(), sorted_keys.data(),
                                           numbers.data(), order.data(), rows, 0, kBits,
                                           stream.native());
  };
  with_cub_memory(stream, "cub::DeviceRadixSort::SortPairs", sort);
  launch(stream, "order_spans_kernel", order_spans_kernel, blocks_of(rows), copy.spans.data(),
         order.data(), rows, sorted.data());
  copy.sorted = std::move(sorted);
  copy.order = std::move(order);
}

/// Whether groups of rows beside each other would wait for the longest of them.
template <class T>
bool is_uneven(const Stream& stream, std::int64_t limit, const RowsCopy<T>& copy) {
  constexpr double kUneven = 1.5;
  const std::int64_t rows = copy.spans.size();
  Buffer<GroupTotals> totals(stream, 1);
  totals.fill_zero();
  if (rows > 0) {
    launch(stream, "compare_rows_kernel", compare_rows_kernel, blocks_of(rows), copy.spans.data(),
           rows, static_cast<std::uint32_t>(limit), totals.data());
  }
  const GroupTotals found = to_host(stream, totals.data());
  return static_cast<double>(found.taken) > kUneven * static_cast<double>(found.entries);
}

}  // namespace

template <class T>
std::optional<RowsCopy<T>> copy_rows(const Stream& stream, const Csr<T>& a,
                                     const PackedMatrix<T>& packed, Allocator* allocator) {
  const PackedHeader& header = packed.header;
  const Shape& shape = header.shape;
  const Machine& machine = machine_of(stream.device());
  if (a.nnz > std::int64_t{kRowLengthMost}) return std::nullopt;
  Buffer<RowSpan> spans(stream, a.rows, allocator);
  Buffer<RowTotals> totals(stream, 1);
  const auto list = [&](RowSpan* rows, RowPart* parts) {
    totals.fill_zero();
    if (a.rows > 0) {
      launch(stream, "list_rows_kernel", list_rows_kernel, blocks_of(a.rows), a.pattern(), shape,
             rows, parts, totals.data());
    }
    if (header.windows > 0) {
      launch(stream, "mark_rows_kernel", mark_rows_kernel<device::DeviceElement<T>>,
             static_cast<unsigned>(header.windows), packed.view(), a.row_offsets, rows, parts,
             totals.data());
    }
    return to_host(stream, totals.data());
  };
  const RowTotals found = list(spans.data(), nullptr);
  if (shared_of_parts(found.pieces_most, kDType<T>) > machine.shared_bytes_per_block)
    return std::nullopt;
  RowsCopy<T> copy{std::move(spans),
                   Buffer<RowSpan>(stream, 0),
                   Buffer<std::int32_t>(stream, 0),
                   Buffer<std::int32_t>(stream, a.nnz, allocator),
                   Buffer<T>(stream, a.nnz, allocator),
                   Buffer<RowPart>(stream, found.parts, allocator),
                   found.pieces_most,
                   found.by_blocks};
  if (found.parts > 0) list(copy.spans.data(), copy.of_blocks.data());
  std::int64_t least = group_most(shape);
  for (int i = 0; i < kRowCounts; ++i) {
    const std::int64_t limit = group_limit(found.lengths, shape, 4 << i, machine);
    copy.by_warps[i] = rows_above(found, limit, shape);
    copy.of_group_most[i] = static_cast<std::uint32_t>(limit);
    least = std::min(least, limit);
  }
  const bool uneven = is_uneven(stream, least, copy);
  if (uneven || rows_above(found, least, shape) > 0)
    sort_rows(stream, uneven ? 0 : least, copy, allocator);
  if (a.nnz > 0) {
    launch(stream, "copy_columns_kernel", copy_columns_kernel, blocks_of(a.nnz), a.pattern(),
           copy.columns.data());
  }
  update_rows(stream, copy, a.values);
  return copy;
}

template <class T>
void update_rows(const Stream& stream, const RowsCopy<T>& copy, const T* values) {
  const std::int64_t bytes = copy.values.size() * static_cast<std::int64_t>(sizeof(T));
  if (bytes == 0) return;
  runtime::copy(copy.values.data(), values, bytes, stream.native(), stream.device().index());
}

#define LANKY_INSTANTIATE(T)                                                         \
  template std::optional<RowsCopy<T>> copy_rows(const Stream&, const Csr<T>&,        \
                                                const PackedMatrix<T>&, Allocator*); \
  template void update_rows(const Stream&, const RowsCopy<T>&, const T*);
LANKY_FOR_EACH_ELEMENT(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cuda
