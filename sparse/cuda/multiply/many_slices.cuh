// The slices of a window of which a warp has several: one after another or, where they are shallow,
// a few at once.
#pragma once

#include <cstdint>

#include "device/grid_dependency.cuh"
#include "device/guarded_load.cuh"
#include "device/memory.cuh"
#include "sparse/cuda/multiply/fetch_ahead.cuh"
#include "sparse/cuda/multiply/wide_walk.cuh"
#include "sparse/cuda/multiply/window.cuh"
#include "sparse/policy.hpp"

namespace lanky::sparse::cuda {

/// TeamWindow: an instance of that template.
template <class TeamWindow>
class ManySlices {
 public:
  using Method = typename TeamWindow::Method;
  using Team = typename TeamWindow::Team;
  using E = typename TeamWindow::E;
  using V = typename TeamWindow::V;
  using Writer = typename TeamWindow::Writer;

  __device__ explicit ManySlices(TeamWindow& window) : w_(window) {}

  /// Returns the cells of the thread's first row.
  __device__ CellRange run() {
    const int slices = w_.a.slices_most;  // read later on, it cost floats 32 bytes of spills
    Slice first{};                        // of the warp
    if constexpr (TeamWindow::kKeepsSlices) {
      keep_slices(slices);
    } else {
      first = w_.load_slice(Team::warp());
    }
    w_.place_cells();
    if (w_.a.fetch_ahead) fetch_window<Team>(w_.a, w_.window, w_.number);
    if (!kStraight) w_.clear_cells();
    device::wait_for_kernel_ahead();
    const bool stages = w_.stage();
    if (kStraight && w_.window.gaps != 0) clear_rows<Team>(writer(), w_.window.rows);
    w_.meet(stages);
    run_all(first, slices);
    return first_range<Method>(w_.a, w_.window);
  }

  /// To the window's rows; after the wait.
  __device__ Writer writer() const { return w_.load_writer(); }

 private:
  static constexpr int kWide = Method::kWide;
  static constexpr bool kStraight = Method::kSlices == Slices::straight;

  /// Copies the window's slices to shared memory.
  __device__ void keep_slices(int slices) const {
    device::prefetch(&w_.window);  // nothing reads it until slices are asked for
    for (int i = Team::thread(); i < slices; i += Team::threads())
      device::store_wide<1>(w_.slices + i, {w_.load_slice(i)});
  }
  /// Slice `number` of the window, where they are kept in shared memory; zeros beyond them.
  __device__ Slice slice(int number) const {
    if constexpr (!TeamWindow::kKeepsSlices) return w_.load_slice(number);
    Slice slice[1] = {};
    if (number < w_.a.slices_most) device::load_wide(slice, w_.slices + number);
    return slice[0];
  }

  /// The slices of a warp: forth and back over the warps, as slices get shorter.
  struct Turn {
    int number;
    int ahead;  // from this one to the next
    int both;   // from it to the one after that

    __device__ Turn(int warp, int warps)
        : number(warp), ahead(2 * (warps - warp) - 1), both(2 * warps) {}
    __device__ void advance() {
      number += ahead;
      ahead = both - ahead;
    }
  };

  /// All slices that the warp has, the `first` one first. Where they are not kept, the next one is
  /// read ahead.
  __device__ void run_all(const Slice& first, int slices) {
    if constexpr (Method::kSlices == Slices::shallow) {
      for (int number = Team::warp(); number < slices; number += kShallowGroup * Team::warps())
        run_group(slice(number + lane_of_warp() % kShallowGroup * Team::warps()));
    } else if constexpr (TeamWindow::kKeepsSlices) {
      for (Turn turn(Team::warp(), Team::warps()); turn.number < slices; turn.advance())
        run_slice(slice(turn.number));
    } else {
      Turn turn(Team::warp(), Team::warps());
      for (Slice own = first; own.width > 0;) {
        turn.advance();
        const Slice next = w_.load_slice(turn.number);
        run_slice(own);
        own = next;
      }
    }
  }

  __device__ auto gather() const { return w_.gather(w_.product.x); }

  __device__ void run_slice(const Slice& slice) {
    if (kWide > 1 && is_wide(slice)) {
      run_wide(slice);
    } else if (slice.width > 0) {
      run_narrow(slice);
    }
  }

  __device__ void run_narrow(const Slice& slice) {
    const std::int64_t told = w_.window.first_piece + slice.first_piece + lane_of_warp();
    const LanePiece piece =
        w_.piece_of_lane(slice, told, [&] { return static_cast<int>(w_.a.lengths[told]); });
    const Cell<E> sum =
        Method::Walk::sum(w_.view_of(slice), slice.kind, gather(), lane_of_warp(), piece.length);
    if (piece.exists) leave({piece.cell}, {sum}, true);
  }

  __device__ void run_wide(const Slice& slice) {
    int cells[kWide];
    cells_of_wide(slice, cells);
    Cell<E> sums[kWide] = {};
    Method::Walk::add_wide(
        w_.view_of(slice), slice.kind, gather(), lane_of_warp(),
        [&] { return lengths_of_four(slice); }, sums);
    leave(cells, sums, cells[kWide - 1] >= 0);
  }

  /// Cells of the lane's pieces of a wide slice; -1 for those that do not exist.
  __device__ void cells_of_wide(const Slice& slice, int (&cells)[kWide]) const {
    const int lane = lane_of_warp();
    const auto exists = [&](int r) { return r * kLanes + lane < slice.width; };
#pragma unroll
    for (int r = 0; r < kWide; ++r)
      cells[r] = exists(r) ? slice.first_cell + r * kLanes + lane : -1;
    if (slice.listed == 0) return;
    const std::uint16_t* const listed =
        device::opaque(w_.a.cells + w_.window.first_piece + slice.first_piece + lane);
#pragma unroll
    for (int r = 0; r < kWide; ++r) {
      if (exists(r)) cells[r] = __ldg(listed + r * kLanes);
    }
  }

  /// The lengths of pieces 4 lane .. 4 lane + 3 of a slice that lists them, a byte each.
  __device__ std::uint32_t lengths_of_four(const Slice& slice) const {
    const int lane = lane_of_warp();
    const auto* const words = reinterpret_cast<const std::uint32_t*>(
        w_.a.lengths + w_.window.first_piece + slice.first_piece);
    std::uint32_t lengths;
    device::load_if<Stay::briefly>(lengths, words + lane, 4 * lane < slice.width);
    return lengths;
  }

  /// kShallowGroup slices of the warp, the j-th of which lane j has.
  __device__ void run_group(const Slice& group) {
    if (run_shallow(group)) return;
#pragma unroll 1
    for (int j = 0; j < kShallowGroup; ++j)
      run_slice(of_lane(group, j));
  }

  /// The slice that lane `j` has.
  static __device__ Slice of_lane(const Slice& group, int j) {
    Slice slices[1] = {group};
    device::exchange(slices, j);
    return slices[0];
  }

  /// Multiplies a group of full wide slices of a step or two, stored alike; false where they are
  /// not.
  __device__ bool run_shallow(const Slice& group) {
    const Slice first = of_lane(group, 0);
    const bool alike = group.width == kWide * kLanes && group.depth == first.depth &&
                       group.shortest == first.depth && group.kind == first.kind &&
                       !is_repeated(first.kind) && first.depth <= 2;
    if (!__all_sync(kAllLanes, alike || group.width == 0)) return false;
    with_kind<true>(first.kind, [&](auto kind) {
      if constexpr (!is_repeated(kind.value)) {
        if (first.depth == 1) {
          run_joined<kind.value, 1>(group, 0);
        } else {
          run_joined<kind.value, 2>(group, 0);
          run_joined<kind.value, 2>(group, kShallowGroup / 2);
        }
      }
    });
    return true;
  }

  /// As many slices as have four steps, from slice `first` of the group on. In place of one that
  /// does not exist, the first one is multiplied once more.
  template <IndexKind kKind, int kDepth>
  __device__ void run_joined(const Slice& group, int first) {
    constexpr int kSlices = kShallowGroup / kDepth;
    const unsigned existing = __ballot_sync(kAllLanes, group.width > 0) >> first;
    if ((existing & 1U) == 0) return;
    const auto exists = [&](int j) { return (existing >> j & 1U) != 0; };
    StepEntries<V, kWide, kKind, kDepth> entries[kSlices];
#pragma unroll
    for (int j = 0; j < kSlices; ++j)
      WideEntries<V, kWide, kKind>(w_.view_of(of_lane(group, exists(j) ? first + j : first)),
                                   lane_of_warp())
          .load(entries[j], [](int /*step*/) { return true; });
    Cell<E> sums[kSlices][kWide] = {};
    multiply_shallow(entries, gather(), sums);
#pragma unroll
    for (int j = 0; j < kSlices; ++j) {
      if (!exists(j)) break;
      int cells[kWide];
      cells_of_wide(of_lane(group, first + j), cells);
      leave(cells, sums[j], true);
    }
  }

  /// Sums of the lane's pieces to their cells or, where no row has another piece, to y. `all` of
  /// these exist: nothing is written under a condition; or the last one does not.
  template <int kCount>
  __device__ void leave(const int (&cells)[kCount], const Cell<E> (&sums)[kCount], bool all) {
    if (w_.has_no_cells()) {
      const Writer writer = this->writer();
      if (all) return writer.write(cells, sums);
#pragma unroll
      for (int r = 0; r < kCount - 1; ++r) {
        if (cells[r] >= 0) writer.write({cells[r]}, {sums[r]});
      }
    } else {
#pragma unroll
      for (int r = 0; r < kCount; ++r) {
        if (all || cells[r] >= 0) w_.cells[cells[r]] = sums[r];
      }
    }
  }

  TeamWindow& w_;
};

}  // namespace lanky::sparse::cuda
