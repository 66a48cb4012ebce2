// Y = alpha A X + beta Y on a packed matrix, of several columns: a block for each window and strip
// of columns, a group of lanes for each piece of its slices (strip_walk.cuh). Sums of pieces go
// straight to Y where no row is cut, else to cells in shared memory, and their sums, in the order
// of one vector (strip_cells.cuh), to Y. Column j has the bits of one vector.
#pragma once

#include "device/grid_dependency.cuh"
#include "sparse/cuda/columns/arguments.cuh"
#include "sparse/cuda/columns/columns_writer.cuh"
#include "sparse/cuda/columns/strip.hpp"
#include "sparse/cuda/columns/strip_cells.cuh"
#include "sparse/cuda/columns/strip_walk.cuh"
#include "sparse/cuda/multiply/arguments.cuh"
#include "sparse/cuda/multiply/wide_walk.cuh"
#include "sparse/cuda/multiply/writer.cuh"

namespace lanky::sparse::cuda {

/// Writes a lane's columns of rows of Y.
template <class T, class Strip>
class StripWriter {
 public:
  /// `column`: the strip's first; after the wait.
  __device__ StripWriter(const DeviceColumns<T>& product, int column)
      : writer_(product), column_(column) {}

  __device__ void write(std::int64_t row,
                        const StripCells<device::DeviceElement<T>, Strip>& cells) const {
    writer_.write(row, column_ + lane_of_group<Strip>() * Strip::kEach, cells.of);
  }

 private:
  ColumnsWriter<T> writer_;
  int column_;
};

/// A window while a block multiplies it with a strip.
template <class T, class Strip>
class StripWindow {
 public:
  using E = device::DeviceElement<T>;

  __device__ StripWindow(const DeviceColumns<T>& product, const DeviceMatrix<E>& a,
                         const DeviceWorkspace<T>& workspace, unsigned number, unsigned strip,
                         unsigned char* shared)
      : product_(product),
        a_(a),
        workspace_(workspace),
        window_(a.windows[number]),
        slices_(a.slices + static_cast<std::int64_t>(number) * a.slices_most),
        strip_(strip),
        column_(static_cast<int>(strip) * Strip::kColumns),
        cells_(reinterpret_cast<Cell<E>*>(shared)),
        marks_(reinterpret_cast<unsigned*>(cells_)) {}

  /// Part `part` of `parts`, each of so many of its slices: all of one, unless each piece is a row.
  __device__ void run(int part, int parts) {
    if (!whole() && part > 0) return;
    device::wait_for_kernel_ahead();
    run_slices(whole() ? part : 0, whole() ? parts : 1);
    if (window_.partial >= 0) {
      __syncthreads();  // all cells are written before they are added up
      add_part();
    } else if (window_.first_row_cell >= 0) {
      __syncthreads();  // likewise
      write_cut_rows();
    } else if (window_.gaps != 0 && part == 0) {
      write_empty_rows();
    }
  }

 private:
  using Cells = StripCells<E, Strip>;
  using Writer = StripWriter<T, Strip>;
  static constexpr int kWide = kLanePiecesMost<T>;
  static constexpr int kGroup = Strip::kGroup;

  /// Whether each piece is a row.
  __device__ bool whole() const { return window_.first_row_cell < 0 && window_.partial < 0; }

  __device__ Writer writer() const { return {product_, column_}; }

  /// A warp takes kPieces pieces of a slice at once, those of as many slots of each step.
  __device__ void run_slices(int part, int parts) {
    const int of_slice = kGroup * product_.lane_pieces;
    const int turns = window_.slices * of_slice;
    const int share = (turns + parts - 1) / parts;
    const int end = min(turns, (part + 1) * share);
    for (int turn = part * share + warp_of_block(); turn < end; turn += warps_of_block()) {
      const Slice slice = slices_[turn / of_slice];
      const int slot = turn % of_slice * Strip::kPieces;
      if (slot < (is_wide(slice) ? kLanes * kWide : int{slice.width})) run_pieces(slice, slot);
    }
  }

  /// Of the slots of a wide slice that a warp has, the group's: groups beside each other have
  /// pieces that follow each other, which lie kWide slots apart, so that they read rows of X that
  /// do.
  static __device__ int slot_of_group() {
    constexpr int kRun = Strip::kPieces / kWide;
    const int group = group_of_warp<Strip>();
    if constexpr (kRun > 1) {
      return group % kRun * kWide + group / kRun;
    } else {
      return group;
    }
  }

  /// Those from slot `first` of each step on.
  __device__ void run_pieces(const Slice& slice, int first) {
    const bool even = slice.shortest == slice.depth;
    const int slot = first + (is_wide(slice) ? slot_of_group() : group_of_warp<Strip>());
    const int number = is_wide(slice) ? slot % kWide * kLanes + slot / kWide : slot;
    const bool exists = number < slice.width;
    const std::int64_t told = window_.first_piece + slice.first_piece;
    PieceEntries<E> piece;
    piece.values = device::opaque(a_.values + window_.first_slot + slice.first_slot * kSlotUnit);
    piece.indices =
        device::opaque(a_.indices + (window_.first_index + slice.first_index) * kIndexUnit);
    piece.bases = device::opaque(a_.bases + window_.first_base + slice.first_base * kBaseUnit);
    piece.slot = static_cast<unsigned>(slot);
    piece.pitch = is_wide(slice) ? kLanes * kWide : slice.width;
    piece.ragged = !is_wide(slice) && !even;
    piece.origin =
        slice.kind == IndexKind::staged ? static_cast<std::uint32_t>(window_.first_column) : 0;
    piece.hot_columns = a_.hot > 0 ? a_.hot_columns : nullptr;
    piece.length = !exists ? 0 : even ? slice.depth : __ldg(a_.lengths + told + number);
    piece.lane_length = 0;
    if (piece.ragged && lane_of_warp() < slice.width)
      piece.lane_length = __ldg(a_.lengths + told + lane_of_warp());
    piece.depth = even ? slice.depth : __reduce_max_sync(kAllLanes, piece.length);
    piece.shortest = even && __all_sync(kAllLanes, exists)
                         ? slice.depth
                         : __reduce_min_sync(kAllLanes, piece.length);
    piece.whole = slice.shortest;
    piece.fixed = static_cast<std::uint32_t>(number);
    if (slice.kind == IndexKind::shared && exists)
      piece.fixed = __ldg(reinterpret_cast<const std::uint16_t*>(piece.indices) + number);
    const int cell = exists ? cell_of(slice, number) : 0;

    Cells sums{};
    const StripGather<E, Strip> gather(product_.x + column_ * product_.x_column,
                                       product_.x_row_bytes, product_.x_column,
                                       product_.columns - column_);
    with_kind<true>(slice.kind, [&](auto kind) {
      StripWalk<E, Strip, kind.value>(piece).add_all(gather, sums);
    });
    if (is_wide(slice) && !even) add_zeros(piece.length, slice.depth, sums);
    if (exists) leave(cell, sums);
  }

  /// Of one vector, pieces of wide slices that end before others are multiplied by zeros, as far as
  /// WideWalk takes steps at once: -0 becomes 0.
  __device__ void add_zeros(int length, int depth, Cells& sums) const {
    if (length >= round_up(depth, kRaggedSteps<E>)) return;
    for_each_cell<Strip>(sums, [](Cell<E>& cell, int /*i*/) { cell.add(E{}, E{}); });
  }

  /// The sums of a piece to its row of Y, or to its cell.
  __device__ void leave(int cell, const Cells& sums) {
    if (!whole()) return store_cells(sums, cells_, cell);
    writer().write(std::int64_t{window_.first_row} + cell, sums);
  }

  __device__ int group_of_block() const { return thread_of_block() / kGroup; }
  __device__ int groups_of_block() const { return threads_of_block() / kGroup; }

  __device__ void write_empty_rows() const {
    mark_rows();
    const Writer writer = this->writer();
    for (int row = group_of_block(); row < window_.rows; row += groups_of_block()) {
      if ((marks_[row / 32] >> row % 32 & 1U) == 0)
        writer.write(std::int64_t{window_.first_row} + row, Cells{});
    }
  }

