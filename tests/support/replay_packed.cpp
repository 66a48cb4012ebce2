// y = alpha A x + beta y from the packed matrix, slice by slice as the kernels do: a machine
// without a GPU tests the format by it. Threads take windows; no sum crosses threads, so their
// number is no matter.
#include "support/replay_packed.hpp"

#include <algorithm>
#include <array>
#include <complex>

#include "core/plan_types.hpp"
#include "sparse/cpu/placement.hpp"

namespace lanky::sparse {

namespace {

template <class Real>
Real product(Real a, Real b) {
  return a * b;
}
/// The plain formula, as on a GPU: operator* recovers Inf from NaN, and takes a call.
template <class Real>
std::complex<Real> product(std::complex<Real> a, std::complex<Real> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

template <class T, class TOut>
class Replay {
 public:
  using Sum = Accumulator<T>;

  Replay(const PackedView<T>& a, const Product<T, TOut>& product)
      : a_(a),
        x_(product.x),
        y_(product.y),
        alpha_(load(product.alpha)),
        beta_(load(product.beta)),
        partials_(product.partials) {}

  void run() const {
    const bool threads = cpu::worth_threads(a_.header);
#pragma omp parallel if (threads)
    {
      // Cells of one window; on the stack, for a run never allocates.
      std::array<Sum, kCellsLimit> cells;
#pragma omp for schedule(dynamic, 4)
      for (std::int64_t window = 0; window < a_.header.windows; ++window)
        run_window(window, cells.data());
        // The end of the loop above is a barrier: all partial sums are there.
#pragma omp for schedule(dynamic, 64) nowait
      for (std::int64_t row = 0; row < a_.header.split_rows; ++row)
        finish_row(row);
    }
  }

 private:
  static Sum load(const Scalar<Sum>& scalar) {
    return scalar.pointer() != nullptr ? *scalar.pointer() : scalar.value();
  }

  void run_window(std::int64_t number, Sum* cells) const {
    const Window& window = a_.windows[number];
    if (window.gaps == 1) std::fill_n(cells, window.rows, Sum{});
    for (int i = 0; i < window.slices; ++i)
      run_slice(window, a_.slices[number * a_.header.slices_most + i], cells);
    if (window.partial >= 0) {
      partials_[window.partial] = sum_of(cells, 0, window.pieces);
    } else if (window.first_row_cell < 0) {
      for (int row = 0; row < window.rows; ++row)
        write(window.first_row + row, cells[row]);
    } else {
      const std::uint16_t* const row_cells = a_.row_cells + window.first_row_cell;
      for (int row = 0; row < window.rows; ++row)
        write(window.first_row + row, sum_of(cells, row_cells[row], row_cells[row + 1]));
    }
  }

  void run_slice(const Window& window, const Slice& slice, Sum* cells) const {
    const std::int64_t told = window.first_piece + slice.first_piece;
    std::array<Sum, kLanes * kLanePiecesMost<T>> sums{};
    walk_slice(window, slice, told, sums.data());
    for (int i = 0; i < slice.width; ++i)
      cells[a_.cell_of(window, slice, i)] = sums[i];
  }

  /// Adds the products of a slice to the sums of its pieces.
  void walk_slice(const Window& window, const Slice& slice, std::int64_t told, Sum* sums) const {
    const std::uint8_t* const indices =
        a_.indices + (window.first_index + slice.first_index) * kIndexUnit;
    const auto* const offsets = reinterpret_cast<const std::uint16_t*>(indices);
    const auto* const columns = reinterpret_cast<const std::uint32_t*>(indices);
    const std::uint32_t* const bases = a_.bases + window.first_base + slice.first_base * kBaseUnit;
    const T* const values = a_.values + window.first_slot + slice.first_slot * kSlotUnit;
    const bool differ = slice.depth != slice.shortest;
    const auto walk = [&](auto column) {
      cpu::for_each_slot(
          slice, a_.header.shape.lane_pieces,
          [&](int piece) { return differ ? a_.lengths[told + piece] : slice.depth; },
          [&](int step, int piece, int slot) {
            sums[piece] += product(static_cast<Sum>(values[slot]),
                                   static_cast<Sum>(x_[column(step, piece, slot)]));
          });
    };
    switch (slice.kind) {
      case IndexKind::diagonal:
        return walk([&](int step, int piece, int) { return bases[step] + piece; });
      case IndexKind::shared:
        return walk([&](int step, int piece, int) { return bases[step] + offsets[piece]; });
      case IndexKind::staged:
        return walk([&](int, int, int slot) { return window.first_column + offsets[slot]; });
      case IndexKind::offset8:
        return walk([&](int step, int, int slot) { return bases[step] + indices[slot]; });
      case IndexKind::offset16:
        return walk([&](int step, int, int slot) { return bases[step] + offsets[slot]; });
      case IndexKind::absolute:
        return walk([&](int, int, int slot) { return column_of(columns[slot]); });
    }
  }

  /// Of an index of an absolute slice.
  std::uint32_t column_of(std::uint32_t index) const {
    if ((index & kHotBit) == 0) return index;
    return static_cast<std::uint32_t>(a_.hot_columns[index & ~kHotBit]);
  }

  static Sum sum_of(const Sum* sums, std::int64_t begin, std::int64_t end) {
    Sum sum{};
    for (; begin < end; ++begin)
      sum += sums[begin];
    return sum;
  }

  void finish_row(std::int64_t split_row) const {
    write(a_.split_rows[split_row],
          sum_of(partials_, a_.split_starts[split_row], a_.split_starts[split_row + 1]));
  }

  void write(std::int32_t row, Sum sum) const {
    const Sum scaled = product(alpha_, sum);
    y_[row] = static_cast<TOut>(
        beta_ == Sum{} ? scaled : scaled + product(beta_, static_cast<Sum>(y_[row])));
  }

  const PackedView<T>& a_;
  const T* x_;
  TOut* y_;
  Sum alpha_;
  Sum beta_;
  Sum* partials_;
};

}  // namespace

template <class T, class TOut>
void replay_packed(const PackedView<T>& a, const Product<T, TOut>& product) {
  Replay<T, TOut>(a, product).run();
}

#define LANKY_INSTANTIATE(T, TOut) \
  template void replay_packed(const PackedView<T>&, const Product<T, TOut>&);
LANKY_FOR_EACH_PLAN_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse
