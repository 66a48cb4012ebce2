#include "dense/cpu/tiled.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/for_each.hpp"
#include "core/plan_types.hpp"
#include "core/team.hpp"
#include "core/text.hpp"
#include "dense/cpu/finish.hpp"

namespace lanky::dense::cpu {

namespace {

/// Elements of C that are only scaled, or summed from partial sums, below which one thread does it.
constexpr std::int64_t kElementsThreadsLeast = 1 << 17;
/// A C of this many bytes, which the second cache does not hold, is written past the caches: it
/// need not be read first.
constexpr std::int64_t kStreamLeast = 1 << 20;
/// Columns of C that tiles write side by side, a part of a line each: more are written one by one.
constexpr std::int64_t kColumnsIntoC = 8;
/// Elements below which what is written at once fills too few cache lines for that.
constexpr std::int64_t kStreamRun = 64;

/// 0, or a power of two up to 1: floats times it are exact unless they become subnormal, and none
/// overflows.
bool scales_exactly(double factor) {
  constexpr int kMostHalvings = 16;
  int exponent = 0;
  const double fraction = std::abs(std::frexp(factor, &exponent));
  return fraction == 0 || (fraction == 0.5 && exponent <= 1 && exponent >= -kMostHalvings);
}

/// What a plan has decided of a product.
template <class T>
struct Decided {
  const Problem& original;
  const Problem& work;  // with rows folded
  const Blocking& blocking;
  const RegisterTiles<Real<T>>& tiles;
  const WorkspaceLayout<T>& layout;
};

/// One run of a product.
template <class T, class TOut>
class Run {
 public:
  using R = Real<T>;

  Run(const Decided<T>& decided, const Operands<T, TOut>& g)
      : original_(decided.original),
        problem_(decided.work),
        blocking_(decided.blocking),
        g_(g),
        tiles_(decided.tiles),
        layout_(decided.layout),
        factors_{original_.k == 0 ? Final<T>(0) : Final<T>(load(g.alpha)), Final<T>(load(g.beta))},
        into_c_(writes_into_c()) {
    if constexpr (!kIsComplex<T>) {
      const bool exact = scales_exactly(factors_.alpha) && scales_exactly(factors_.beta);
      scaling_ = {factors_.alpha, factors_.beta, exact};
    }
  }

  void compute(int threads) {
    if (factors_.alpha == Final<T>(0)) return scale();
    const std::int64_t row_tasks =
        ceil_div(problem_.m, std::int64_t{blocking_.rows} * blocking_.blocks);
    const std::int64_t tasks = row_tasks * blocking_.split.count;
    const int used = blocking_.worth > 1 ? threads_worth(blocking_, threads, tasks, team_us()) : 1;
    const std::int64_t shared = blocking_.b_shared ? layout_.b_blocks() * blocking_.split.count : 0;
    if (used <= 1) {  // without OpenMP, whose region of one thread takes .8 us
      for (std::int64_t index = 0; index < shared; ++index)
        pack_shared_b(index);
      Panels panels(*this, 0);
      for (std::int64_t task = 0; task < tasks; ++task)
        multiply_rows(panels, task % row_tasks, task / row_tasks);
    } else {
#pragma omp parallel num_threads(used)
      {
        Panels panels(*this, omp_get_thread_num());
        if (shared > 0) {
#pragma omp for schedule(static)  // ends with a barrier: B is packed before the first task reads it
          for (std::int64_t index = 0; index < shared; ++index)
            pack_shared_b(index);
        }
#pragma omp for schedule(dynamic, 1)
        for (std::int64_t task = 0; task < tasks; ++task)
          multiply_rows(panels, task % row_tasks, task / row_tasks);
      }
    }
    if (blocking_.partial()) reduce();
  }