  /// The window's rows that have entries.
  __device__ void mark_rows() const {
    for (int i = thread_of_block(); i < (window_.rows + 31) / 32; i += threads_of_block())
      marks_[i] = 0;
    __syncthreads();  // all are clear before any is set
    for (int i = warp_of_block(); i < window_.slices; i += warps_of_block()) {
      const Slice& slice = slices_[i];
      for (int number = lane_of_warp(); number < slice.width; number += kLanes) {
        const int cell = cell_of(slice, number);
        atomicOr(marks_ + cell / 32, 1U << cell % 32);
      }
    }
    __syncthreads();  // all are set
  }

  __device__ int cell_of(const Slice& slice, int number) const {
    if (slice.listed == 0) return slice.first_cell + number;
    return __ldg(a_.cells + window_.first_piece + slice.first_piece + number);
  }

  __device__ void write_cut_rows() const {
    const Writer writer = this->writer();
    const CutRows cut(a_, window_);
    for (int row = group_of_block(); __any_sync(kAllLanes, row < cut.rows);
         row += groups_of_block()) {
      const Cells sum = sum_of_strip<E, Strip>(cells_, cut.cells_of(row));
      if (row < cut.rows) writer.write(std::int64_t{window_.first_row} + row, sum);
    }
  }

  /// As add_part() of one vector: the last window of a split row adds up the parts, in their order.
  __device__ void add_part() const {
    __shared__ bool last;
    const int threads = product_.vector_threads;
    Cell<E>* const warp_sums = cells_ + std::int64_t{a_.cells_most} * Strip::kColumns;
    Cell<E>* const partials = workspace_.partials + strip_ * product_.partials * Strip::kColumns;
    const std::int64_t first = a_.split_starts[window_.split];
    const auto parts = static_cast<unsigned>(a_.split_starts[window_.split + 1] - first);
    const Cells part = sum_as_team<E, Strip>(cells_, window_.pieces, threads, warp_sums);
    if (thread_of_block() < kGroup) store_cells(part, partials, window_.partial);
    __syncthreads();  // the part is written before the window arrives
    if (thread_of_block() == 0)
      last = device::arrive_at(workspace_.arrivals + strip_ * a_.split_rows + window_.split, parts);
    __syncthreads();  // `last` is there, and what other windows wrote is visible
    if (!last) return;
    const Cells sum = sum_as_team<E, Strip>(partials + first * Strip::kColumns,
                                            static_cast<int>(parts), threads, warp_sums);
    if (thread_of_block() < kGroup) writer().write(window_.first_row, sum);
  }

  const DeviceColumns<T>& product_;
  const DeviceMatrix<E>& a_;
  const DeviceWorkspace<T>& workspace_;
  const Window& window_;
  const Slice* slices_;
  unsigned strip_;
  int column_;  // the strip's first
  // In shared memory, one or the other:
  Cell<E>* cells_;   // [cells_most, kColumns], where rows are cut; then those of sum_as_team()
  unsigned* marks_;  // a bit for each row that has entries, where some are empty
};

template <class Strip, class T>
__global__ void __launch_bounds__(kStripWarpsMost* kLanes, kStripBlocks<Strip>)
    spmm_cuda_kernel(const __grid_constant__ DeviceColumns<T> product,
                     const __grid_constant__ DeviceMatrix<device::DeviceElement<T>> a,
                     const __grid_constant__ DeviceWorkspace<T> workspace) {
  extern __shared__ __align__(16) unsigned char shared[];
  device::let_next_kernel_start();
  const unsigned strip = blockIdx.x % product.strips;
  const unsigned part = blockIdx.x / product.strips % product.parts;
  const unsigned turn = blockIdx.x / product.strips / product.parts;
  const unsigned number = a.order != nullptr ? a.order[turn] : turn;
  StripWindow<T, Strip>(product, a, workspace, number, strip, shared)
      .run(static_cast<int>(part), static_cast<int>(product.parts));
}

}  // namespace lanky::sparse::cuda
