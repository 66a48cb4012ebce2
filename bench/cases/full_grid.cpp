#include "bench/cases/full_grid.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <utility>

#include "bench/cases/random.hpp"

namespace lanky::bench {

namespace {

constexpr GemmType kTypes[] = {
    GemmType::same(DType::f64),
    GemmType::same(DType::f32),
    {DType::f32, DType::f32, Math::tf32x3},
    {DType::f32, DType::f32, Math::tf32},
    GemmType::same(DType::f16),
    GemmType::same(DType::bf16),
    {DType::f16, DType::f32, Math::ieee},
    {DType::bf16, DType::f32, Math::ieee},
    GemmType::same(DType::c64),
    GemmType::same(DType::c128),
};

using Ops = std::pair<Op, Op>;
constexpr Ops kPlain[] = {{Op::none, Op::none}, {Op::trans, Op::none}, {Op::conj_trans, Op::none}};
constexpr Ops kGram[] = {{Op::trans, Op::none},      {Op::none, Op::none},
                         {Op::trans, Op::trans},     {Op::none, Op::trans},  // the rest conjugates
                         {Op::conj_trans, Op::none}, {Op::conj_trans, Op::trans}};
constexpr Ops kSyrk[] = {{Op::trans, Op::none},
                         {Op::none, Op::trans},
                         {Op::conj_trans, Op::none},
                         {Op::none, Op::conj_trans}};

/// Sizes of one product, and by which transposes it is computed; the family's own come first.
struct Shape {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  bool symmetric;
  std::span<const Ops> ops;
};

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  constexpr std::int64_t kLong[] = {10'000, 100'000, 1'000'000, 10'000'000};
  const auto panel = [&](std::int64_t m, std::int64_t k) {
    for (const std::int64_t n : {1, 2, 3, 4, 8, 16, 24, 32, 48, 64, 96, 128})
      all.push_back({m, n, k, false, kPlain});
  };
  for (const std::int64_t m : {4096, 10240, 20480, 30720})
    panel(m, m);
  panel(1'000'000, 1024);
  for (const std::int64_t m : kLong) {
    for (const std::int64_t n : {2, 3, 4, 5, 8, 16, 32, 64, 128})
      all.push_back({m, n, n, false, kPlain});
    for (const auto& [k, n] : {std::pair{32, 8}, {8, 32}, {64, 4}, {128, 16}})
      all.push_back({m, n, k, false, kPlain});
  }
  for (const std::int64_t k : kLong) {
    for (const std::int64_t n : {1, 2, 3, 4, 8, 16, 32, 64, 128})
      all.push_back({n, n, k, false, kGram});
    for (const auto& [m, n] : {std::pair{1, 64}, {64, 1}, {32, 5}, {128, 16}})
      all.push_back({m, n, k, false, kGram});
  }
  for (const std::int64_t k : kLong) {
    for (const std::int64_t n : {1, 2, 3, 4, 8, 16, 32, 64, 128})
      all.push_back({n, n, k, true, kSyrk});
  }
  return all;
}

bool conjugates(const Ops& ops) {
  return ops.first == Op::conj_trans || ops.second == Op::conj_trans;
}

/// All ways to compute one shape in one type.
void append_combinations(const Shape& shape, const GemmType& type, std::vector<GemmCase>& cases) {
  for (const Layout layout : {Layout::col, Layout::row}) {
    for (const Ops& ops : shape.ops) {
      if (conjugates(ops) && !is_complex(type.in)) continue;
      for (const bool padded : {false, true}) {
        for (const auto& [alpha, beta] : {std::pair{1.0, 0.0}, {2.0, 0.5}}) {
          cases.push_back({.name = "",
                           .m = shape.m,
                           .n = shape.n,
                           .k = shape.k,
                           .op_a = ops.first,
                           .op_b = ops.second,
                           .layout = layout,
                           .padded = padded,
                           .alpha = alpha,
                           .beta = beta,
                           .type = type,
                           .symmetric = shape.symmetric});
        }
      }
    }
  }
}

/// The transposes of the family's equation in docs/design.md.
bool own_transposes(const GemmCase& gemm) {
  const bool reduces = gemm_family(gemm.m, gemm.n, gemm.k) == GemmFamily::gram;
  return gemm.op_a == (reduces ? Op::trans : Op::none) && gemm.op_b == Op::none;
}

}  // namespace

std::vector<GemmCase> full_grid() {
  std::vector<GemmCase> cases;
  for (const Shape& shape : shapes()) {
    for (const GemmType& type : kTypes)
      append_combinations(shape, type, cases);
  }
  return cases;
}

bool in_core(const GemmCase& gemm) {
  const DType in = gemm.type.in;
  const bool by_row =
      gemm.type.math == Math::ieee && (in == DType::f64 || in == DType::f32 || in == DType::f16);
  return (gemm.layout == Layout::col || by_row) && own_transposes(gemm) && !gemm.padded &&
         gemm.alpha == 1 && gemm.beta == 0 && gemm.type.in == gemm.type.out;
}

std::vector<GemmCase> core_grid() {
  std::vector<GemmCase> cases = full_grid();
  std::erase_if(cases, [](const GemmCase& gemm) { return !in_core(gemm); });
  return cases;
}

std::vector<GemmCase> sample_grid(std::uint64_t seed, double share) {
  std::vector<GemmCase> cases = full_grid();
  std::erase_if(cases, in_core);
  std::vector<std::uint64_t> lots;  // the cases with the smallest ones are drawn
  for (std::size_t i = 0; i < cases.size(); ++i)
    lots.push_back(mix(mix(seed) + i));
  std::vector<std::uint64_t> sorted = lots;
  std::sort(sorted.begin(), sorted.end());
  const auto wanted = static_cast<std::size_t>(
      std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(cases.size())));
  std::vector<GemmCase> drawn;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (wanted > 0 && lots[i] <= sorted[wanted - 1]) drawn.push_back(cases[i]);
  }
  return drawn;
}

std::span<const GemmType> grid_types() {
  return kTypes;
}

std::uint64_t draw_seed() {
  std::random_device source;
  return source();  // 32 bits: short enough to be typed again
}

}  // namespace lanky::bench
