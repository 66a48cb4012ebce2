// A window while a team multiplies it: where its plan, its staged columns and its cells are.
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/grid_dependency.cuh"
#include "device/guarded_load.cuh"
#include "device/memory.cuh"
#include "sparse/cuda/multiply/arguments.cuh"
#include "sparse/cuda/multiply/decode.cuh"
#include "sparse/cuda/multiply/gather.cuh"
#include "sparse/cuda/multiply/team.cuh"
#include "sparse/cuda/multiply/writer.cuh"

namespace lanky::sparse::cuda {

/// How a kernel multiplies windows: slices by ByCudaCores or ByTensorCores, whose threads share a
/// window, pieces of a lane in wide slices, and the slices that occur.
template <class Walk_, class Team_, int kWide_, Slices kSlices_>
struct Method {
  using Walk = Walk_;
  using Team = Team_;
  static constexpr int kWide = kWide_;
  static constexpr Slices kSlices = kSlices_;

  // Slices wait for staged columns when they have read all else: elsewhere that gained nothing.
  static constexpr bool kLate = kSlices == Slices::straight;
  static constexpr Nearby kNearby = std::is_same_v<Team, HotTeam> ? Nearby::hot
                                    : kLate                       ? Nearby::arriving
                                                                  : Nearby::staged;
};

/// A piece of a slice.
struct LanePiece {
  bool exists;
  int length;  // 0 where it does not exist
  int cell;
};

/// A window and what a team has of it. The plan may be read ahead of the wait for kernels before
/// this one; x, y and partial sums after it.
template <class Method_, class Product>
struct TeamWindow {
  using Method = Method_;
  using Team = typename Method::Team;
  using T = typename Product::Element;
  using E = typename Product::Factor;
  using V = device::MatrixElement<E>;
  using Writer = RowWriter<E, typename Product::Out>;
  static constexpr Slices kSlices = Method::kSlices;
  static constexpr bool kSeveral = device::kColumnsOf<E> > 1;
  // A warp of one slice knows where its columns will stand before it knows that any are staged:
  // they are copied by words only where no word has several of them.
  static constexpr bool kStagesWords = !one_a_warp(kSlices) || sizeof(E) == kWordBytes;
  static constexpr bool kKeepsSlices = cuda::kKeepsSlices<T> && !one_a_warp(kSlices);

  const DeviceMatrix<V>& a;
  const Product& product;
  unsigned number;
  // A slice for each warp: read at once. Otherwise in device memory, its fields are read where
  // needed.
  std::conditional_t<one_a_warp(kSlices), const Window, const Window&> window;
  // In shared memory:
  Slice* slices;   // [slices_most], where they are kept
  Cell<E>* cells;  // [cells_most]
  V* staged;       // [window.columns]

  /// `shared` is the team's: slices and cells; `columns` is what x of its columns is staged in.
  __device__ TeamWindow(const DeviceMatrix<V>& matrix, const Product& operands, unsigned which,
                        unsigned char* shared, V* columns)
      : a(matrix),
        product(operands),
        number(which),
        window(matrix.windows[which]),
        slices(reinterpret_cast<Slice*>(shared)),
        cells(reinterpret_cast<Cell<E>*>(shared + slice_bytes<T>(matrix))),
        staged(columns) {}

  /// Whether sums go to y as they are.
  __device__ bool has_no_cells() const { return kSlices == Slices::straight || window.direct != 0; }

  /// How many rows stand before the window's first row in its word of y; so many cells stand before
  /// cell 0 in its word of shared memory. Rows of several columns are words.
  __device__ int place() const {
    if constexpr (kSeveral) return 0;
    return device::place_in_word<kCellWord<E>>(product.y + window.first_row);
  }

  /// Before cells are used; once slices are asked for, which wait for nothing of the window. Rows
  /// without entries have no piece that would write their cell.
  __device__ void place_cells() { cells += place(); }
  __device__ void clear_cells() const {
    if (window.gaps != 0) cuda::clear_cells<Team>(cells, place(), window.rows);
  }

  /// To the window's rows; after the wait.
  __device__ Writer load_writer() const {
    return {product, window.first_row, 0, product.alpha.load(), product.beta.load()};
  }

  /// Of X at `x`, as it is and as it is staged.
  __device__ auto gather(const V* x) const {
    if constexpr (kSeveral) {
      return ColumnsGather<V, device::kColumnsOf<E>, Product::kApart>(
          x, product.x_row_bytes, product.x_column,
          static_cast<std::uint32_t>(window.first_column));
    } else {
      return Gather<E, Method::kNearby>(x, staged);
    }
  }

  /// Starts to stage columns; after the wait. Whether there are any; several are not staged.
  __device__ bool stage() {
    if constexpr (kSeveral) return false;
    const bool stages = window.columns != 0;
    const V* const x = product.x + window.first_column;
    if constexpr (kStagesWords) {
      if (stages) staged = stage_columns<Team>(x, window.columns, staged);
    } else {
      copy_columns<Team>(x, window.columns, staged);
    }
    return stages;
  }
  /// From here on x may be read, and cells be written. `stages`: what stage() returned; asked once
  /// more, window.columns cost registers.
  __device__ void meet(bool stages) const {
    if (kStagesWords && stages) finish_staging();
    if (kKeepsSlices || stages || window.gaps != 0)
      Team::sync();  // cells or rows are clear; slices, the barrier and single columns are there
    if (stages && kStagesWords && !Method::kLate) wait_for_staged();
  }

  /// Slice `which` of the window; zeros beyond them. Waits for nothing of the window.
  __device__ Slice load_slice(int which) const {
    const std::int64_t first = static_cast<std::int64_t>(number) * a.slices_most;
    Slice slice[1];
    constexpr Stay kStay = one_a_warp(kSlices) ? Stay::normally : Stay::briefly;
    device::load_if<kStay>(slice, a.slices + first + which, which < a.slices_most);
    return slice[0];
  }

  __device__ SliceView<V> view_of(const Slice& slice) const {
    return {device::opaque(a.values + window.first_slot + slice.first_slot * kSlotUnit),
            device::opaque(a.indices + (window.first_index + slice.first_index) * kIndexUnit),
            device::opaque(a.bases + window.first_base + slice.first_base * kBaseUnit),
            slice.width,
            slice.depth,
            slice.shortest};
  }

  /// The lane's piece of a slice that is not wide. `told`: its place in lengths[] and cells[];
  /// length(): its length where pieces differ in theirs.
  template <class Length>
  __device__ LanePiece piece_of_lane(const Slice& slice, std::int64_t told, Length length) const {
    const bool exists = lane_of_warp() < slice.width;
    LanePiece piece{exists, exists ? slice.depth : 0, slice.first_cell + lane_of_warp()};
    if (exists && slice.shortest != slice.depth) piece.length = length();
    if (exists && slice.listed != 0) piece.cell = a.cells[told];
    return piece;
  }
};

}  // namespace lanky::sparse::cuda
