// What is decided before a dense product runs: families, canonical form, splits, bounds.
#include <gtest/gtest.h>

#include <array>
#include <lanky/lanky.hpp>
#include <set>
#include <string>

#include "core/machine.hpp"
#include "dense/cuda/routes.hpp"
#include "dense/cuda/tiled/policy.hpp"
#include "dense/policy.hpp"
#include "dense/problem.hpp"

namespace lanky::dense {
namespace {

TEST(DensePolicy, Families) {
  EXPECT_EQ(gemm_family(20000, 16, 20000), GemmFamily::panel);
  EXPECT_EQ(gemm_family(16, 20000, 20000), GemmFamily::panel);
  EXPECT_EQ(gemm_family(10'000'000, 16, 16), GemmFamily::update);
  EXPECT_EQ(gemm_family(16, 10'000'000, 16), GemmFamily::update);
  EXPECT_EQ(gemm_family(16, 16, 10'000'000), GemmFamily::gram);
  EXPECT_EQ(gemm_family(128, 1, 129), GemmFamily::gram);
  EXPECT_EQ(gemm_family(129, 128, 129), GemmFamily::panel);
  EXPECT_EQ(gemm_family(129, 129, 1), GemmFamily::regular);
  EXPECT_EQ(gemm_family(0, 0, 0), GemmFamily::update);
}

/// Where the caller's op(X)(i, j) stands in memory.
std::int64_t index_of(Op op, Layout layout, std::int64_t ld, std::int64_t i, std::int64_t j) {
  if (op != Op::none) std::swap(i, j);
  return layout == Layout::col ? i + j * ld : i * ld + j;
}

TEST(DensePolicy, CanonicalFormAddressesTheSameElements) {
  for (const Layout layout : {Layout::col, Layout::row}) {
    for (const Op op_a : {Op::none, Op::trans}) {
      for (const Op op_b : {Op::none, Op::trans}) {
        for (const auto& [m, n] : {std::pair{7, 3}, {3, 7}, {5, 5}}) {
          const GemmShape shape{.m = m,
                                .n = n,
                                .k = 4,
                                .op_a = op_a,
                                .op_b = op_b,
                                .layout = layout,
                                .lda = 11,
                                .ldb = 13,
                                .ldc = 17};
          const Problem p = canonical(shape);
          EXPECT_GE(p.m, p.n);
          EXPECT_EQ(p.swapped, m < n);
          const Strides a = p.swapped ? p.b.transposed() : p.a;
          const Strides b = p.swapped ? p.a.transposed() : p.b;
          const Strides c = p.swapped ? p.c.transposed() : p.c;
          EXPECT_EQ(2 * a.row + 3 * a.col, index_of(op_a, layout, 11, 2, 3));
          EXPECT_EQ(3 * b.row + 1 * b.col, index_of(op_b, layout, 13, 3, 1));
          EXPECT_EQ(2 * c.row + 1 * c.col, index_of(Op::none, layout, 17, 2, 1));
        }
      }
    }
  }
}

/// Strides of op(X) for a column-major BLAS operand.
Strides blas_strides(bool trans, std::int64_t ld) {
  return trans ? Strides{ld, 1} : Strides{1, ld};
}

TEST(DensePolicy, BlasCallNamesTheSameProduct) {
  for (const Layout layout : {Layout::col, Layout::row}) {
    for (const Op op_a : {Op::none, Op::trans}) {
      for (const Op op_b : {Op::none, Op::trans}) {
        for (const std::int64_t k : {1, 40, 300}) {
          for (const auto& [m, n] : {std::pair{150, 140}, {140, 150}}) {
            GemmShape shape{.m = m, .n = n, .k = k, .op_a = op_a, .op_b = op_b, .layout = layout};
            shape.lda = tight_ld(stored_extents(m, k, op_a), layout);
            shape.ldb = tight_ld(stored_extents(k, n, op_b), layout);
            shape.ldc = tight_ld({m, n}, layout);
            const Problem p = canonical(shape);
            const BlasCall call = blas_call(p);
            EXPECT_GE(call.lda, call.trans_a ? call.k : call.m);
            EXPECT_GE(call.ldb, call.trans_b ? call.n : call.k);
            EXPECT_GE(call.ldc, call.m);
            const Strides first = blas_strides(call.trans_a, call.lda);
            const Strides second = blas_strides(call.trans_b, call.ldb);
            const Strides a = call.exchanged ? second.transposed() : first;
            const Strides b = call.exchanged ? first.transposed() : second;
            // A stride along a side of one element addresses nothing.
            EXPECT_EQ(a.row, p.a.row);
            EXPECT_EQ(b.col, p.b.col);
            if (k > 1) {
              EXPECT_EQ(a.col, p.a.col);
              EXPECT_EQ(b.row, p.b.row);
            }
            EXPECT_EQ(call.exchanged ? p.c.row : p.c.col, call.ldc);
          }
        }
      }
    }
  }
}

TEST(DensePolicy, SplitCoversTheReductionOnce) {
  for (const std::int64_t k : {0L, 1L, 31L, 32L, 1000L, 123457L, 10'000'000L, 5'000'000'000L}) {
    for (const std::int64_t tiles : {1L, 7L, 500L, 1000L}) {
      const Split split = choose_split(tiles, k, 528, 32, 128);
      EXPECT_GE(split.count, 1);
      EXPECT_GE(split.count * split.length, k);
      EXPECT_LT((split.count - 1) * split.length, std::max<std::int64_t>(k, 1));
      if (split.count > 1) {
        EXPECT_EQ(split.length % 32, 0);
        EXPECT_GE(split.length, 128);
        EXPECT_LE(split.count, (528 + tiles - 1) / tiles);
      }
    }
  }
  EXPECT_EQ(choose_split(1, 10'000'000, 528, 128, 512).count, 528);
  EXPECT_EQ(choose_split(1000, 10'000'000, 528, 32, 128).count, 1);
}

TEST(DensePolicy, ArithmeticBeyond32Bits) {
  const std::int64_t m = 3'000'000'000;
  const Problem p = canonical({.m = m, .n = 100, .k = 100, .lda = m, .ldb = 100, .ldc = m});
  EXPECT_EQ((p.m - 1) * p.c.row + (p.n - 1) * p.c.col, 299'999'999'999);
  EXPECT_EQ(partial_bytes({.m = m, .n = 100}, {.count = 4, .length = 1}, 8), 9'600'000'000'000);
  EXPECT_EQ(choose_split(1, 5'000'000'000, 500, 128, 512).length, 10'000'000);
}

TEST(DensePolicy, TilesFitTheirThreadsAndSharedMemory) {
  for (const Tile& tile : kTiles) {
    EXPECT_EQ(tile.m % tile.micro_m, 0);
    EXPECT_EQ(tile.n % tile.micro_n, 0);
    EXPECT_EQ(tile.threads() % 32, 0);
    EXPECT_LE(tile.threads(), 1024);
    EXPECT_LE(tile.k * (tile.m + 1 + tile.n + 1) * static_cast<int>(sizeof(double)), 48 << 10);
  }
  for (int index = 0; index < kTileCount; ++index) {
    const Tile tile = tile_for(index, 16);
    EXPECT_LE(tile.k * (tile.m + 1 + tile.n + 1) * 16, 48 << 10);
  }
}

TEST(DensePolicy, BoundIsTheLargerOfMemoryAndCompute) {
  const Machine& cpu = machine_of(Device::cpu());
  const Problem skinny =
      canonical({.m = 1'000'000, .n = 2, .k = 2, .lda = 1'000'000, .ldb = 2, .ldc = 1'000'000});
  const Bound bound = predict(skinny, DType::f64, DType::f64, cpu);
  EXPECT_EQ(bound.bytes, 8.0 * (2e6 + 4 + 2e6));
  EXPECT_EQ(bound.flops, 8e6);
  EXPECT_TRUE(bound.memory_bound());
  const Problem square =
      canonical({.m = 4000, .n = 4000, .k = 4000, .lda = 4000, .ldb = 4000, .ldc = 4000});
  EXPECT_FALSE(predict(square, DType::f64, DType::f64, cpu).memory_bound());
}

Request updates_of_floats() {
  const Problem problem =
      canonical(with_leading_dimensions({.m = 1'000'000, .n = 8, .k = 8, .layout = Layout::col}));
  return {problem, GemmFamily::update, {DType::f32, DType::f32}, known_machine("H200")};
}

TEST(DenseRoutes, FollowWhatWasMeasuredWhereItIsACandidate) {
  const Request request = updates_of_floats();
  const GemmChoice aligned{false, "update_direct_kernel, 8 columns, 8 deep"};
  const Routes routes = choose_routes(request, {.general = &aligned, .adds = &aligned}, true);
  const RunKind off{.a_off = true};
  EXPECT_EQ(algorithm_name(routes.launches.front(), request.types), aligned.algorithm)
      << "plain runs come first";
  EXPECT_EQ(routes.launches[routes.of[RunKind{.adds = true}.index()].launch],
            routes.launches.front());
  EXPECT_EQ(routes.launches[routes.of[off.index()].launch],
            candidates(request, off, true).front().launch)
      << "off 16 bytes costs decide";
}

TEST(DenseRoutes, FollowTheVendorsMeasuredAlgorithmWhereTheVendorIs) {
  const Request request = updates_of_floats();
  const GemmChoice measured{true, "some algorithm"};
  const Routes routes = choose_routes(request, {.general = &measured}, true);
  EXPECT_EQ(routes.launches.front(), Launch(VendorLaunch{"some algorithm"}));
  EXPECT_FALSE(is_vendor(routes.launches[routes.of[0].own])) << "for runs that it cannot compute";
  EXPECT_FALSE(is_vendor(choose_routes(request, {.general = &measured}, false).launches.front()));
}

/// Names stand for launches in files of results and of choices.
TEST(DenseRoutes, EveryCandidateOfAProductHasANameOfItsOwn) {
  for (const DType type :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::c64, DType::c128}) {
    for (const auto& [m, n, k] : {std::array{100'000, 8, 8},
                                  {100'000, 5, 5},
                                  {100'000, 64, 32},
                                  {8, 8, 100'000},
                                  {48, 48, 100'000},
                                  {20'000, 24, 20'000}}) {
      for (const Op op_a : {Op::none, Op::trans}) {
        for (const Layout layout : {Layout::col, Layout::row}) {
          const GemmShape shape{.m = m, .n = n, .k = k, .op_a = op_a, .layout = layout};
          const Request request{canonical(with_leading_dimensions(shape)),
                                gemm_family(m, n, k),
                                {type, type},
                                known_machine("H200")};
          std::set<std::string> names;
          for (const Launch& launch : own_candidates(request, {}))
            EXPECT_TRUE(names.insert(algorithm_name(launch, request.types)).second)
                << algorithm_name(launch, request.types);
        }
      }
    }
  }
}

}  // namespace
}  // namespace lanky::dense
