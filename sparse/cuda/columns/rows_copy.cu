#include "sparse/cuda/columns/rows_copy.hpp"

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <utility>

#include "core/plan_types.hpp"
#include "core/runtime.hpp"
#include "device/element.cuh"
#include "sparse/cuda/columns/policy.hpp"
#include "sparse/cuda/multiply/cells.cuh"
#include "sparse/cuda/multiply/wide_walk.cuh"
#include "sparse/cuda/pack/cub_memory.cuh"
#include "sparse/cuda/pack/grid.cuh"

namespace lanky::sparse::cuda {

namespace {

/// Rows of more entries are shared out: among the lanes of a warp, by the number of columns, or
/// among blocks.
struct RowLimits {
  std::int64_t of_group[kRowCounts];
  std::int64_t of_warp;
};

/// What rows come to.
struct RowTotals {
  unsigned parts;      // of blocks
  int pieces_most;     // of these
  unsigned by_blocks;  // rows
  unsigned by_warps[kRowCounts];
  Count entries;  // of rows that groups have
  Count taken;    // by groups, if each took as long as the longest of kRowsTogether
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
    list_rows_kernel(CsrPattern a, Shape shape, RowLimits limits, RowSpan* spans, RowPart* parts,
                     RowTotals* totals) {
  const std::int64_t row = thread_of_grid();
  const bool exists = row < a.rows;
  const std::int64_t first = exists ? a.row_offsets[row] : 0;
  const std::int64_t length = exists ? a.row_offsets[row + 1] - first : 0;
  if (exists) spans[row] = {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(length)};
  if (length > limits.of_warp) {
    atomicAdd(&totals->by_blocks, 1U);
    if (!is_split(length, shape)) {
      append({static_cast<std::uint32_t>(first), static_cast<std::int32_t>(length),
              static_cast<std::int32_t>(row), -1, 0},
             shape.piece_most, parts, totals);
    }
  }
  for (int i = 0; i < kRowCounts; ++i) {
    if (length > limits.of_group[i]) atomicAdd(&totals->by_warps[i], 1U);
  }
  const auto grouped =
      static_cast<std::uint32_t>(length > limits.of_group[kRowCounts - 1] ? 0 : length);
  std::uint32_t longest = grouped;
  for (int mask = 1; mask < kRowsTogether; mask *= 2)
    longest = max(longest, __shfl_xor_sync(kAllLanes, longest, mask));
  const std::int64_t sums[] = {grouped, longest};
  Count* const targets[] = {&totals->entries, &totals->taken};
  for (int i = 0; i < 2; ++i) {
    std::int64_t sum;
    device::block_exclusive_sum(sums[i], sum);
    if (threadIdx.x == 0) atomicAdd(targets[i], static_cast<Count>(sum));
  }
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

/// keys, order: [rows] the length of each row, and its number.
__global__ void __launch_bounds__(kThreads)
    list_lengths_kernel(const RowSpan* spans, std::int64_t rows, std::uint32_t* keys,
                        std::int32_t* order) {
  const std::int64_t row = thread_of_grid();
  if (row >= rows) return;
  keys[row] = spans[row].length & kRowLengthMost;
  order[row] = static_cast<std::int32_t>(row);
}

/// sorted[i] = spans[order[i]].
__global__ void __launch_bounds__(kThreads)
    order_spans_kernel(const RowSpan* spans, const std::int32_t* order, std::int64_t rows,
                       RowSpan* sorted) {
  const std::int64_t i = thread_of_grid();
  if (i < rows) sorted[i] = spans[order[i]];
}

/// A group may have a row of several pieces if that is no more than half of what each of the groups
/// that the device holds has of all entries, so that none ends long after the others: with more
/// columns, each entry takes the device longer, and a row no longer. Loads in turn of kLeast
/// entries take no longer than the kernel has to start. Cells of up to kCellsOfThread pieces are
/// added up in their order, which a group can.
RowLimits limits_of(const CsrPattern& a, const Shape& shape, const Machine& machine) {
  constexpr std::int64_t kLeast = 32;
  constexpr int kGroups = 40 * kLanes / 4;  // of a multiprocessor
  const std::int64_t share = a.nnz / (2 * std::int64_t{machine.multiprocessors} * kGroups);
  const std::int64_t piece = shape.piece_most;
  RowLimits limits{};
  limits.of_warp = std::min<std::int64_t>(kWarpPieces * piece, shape.window_cost);
  for (int i = 0; i < kRowCounts; ++i) {
    const std::int64_t least = std::max(share << i, std::max(kLeast, piece));
    limits.of_group[i] = std::min({least, kCellsOfThread * piece, limits.of_warp});
  }
  return limits;
}

/// Rows in the order of their lengths, longest first.
template <class T>
void sort_rows(const Stream& stream, RowsCopy<T>& copy, Allocator* allocator) {
  const std::int64_t rows = copy.spans.size();
  Buffer<std::uint32_t> keys(stream, rows);
  Buffer<std::uint32_t> sorted_keys(stream, rows);
  Buffer<std::int32_t> numbers(stream, rows);
  Buffer<std::int32_t> order(stream, rows, allocator);
  Buffer<RowSpan> sorted(stream, rows, allocator);
  launch(stream, "list_lengths_kernel", list_lengths_kernel, blocks_of(rows), copy.spans.data(),
         rows, keys.data(), numbers.data());
  const auto sort = [&](void* memory, std::size_t& bytes) {
    constexpr int kBits = 31;
    return cub::DeviceRadixSort::SortPairsDescending(memory, bytes, keys.data(), sorted_keys.data(),
                                                     numbers.data(), order.data(), rows, 0, kBits,
                                                     stream.native());
  };
  with_cub_memory(stream, "cub::DeviceRadixSort::SortPairsDescending", sort);
  launch(stream, "order_spans_kernel", order_spans_kernel, blocks_of(rows), copy.spans.data(),
         order.data(), rows, sorted.data());
  copy.spans = std::move(sorted);
  copy.order = std::move(order);
}

}  // namespace

template <class T>
std::optional<RowsCopy<T>> copy_rows(const Stream& stream, const Csr<T>& a,
                                     const PackedMatrix<T>& packed, Allocator* allocator) {
  const PackedHeader& header = packed.header;
  const Shape& shape = header.shape;
  const Machine& machine = machine_of(stream.device());
  if (a.nnz > std::int64_t{kRowLengthMost}) return std::nullopt;
  const RowLimits limits = limits_of(a.pattern(), shape, machine);
  Buffer<RowSpan> spans(stream, a.rows, allocator);
  Buffer<RowTotals> totals(stream, 1);
  const auto list = [&](RowSpan* rows, RowPart* parts) {
    totals.fill_zero();
    if (a.rows > 0) {
      launch(stream, "list_rows_kernel", list_rows_kernel, blocks_of(a.rows), a.pattern(), shape,
             limits, rows, parts, totals.data());
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
                   Buffer<std::int32_t>(stream, 0),
                   Buffer<std::int32_t>(stream, a.nnz, allocator),
                   Buffer<T>(stream, a.nnz, allocator),
                   Buffer<RowPart>(stream, found.parts, allocator),
                   found.pieces_most,
                   found.by_blocks};
  std::copy_n(found.by_warps, kRowCounts, copy.by_warps);
  if (found.parts > 0) list(copy.spans.data(), copy.of_blocks.data());
  // Groups that end together, or rows beside each other: whichever is worth more.
  constexpr double kUneven = 1.5;
  const bool uneven =
      static_cast<double>(found.taken) > kUneven * static_cast<double>(found.entries);
  if (found.by_warps[0] > 0 || uneven) sort_rows(stream, copy, allocator);
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
