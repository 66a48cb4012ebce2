#include "bench/cases/scattered_grid.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "bench/cases/draw.hpp"
#include "bench/cases/full_grid.hpp"

namespace lanky::bench {

namespace {

constexpr std::int64_t kSkinnyMost = 128;

std::int64_t skinny_side(Draw& draw) {
  constexpr std::int64_t kNeighbours[] = {7,  9,  12, 13, 15, 17, 20, 23, 31, 33, 36,  40, 47,
                                          48, 49, 50, 56, 63, 65, 72, 80, 96, 97, 100, 127};
  const double which = draw.share();
  if (which < 0.4) return draw.between(1, 16);
  if (which < 0.7) return draw.one_of(kNeighbours);
  return draw.between(17, kSkinnyMost);
}

/// About `length`, but beyond what counts as skinny.
std::int64_t long_side(Draw& draw, double length) {
  auto side = std::max(kSkinnyMost + 1, static_cast<std::int64_t>(std::llround(length)));
  if (draw.happens(0.5)) return side;
  constexpr std::int64_t kRound[] = {8, 64, 100, 1000};
  const std::int64_t step = draw.one_of(kRound);
  return side < 2 * step ? side : side / step * step;
}

Op any_op(Draw& draw, bool conjugates) {
  constexpr Op kOps[] = {Op::none, Op::trans, Op::conj_trans};
  return kOps[draw.between(0, conjugates ? 2 : 1)];
}

void draw_sizes(Draw& draw, GemmCase& gemm, const ScatteredScale& scale) {
  const double bytes = draw.happens(1.0 / 6) ? draw.scaled(scale.least, scale.usual)
                                             : draw.scaled(scale.usual, scale.most);
  const double elements = bytes / static_cast<double>(size_of(gemm.type.in));
  gemm.m = skinny_side(draw);
  gemm.n = draw.happens(0.4) ? gemm.m : skinny_side(draw);
  const double family = draw.share();
  if (family < 0.3) {  // panel
    gemm.m = long_side(draw, std::sqrt(elements) * draw.scaled(0.1, 10));
    gemm.k = long_side(draw, elements / static_cast<double>(gemm.m));
  } else if (family < 0.58) {  // update
    gemm.k = gemm.m;
    gemm.m = long_side(draw, elements / static_cast<double>(std::max(gemm.k, gemm.n)));
  } else if (family < 0.97) {  // gram, one in four with B = A
    gemm.symmetric = draw.happens(0.25);
    if (gemm.symmetric) gemm.n = gemm.m;
    gemm.k = long_side(draw, elements / static_cast<double>(std::max(gemm.m, gemm.n)));
  } else {
    gemm.n = draw.between(kSkinnyMost + 1, 600);
    gemm.m = draw.between(kSkinnyMost + 1, 600);
    gemm.k = long_side(draw, draw.scaled(200, 20'000));
  }
}

/// The transposes of the family's own equation half of the time, and any others.
void draw_transposes(Draw& draw, GemmCase& gemm) {
  const bool complex = components(gemm.type.in) == 2;
  const bool own = draw.happens(0.5);
  const bool reduces = gemm_family(gemm.m, gemm.n, gemm.k) == GemmFamily::gram;
  gemm.op_a = own ? (reduces ? Op::trans : Op::none) : any_op(draw, complex);
  gemm.op_b = own ? Op::none : any_op(draw, complex);
  if (!gemm.symmetric) return;
  const Op turned = complex && draw.happens(0.5) ? Op::conj_trans : Op::trans;
  (own || draw.happens(0.5) ? gemm.op_a : gemm.op_b) = turned;
  if (gemm.op_a == turned)
    gemm.op_b = Op::none;
  else
    gemm.op_a = Op::none;
}

/// C^T = B^T A^T: the long side is n.
void transpose(GemmCase& gemm) {
  const auto other = [&](Op op) {
    return op != Op::none ? Op::none : components(gemm.type.in) == 2 ? Op::conj_trans : Op::trans;
  };
  std::swap(gemm.m, gemm.n);
  gemm.op_a = other(std::exchange(gemm.op_b, other(gemm.op_a)));
}

GemmCase draw_case(std::uint64_t seed, const ScatteredScale& scale) {
  Draw draw(seed);
  GemmCase gemm;
  gemm.type = draw.one_of(scale.types);
  draw_sizes(draw, gemm, scale);
  draw_transposes(draw, gemm);
  if (!gemm.symmetric && draw.happens(0.15)) transpose(gemm);
  gemm.layout = draw.happens(0.4) ? Layout::row : Layout::col;
  gemm.padded = draw.happens(0.25);
  constexpr double kScalars[][2] = {{2, 0.5}, {1, 1}, {-0.5, 0}, {1, 0.5}};
  if (draw.happens(0.3)) {
    const auto& scalars = kScalars[draw.between(0, std::ssize(kScalars) - 1)];
    gemm.alpha = scalars[0];
    gemm.beta = scalars[1];
  }
  return gemm;
}

}  // namespace

ScatteredScale scale_of_gpus() {
  return {grid_types(), 1e5, 1e7, 5e8};
}

ScatteredScale scale_of_cpus() {
  static constexpr std::array kCpuTypes = {GemmType::same(DType::f64), GemmType::same(DType::f32)};
  return {kCpuTypes, 1e4, 3e5, 1e8};
}

std::vector<GemmCase> scattered_grid(std::uint64_t seed, std::size_t count,
                                     const ScatteredScale& scale) {
  std::vector<GemmCase> cases;
  for (std::size_t i = 0; i < count; ++i)
    cases.push_back(draw_case(mix(seed) + i, scale));
  return cases;
}

}  // namespace lanky::bench