 private:
  /// Scratch of one thread.
  struct Panels {
    Panels(const Run& run, int thread) {
      std::byte* base = static_cast<std::byte*>(run.g_.workspace) + run.layout_.threads +
                        thread * run.layout_.per_thread;
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

  /// A part of the product: C[rows, columns] from (i, j) on, over k of [p, p + depth). It belongs
  /// to a task of rows up to i_end and k from p_begin to p_end.
  struct Block {
    std::int64_t i;
    std::int64_t j;
    std::int64_t p;
    int rows;
    int columns;
    int depth;
    std::int64_t i_end;
    std::int64_t p_begin;
    std::int64_t p_end;
  };

  /// Where the sums of a block go, and whether they are its first.
  struct Target {
    R* sums;
    std::int64_t ld;
    bool fresh;
    bool is_c = false;
    std::int64_t step = 1;  // from row to row where inner products go
  };

  const Scaling* scaling_of(const Target& target) const {
    return target.is_c && !plain() ? &scaling_ : nullptr;
  }

  /// C is the sums.
  bool plain() const {
    return factors_.alpha == Final<T>(1) && factors_.beta == Final<T>(0);
  }

  /// Tiles store C itself: each has all of k, and C is no larger than the caches or is read anyway.
  bool writes_into_c() const {
    if constexpr (std::is_same_v<R, TOut>) {
      const bool whole = problem_.k <= blocking_.depth && blocking_.step == blocking_.depth;
      if (blocking_.partial() || !whole) return false;
      const bool in_cache = plain() && !past_caches();
      if (blocking_.form == Form::inner) return in_cache;
      const Strides& c = problem_.c;
      const bool few = problem_.n <= kColumnsIntoC || blocking_.small;
      return blocking_.chain >= blocking_.depth && (in_cache || !plain()) &&
             (blocking_.form == Form::swapped ? c.col == 1 : c.row == 1 && few);
    } else {
      return false;
    }
  }

  bool past_caches() const {
    return problem_.m * problem_.n * static_cast<std::int64_t>(sizeof(TOut)) >= kStreamLeast;
  }

  /// One task: blocking.blocks blocks of rows, over chunk `chunk` of k.
  void multiply_rows(Panels& panels, std::int64_t task, std::int64_t chunk) const {
    const std::int64_t k0 = chunk * blocking_.split.length;
    const std::int64_t k1 = std::min(problem_.k, k0 + blocking_.split.length);
    const std::int64_t task_rows = std::int64_t{blocking_.rows} * blocking_.blocks;
    const std::int64_t i1 = std::min(problem_.m, (task + 1) * task_rows);
    panels.b_row = -1;
    for (std::int64_t j = 0; j < problem_.n; j += blocking_.columns) {
      for (std::int64_t i = task * task_rows; i < i1; i += blocking_.rows) {
        const auto rows = static_cast<int>(std::min<std::int64_t>(blocking_.rows, i1 - i));
        const auto columns =
            static_cast<int>(std::min<std::int64_t>(blocking_.columns, problem_.n - j));
        multiply_whole(panels, {i, j, k0, rows, columns, 0, i1, k0, k1}, chunk);
      }
    }
    tiles_.stream_end();
  }

  /// The block over all k of its task, to where it belongs.
  void multiply_whole(Panels& panels, const Block& block, std::int64_t chunk) const {
    if constexpr (std::is_same_v<R, TOut>) {
      if (into_c_) {
        R* c = g_.c + block.i * problem_.c.row + block.j * problem_.c.col;
        const bool swapped = blocking_.form == Form::swapped;
        return multiply_depths(
            panels, block, block.p_end,
            {c, swapped ? problem_.c.row : problem_.c.col, true, true, problem_.c.row});
      }
    }
    if (blocking_.promote == 0 || block.p_end - block.p <= blocking_.promote) {
      multiply_depths(panels, block, block.p_end, sums_of(panels, block));
      emit(panels.sums, block, chunk);
    } else {
      multiply_deep(panels, block);
      emit(panels.totals, block, chunk);
    }
  }

  /// Where sums of a block stand: as C does, where the form allows it.
  Strides sum_strides(const Block& block) const {
    if (blocking_.form == Form::swapped) return {layout_.ld, 1};
    if (blocking_.form == Form::inner && !blocking_.partial() && problem_.c.row != 1)
      return {block.columns * kParts<T>, 1};
    return {1, layout_.ld};
  }
  Target sums_of(const Panels& panels, const Block& block) const {
    const Strides strides = sum_strides(block);
    const bool swapped = blocking_.form == Form::swapped;
    return {panels.sums, swapped ? strides.row : strides.col, true, false, strides.row};
  }

  /// totals = the product of the block over all k of its task.
  void multiply_deep(Panels& panels, Block block) const {
    const std::int64_t elements =
        std::int64_t{layout_.ld} *
        (blocking_.form == Form::swapped ? block.rows : block.columns * kParts<T>);
    std::fill_n(panels.totals, elements, 0.0);
    while (block.p < block.p_end) {
      const std::int64_t next = std::min(block.p + blocking_.promote, block.p_end);
      multiply_depths(panels, block, next, sums_of(panels, block));
      block.p = next;
      tiles_.promote(panels.sums, panels.totals, elements);
    }
  }

  /// The product of the block over k of [block.p, end).
  void multiply_depths(Panels& panels, Block block, std::int64_t end, Target target) const {
    for (; block.p < end; block.p += block.depth) {
      block.depth = static_cast<int>(std::min<std::int64_t>(blocking_.depth, end - block.p));
      switch (blocking_.form) {
        case Form::outer:
          multiply_outer(panels, block, target);
          break;
        case Form::swapped:
          multiply_swapped(panels, block, target);
          break;
        case Form::inner:
          multiply_inner(panels, block, target);
          break;
      }
      target.fresh = false;
    }
  }

  /// What an outer product reads of A in place, `depth` columns of it.
  Ahead a_of(const Block& block, int depth) const {
    const auto size = static_cast<std::int64_t>(sizeof(T));
    const std::int64_t rows = std::min<std::int64_t>(blocking_.rows, block.i_end - block.i);
    return {a_at(block), problem_.a.col * size, static_cast<int>(rows * size),
            static_cast<int>(std::min<std::int64_t>(depth, block.p_end - block.p))};
  }

  /// Has all lines of it on their way: a first block, which none before it asked for.
  static void ask_for(const Ahead& lines) {
    const auto* column = static_cast<const char*>(lines.data);
    for (int c = 0; c < lines.columns; ++c, column += lines.column) {
      for (int byte = 0; byte < lines.column_bytes; byte += 64)
        __builtin_prefetch(column + byte);
    }
  }

  /// What an outer product reads of A after k up to `p`: the next `depth` columns of the block, or
  /// the first ones of the next block.
  Ahead a_after(Block block, std::int64_t p, int depth) const {
    if (p < block.p_end) {
      block.p = p;
    } else {
      block.i += blocking_.rows;
      block.p = block.p_begin;
    }
    if (block.i >= block.i_end) return {};
    return a_of(block, depth);
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
  void pack_b(const Block& block, R* panel) const {
    const int columns = block.columns * kParts<T>;
    const int depth = block.depth * kParts<T>;
    switch (blocking_.form) {
      case Form::outer:
        if constexpr (std::is_same_v<T, R>) {
          if (problem_.b.col == 1) {
            return pack_contiguous_groups(tiles_, panel, b_at(block), problem_.b.row, columns,
                                          depth);
          }
        }
        if constexpr (!kIsComplex<T>) {
          if (problem_.b.row == 1) {
            return pack_transposed_groups(tiles_, panel, b_at(block), problem_.b.col, columns,
                                          depth);
          }
        }
        return pack_groups(tiles_, panel, columns, depth, b_numbers(block));
      case Form::inner:
        if constexpr (kIsComplex<T>) {
          return pack_complex_rows(panel, columns, depth, b_numbers(block));
        } else {
          return pack_rows(panel, columns, depth, b_transposed(block));
        }
      case Form::swapped:
        if constexpr (!kIsComplex<T>) {
          if (problem_.b.col == 1) {
            return pack_contiguous_strips(tiles_, panel, b_at(block), problem_.b.row, columns,
                                          depth);
          }
          if (problem_.b.row == 1) {
            return pack_transposed_strips(tiles_, panel, b_at(block), problem_.b.col, columns,
                                          depth);
          }
        }
        return pack_strips(tiles_, panel, columns, depth, b_transposed(block));
    }
  }

  R* shared_b(std::int64_t index) const {
    return reinterpret_cast<R*>(static_cast<std::byte*>(g_.workspace) + layout_.shared_b +
                                index * layout_.b_block);
  }

  /// Block `index` of B: columns before k, which goes on from chunk to chunk.
  void pack_shared_b(std::int64_t index) const {
    const std::int64_t chunk = index / layout_.b_blocks();
    const std::int64_t in_chunk = index % layout_.b_blocks() / layout_.b_blocks_of_columns;
    const std::int64_t k1 = std::min(problem_.k, (chunk + 1) * blocking_.split.length);
    Block block{};
    block.j = index % layout_.b_blocks_of_columns * blocking_.columns;
    block.p = chunk * blocking_.split.length + in_chunk * blocking_.depth;
    if (block.p >= k1) return;
    block.columns =
        static_cast<int>(std::min<std::int64_t>(blocking_.columns, problem_.n - block.j));
    block.depth = static_cast<int>(std::min<std::int64_t>(blocking_.depth, k1 - block.p));
    pack_b(block, shared_b(index));
  }

  /// B of the block, packed.
  const R* packed_b(Panels& panels, const Block& block) const {
    if (blocking_.b_shared) {
      const std::int64_t chunk = block.p_begin / blocking_.split.length;
      const std::int64_t in_chunk = (block.p - block.p_begin) / blocking_.depth;
      return shared_b(chunk * layout_.b_blocks() + in_chunk * layout_.b_blocks_of_columns +
                      block.j / blocking_.columns);
    }
    if (panels.b_row != block.p || panels.b_column != block.j) {
      pack_b(block, panels.b);
      panels.b_row = block.p;
      panels.b_column = block.j;
    }
    return panels.b;
  }

  void multiply_outer(Panels& panels, const Block& block, Target target) const {
    const int depth = block.depth * kParts<T>;
    OuterProduct<R> tile{.a = panels.a,
                         .a_column = 0,
                         .rows = block.rows,
                         .beyond = blocking_.spare > 0,
                         .b = nullptr,
                         .b_group = tiles_.group * problem_.b.col,
                         .b_row = problem_.b.row,
                         .b_column = problem_.b.col,
                         .columns = block.columns * kParts<T>,
                         .depth = depth,
                         .chain = blocking_.chain,
                         .sums = target.sums,
                         .ld = target.ld,
                         .fresh = target.fresh,
                         .padded = !target.is_c,
                         .scaling = scaling_of(target),
                         .ahead = {}};
    if (blocking_.b_in_place) {
      tile.b = in_place(b_at(block));
    } else {
      tile.b = packed_b(panels, block);
      tile.b_group = std::int64_t{tiles_.group} * depth;
      tile.b_row = tiles_.group;
      tile.b_column = 1;
    }
    if (blocking_.a_in_place) return multiply_in_place(block, tile);
    if constexpr (!kIsComplex<T>) {
      if (problem_.a.row != 1) {
        pack_transposed_strips(tiles_, panels.a, a_at(block), problem_.a.row, block.rows,
                               block.depth);
        return tiles_.outer(tile);
      }
    }
    pack_contiguous_strips(tiles_, panels.a, a_at(block), problem_.a.col, block.rows, block.depth);
    tile.ahead = a_after(block, block.p + block.depth, blocking_.depth);
    tiles_.outer(tile);
  }

  /// An outer product whose A is read where it stands, some columns at a time. Tiles ask for the
  /// next strip of these columns; where columns are short, the next ones are asked for too.
  void multiply_in_place(const Block& block, OuterProduct<R> tile) const {
    const R* a = in_place(a_at(block));
    const bool first = block.i % (std::int64_t{blocking_.rows} * blocking_.blocks) == 0;
    const bool gaps = problem_.a.col > block.rows || block.rows > tiles_.strip;
    if (first && blocking_.step == block.depth && gaps) ask_for(a_of(block, block.depth));
    const bool asks = block.rows * static_cast<std::int64_t>(sizeof(R)) < kPageBytes;
    tile.a_column = problem_.a.col;
    for (int p = 0; p < block.depth; p += blocking_.step) {
      tile.a = a + p * problem_.a.col;
      tile.depth = std::min(blocking_.step, block.depth - p);
      if (asks) tile.ahead = a_after(block, block.p + p + tile.depth, blocking_.step);
      tiles_.outer(tile);
      tile.b += tile.depth * tile.b_row;
      tile.fresh = false;
    }
  }

  /// A of the block, rows contiguous along k unless it stands in place: as it stands, or widened.
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

  void multiply_swapped(Panels& panels, const Block& block, Target target) const {
    const InnerProduct<R> a = rows_of_a(panels, block);
    const bool in_place_b = blocking_.b_in_place;
    tiles_.outer({.a = in_place_b ? in_place(b_at(block)) : packed_b(panels, block),
                  .a_column = in_place_b ? problem_.b.row : 0,
                  .rows = block.columns * kParts<T>,
                  .beyond = false,
                  .b = a.a,
                  .b_group = tiles_.group * a.lda,
                  .b_row = blocking_.a_in_place ? problem_.a.col : 1,
                  .b_column = a.lda,
                  .columns = block.rows,
                  .depth = a.depth,
                  .chain = blocking_.chain,
                  .sums = target.sums,
                  .ld = target.ld,
                  .fresh = target.fresh,
                  .padded = !target.is_c,
                  .scaling = scaling_of(target),
                  .ahead = {}});
  }

  void multiply_inner(Panels& panels, const Block& block, Target target) const {
    InnerProduct<R> tile = rows_of_a(panels, block);
    tile.columns = block.columns * kParts<T>;
    tile.b = blocking_.b_in_place ? in_place(b_at(block)) : packed_b(panels, block);
    tile.ldb = blocking_.b_in_place ? problem_.b.col : tile.depth;
    tile.chain = blocking_.chain;
    tile.sums = target.sums;
    tile.step = target.step;
    tile.ld = target.ld;
    tile.fresh = target.fresh;
    tiles_.inner(tile);
  }

  /// Elements that need no widening, as numbers.
  static const R* in_place(const T* elements) {
    return reinterpret_cast<const R*>(elements);
  }

  /// The block's sums into C, or into the partial sums of the chunk.
  template <class Sum>
  void emit(const Sum* data, const Block& block, std::int64_t chunk) const {
    const Strides strides = sum_strides(block);
    if (!blocking_.partial()) return finish(Sums<Sum>{data, strides}, block);
    double* partials = partials_of(chunk) + block.j * kParts<T> * problem_.m + block.i;
    const auto copy = [&](std::int64_t step) {
      for (int j = 0; j < block.columns * kParts<T>; ++j) {
        for (int i = 0; i < block.rows; ++i)
          partials[j * problem_.m + i] = static_cast<double>(data[i * step + j * strides.col]);
      }
    };
    strides.row == 1 ? copy(1) : copy(strides.row);  // vectors where they are neighbours
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
    const std::int64_t runs = along_rows ? block.columns : block.rows;
    const std::int64_t length = along_rows ? block.rows : block.columns;
    if constexpr (!kIsComplex<T>) {
      if (c_strides.row == 1) {
        if constexpr (std::is_same_v<R, TOut> && std::is_same_v<Sum, R>) {
          const bool across = s_strides.col == 1 && s_strides.row != 1;
          if (across && finish_across(sums.data, s_strides.row, runs, static_cast<int>(length), c,
                                      c_strides.col))
            return;
        }
        if ((plain() && s_strides.row == 1) || std::is_same_v<R, TOut>)
          return finish_runs(sums.data, s_strides, runs, length, c, c_strides.col);
      }
    }
    for (std::int64_t r = 0; r < runs; ++r) {
      for (std::int64_t e = 0; e < length; ++e) {
        store(sums.template at<T>(along_rows ? e : r, along_rows ? r : e),
              c[r * c_strides.col + e * c_strides.row]);
      }
    }
  }

  /// Runs of C, `pitch` apart, from sums (e, r).
  template <class Sum>
  void finish_runs(const Sum* sums, Strides strides, std::int64_t runs, std::int64_t length,
                   TOut* c, std::int64_t pitch) const {
    const auto finish_run = [&](const Sum* run, TOut* target, std::int64_t count) {
      plain() && strides.row == 1 ? copy_run(run, target, count)
                                  : scale_run(run, strides.row, target, count);
    };
    const bool neighbours = strides.row == 1 && strides.col == length && pitch == length;
    if (neighbours) return finish_run(sums, c, runs * length);
    for (std::int64_t r = 0; r < runs; ++r)
      finish_run(sums + r * strides.col, c + r * pitch, length);
  }

  /// The same from sums whose runs lie across: sum (e, r) at r + e ld. False, and nothing is done,
  /// where runs are too long to be turned some at a time.
  bool finish_across(const R* sums, std::int64_t ld, std::int64_t runs, int length, TOut* c,
                     std::int64_t pitch) const {
    if (plain() && !(pitch == length && past_caches())) {
      tiles_.leave_rows(sums, ld, runs, length, c, pitch);
      return true;
    }
    constexpr std::int64_t kAtOnce = 2048;
    R turned[kAtOnce];
    const std::int64_t at_once = kAtOnce / length / tiles_.width * tiles_.width;
    if (at_once == 0) return false;
    for (std::int64_t done = 0; done < runs; done += at_once) {
      const std::int64_t count = std::min(at_once, runs - done);
      tiles_.leave_rows(sums + done, ld, count, length, turned, length);
      finish_runs(turned, {1, length}, count, length, c + done * pitch, pitch);
    }
    return true;
  }

  /// c = sums, rounded once: past the caches where C is large and runs are long.
  template <class Sum>
  void copy_run(const Sum* sums, TOut* c, std::int64_t length) const {
    if constexpr (std::is_same_v<Sum, TOut>) {
      if (past_caches() && length >= kStreamRun) return tiles_.stream(sums, c, length);
    }
    if constexpr (std::is_same_v<Sum, float> && std::is_same_v<TOut, half>) {
      return half_conversion().narrow(sums, reinterpret_cast<std::uint16_t*>(c), length);
    }
    for (std::int64_t e = 0; e < length; ++e)
      c[e] = static_cast<TOut>(sums[e]);
  }

  /// c = alpha sums + beta c for sums that are `step` apart.
  template <class Sum>
  void scale_run(const Sum* sums, std::int64_t step, TOut* c, std::int64_t length) const {
    if constexpr (std::is_same_v<R, TOut>) {
      if (plain()) {
        for (std::int64_t e = 0; e < length; ++e)
          c[e] = static_cast<TOut>(sums[e * step]);
        return;
      }
      if (step == 1) return scale_neighbours(sums, c, length);
      if (length < tiles_.width) {
        for (std::int64_t e = 0; e < length; ++e)
          store(static_cast<double>(sums[e * step]), c[e]);
        return;
      }
      constexpr std::int64_t kAtOnce = 128;
      Sum side_by_side[kAtOnce];
      for (std::int64_t done = 0; done < length; done += kAtOnce) {
        const std::int64_t count = std::min(kAtOnce, length - done);
        for (std::int64_t e = 0; e < count; ++e)
          side_by_side[e] = sums[(done + e) * step];
        scale_neighbours(side_by_side, c + done, count);
      }
    }
  }
  void scale_neighbours(const R* sums, R* c, std::int64_t count) const {
    tiles_.finish(sums, c, count, scaling_);
  }
  template <class Sum>
  requires(!std::is_same_v<Sum, R>) void scale_neighbours(const Sum* totals, R* c,
                                                          std::int64_t count) const {
    tiles_.finish_totals(totals, c, count, scaling_);
  }

  void store(Final<T> sum, TOut& c) const {
    const Final<T> old = factors_.beta == Final<T>(0) ? Final<T>(0) : Final<T>(c);
    c = static_cast<TOut>(finished(factors_, sum, old));
  }

  /// Rows of a column of C that are summed from partial sums at a time.
  static constexpr std::int64_t kReduced = 64;

  /// C from the partial sums.
  void reduce() const {
    const std::int64_t partials = original_.m * original_.n * blocking_.split.count;
    for_each(ceil_div(original_.m, kReduced) * original_.n, partials >= kElementsThreadsLeast,
             [this](std::int64_t index) { reduce_run(index); });
  }

  /// Of a run of rows in a column: chunk after chunk, and in each one diagonal block after the
  /// other.
  void reduce_run(std::int64_t index) const {
    const std::int64_t m = original_.m;
    const std::int64_t runs = ceil_div(m, kReduced);
    const std::int64_t j = index / runs;
    const std::int64_t first = index % runs * kReduced;
    const std::int64_t count = std::min(kReduced, m - first);
    double sums[kParts<T>][kReduced];
    for (int part = 0; part < kParts<T>; ++part)
      std::fill_n(sums[part], count, 0.0);
    for (std::int64_t chunk = 0; chunk < blocking_.split.count; ++chunk) {
      for (int diagonal = 0; diagonal < blocking_.fold; ++diagonal) {
        for (int part = 0; part < kParts<T>; ++part) {
          const std::int64_t column = (diagonal * original_.n + j) * kParts<T> + part;
          const double* partials = partials_of(chunk) + column * problem_.m + diagonal * m + first;
          for (std::int64_t i = 0; i < count; ++i)
            sums[part][i] += partials[i];
        }
      }
    }
    for (std::int64_t i = 0; i < count; ++i) {
      if constexpr (!kIsComplex<T>) sums[0][i] += last_terms(first + i, j);
      store(Sums<double>{&sums[0][i], {0, kReduced}}.template at<T>(0, 0),
            g_.c[(first + i) * original_.c.row + j * original_.c.col]);
    }
  }

  /// The last products of C(i, j), which no fold holds.
  double last_terms(std::int64_t i, std::int64_t j) const {
    R sum = 0;
    for (std::int64_t p = problem_.k * blocking_.fold; p < original_.k; ++p) {
      sum += static_cast<R>(g_.a[i * original_.a.row + p * original_.a.col]) *
             static_cast<R>(g_.b[p * original_.b.row + j * original_.b.col]);
    }
    return static_cast<double>(sum);
  }

  /// C = beta C.
  void scale() const {
    const std::int64_t elements = original_.m * original_.n;
    for_each(elements, elements >= kElementsThreadsLeast, [this](std::int64_t e) {
      const Strides& c = original_.c;
      store(Final<T>(0), g_.c[e % original_.m * c.row + e / original_.m * c.col]);
    });
  }

  const Problem& original_;
  const Problem& problem_;
  const Blocking& blocking_;
  const Operands<T, TOut>& g_;
  const RegisterTiles<R>& tiles_;
  const WorkspaceLayout<T>& layout_;
  Factors<Final<T>> factors_;
  Scaling scaling_{};  // the same for real types
  bool into_c_;
};

template <class T>
Blocking blocking_of(const Problem& problem, int width) {
  return choose_blocking(problem,
                         {.real_bytes = sizeof(Real<T>),
                          .parts = kParts<T>,
                          .converted = !std::is_same_v<T, Accumulator<T>>},
                         width);
}

}  // namespace

template <class T, class TOut>
TiledExecutor<T, TOut>::TiledExecutor(const Problem& problem, std::string reason,
                                      const RegisterTiles<Real<T>>& tiles)
    : problem_(problem),
      tiles_(tiles),
      blocking_(blocking_of<T>(problem, tiles.width)),
      work_(folded(problem, blocking_)),
      layout_(work_, blocking_, tiles),
      threads_(omp_get_max_threads()),
      reason_(std::move(reason)) {
  if (blocking_.worth > 1) team_us();  // measured here, not in the first run
}

template <class T, class TOut>
std::int64_t TiledExecutor<T, TOut>::workspace_bytes() const noexcept {
  return layout_.threads + threads_ * layout_.per_thread;
}

template <class T, class TOut>
void TiledExecutor<T, TOut>::describe(GemmInfo& info) const {
  const auto operand = [](bool in_place) { return in_place ? " in place" : " packed"; };
  const char* along = blocking_.form == Form::outer     ? "m"
                      : blocking_.form == Form::swapped ? "n"
                                                        : "k";
  std::string configuration =
      concat("cpu tiled, ", tiles_.isa, " along ", along, ", blocks of ", blocking_.rows, " x ",
             blocking_.columns, " x ", blocking_.depth, ", A", operand(blocking_.a_in_place), ", B",
             operand(blocking_.b_in_place),
             blocking_.fold > 1 ? concat(", ", blocking_.fold, " rows side by side") : "",
             ", k in ", blocking_.split.count, " chunks of ", blocking_.split.length,
             reason_.empty() ? "" : "; ", reason_);
  info.routes = {{.kernel = "cpu tiled", .configuration = std::move(configuration)}};
}

template <class T, class TOut>
void TiledExecutor<T, TOut>::run(const Stream& /*stream*/, const Operands<T, TOut>& g) const {
  const Decided<T> decided{problem_, work_, blocking_, tiles_, layout_};
  Run<T, TOut>(decided, g).compute(std::min(threads_, omp_get_max_threads()));
}

#define LANKY_INSTANTIATE(T, TOut) template class TiledExecutor<T, TOut>;
LANKY_FOR_EACH_SUMMED_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::dense::cpu
