#include "sparse/cuda/columns/rows_copy.hpp"

#include <limits>
#include <utility>

#include "core/plan_types.hpp"
#include "core/runtime.hpp"
#include "device/element.cuh"
#include "sparse/cuda/multiply/cells.cuh"
#include "sparse/cuda/multiply/wide_walk.cuh"
#include "sparse/cuda/pack/grid.cuh"

namespace lanky::sparse::cuda {

namespace {

/// What rows that are long come to.
struct LongTotals {
  unsigned parts;
  int pieces_most;
};

__device__ void append(const LongPart& part, int piece_most, LongPart* parts, LongTotals* totals) {
  parts[atomicAdd(&totals->parts, 1U)] = part;
  atomicMax(&totals->pieces_most, pieces_of(part.length, piece_most));
}

/// spans: [rows]; of long rows that are not split, the parts. A thread a row.
__global__ void __launch_bounds__(kThreads)
    list_rows_kernel(CsrPattern a, Shape shape, RowSpan* spans, LongPart* parts,
                     LongTotals* totals) {
  const std::int64_t row = thread_of_grid();
  if (row >= a.rows) return;
  const std::int64_t first = a.row_offsets[row];
  const std::int64_t length = a.row_offsets[row + 1] - first;
  const bool split = is_split(length, shape);
  const bool is_long = split || pieces_of(length, shape.piece_most) > kCellsOfThread;
  spans[row] = {static_cast<std::uint32_t>(first),
                static_cast<std::uint32_t>(length) | (is_long ? kInParts : 0)};
  if (is_long && !split) {
    append({static_cast<std::uint32_t>(first), static_cast<std::int32_t>(length),
            static_cast<std::int32_t>(row), -1, 0},
           shape.piece_most, parts, totals);
  }
}

/// Marks the rows to whose sums one vector's product adds 0: those of windows that cut rows, and
/// pieces of wide slices that are shorter than the steps that WideWalk takes. Appends the parts of
/// split rows. A block a window.
template <class E>
__global__ void __launch_bounds__(kThreads)
    mark_rows_kernel(PatternView a, const std::int64_t* row_offsets, RowSpan* spans,
                     LongPart* parts, LongTotals* totals) {
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

}  // namespace

bool has_rows_copy(const PackedHeader& packed) {
  // A row is no longer than all entries, and windows of split rows no longer than kWindowCostMost.
  return packed.nnz <= std::int64_t{kRowLengthMost};
}

template <class T>
RowsCopy<T> copy_rows(const Stream& stream, const Csr<T>& a, const PackedMatrix<T>& packed,
                      Allocator* allocator) {
  const PackedHeader& header = packed.header;
  const Shape& shape = header.shape;
  const std::int64_t long_most =
      a.nnz / (std::int64_t{kCellsOfThread} * shape.piece_most) + header.partials;
  RowsCopy<T> copy{
      Buffer<RowSpan>(stream, a.rows, allocator), Buffer<std::int32_t>(stream, a.nnz, allocator),
      Buffer<T>(stream, a.nnz, allocator), Buffer<LongPart>(stream, long_most, allocator)};
  Buffer<LongTotals> totals(stream, 1);
  totals.fill_zero();
  if (a.rows > 0) {
    launch(stream, "list_rows_kernel", list_rows_kernel, blocks_of(a.rows), a.pattern(), shape,
           copy.spans.data(), copy.long_parts.data(), totals.data());
  }
  if (header.windows > 0) {
    launch(stream, "mark_rows_kernel", mark_rows_kernel<device::DeviceElement<T>>,
           static_cast<unsigned>(header.windows), packed.view(), a.row_offsets, copy.spans.data(),
           copy.long_parts.data(), totals.data());
  }
  if (a.nnz > 0) {
    launch(stream, "copy_columns_kernel", copy_columns_kernel, blocks_of(a.nnz), a.pattern(),
           copy.columns.data());
  }
  update_rows(stream, copy, a.values);
  const LongTotals found = to_host(stream, totals.data());
  copy.long_count = found.parts;
  copy.long_pieces = found.pieces_most;
  return copy;
}

template <class T>
void update_rows(const Stream& stream, const RowsCopy<T>& copy, const T* values) {
  const std::int64_t bytes = copy.values.size() * static_cast<std::int64_t>(sizeof(T));
  if (bytes == 0) return;
  runtime::copy(copy.values.data(), values, bytes, stream.native(), stream.device().index());
}

#define LANKY_INSTANTIATE(T)                                                           \
  template RowsCopy<T> copy_rows(const Stream&, const Csr<T>&, const PackedMatrix<T>&, \
                                 Allocator*);                                          \
  template void update_rows(const Stream&, const RowsCopy<T>&, const T*);
LANKY_FOR_EACH_ELEMENT(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cuda
