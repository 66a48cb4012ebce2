#include "dense/cpu/tiled.hpp"

#include <omp.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/plan_types.hpp"
#include "core/text.hpp"
#include "dense/cpu/pack.hpp"
#include "dense/cpu/register_tiles.hpp"

namespace lanky::dense::cpu {

namespace {

/// Multiply-adds below which one thread computes: waking others costs more than it saves.
constexpr double kThreadsLeast = 1 << 19;
/// The same for elements of C that are only scaled, or summed from partial sums.
constexpr std::int64_t kElementsThreadsLeast = 1 << 17;
/// A C of this many bytes is written past the caches, which saves reading it first.
constexpr std::int64_t kStreamLeast = 8 << 20;
constexpr std::int64_t kAlignment = 64;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0);
}
constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return ceil_div(value, unit) * unit;
}

/// Panels of one thread, as offsets into its part of the workspace.
template <class T>
struct Layout {
  std::int64_t b = 0;       // a begins at 0
  std::int64_t sums = 0;    // Real<T>
  std::int64_t totals = 0;  // double
  std::int64_t bytes = 0;
  int ld = 0;  // of sums and totals: [columns of C][ld rows], swapped [rows][ld columns]

  Layout(const Blocking& blocking, const RegisterTiles<Real<T>>& tiles) {
    constexpr std::int64_t kSize = sizeof(Real<T>);
    const std::int64_t columns = std::int64_t{blocking.columns} * kParts<T>;
    const std::int64_t depth = std::int64_t{blocking.depth} * kParts<T>;
    const bool swapped = blocking.form == Form::swapped;
    ld = static_cast<int>(round_up(swapped ? columns : blocking.rows, tiles.width));
    const std::int64_t elements = std::int64_t{ld} * (swapped ? blocking.rows : columns);
    const std::int64_t rows = round_up(blocking.rows, tiles.width);
    const auto after = [](std::int64_t offset, std::int64_t size) {
      return offset + round_up(size, kAlignment);
    };
    b = after(0, (blocking.a_in_place && blocking.form != Form::outer ? 0 : rows) * depth * kSize);
    sums = after(b, blocking.b_in_place ? 0 : round_up(columns, tiles.width) * depth * kSize);
    totals = after(sums, elements * kSize);
    bytes = after(totals, elements * static_cast<std::int64_t>(sizeof(double)));
  }
};

/// alpha and beta of a run; alpha is 0 where there is nothing to sum.
template <class Acc>
struct Factors {
  Acc alpha;
  Acc beta;
};

double finished(Factors<double> factors, double sum, double c) {
  const double value = factors.alpha == 0 ? 0 : factors.alpha * sum;
  return factors.beta == 0 ? value : value + factors.beta * c;
}

