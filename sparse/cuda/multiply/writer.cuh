// Writer: cells to rows of y, with alpha, beta and rounding. A row has one cell, or several where
// it is cut, or those of several windows where it is split.
#pragma once

#include <cstdint>

#include "device/arrival.cuh"
#include "device/element.cuh"
#include "device/memory.cuh"
#include "sparse/cuda/multiply/arguments.cuh"
#include "sparse/cuda/multiply/cells.cuh"
#include "sparse/policy.hpp"

namespace lanky::sparse::cuda {

/// alpha times a sum, plus beta times what y holds; with beta = 0 that counts for nothing.
template <class Sum>
struct RowScale {
  Sum alpha;
  Sum beta;

  __device__ bool adds() const { return !(beta == Sum{0}); }
  template <class Out>
  __device__ Out row_of(Sum sum, Out held) const {
    const Sum scaled = alpha * sum;
    return device::narrow<Out>(adds() ? fma(beta, static_cast<Sum>(device::widen(held)), scaled)
                                      : scaled);
  }
};

/// Writes rows of a window: y[row] = alpha cell + beta y[row]; with beta = 0, y is not read.
template <class E, class Out>
class RowWriter {
 public:
  using Sum = typename Cell<E>::Sum;

  using Held = Out;

  RowWriter() = default;
  /// From row `first` + `zero` on, which is 0, what the compiler need not know.
  template <class Product>
  __device__ RowWriter(const Product& product, int first, std::uint32_t zero, Sum alpha, Sum beta)
      : y_(product.y + first + zero), scale_{alpha, beta} {}

  __device__ void scale_by(Sum alpha, Sum beta) { scale_ = {alpha, beta}; }

  /// kCount rows, none of which is written before all of them are read.
  template <int kCount>
  __device__ void write(const int (&rows)[kCount], const Cell<E> (&cells)[kCount]) const {
    Out held[kCount] = {};
    read(rows, held);
    write(rows, cells, held);
  }
  /// held[i] = y[rows[i]], if that is wanted.
  template <int kCount>
  __device__ void read(const int (&rows)[kCount], Out (&held)[kCount]) const {
    if (!scale_.adds()) return;
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      held[i] = y_[rows[i]];
  }
  /// write() after read().
  template <int kCount>
  __device__ void write(const int (&rows)[kCount], const Cell<E> (&cells)[kCount],
                        const Out (&held)[kCount]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      y_[rows[i]] = scale_.template row_of<Out>(cells[i].sum, held[i]);
  }

  /// kCount rows side by side, a word of y.
  template <int kCount>
  __device__ void write_word(int first, const Cell<E> (&cells)[kCount]) const {
    Out word[kCount] = {};
    if (scale_.adds()) device::load_wide(word, y_ + first);
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      word[i] = scale_.template row_of<Out>(cells[i].sum, word[i]);
    device::store_wide(y_ + first, word);
  }

 private:
  Out* y_;  // of the window's first row
  RowScale<Sum> scale_;
};

/// The same of rows of Y, of kCount columns.
template <class E, int kCount, class Out>
class RowWriter<device::Columns<E, kCount>, Out> {
 public:
  using Factor = device::Columns<E, kCount>;
  using Sum = typename Cell<E>::Sum;
  using Held = device::Columns<Out, kCount>;

  RowWriter() = default;
  template <class Product>
  __device__ RowWriter(const Product& product, int first, std::uint32_t zero, Sum alpha, Sum beta)
      : y_(product.y + (first + zero) * product.y_row),
        row_(product.y_row),
        column_(product.y_column),
        words_(product.y_words),
        scale_{alpha, beta} {}

  __device__ void scale_by(Sum alpha, Sum beta) { scale_ = {alpha, beta}; }

  template <int kRows>
  __device__ void write(const int (&rows)[kRows], const Cell<Factor> (&cells)[kRows]) const {
    Held held[kRows] = {};
    read(rows, held);
    write(rows, cells, held);
  }
  template <int kRows>
  __device__ void read(const int (&rows)[kRows], Held (&held)[kRows]) const {
    if (!scale_.adds()) return;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const Out* const y = y_ + rows[i] * row_;
      if (words_) {
        held[i] = *reinterpret_cast<const Held*>(y);
        continue;
      }
#pragma unroll
      for (int c = 0; c < kCount; ++c)
        held[i].of[c] = y[c * column_];
    }
  }
  template <int kRows>
  __device__ void write(const int (&rows)[kRows], const Cell<Factor> (&cells)[kRows],
                        const Held (&held)[kRows]) const {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      Out* const y = y_ + rows[i] * row_;
      Held word;
#pragma unroll
      for (int c = 0; c < kCount; ++c)
        word.of[c] = scale_.template row_of<Out>(cells[i].sum.of[c], held[i].of[c]);
      if (words_) {
        *reinterpret_cast<Held*>(y) = word;
        continue;
      }
#pragma unroll
      for (int c = 0; c < kCount; ++c)
        y[c * column_] = word.of[c];
    }
  }

 private:
  Out* y_;  // of the window's first row
  std::int64_t row_;
  std::int64_t column_;
  bool words_;
  RowScale<Sum> scale_;
};

