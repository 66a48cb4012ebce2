#include "sparse/cuda/columns/rows_copy.hpp"

#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <utility>

#include "core/plan_types.hpp"
#include "core/runtime.hpp"
#include "device/element.cuh"
#include "sparse/cuda/columns/block_lengths.cuh"
#include "sparse/cuda/columns/policy.hpp"
#include "sparse/cuda/columns/row_sharing.hpp"
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

__device__ void append(const RowPart& part, int piece_most, RowPart* parts, RowTotals* totals) {
  parts[atomicAdd(&totals->parts, 1U)] = part;
  atomicMax(&totals->pieces_most, pieces_of(part.length, piece_most));
}

/// spans: [rows], in their own order, and the parts of rows that blocks have and that are not
/// split. A thread a row.
__global__ void __launch_bounds__(kThreads)
    list_rows_kernel(CsrPattern a, Shape shape, GroupLimits limits, RowSpan* spans, RowPart* parts,
                     RowTotals* totals) {
  __shared__ BlockLengths of_block;
  of_block.clear();
  __syncthreads();  // before any is counted
  const std::int64_t row = thread_of_grid();
  const std::int64_t first = row < a.rows ? a.row_offsets[row] : 0;
  const std::int64_t length = row < a.rows ? a.row_offsets[row + 1] - first : 0;
  of_block.add(row < a.rows, static_cast<std::uint32_t>(length), limits);
  if (row < a.rows) {
    spans[row] = {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(length)};
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
  of_block.add_to(totals->lengths);
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

/// What rows are sorted by: those of more than `limit` entries come first, longest first, then the
/// others, those of 2^window_bits rows beside each other likewise.
struct RowOrder {
  std::uint32_t limit;
  int window_bits;  // 0: the others stay as they stand
  int length_bits;  // of `limit`; 0 likewise
};

/// keys, order: [rows] what rows are sorted by, and their numbers.
__global__ void __launch_bounds__(kThreads)
    list_keys_kernel(const RowSpan* spans, std::int64_t rows, RowOrder by, std::uint32_t* keys,
                     std::int32_t* order) {
  constexpr std::uint32_t kOthers = std::uint32_t{1} << 31;
  const std::int64_t row = thread_of_grid();
  if (row >= rows) return;
  const std::uint32_t length = spans[row].length & kRowLengthMost;
  const auto window = static_cast<std::uint32_t>(row >> by.window_bits);
  const std::uint32_t shorter = by.length_bits > 0 ? by.limit - length : 0;
  keys[row] =
      length > by.limit ? kRowLengthMost - length : kOthers | window << by.length_bits | shorter;
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

/// How rows are sorted, of which groups have those of up to `limit` entries. Uneven ones longest
/// first, so that neither a warp nor the device waits for the last; where X does not fit in the L2,
/// but what rows beside each other reach of it does, only as many of them as this is true of.
RowOrder order_of(const RowFacts& facts, std::uint32_t limit, bool uneven, std::int64_t row_bytes,
                  const Machine& machine) {
  if (!uneven) return {limit, 0, 0};
  constexpr int kKeyBits = 31;
  // Of the L2, for the rows of X that are reached at once; nothing was fitted to it.
  constexpr double kShare = 0.25;
  const double held =
      kShare * static_cast<double>(machine.second_cache_bytes) / static_cast<double>(row_bytes);
  const auto rows = static_cast<double>(facts.rows);
  const auto cols = static_cast<double>(facts.cols);
  const double reach = facts.locality[kSampleSizes - 1].span[1];  // of some hundred rows
  const bool local = cols > held && reach < held / 2;
  const auto bits_of = [](double count) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count)));
  };
  const int length_bits = bits_of(limit);
  const int least = bits_of(rows) + length_bits - kKeyBits;
  return {limit, std::max({bits_of(local ? rows / cols * held / 2 : rows), least, 0}), length_bits};
}

template <class T>
void sort_rows(const Stream& stream, const RowOrder& by, RowsCopy<T>& copy, Allocator* allocator) {
  const std::int64_t rows = copy.spans.size();
  Buffer<std::uint32_t> keys(stream, rows);
  Buffer<std::uint32_t> sorted_keys(stream, rows);
  Buffer<std::int32_t> numbers(stream, rows);
  Buffer<std::int32_t> order(stream, rows, allocator);
  Buffer<RowSpan> sorted(stream, rows, allocator);
  launch(stream, "list_keys_kernel", list_keys_kernel, blocks_of(rows), copy.spans.data(), rows, by,
         keys.data(), numbers.data());
  const auto sort = [&](void* memory, std::size_t& bytes) {
    constexpr int kBits = 32;
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

/// Parts of rows that blocks have, at most: rows that are longer than those of warps, or split.
std::int64_t parts_most(const CsrPattern& a, const PackedHeader& header) {
  return a.nnz / (warp_most(header.shape) + 1) + header.partials;
}

}  // namespace

template <class T>
std::optional<RowsCopy<T>> copy_rows(const Stream& stream, const Csr<T>& a,
                                     const PackedMatrix<T>& packed, const RowFacts& facts,
                                     const SparseOptions& options) {
  Allocator* const allocator = options.allocator;
  const PackedHeader& header = packed.header;
  const Shape& shape = header.shape;
  const Machine& machine = machine_of(stream.device());
  const CsrPattern pattern = a.pattern();
  if (a.nnz > std::int64_t{kRowLengthMost}) return std::nullopt;
  RowsCopy<T> copy{Buffer<RowSpan>(stream, a.rows, allocator),
                   Buffer<RowSpan>(stream, 0),
                   Buffer<std::int32_t>(stream, 0),
                   Buffer<std::int32_t>(stream, a.nnz, allocator),
                   Buffer<T>(stream, a.nnz, allocator),
                   Buffer<RowPart>(stream, parts_most(pattern, header), allocator)};
  const GroupLimits limits = group_limits(shape);
  Buffer<RowTotals> totals(stream, 1);
  totals.fill_zero();
  if (a.rows > 0) {
    launch(stream, "list_rows_kernel", list_rows_kernel, blocks_of(a.rows), pattern, shape, limits,
           copy.spans.data(), copy.of_blocks.data(), totals.data());
  }
  if (header.windows > 0) {
    launch(stream, "mark_rows_kernel", mark_rows_kernel<device::DeviceElement<T>>,
           static_cast<unsigned>(header.windows), packed.view(), a.row_offsets, copy.spans.data(),
           copy.of_blocks.data(), totals.data());
  }
  if (a.nnz > 0) {
    launch(stream, "copy_columns_kernel", copy_columns_kernel, blocks_of(a.nnz), pattern,
           copy.columns.data());
  }
  update_rows(stream, copy, a.values);
  RowTotals found = to_host(stream, totals.data());
  found.lengths.longest = static_cast<unsigned>(facts.longest);
  copy.parts = found.parts;
  copy.pieces_most = found.pieces_most;
  copy.by_blocks = found.by_blocks;
  const bool staged = options.expected_layout == Layout::col;
  int least = kGroupLimits - 1;
  for (int i = 0; i < kRowCounts; ++i) {
    const int words = kRowWordsLeast << i;
    const RowSharing chosen = share_rows(found.lengths, shape, words, kDType<T>, machine, staged);
    RowShares& shares = copy.shares[i];
    shares.by_warps = rows_above(found, limits.of[chosen.limit], shape);
    shares.warp_bits = static_cast<std::uint32_t>(chosen.warp_bits);
    shares.of_group_most = limits.of[chosen.limit];
    shares.team_bits = static_cast<std::uint32_t>(chosen.team_bits);
    const PartCounts parts{
        .blocks = found.parts,
        .pieces_most = found.pieces_most,
        .warps = std::int64_t{shares.by_warps - copy.by_blocks} << shares.warp_bits};
    shares.parts = parts_launch(words, parts, kDType<T>, machine);
    if (shares.parts.threads == 0) return std::nullopt;
    least = std::min(least, chosen.limit);
  }
  const bool uneven = is_uneven(found.lengths, least);
  if (uneven || rows_above(found, limits.of[least], shape) > 0) {
    const std::int64_t row_bytes = options.expected_columns * std::int64_t{sizeof(T)};
    sort_rows(stream, order_of(facts, limits.of[least], uneven, row_bytes, machine), copy,
              allocator);
  }
  return copy;
}

template <class T>
void update_rows(const Stream& stream, RowsCopy<T>& copy, const T* values) {
  const std::int64_t bytes = copy.values.size() * static_cast<std::int64_t>(sizeof(T));
  if (bytes == 0) return;
  runtime::copy(copy.values.data(), values, bytes, stream.native(), stream.device().index());
}

#define LANKY_INSTANTIATE(T)                                                             \
  template std::optional<RowsCopy<T>> copy_rows(const Stream&, const Csr<T>&,            \
                                                const PackedMatrix<T>&, const RowFacts&, \
                                                const SparseOptions&);                   \
  template void update_rows(const Stream&, RowsCopy<T>&, const T*);
LANKY_FOR_EACH_ELEMENT(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cuda