/// a b by the plain formula of BLAS, also where a part is infinite.
std::complex<double> product(std::complex<double> a, std::complex<double> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

std::complex<double> finished(Factors<std::complex<double>> factors, std::complex<double> sum,
                              std::complex<double> c) {
  const std::complex<double> zero = 0;
  const std::complex<double> value = factors.alpha == zero ? zero : product(factors.alpha, sum);
  return factors.beta == zero ? value : value + product(factors.beta, c);
}

/// The type in which C is finished: its sums are scaled before the one rounding to TOut.
template <class T>
using Final = std::conditional_t<kIsComplex<T>, std::complex<double>, double>;

/// Sums of a block of C: numbers at i * row + j * col, part after part along j.
template <class Sum>
struct Sums {
  const Sum* data;
  Strides strides;

  template <class T>
  Final<T> at(std::int64_t i, std::int64_t j) const {
    const Sum* sum = data + i * strides.row + j * kParts<T> * strides.col;
    if constexpr (kIsComplex<T>) {
      return {static_cast<double>(sum[0]), static_cast<double>(sum[strides.col])};
    } else {
      return static_cast<double>(*sum);
    }
  }
};

/// One run of a product.
template <class T, class TOut>
class Run {
 public:
  using R = Real<T>;

  Run(const Problem& problem, const Blocking& blocking, const Operands<T, TOut>& g)
      : problem_(problem),
        blocking_(blocking),
        g_(g),
        tiles_(register_tiles<R>()),
        layout_(blocking, tiles_),
        factors_{problem.k == 0 ? Final<T>(0) : Final<T>(load(g.alpha)), Final<T>(load(g.beta))} {}

  static std::int64_t partial_bytes(const Problem& problem, const Blocking& blocking) {
    return round_up(dense::partial_bytes(problem, blocking.split, kParts<T> * sizeof(double)),
                    kAlignment);
  }

  void compute(int threads) {
    if (factors_.alpha == Final<T>(0)) return scale();
    const std::int64_t row_tasks =
        ceil_div(problem_.m, std::int64_t{blocking_.rows} * blocking_.blocks);
    const std::int64_t tasks = row_tasks * blocking_.split.count;
    const bool worth = static_cast<double>(problem_.m) * static_cast<double>(problem_.n) *
                           static_cast<double>(problem_.k) >=
                       kThreadsLeast;
    if (!worth) threads = 1;
#pragma omp parallel num_threads(static_cast <int>(std::min <std::int64_t>(threads, tasks)))
    {
      Panels panels(*this, omp_get_thread_num());
#pragma omp for schedule(dynamic, 1)
      for (std::int64_t task = 0; task < tasks; ++task)
        multiply_rows(panels, task % row_tasks, task / row_tasks);
    }
    if (blocking_.split.count > 1) reduce();
  }

 private:
  /// Scratch of one thread.
  struct Panels {
    Panels(const Run& run, int thread) {
      std::byte* base = static_cast<std::byte*>(run.g_.workspace) +
                        partial_bytes(run.problem_, run.blocking_) + thread * run.layout_.bytes;
      a = reinterpret_cast<R*>(base);
      b = reinterpret_cast<R*>(base + run.layout_.b);
      sums = reinterpret_cast<R*>(base + run.layout_.sums);
      totals = reinterpret_cast<double*>(base + run.layout_.totals);
    }
    R* a;
    R* b;
    R* sums;
    double* totals;
    std::int64_t b_row = -1;  // what is packed in b: B from (b_row, b_column) on
    std::int64_t b_column = -1;
  };

  /// A part of the product: C[rows, columns] from (i, j) on, over k of [p, p + depth).
  struct Block {
    std::int64_t i;
    std::int64_t j;
    std::int64_t p;
    int rows;
    int columns;
    int depth;
  };

  /// One task: blocking.blocks blocks of rows, over chunk `chunk` of k.
  void multiply_rows(Panels& panels, std::int64_t task, std::int64_t chunk) const {
    const std::int64_t k0 = chunk * blocking_.split.length;
    const std::int64_t k1 = std::min(problem_.k, k0 + blocking_.split.length);
    const std::int64_t task_rows = std::int64_t{blocking_.rows} * blocking_.blocks;
    const std::int64_t i1 = std::min(problem_.m, (task + 1) * task_rows);
    panels.b_row = -1;
    for (std::int64_t j = 0; j < problem_.n; j += blocking_.columns) {
      for (std::int64_t i = task * task_rows; i < i1; i += blocking_.rows) {
        Block block{i,
                    j,
                    k0,
                    static_cast<int>(std::min<std::int64_t>(blocking_.rows, i1 - i)),
                    static_cast<int>(std::min<std::int64_t>(blocking_.columns, problem_.n - j)),
                    static_cast<int>(std::min<std::int64_t>(blocking_.depth, k1 - k0))};
        if (k1 - k0 <= blocking_.depth) {
          multiply_block(panels, block);
          emit(panels.sums, block, chunk);
        } else {
          multiply_deep(panels, block, k1);
          emit(panels.totals, block, chunk);
        }
      }
    }
    tiles_.stream_end();
  }

  /// totals = the sums of every depth of [block.p, k1).
  void multiply_deep(Panels& panels, Block block, std::int64_t k1) const {
    const std::int64_t elements = sums_of(block);
    std::fill_n(panels.totals, elements, 0.0);
    for (; block.p < k1; block.p += blocking_.depth) {
      block.depth = static_cast<int>(std::min<std::int64_t>(blocking_.depth, k1 - block.p));
      multiply_block(panels, block);
      for (std::int64_t e = 0; e < elements; ++e)
        panels.totals[e] += static_cast<double>(panels.sums[e]);
    }
  }

  std::int64_t sums_of(const Block& block) const {
    return std::int64_t{layout_.ld} *
           (blocking_.form == Form::swapped ? block.rows : block.columns * kParts<T>);
  }

  /// sums = the product of the block.
  void multiply_block(Panels& panels, const Block& block) const {
    std::fill_n(panels.sums, sums_of(block), R(0));
    switch (blocking_.form) {
      case Form::outer:
        return multiply_outer(panels, block);
      case Form::swapped:
        return multiply_swapped(panels, block);
      case Form::inner:
        return multiply_inner(panels, block);
    }
  }

  const T* a_at(const Block& block) const {
    return g_.a + block.i * problem_.a.row + block.p * problem_.a.col;
  }
  const T* b_at(const Block& block) const {
    return g_.b + block.p * problem_.b.row + block.j * problem_.b.col;
  }
  /// B of the block as numbers (p, j).
  auto b_numbers(const Block& block) const {
    if constexpr (kIsComplex<T>) {
      return ComplexB<T>{b_at(block), problem_.b, problem_.conj_a, problem_.conj_b};
    } else {
      return RealSource<T>{b_at(block), problem_.b};
    }
  }
  /// B of the block as numbers (j, p).
  auto b_transposed(const Block& block) const {
    if constexpr (kIsComplex<T>) {
      return [source = b_numbers(block)](std::int64_t j, std::int64_t p) { return source(p, j); };
    } else {
      return RealSource<T>{b_at(block), problem_.b.transposed()};
    }
  }
  /// True once for every part of B that is needed next.
  bool b_is_new(Panels& panels, const Block& block) const {
    if (panels.b_row == block.p && panels.b_column == block.j) return false;
    panels.b_row = block.p;
    panels.b_column = block.j;
    return true;
  }

  void multiply_outer(Panels& panels, const Block& block) const {
    const int depth = block.depth * kParts<T>;
    const int columns = block.columns * kParts<T>;
    OuterProduct<R> tile{.a = panels.a,
                         .a_column = 0,
                         .rows = static_cast<int>(round_up(block.rows, tiles_.width)),
                         .b = panels.b,
                         .b_row = columns,
                         .b_column = 1,
                         .columns = columns,
                         .depth = depth,
                         .sums = panels.sums,
                         .ld = layout_.ld};
    if (blocking_.b_in_place) {
      tile.b = in_place(b_at(block));
      tile.b_row = problem_.b.row;
    } else if (b_is_new(panels, block)) {
      pack_rows(panels.b, depth, columns, b_numbers(block));
    }
    if (!blocking_.a_in_place) {
      pack_contiguous_strips(tiles_, panels.a, a_at(block), problem_.a.col, block.rows,
                             block.depth);
      tiles_.outer(tile);
      return;
    }
    const int whole = block.rows / tiles_.width * tiles_.width;
    if (whole < block.rows) {  // rows that fill no vector
      OuterProduct<R> rest = tile;
      pack_contiguous_strips(tiles_, panels.a, a_at(block) + whole, problem_.a.col,
                             block.rows - whole, block.depth);
      rest.rows = tiles_.width;
      rest.sums += whole;
      tiles_.outer(rest);
    }
    tile.rows = whole;
    tile.a_column = problem_.a.col;
    for (int p = 0; p < depth; p += blocking_.step) {
      tile.a = in_place(a_at(block)) + p * problem_.a.col;
      tile.depth = std::min(blocking_.step, depth - p);
      tiles_.outer(tile);
      tile.b += tile.depth * tile.b_row;
    }
  }

  /// A of the block, rows contiguous along k: where it stands, or widened.
  InnerProduct<R> rows_of_a(Panels& panels, const Block& block) const {
    InnerProduct<R> rows{};
    rows.rows = block.rows;
    rows.depth = block.depth * kParts<T>;
    if (blocking_.a_in_place) {
      rows.a = in_place(a_at(block));
      rows.lda = problem_.a.row * kParts<T>;
    } else {
      rows.a = panels.a;
      rows.lda = rows.depth;
      if constexpr (!kIsComplex<T>) {
        pack_rows(panels.a, block.rows, block.depth, RealSource<T>{a_at(block), problem_.a});
      }
    }
    return rows;
  }

  void multiply_swapped(Panels& panels, const Block& block) const {
    const int columns = block.columns * kParts<T>;
    const InnerProduct<R> a = rows_of_a(panels, block);
    if (b_is_new(panels, block)) {
      if constexpr (!kIsComplex<T>) {
        if (problem_.b.col == 1) {
          pack_contiguous_strips(tiles_, panels.b, b_at(block), problem_.b.row, columns,
                                 block.depth);
        } else {
          pack_strips(tiles_, panels.b, columns, a.depth, b_transposed(block));
        }
      } else {
        pack_strips(tiles_, panels.b, columns, a.depth, b_transposed(block));
      }
    }
    tiles_.outer({.a = panels.b,
                  .a_column = 0,
                  .rows = static_cast<int>(round_up(columns, tiles_.width)),
                  .b = a.a,
                  .b_row = 1,
                  .b_column = a.lda,
                  .columns = block.rows,
                  .depth = a.depth,
                  .sums = panels.sums,
                  .ld = layout_.ld});
  }

  void multiply_inner(Panels& panels, const Block& block) const {
    InnerProduct<R> tile = rows_of_a(panels, block);
    tile.columns = block.columns * kParts<T>;
    if (blocking_.b_in_place) {
      tile.b = in_place(b_at(block));
      tile.ldb = problem_.b.col;
    } else {
      tile.b = panels.b;
      tile.ldb = tile.depth;
      if (b_is_new(panels, block)) {
        pack_rows(panels.b, tile.columns, tile.depth, b_transposed(block));
      }
    }
    tile.sums = panels.sums;
    tile.ld = layout_.ld;
    tiles_.inner(tile);
  }

  /// Elements that need no widening, as numbers.
  static const R* in_place(const T* elements) {
    return reinterpret_cast<const R*>(elements);
  }

  /// The block's sums into C, or into the partial sums of the chunk.
  template <class Sum>
  void emit(const Sum* data, const Block& block, std::int64_t chunk) const {
    const Strides strides =
        blocking_.form == Form::swapped ? Strides{layout_.ld, 1} : Strides{1, layout_.ld};
    if (blocking_.split.count == 1) return finish(Sums<Sum>{data, strides}, block);
    double* partials = partials_of(chunk) + block.j * kParts<T> * problem_.m + block.i;
    for (int j = 0; j < block.columns * kParts<T>; ++j) {
      for (int i = 0; i < block.rows; ++i) {
        partials[j * problem_.m + i] = static_cast<double>(data[i * strides.row + j * strides.col]);
      }
    }
  }

  /// Partial sums [n * kParts][m] of a chunk.
  double* partials_of(std::int64_t chunk) const {
    return static_cast<double*>(g_.workspace) + chunk * problem_.m * problem_.n * kParts<T>;
  }

  /// C = alpha sums + beta C over a block, along the contiguous side of C.
  template <class Sum>
  void finish(Sums<Sum> sums, const Block& block) const {
    TOut* c = g_.c + block.i * problem_.c.row + block.j * problem_.c.col;
    const bool along_rows = problem_.c.row == 1;
    const Strides c_strides = along_rows ? problem_.c : problem_.c.transposed();
    const Strides s_strides = along_rows ? sums.strides : sums.strides.transposed();
    const int runs = along_rows ? block.columns : block.rows;
    const int length = along_rows ? block.rows : block.columns;
    if constexpr (!kIsComplex<T>) {
      if (factors_.alpha == 1 && factors_.beta == 0 && s_strides.row == 1) {
        for (int r = 0; r < runs; ++r)
          copy_run(sums.data + r * s_strides.col, c + r * c_strides.col, c_strides.row, length);
        return;
      }
    }
    for (int r = 0; r < runs; ++r) {
      for (int e = 0; e < length; ++e) {
        const int i = along_rows ? e : r;
        const int j = along_rows ? r : e;
        store(sums.template at<T>(i, j), c[r * c_strides.col + e * c_strides.row]);
      }
    }
  }

  /// c = sums, rounded once: past the caches where C is large.
  template <class Sum>
  void copy_run(const Sum* sums, TOut* c, std::int64_t stride, int length) const {
    if constexpr (std::is_same_v<Sum, TOut>) {
      const auto bytes = static_cast<std::int64_t>(sizeof(TOut));
      if (stride == 1 && problem_.m * problem_.n * bytes >= kStreamLeast) {
        tiles_.stream(sums, c, length);
        return;
      }
    }
    for (int e = 0; e < length; ++e)
      c[e * stride] = static_cast<TOut>(sums[e]);
  }

  void store(Final<T> sum, TOut& c) const {
    const Final<T> old = factors_.beta == Final<T>(0) ? Final<T>(0) : Final<T>(c);
    c = static_cast<TOut>(finished(factors_, sum, old));
  }

  /// C from the partial sums, chunk after chunk.
  void reduce() const {
    const std::int64_t elements = problem_.m * problem_.n;
#pragma omp parallel for schedule(static) if (elements * blocking_.split.count >= \
                                              kElementsThreadsLeast)
    for (std::int64_t e = 0; e < elements; ++e) {
      const std::int64_t i = e % problem_.m;
      const std::int64_t j = e / problem_.m;
      double sum[2] = {};
      for (std::int64_t chunk = 0; chunk < blocking_.split.count; ++chunk) {
        for (int part = 0; part < kParts<T>; ++part)
          sum[part] += partials_of(chunk)[(j * kParts<T> + part) * problem_.m + i];
      }
      TOut& c = g_.c[i * problem_.c.row + j * problem_.c.col];
      store(Sums<double>{sum, {0, 1}}.template at<T>(0, 0), c);
    }
  }

  /// C = beta C.
  void scale() const {
    const std::int64_t elements = problem_.m * problem_.n;
#pragma omp parallel for schedule(static) if (elements >= kElementsThreadsLeast)
    for (std::int64_t e = 0; e < elements; ++e)
      store(Final<T>(0), g_.c[e % problem_.m * problem_.c.row + e / problem_.m * problem_.c.col]);
  }

  const Problem& problem_;
  const Blocking& blocking_;
  const Operands<T, TOut>& g_;
  const RegisterTiles<R>& tiles_;
  Layout<T> layout_;
  Factors<Final<T>> factors_;
};

