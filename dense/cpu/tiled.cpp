#include "dense/cpu/tiled.hpp"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "core/plan_types.hpp"
#include "core/text.hpp"

namespace lanky::dense::cpu {

namespace {

constexpr int kBlockM = 64;
constexpr int kBlockN = 64;
constexpr int kBlockK = 128;
constexpr int kMicroN = 4;
/// 4 doubles or 8 floats: with kMicroN columns, eight registers of 16 bytes.
template <class Acc>
constexpr int kMicroM = 32 / sizeof(Acc);
/// Chunks of k are made until this many blocks can run at once.
constexpr std::int64_t kWantedBlocks = 64;
constexpr std::int64_t kMinChunk = 8 * kBlockK;
template <class T>
constexpr bool kIsComplex = kDType<T> == DType::c64 || kDType<T> == DType::c128;
/// Up to this many columns of C, an element of A is used too seldom for packing it to pay: on one
/// core of a Xeon a gram of 1 x 1 x 1e6 took 8 times as long with it. Half types are widened as
/// they are packed; without it 1e5 x 4 x 4 took 4 times as long.
template <class T>
constexpr int kDirectColumns = kIsComplex<T>                       ? 0
                               : std::is_same_v<T, Accumulator<T>> ? 4
                                                                   : 1;
/// Rows of A shorter than this make poor dot products: twice the time for a row-major 1e6 x 2 x 2.
constexpr std::int64_t kDirectDepth = 32;
/// Multiply-adds below which one thread computes: waking others costs more than it saves.
constexpr double kThreadsLeast = 1 << 19;
/// The same for partial sums.
constexpr std::int64_t kReduceThreadsLeast = 1 << 17;

template <class T>
bool read_in_place(const Problem& problem) {
  return problem.n <= kDirectColumns<T> && (problem.a.row == 1 || problem.k >= kDirectDepth);
}

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// a b by the plain formula of BLAS, also where a part is infinite.
template <class Acc>
Acc product(Acc a, Acc b) {
  if constexpr (kIsComplex<Acc>) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return a * b;
  }
}

template <class Acc>
Acc conjugate_if(bool conjugated, Acc value) {
  if constexpr (kIsComplex<Acc>) {
    return conjugated ? std::conj(value) : value;
  } else {
    return value;
  }
}

/// What one thread works on. a and b are packed as the register tile reads them: kMicroM rows (or
/// kMicroN columns) side by side for each p, one such strip after the other.
template <class Acc>
struct Panels {
  alignas(64) Acc a[kBlockM * kBlockK];     // [kBlockM / kMicroM][depth][kMicroM]
  alignas(64) Acc b[kBlockN * kBlockK];     // [kBlockN / kMicroN][depth][kMicroN]
  alignas(64) Acc sums[kBlockN * kBlockM];  // [kBlockN][kBlockM]
};

/// strip[p][r] = source(r, p) for r < rows, p < depth, and 0 for rows up to kWidth.
template <int kWidth, class T, class Acc>
void pack_strip(Acc* __restrict strip, const T* source, Strides strides, int rows, int depth) {
  if (rows == kWidth && strides.row == 1) {
    for (int p = 0; p < depth; ++p) {
      for (int r = 0; r < kWidth; ++r)
        strip[p * kWidth + r] = static_cast<Acc>(source[p * strides.col + r]);
    }
    return;
  }
  for (int r = 0; r < kWidth; ++r) {
    for (int p = 0; p < depth; ++p)
      strip[p * kWidth + r] =
          r < rows ? static_cast<Acc>(source[r * strides.row + p * strides.col]) : Acc(0);
  }
}

template <int kWidth, class T, class Acc>
void pack(Acc* panel, const T* source, Strides strides, int rows, int depth, bool conjugated) {
  for (int r = 0; r < rows; r += kWidth) {
    pack_strip<kWidth>(panel + r * depth, source + r * strides.row, strides,
                       std::min(kWidth, rows - r), depth);
  }
  if constexpr (kIsComplex<Acc>) {
    const int packed = (rows + kWidth - 1) / kWidth * kWidth * depth;
    for (int e = 0; e < packed; ++e)
      panel[e] = conjugate_if(conjugated, panel[e]);
  }
}

/// sums[c][r] += sum over p of a[p][r] b[p][c], for kMicroM<Acc> rows and kColumns columns.
template <int kColumns, class Acc>
void multiply_micro(const Acc* __restrict a, const Acc* __restrict b, Acc* __restrict sums,
                    int depth) {
  constexpr int kRows = kMicroM<Acc>;
  Acc registers[kColumns][kRows] = {};
  for (int p = 0; p < depth; ++p) {
    for (int c = 0; c < kColumns; ++c) {
      for (int r = 0; r < kRows; ++r)
        registers[c][r] += product(a[p * kRows + r], b[p * kMicroN + c]);
    }
  }
  for (int c = 0; c < kColumns; ++c) {
    for (int r = 0; r < kRows; ++r)
      sums[c * kBlockM + r] += registers[c][r];
  }
}

template <class Acc>
void multiply_panels(Panels<Acc>& panels, int rows, int columns, int depth) {
  for (int i = 0; i < rows; i += kMicroM<Acc>) {
    const Acc* a = panels.a + i * depth;
    for (int j = 0; j < columns; j += kMicroN) {
      const Acc* b = panels.b + j * depth;
      Acc* sums = panels.sums + j * kBlockM + i;
      switch (columns - j) {
        case 1:
          multiply_micro<1>(a, b, sums, depth);
          break;
        case 2:
          multiply_micro<2>(a, b, sums, depth);
          break;
        case 3:
          multiply_micro<3>(a, b, sums, depth);
          break;
        default:
          multiply_micro<kMicroN>(a, b, sums, depth);
      }
    }
  }
}

/// sum over p < depth of a[p * stride] b[p], in a fixed number of running sums.
template <class T, class Acc>
Acc dot(const T* __restrict a, std::int64_t stride, const Acc* __restrict b, int depth) {
  constexpr int kSums = 2 * kMicroM<Acc>;
  Acc sums[kSums] = {};
  int p = 0;
  if (stride == 1) {
    for (; p + kSums <= depth; p += kSums) {
      for (int s = 0; s < kSums; ++s)
        sums[s] += product(static_cast<Acc>(a[p + s]), b[p + s]);
    }
  }
  for (; p < depth; ++p)
    sums[p % kSums] += product(static_cast<Acc>(a[p * stride]), b[p]);
  Acc total = 0;
  for (const Acc sum : sums)
    total += sum;
  return total;
}

/// sums[c][r] += A[rows, depth] B[depth, columns], A from where it stands at `a`, B as
/// b[columns][depth]: column by column where those are contiguous, row by row otherwise.
template <class T, class Acc>
void multiply_direct(const T* a, Strides strides, const Acc* b, Acc* sums, int rows, int columns,
                     int depth) {
  for (int c = 0; c < columns; ++c) {
    Acc* __restrict column = sums + c * kBlockM;
    const Acc* factors = b + c * depth;
    if (strides.row != 1 || rows == 1) {
      for (int r = 0; r < rows; ++r)
        column[r] += dot(a + r * strides.row, strides.col, factors, depth);
      continue;
    }
    Acc block[kBlockM] = {};  // short sums first: the error grows with depth, not with k
    for (int p = 0; p < depth; ++p) {
      const T* __restrict source = a + p * strides.col;
      for (int r = 0; r < rows; ++r)
        block[r] += product(static_cast<Acc>(source[r]), factors[p]);
    }
    for (int r = 0; r < rows; ++r)
      column[r] += block[r];
  }
}

/// panels.sums = A[i0 .., k0 .. k1] B[k0 .. k1, j0 ..], rows x columns of C.
template <class T, class TOut, class Acc>
void multiply_block(const Problem& problem, const Operands<T, TOut>& g, std::int64_t i0,
                    std::int64_t j0, std::int64_t k0, std::int64_t k1, Panels<Acc>& panels) {
  const int rows = static_cast<int>(std::min<std::int64_t>(kBlockM, problem.m - i0));
  const int columns = static_cast<int>(std::min<std::int64_t>(kBlockN, problem.n - j0));
  std::fill_n(panels.sums, columns * kBlockM, Acc(0));
  for (std::int64_t p = k0; p < k1; p += kBlockK) {
    const int depth = static_cast<int>(std::min<std::int64_t>(kBlockK, k1 - p));
    const T* a = g.a + i0 * problem.a.row + p * problem.a.col;
    const T* b = g.b + p * problem.b.row + j0 * problem.b.col;
    if (read_in_place<T>(problem)) {
      pack<1>(panels.b, b, problem.b.transposed(), columns, depth, problem.conj_b);
      multiply_direct(a, problem.a, panels.b, panels.sums, rows, columns, depth);
    } else {
      pack<kMicroM<Acc>>(panels.a, a, problem.a, rows, depth, problem.conj_a);
      pack<kMicroN>(panels.b, b, problem.b.transposed(), columns, depth, problem.conj_b);
      multiply_panels(panels, rows, columns, depth);
    }
  }
}

/// alpha and beta of a run; alpha is 0 where there is nothing to sum.
template <class Acc>
struct Factors {
  Acc alpha;
  Acc beta;
};

/// c = alpha sum + beta c; what has the factor zero is not looked at.
template <class Acc, class TOut>
void finish(Factors<Acc> factors, Acc sum, TOut& c) {
  Acc value = factors.alpha == Acc(0) ? Acc(0) : product(factors.alpha, sum);
  if (factors.beta != Acc(0)) value += product(factors.beta, static_cast<Acc>(c));
  c = static_cast<TOut>(value);
}

/// Rows [i0, i0 + kBlockM) of C over chunk `chunk` of k: finished, or left as partial sums.
template <class T, class TOut, class Acc>
void run_task(const Problem& problem, Split split, const Operands<T, TOut>& g, Factors<Acc> factors,
              std::int64_t i0, std::int64_t chunk) {
  Panels<Acc> panels;
  const std::int64_t rows = std::min<std::int64_t>(kBlockM, problem.m - i0);
  const std::int64_t k = factors.alpha == Acc(0) ? 0 : problem.k;
  const std::int64_t k0 = std::min(k, chunk * split.length);
  const std::int64_t k1 = std::min(k, k0 + split.length);
  for (std::int64_t j0 = 0; j0 < problem.n; j0 += kBlockN) {
    multiply_block(problem, g, i0, j0, k0, k1, panels);
    const std::int64_t j1 = std::min(j0 + kBlockN, problem.n);
    for (std::int64_t j = j0; j < j1; ++j) {
      const Acc* sums = panels.sums + (j - j0) * kBlockM;
      if (split.count > 1) {
        auto* partials = static_cast<Acc*>(g.workspace);  // [split.count][n][m]
        std::copy_n(sums, rows, partials + (chunk * problem.n + j) * problem.m + i0);
      } else {
        TOut* c = g.c + i0 * problem.c.row + j * problem.c.col;
        for (std::int64_t i = 0; i < rows; ++i)
          finish(factors, sums[i], c[i * problem.c.row]);
      }
    }
  }
}

/// C from the partial sums, chunk after chunk.
template <class T, class TOut, class Acc>
void reduce(const Problem& problem, Split split, const Operands<T, TOut>& g, Factors<Acc> factors) {
  const auto* partials = static_cast<const Acc*>(g.workspace);  // [split.count][n][m]
  const std::int64_t elements = problem.m * problem.n;
#pragma omp parallel for schedule(static) if (elements * split.count >= kReduceThreadsLeast)
  for (std::int64_t e = 0; e < elements; ++e) {
    Acc sum = 0;
    for (std::int64_t chunk = 0; chunk < split.count; ++chunk)
      sum += partials[chunk * elements + e];
    finish(factors, sum, g.c[e % problem.m * problem.c.row + e / problem.m * problem.c.col]);
  }
}

}  // namespace

