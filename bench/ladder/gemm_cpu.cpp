// C[m,n] = A[m,k] B[k,n] on the CPU, row-major and tight, in f32 or f64: three loops, and what
// makes them faster, one idea a rung. Vectors are as wide as the compiler's target has them.
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bench/ladder/ladder.hpp"

namespace lanky::ladder {

namespace {

constexpr std::int64_t kBlock = 32;

template <class T>
struct Product {
  const T* a;  // [m, k]
  const T* b;  // [k, n]
  T* c;        // [m, n]
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
};

/// Three loops, as the sum is written. The inner one reads a column of B, n elements apart.
template <class T>
void gemm_loops(const Product<T>& p) {
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      T sum = 0;
      for (std::int64_t l = 0; l < p.k; ++l)
        sum += p.a[i * p.k + l] * p.b[l * p.n + j];
      p.c[i * p.n + j] = sum;
    }
  }
}

/// A column of B, copied so that its elements are neighbours, serves all rows of A.
template <class T, class Dot>
void gemm_by_columns(const Product<T>& p, Dot dot) {
  std::vector<T> column(static_cast<std::size_t>(p.k));
  for (std::int64_t j = 0; j < p.n; ++j) {
    for (std::int64_t l = 0; l < p.k; ++l)
      column[static_cast<std::size_t>(l)] = p.b[l * p.n + j];
    for (std::int64_t i = 0; i < p.m; ++i)
      p.c[i * p.n + j] = dot(p.a + i * p.k, column.data(), p.k);
  }
}

template <class T>
void gemm_transposed(const Product<T>& p) {
  gemm_by_columns(p, [](const T* row, const T* column, std::int64_t k) {
    T sum = 0;
    for (std::int64_t l = 0; l < k; ++l)
      sum += row[l] * column[l];
    return sum;
  });
}

/// Four sums: an addition need not wait for the one before it.
template <class T>
void gemm_unrolled(const Product<T>& p) {
  gemm_by_columns(p, [](const T* row, const T* column, std::int64_t k) {
    T sums[4] = {};
    std::int64_t l = 0;
    for (; l + 4 <= k; l += 4) {
      sums[0] += row[l] * column[l];
      sums[1] += row[l + 1] * column[l + 1];
      sums[2] += row[l + 2] * column[l + 2];
      sums[3] += row[l + 3] * column[l + 3];
    }
    for (; l < k; ++l)
      sums[0] += row[l] * column[l];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  });
}

/// Rows [i0, i1) of C, in blocks: 32 x 32 elements of B stay in the first cache while 32 rows of A
/// pass by. C must be 0.
template <class T, class AddBlock>
void gemm_block_rows(const Product<T>& p, std::int64_t i0, std::int64_t i1, AddBlock add_block) {
  for (std::int64_t l0 = 0; l0 < p.k; l0 += kBlock) {
    for (std::int64_t j0 = 0; j0 < p.n; j0 += kBlock) {
      const std::int64_t l1 = std::min(l0 + kBlock, p.k);
      const std::int64_t j1 = std::min(j0 + kBlock, p.n);
      for (std::int64_t i = i0; i < i1; ++i)
        add_block(p, i, l0, l1, j0, j1);
    }
  }
}

/// C(i, j0..j1) += A(i, l0..l1) B(l0..l1, j0..j1)
template <class T>
void add_row_of_block(const Product<T>& p, std::int64_t i, std::int64_t l0, std::int64_t l1,
                      std::int64_t j0, std::int64_t j1) {
  T* const c = p.c + i * p.n;
  for (std::int64_t l = l0; l < l1; ++l) {
    const T a = p.a[i * p.k + l];
    const T* const b = p.b + l * p.n;
    for (std::int64_t j = j0; j < j1; ++j)
      c[j] += a * b[j];
  }
}

/// Four rows of B in one pass over C.
template <class T>
void add_row_of_block_unrolled(const Product<T>& p, std::int64_t i, std::int64_t l0,
                               std::int64_t l1, std::int64_t j0, std::int64_t j1) {
  T* const c = p.c + i * p.n;
  std::int64_t l = l0;
  for (; l + 4 <= l1; l += 4) {
    const T* const a = p.a + i * p.k + l;
    const T* const b = p.b + l * p.n;
    for (std::int64_t j = j0; j < j1; ++j)
      c[j] += (a[0] * b[j] + a[1] * b[p.n + j]) + (a[2] * b[2 * p.n + j] + a[3] * b[3 * p.n + j]);
  }
  add_row_of_block(p, i, l, l1, j0, j1);
}

template <class T>
void gemm_blocks(const Product<T>& p) {
  std::fill_n(p.c, p.m * p.n, T(0));
  for (std::int64_t i = 0; i < p.m; i += kBlock)
    gemm_block_rows(p, i, std::min(i + kBlock, p.m), add_row_of_block<T>);
}

template <class T>
void gemm_blocks_unrolled(const Product<T>& p) {
  std::fill_n(p.c, p.m * p.n, T(0));
  for (std::int64_t i = 0; i < p.m; i += kBlock)
    gemm_block_rows(p, i, std::min(i + kBlock, p.m), add_row_of_block_unrolled<T>);
}

template <class T>
void gemm_threads(const Product<T>& p) {
  std::fill_n(p.c, p.m * p.n, T(0));
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t i = 0; i < p.m; i += kBlock)
    gemm_block_rows(p, i, std::min(i + kBlock, p.m), add_row_of_block_unrolled<T>);
}

template <class T>
std::vector<GemmRung> rung_list() {
  std::vector<GemmRung> rungs;
  const auto add = [&](const char* name, const char* idea, void (*multiply)(const Product<T>&)) {
    const auto build = [multiply](const Stream& /*stream*/, const bench::GemmCall& gemm,
                                  auto /*sets*/) -> bench::BuiltGemm {
      return {[multiply, shape = gemm.shape](const Stream& /*stream*/,
                                             const bench::GemmOperands& operands) {
        multiply({static_cast<const T*>(operands.a), static_cast<const T*>(operands.b),
                  static_cast<T*>(operands.c), shape.m, shape.n, shape.k});
      }};
    };
    rungs.push_back({.rung = {.name = name, .idea = idea}, .build = build});
  };
  add("loops", "three loops, one thread", gemm_loops<T>);
  add("transposed", "a column of B copied, its elements neighbours", gemm_transposed<T>);
  add("unrolled", "four sums, none waiting for the others", gemm_unrolled<T>);
  add("blocks", "32 x 32 of B in the first cache; neighbours of C, as vectors", gemm_blocks<T>);
  add("blocks-unrolled", "four rows of B in one pass over C", gemm_blocks_unrolled<T>);
  add("threads", "all cores", gemm_threads<T>);
  return rungs;
}

}  // namespace

std::vector<GemmRung> gemm_cpu_rungs(const bench::GemmCase& gemm) {
  return gemm.type.in == DType::f64 ? rung_list<double>() : rung_list<float>();
}

}  // namespace lanky::ladder