template <class T>
Blocking blocking_of(const Problem& problem) {
  return choose_blocking(problem,
                         {.real_bytes = sizeof(Real<T>),
                          .parts = kParts<T>,
                          .converted = !std::is_same_v<T, Accumulator<T>>},
                         register_tiles<Real<T>>().width);
}

}  // namespace

template <class T, class TOut>
TiledExecutor<T, TOut>::TiledExecutor(const Problem& problem, std::string reason)
    : problem_(problem),
      blocking_(blocking_of<T>(problem)),
      threads_(omp_get_max_threads()),
      reason_(std::move(reason)) {}

template <class T, class TOut>
std::int64_t TiledExecutor<T, TOut>::workspace_bytes() const noexcept {
  return Run<T, TOut>::partial_bytes(problem_, blocking_) +
         threads_ * Layout<T>(blocking_, register_tiles<Real<T>>()).bytes;
}

template <class T, class TOut>
std::string TiledExecutor<T, TOut>::explain() const {
  const auto operand = [](bool in_place) { return in_place ? " in place" : " packed"; };
  const char* along = blocking_.form == Form::outer     ? "m"
                      : blocking_.form == Form::swapped ? "n"
                                                        : "k";
  return concat("cpu tiled, ", register_tiles<Real<T>>().isa, " along ", along, ", blocks of ",
                blocking_.rows, " x ", blocking_.columns, " x ", blocking_.depth, ", A",
                operand(blocking_.a_in_place), ", B", operand(blocking_.b_in_place), ", k in ",
                blocking_.split.count, " chunks of ", blocking_.split.length,
                reason_.empty() ? "" : "; ", reason_);
}

template <class T, class TOut>
void TiledExecutor<T, TOut>::run(const Stream& /*stream*/, const Operands<T, TOut>& g) const {
  Run<T, TOut>(problem_, blocking_, g).compute(std::min(threads_, omp_get_max_threads()));
}

#define LANKY_INSTANTIATE(T, TOut) template class TiledExecutor<T, TOut>;
LANKY_FOR_EACH_GEMM_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::dense::cpu