/// Every row gets what rows without entries do.
template <class Team, class E, class Out>
__device__ void clear_rows(const RowWriter<E, Out>& writer, int rows) {
  for (int row = Team::thread(); row < rows; row += Team::threads())
    writer.write({row}, {Cell<E>{}});
}

/// Each row has one cell; row 0 is number `place` of its word of y, and so is cell 0.
template <class Team, class E, class Out>
__device__ void write_rows(const RowWriter<E, Out>& writer, const Cell<E>* cells, int place,
                           int rows) {
  if constexpr (device::kColumnsOf < E >> 1) {
    for (int row = Team::thread(); row < rows; row += Team::threads())
      writer.write({row}, {cells[row]});
    return;
  } else {
    constexpr int kWord = kCellWord<E>;
    for_each_word<Team, E>(place, rows, [&](int first) {
      if (first >= 0 && first + kWord <= rows) {
        Cell<E> word[kWord];
        device::load_wide(word, cells + first);
        writer.write_word(first, word);
      } else {
        for (int row = max(first, 0); row < min(first + kWord, rows); ++row)
          writer.write({row}, {cells[row]});
      }
    });
  }
}

/// Which cells are whose, where rows are cut; of no rows where none is.
struct CutRows {
  const std::uint16_t* first_cells;  // [rows + 1]
  int rows;

  template <class E>
  __device__ CutRows(const DeviceMatrix<E>& a, const Window& window)
      : first_cells(a.row_cells + window.first_row_cell),
        rows(window.first_row_cell < 0 ? 0 : window.rows) {}

  __device__ CellRange cells_of(int row) const {
    if (row >= rows) return {0, 0};
    return {__ldg(first_cells + row), __ldg(first_cells + row + 1)};
  }
};

/// The first of the rows that the thread adds up, where rows are cut. A warp adds up long rows one
/// after the other: where rows have many cells, or are few, each warp has some. What small windows
/// ask is one comparison: another branch cost small matrices 5 to 10 % of their time (H100).
template <class Method>
__device__ int first_row(const Window& window) {
  using Team = typename Method::Team;
  const bool in_turn = one_a_warp(Method::kSlices) ? window.rows <= kLanes
                                                   : window.pieces > kCellsInTurn * window.rows;
  return in_turn ? lane_of_warp() * Team::warps() + Team::warp() : Team::thread();
}

/// The cells of the thread's first row, for write_cut_rows().
template <class Method, class E>
__device__ CellRange first_range(const DeviceMatrix<E>& a, const Window& window) {
  return CutRows(a, window).cells_of(first_row<Method>(window));
}

/// A thread for each row that has several cells. `range`: those of the thread's first row.
template <class Method, class E, class Out, class V>
__device__ void write_cut_rows(const RowWriter<E, Out>& writer, const Cell<E>* cells,
                               const DeviceMatrix<V>& a, const Window& window, CellRange range) {
  using Team = typename Method::Team;
  const CutRows cut(a, window);
  for (int row = first_row<Method>(window); __any_sync(kAllLanes, row < cut.rows);
       row += Team::threads()) {
    const Cell<E> sum = sum_of_range(cells, range);
    if (row < cut.rows) writer.write({row}, {sum});
    range = cut.cells_of(row + Team::threads());
  }
}

/// All cells belong to one row, of which this is a part. The last window of the row to end adds the
/// parts up, in their order: true for its thread 0, which has their `sum`.
template <class Team, class V, class T, class E>
__device__ bool add_part(const DeviceMatrix<V>& a, const DeviceWorkspace<T>& workspace,
                         const Window& window, const Cell<E>* cells, Cell<E>& sum) {
  auto* const partials = reinterpret_cast<Cell<E>*>(workspace.partials);
  __shared__ bool last_of_teams[Team::kTeams];
  bool& last = last_of_teams[Team::team()];
  sum = sum_of_team<Team>(cells, window.pieces);
  const std::int64_t first = a.split_starts[window.split];
  const auto parts = static_cast<unsigned>(a.split_starts[window.split + 1] - first);
  if (Team::thread() == 0) {
    partials[window.partial] = sum;
    last = device::arrive_at(workspace.arrivals + window.split, parts);
  }
  Team::sync();  // `last` is there, and what other windows wrote is visible
  if (!last) return false;
  sum = sum_of_team<Team>(partials + first, static_cast<int>(parts));
  return Team::thread() == 0;
}

}  // namespace lanky::sparse::cuda
