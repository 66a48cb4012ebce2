// The slices of a window that has one for each warp at most, and none wide: of small matrices, of
// whose few steps only x is left to read after the wait for the kernel ahead.
#pragma once

#include <cstdint>

#include "device/grid_dependency.cuh"
#include "device/guarded_load.cuh"
#include "sparse/cuda/multiply/fetch_ahead.cuh"
#include "sparse/cuda/multiply/window.cuh"

namespace lanky::sparse::cuda {

/// TeamWindow: an instance of that template.
template <class TeamWindow>
class SingleSlice {
 public:
  using Method = typename TeamWindow::Method;
  using Team = typename TeamWindow::Team;
  using E = typename TeamWindow::E;
  using Writer = typename TeamWindow::Writer;

  __device__ explicit SingleSlice(TeamWindow& window) : w_(window) {}

  /// Returns the cells of the thread's first row.
  __device__ CellRange run() {
    const std::int64_t told =
        (static_cast<std::int64_t>(w_.number) * w_.a.slices_most + Team::warp()) * kLanes +
        lane_of_warp();
    std::uint32_t length;
    device::load_widened_if<Stay::normally>(length, w_.a.lengths + told, w_.a.lengths != nullptr);
    const Slice slice = w_.load_slice(Team::warp());
    if (w_.a.shares.values > 0 && Team::thread() == 0)
      fetch_shares<device::kColumnsOf<E>>(w_.a, w_.product.x, w_.number);
    w_.place_cells();
    w_.clear_cells();
    const CellRange range = first_range<Method>(w_.a, w_.window);
    multiply(slice, w_.piece_of_lane(slice, told, [&] { return static_cast<int>(length); }));
    return range;
  }

  __device__ Writer writer() const { return writer_; }

 private:
  /// Leaves the sum of the lane's piece in its cell, or in y. Nothing but the sum waits for x, and
  /// in most products there is nothing special.
  __device__ void multiply(const Slice& slice, const LanePiece& piece) {
    const std::uint32_t zero = slice.unused;
    device::AheadOfWait ahead(zero);
    const auto gather = w_.gather(ahead.hold(w_.product.x));
    writer_ = {w_.product, w_.window.first_row, zero, ahead.hold(w_.product.alpha.value), {}};
    const bool direct = piece.exists && w_.has_no_cells();
    const std::uint32_t special =
        ahead.hold(w_.window.columns | w_.window.gaps | w_.product.special);
    typename Writer::Held held[1] = {};
    const Cell<E> sum = Method::Walk::template sum_at_once<Method::kSlices == Slices::deep>(
        w_.view_of(slice), slice.kind, gather, lane_of_warp(), piece.length,
        [&](std::uint32_t columns) {
          ahead.hold(columns);
          ahead.wait();
          if (special == 0) return false;
          w_.meet(w_.stage());
          writer_.scale_by(w_.product.alpha.load(), w_.product.beta.load());
          if (direct) writer_.read({piece.cell}, held);
          return true;
        });
    if (direct) {
      writer_.write({piece.cell}, {sum}, held);
    } else if (piece.exists) {
      w_.cells[piece.cell] = sum;
    }
  }

  TeamWindow& w_;
  Writer writer_;
};

}  // namespace lanky::sparse::cuda