template <class T, class TOut>
TiledExecutor<T, TOut>::TiledExecutor(const Problem& problem, std::string reason)
    : problem_(problem),
      split_(
          choose_split(ceil_div(problem.m, kBlockM), problem.k, kWantedBlocks, kBlockK, kMinChunk)),
      reason_(std::move(reason)) {}

template <class T, class TOut>
std::int64_t TiledExecutor<T, TOut>::workspace_bytes() const noexcept {
  return partial_bytes(problem_, split_, sizeof(Accumulator<T>));
}

template <class T, class TOut>
std::string TiledExecutor<T, TOut>::explain() const {
  const std::string inner = read_in_place<T>(problem_)
                                ? "A read in place"
                                : concat("register tile ", kMicroM<Accumulator<T>>, " x ", kMicroN);
  return concat("cpu tiled, blocks of ", kBlockM, " x ", kBlockN, " x ", kBlockK, ", ", inner,
                ", k in ", split_.count, " chunks of ", split_.length, reason_.empty() ? "" : "; ",
                reason_);
}

template <class T, class TOut>
void TiledExecutor<T, TOut>::run(const Stream& /*stream*/, const Operands<T, TOut>& g) const {
  using Acc = Accumulator<T>;
  const Factors<Acc> factors{problem_.k == 0 ? Acc(0) : load(g.alpha), load(g.beta)};
  const std::int64_t blocks = ceil_div(problem_.m, kBlockM);
  const std::int64_t tasks = blocks * split_.count;
  const bool threads = tasks > 1 && static_cast<double>(problem_.m) *
                                            static_cast<double>(problem_.n) *
                                            static_cast<double>(problem_.k) >=
                                        kThreadsLeast;
#pragma omp parallel for schedule(static) if (threads)
  for (std::int64_t task = 0; task < tasks; ++task)
    run_task(problem_, split_, g, factors, task % blocks * kBlockM, task / blocks);
  if (split_.count > 1) reduce(problem_, split_, g, factors);
}

#define LANKY_INSTANTIATE(T, TOut) template class TiledExecutor<T, TOut>;
LANKY_FOR_EACH_GEMM_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::dense::cpu
