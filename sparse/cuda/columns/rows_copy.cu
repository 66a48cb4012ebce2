#include "sparse/cuda/columns/rows_copy.hpp"

#include <limits>
#include <utility>

#include "core/plan_types.hpp"
#include "core/runtime.hpp"
#include "device/element.cuh"
#include "sparse/cuda/columns/policy.hpp"
#include "sparse/cuda/multiply/cells.cuh"
#include "sparse/cuda/multiply/wide_walk.cuh"
#include "sparse/cuda/pack/grid.cuh"

namespace lanky::sparse::cuda {

namespace {

/// What rows in parts come to, and where these are listed: nowhere while they are counted.
struct PartLists {
  unsigned* of_warps;
  unsigned* of_blocks;
  int* pieces_most;
  RowPart* warps_parts;
  RowPart* blocks_parts;
};

__device__ void append(const RowPart& part, int piece_most, const PartLists& lists) {
  const int pieces = pieces_of(part.length, piece_most);
  const bool of_warp = part.partial < 0 && pieces <= kWarpPieces;
  const unsigned place = atomicAdd(of_warp ? lists.of_warps : lists.of_blocks, 1U);
  RowPart* const parts = of_warp ? lists.warps_parts : lists.blocks_parts;
  if (parts != nullptr) parts[place] = part;
  if (!of_warp) atomicMax(lists.pieces_most, pieces);
}

/// spans: [rows], and the parts of rows that are not split. A row of more than `alone` entries that
/// is cut is in parts. A thread a row.
__global__ void __launch_bounds__(kThreads)
    list_rows_kernel(CsrPattern a, Shape shape, std::int64_t alone, RowSpan* spans,
                     PartLists lists) {
  const std::int64_t row = thread_of_grid();
  if (row >= a.rows) return;
  const std::int64_t first = a.row_offsets[row];
  const std::int64_t length = a.row_offsets[row + 1] - first;
  const bool split = is_split(length, shape);
  const bool cut = length > shape.piece_most;
  const bool many = pieces_of(length, shape.piece_most) > kCellsOfThread;
  const bool in_parts = split || many || (cut && length > alone);
  spans[row] = {static_cast<std::uint32_t>(first),
                static_cast<std::uint32_t>(length) | (in_parts ? kInParts : 0)};
  if (in_parts && !split) {
    append({static_cast<std::uint32_t>(first), static_cast<std::int32_t>(length),
            static_cast<std::int32_t>(row), -1, 0},
           shape.piece_most, lists);
  }
}

/// Marks the rows to whose sums one vector's product adds 0: those of windows that cut rows, and
/// pieces of wide slices that are shorter than the steps that WideWalk takes. Lists the parts of
/// split rows. A block a window.
template <class E>
__global__ void __launch_bounds__(kThreads)
    mark_rows_kernel(PatternView a, const std::int64_t* row_offsets, RowSpan* spans,
                     PartLists lists) {
  const Window& window = a.windows[blockIdx.x];
  if (window.partial >= 0) {
    if (threadIdx.x > 0) return;
    const std::int64_t left = row_offsets[window.first_row + 1] - window.first_entry;
    const auto length =
        static_cast<std::int32_t>(min(left, std::int64_t{a.header.shape.window_cost}));
    append({static_cast<std::uint32_t>(window.first_entry), length, window.first_row,
            window.partial, window.split},
           a.header.shape.piece_most, lists);
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

/// Entries of a row that one group of lanes multiplies, where it is cut: half of what each group
/// that the device holds has of all entries, so that none ends long after the others.
std::int64_t entries_alone(const CsrPattern& a, const Machine& machine) {
  constexpr int kGroups = 40 * kLanes / 4;  // of a multiprocessor
  return a.nnz / (2 * std::int64_t{machine.multiprocessors} * kGroups);
}

}  // namespace

template <class T>
std::optional<RowsCopy<T>> copy_rows(const Stream& stream, const Csr<T>& a,
                                     const PackedMatrix<T>& packed, Allocator* allocator) {
  const PackedHeader& header = packed.header;
  const Machine& machine = machine_of(stream.device());
  if (a.nnz > std::int64_t{kRowLengthMost}) return std::nullopt;
  Buffer<RowSpan> spans(stream, a.rows, allocator);
  Buffer<unsigned> totals(stream, 3);
  PartLists lists{totals.data(), totals.data() + 1, reinterpret_cast<int*>(totals.data() + 2),
                  nullptr, nullptr};
  RowSpan* const rows = spans.data();
  const auto list = [&] {
    totals.fill_zero();
    if (a.rows > 0) {
      launch(stream, "list_rows_kernel", list_rows_kernel, blocks_of(a.rows), a.pattern(),
             header.shape, entries_alone(a.pattern(), machine), rows, lists);
    }
    if (header.windows > 0) {
      launch(stream, "mark_rows_kernel", mark_rows_kernel<device::DeviceElement<T>>,
             static_cast<unsigned>(header.windows), packed.view(), a.row_offsets, rows, lists);
    }
    return totals.to_host();
  };
  const std::vector<unsigned> found = list();
  const auto pieces_most = static_cast<std::int32_t>(found[2]);
  if (shared_of_parts(pieces_most, kDType<T>) > machine.shared_bytes_per_block) return std::nullopt;
  RowsCopy<T> copy{std::move(spans),
                   Buffer<std::int32_t>(stream, a.nnz, allocator),
                   Buffer<T>(stream, a.nnz, allocator),
                   Buffer<RowPart>(stream, found[0], allocator),
                   Buffer<RowPart>(stream, found[1], allocator),
                   pieces_most};
  if (found[0] + found[1] > 0) {
    lists.warps_parts = copy.of_warps.data();
    lists.blocks_parts = copy.of_blocks.data();
    list();
  }
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
