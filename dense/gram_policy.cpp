#include "dense/gram_policy.hpp"

#include <algorithm>

namespace lanky::dense {

namespace {

/// Rows of A and B that make a wide row of at most `wide` elements, so that wide rows begin at
/// multiples of 16 bytes; 0 where there are none.
int packed_rows(const Problem& p, std::int64_t vector, std::int64_t wide) {
  const bool tight = p.a.col == p.m && p.b.row == p.n;
  const bool units =
      p.m % vector == 0 && p.n % vector == 0 && p.a.col % vector == 0 && p.b.row % vector == 0;
  for (std::int64_t rows = wide / p.m; rows > 0; --rows)
    if (units || (tight && rows * p.m % vector == 0 && rows * p.n % vector == 0))
      return static_cast<int>(rows);
  return 0;
}

GramConfiguration choose_rows(const Problem& problem, DType type, int multiprocessors) {
  if (type == DType::c64 || type == DType::c128) return {};
  const auto vector = static_cast<std::int64_t>(16 / size_of(type));
  GramConfiguration c;
  const bool tight = problem.a.col == problem.m && problem.b.row == problem.n;
  if (problem.m == problem.n &&
      problem.m <= (type == DType::f32   ? 8
                    : type == DType::f64 ? 2
                                         : 4) &&
      (tight || type == DType::f32)) {
    c.kernel = GramKernel::row_vector;
    c.tile = static_cast<int>(problem.m);
    const std::int64_t step = 8 * 32 * std::max<std::int64_t>(1, vector / problem.m);
    c.blocks = static_cast<int>(std::min<std::int64_t>((problem.k + step - 1) / step,
                                                       multiprocessors * (problem.m <= 4 ? 2 : 1)));
    c.one_launch = problem.m * problem.n <= 8;
    return c;
  }
  if (type == DType::f32) return {};
  c.kernel = GramKernel::rows;
  const std::int64_t unit = type == DType::f64 ? 2 : 4;
  for (c.tile = 0; c.tile < 2; ++c.tile) {
    const std::int64_t wide = 8 * unit * (c.tile + 1);
    c.packed = packed_rows(problem, unit, wide);
    if (c.packed == 0) continue;
    const std::int64_t step = 8 * 16 * c.packed;
    c.blocks = static_cast<int>(std::min<std::int64_t>((problem.k + step - 1) / step,
                                                       multiprocessors * (c.tile == 0 ? 2 : 1)));
    return c;
  }
  return {};
}

}  // namespace

GramConfiguration choose_gram(const Problem& problem, DType type, int multiprocessors,
                              int compute_capability) {
  if (compute_capability < 90 || problem.math != Math::ieee || problem.k <= 128 || problem.n == 0)
    return {};
  const auto bytes = size_of(type);
  GramConfiguration c;
  if (problem.a.row == 1 && problem.b.col == 1 && problem.m > 1)
    return choose_rows(problem, type, multiprocessors);
  if (problem.a.col != 1 || problem.b.row != 1 || problem.m > (type == DType::f32 ? 32 : 64))
    return {};
  if (problem.n == 1 || problem.m <= (type == DType::f32 ? 8 : 4)) {
    c.kernel = GramKernel::vector;
    c.tile = problem.m == 1 ? 0 : problem.n == 1 ? 4 : problem.m <= 2 ? 1 : problem.m <= 4 ? 2 : 3;
    c.tile_m = kGramVectorM[c.tile];
    c.strips = static_cast<int>((problem.m + c.tile_m - 1) / c.tile_m);
    const std::int64_t step = 8 * 32 * 16 / static_cast<std::int64_t>(bytes);
    const std::int64_t most = (problem.k + step - 1) / step;
    c.blocks = static_cast<int>(std::min<std::int64_t>(
        most, std::max(1, multiprocessors * (c.tile == 3 ? 1 : 2) / c.strips)));
    c.one_launch = c.strips == 1 && problem.m * problem.n <= 8;
    return c;
  }
  if (type != DType::f32 && problem.m <= 16) {
    c.kernel = GramKernel::direct;
    c.tile = problem.m <= 8 ? 0 : 1;
    const std::int64_t step = 8 * 128 / static_cast<std::int64_t>(bytes);
    c.blocks = static_cast<int>(
        std::min<std::int64_t>((problem.k + step - 1) / step, multiprocessors * 2));
    c.one_launch = 0 && c.tile == 0;
    return c;
  }
  if (problem.a.row * static_cast<std::int64_t>(bytes) % 16 != 0 ||
      problem.b.col * static_cast<std::int64_t>(bytes) % 16 != 0)
    return {};
  c.kernel = GramKernel::staged;
  c.tile = problem.m <= 16 ? 0 : problem.m <= 32 ? 1 : 2;
  const std::int64_t box_k = 128 / static_cast<std::int64_t>(bytes);
  const std::int64_t boxes = (problem.k + box_k - 1) / box_k;
  const int segments = c.tile == 0 ? 4 : c.tile == 1 ? 2 : 1;
  c.run_log2 = 1;
  c.blocks =
      static_cast<int>(std::min<std::int64_t>((boxes + segments - 1) / segments, multiprocessors));
  c.slots = std::min(32, 192 * 1024 / (2 * kGramStaged[c.tile] * 128 * segments));
  return c;
}

}  // namespace lanky::dense
