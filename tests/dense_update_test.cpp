// Update products, C[m, n] = A[m, k] B[k, n] with a long m and skinny n and k: every size class,
// layout and alignment that a kernel of their own serves, and those that none does.
#include <gtest/gtest.h>

#include <lanky/lanky.hpp>
#include <limits>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "dense/cuda/update/policy.hpp"
#include "dense/problem.hpp"
#include "support/dense_oracle.hpp"
#include "support/executor.hpp"

namespace lanky {
namespace {

using testing::Data;
using testing::DenseCase;
using testing::HostMatrix;
using testing::multiply;
using testing::same_bits;

struct Sides {
  std::int64_t k;
  std::int64_t n;
};
constexpr Sides kSides[] = {{1, 1},    {2, 2},    {3, 3},    {4, 4},   {5, 5},    {7, 7},
                            {8, 8},    {6, 4},    {4, 6},    {13, 13}, {16, 16},  {24, 24},
                            {32, 32},  {32, 8},   {8, 32},   {16, 3},  {40, 40},  {64, 4},
                            {100, 12}, {128, 16}, {20, 128}, {64, 64}, {100, 100}};

template <class Case>
class DenseUpdate : public ::testing::Test {};
TYPED_TEST_SUITE(DenseUpdate, testing::RealCases, testing::OnName);

std::string text(const GemmShape& s, std::int64_t padding) {
  return concat(s.m, " x ", s.n, " x ", s.k, s.layout == Layout::col ? " col" : " row", " op ",
                static_cast<int>(s.op_a), static_cast<int>(s.op_b), " padding ", padding);
}

EXECUTOR_TEST(DenseUpdate, ShortExactForEverySize) {
  LANKY_DENSE_BODY();
  for (const auto& [k, n] : kSides) {
    for (const Layout layout : {Layout::col, Layout::row}) {
      for (const std::int64_t padding : {0, 3, 8}) {
        const GemmShape shape{.m = 296, .n = n, .k = k, .layout = layout};
        SCOPED_TRACE(text(shape, padding));
        const DenseCase<T, TOut> dense(shape, Data::integers, 1, 2, -1, padding);
        dense.expect_exact(multiply(stream, dense));
      }
    }
  }
}

EXECUTOR_TEST(DenseUpdate, ExactForEverySizeAndOrientation) {
  LANKY_DENSE_BODY();
  for (const auto& [k, n] : kSides) {
    for (const std::int64_t m : {520, 517}) {
      for (const Layout layout : {Layout::col, Layout::row}) {
        for (const auto& [op_a, op_b] :
             {std::pair{Op::none, Op::none}, {Op::none, Op::trans}, {Op::trans, Op::none}}) {
          const GemmShape shape{
              .m = m, .n = n, .k = k, .op_a = op_a, .op_b = op_b, .layout = layout};
          SCOPED_TRACE(text(shape, 0));
          const double beta = m % 2 == 0 && op_b == Op::none ? -1 : 0;
          const DenseCase<T, TOut> dense(shape, Data::integers, 2, 1, beta);
          dense.expect_exact(multiply(stream, dense));
        }
      }
    }
  }
}

EXECUTOR_TEST(DenseUpdate, RandomDataKeepsTheBound) {
  LANKY_DENSE_BODY();
  for (const auto& [k, n] : kSides) {
    for (const Layout layout : {Layout::col, Layout::row}) {
      const GemmShape shape{.m = 520, .n = n, .k = k, .layout = layout};
      SCOPED_TRACE(text(shape, 0));
      const DenseCase<T, TOut> dense(shape, Data::random, 3, 0.3, 0.7);
      const HostMatrix<TOut> got = multiply(stream, dense);
      dense.expect_within_bound(got);
      EXPECT_TRUE(same_bits(multiply(stream, dense).data, got.data));
    }
  }
}

EXECUTOR_TEST(DenseUpdate, UnalignedPointers) {
  LANKY_DENSE_BODY();
  for (const auto& [k, n] : {Sides{4, 4}, {5, 5}, {16, 16}, {32, 8}}) {
    for (const Layout layout : {Layout::col, Layout::row}) {
      const GemmShape shape{.m = 304, .n = n, .k = k, .layout = layout};
      SCOPED_TRACE(text(shape, 0));
      const DenseCase<T, TOut> dense(shape, Data::integers, 4, 1, 0, 0, 1);
      dense.expect_exact(multiply(stream, dense));
    }
  }
}

/// NaN and Inf reach the elements of C whose row of A or column of B holds them, and no others,
/// although rows share words, lanes and fragments with their neighbours.
EXECUTOR_TEST(DenseUpdate, NanAndInfStayInTheirRowAndColumn) {
  LANKY_DENSE_BODY();
  for (const auto& [k, n] : kSides) {
    for (const auto& [layout, op_a] : {std::pair{Layout::col, Op::none},
                                       {Layout::row, Op::none},
                                       {Layout::col, Op::trans},
                                       {Layout::row, Op::trans}}) {
      const GemmShape shape{.m = 264, .n = n, .k = k, .op_a = op_a, .layout = layout};
      SCOPED_TRACE(text(shape, 0));
      DenseCase<T, TOut> dense(shape, Data::integers, 5);
      const auto a = [&](std::int64_t i, std::int64_t p) -> T& {
        return op_a == Op::none ? dense.a.at(i, p) : dense.a.at(p, i);
      };
      a(77, k / 2) = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
      a(130, k - 1) = static_cast<T>(std::numeric_limits<float>::infinity());
      dense.b.at(k - 1, n / 2) = static_cast<T>(-std::numeric_limits<float>::infinity());
      const HostMatrix<TOut> got = multiply(stream, dense);
      for (std::int64_t i = 0; i < shape.m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          const auto value = static_cast<double>(got.at(i, j));
          const auto expected = static_cast<double>(dense.exact(i, j).value);
          ASSERT_EQ(std::isnan(value), std::isnan(expected)) << i << ", " << j;
          if (!std::isnan(expected)) {
            ASSERT_EQ(value, expected) << i << ", " << j;
          }
        }
      }
    }
  }
}

/// Long enough that blocks make several passes.
EXECUTOR_TEST(DenseUpdate, ManyPasses) {
  LANKY_DENSE_BODY();
  if (!device.is_cuda()) GTEST_SKIP() << "passes are the GPU's";
  for (const auto& [k, n] : {Sides{16, 16}, {32, 32}}) {
    for (const Layout layout : {Layout::col, Layout::row}) {
      const GemmShape shape{.m = 1'000'040, .n = n, .k = k, .layout = layout};
      SCOPED_TRACE(text(shape, 0));
      DenseCase<T, TOut> dense(shape, Data::integers, 6);
      const HostMatrix<TOut> got = multiply(stream, dense);
      for (std::int64_t i = 0; i < shape.m; i += i < shape.m - 3000 ? 97 : 1) {
        for (std::int64_t j = 0; j < n; ++j) {
          ASSERT_EQ(
              static_cast<double>(got.at(i, j)),
              static_cast<double>(static_cast<TOut>(static_cast<float>(dense.exact(i, j).value))))
              << i << ", " << j;
        }
      }
    }
  }
}

dense::Problem problem(std::int64_t m, std::int64_t k, std::int64_t n, Layout layout,
                       std::int64_t padding = 0, Op op_a = Op::none) {
  const bool col = layout == Layout::col;
  return dense::canonical({.m = m,
                           .n = n,
                           .k = k,
                           .op_a = op_a,
                           .layout = layout,
                           .lda = (col == (op_a == Op::none) ? m : k) + padding,
                           .ldb = col ? k : n,
                           .ldc = (col ? m : n) + padding});
}

TEST(UpdatePolicy, ChoosesByShapeAndStrides) {
  using dense::UpdateKernel;
  const Machine& h200 = known_machine("H200");
  const auto kernel = [&](const dense::Problem& p, DType in) {
    return static_cast<int>(dense::choose_update(p, in, in, h200).kernel);
  };
  const auto is = [](UpdateKernel k) { return static_cast<int>(k); };
  constexpr std::int64_t kLong = 1'000'000;
  EXPECT_EQ(kernel(problem(kLong, 2, 2, Layout::col), DType::f64), is(UpdateKernel::direct));
  EXPECT_EQ(kernel(problem(kLong, 6, 6, Layout::col), DType::f64), is(UpdateKernel::direct));
  EXPECT_EQ(kernel(problem(kLong, 16, 16, Layout::col), DType::f64), is(UpdateKernel::mma_columns));
  EXPECT_EQ(kernel(problem(kLong, 16, 16, Layout::col), DType::f32), is(UpdateKernel::tile));
  EXPECT_EQ(kernel(problem(kLong, 32, 32, Layout::col), DType::f32),
            is(UpdateKernel::ring_mma_columns));
  EXPECT_EQ(kernel(problem(10'000, 32, 32, Layout::col), DType::f32), is(UpdateKernel::tile));
  EXPECT_EQ(kernel(problem(10 * kLong, 32, 32, Layout::col), DType::f32),
            is(UpdateKernel::ring_columns));
  EXPECT_EQ(kernel(problem(kLong, 64, 64, Layout::col), DType::f32),
            is(UpdateKernel::ring_mma_columns));
  EXPECT_EQ(kernel(problem(kLong, 64, 128, Layout::row), DType::f32),
            is(UpdateKernel::ring_mma_rows));
  EXPECT_EQ(kernel(problem(kLong, 5, 5, Layout::row), DType::f16), is(UpdateKernel::packed));
  EXPECT_EQ(kernel(problem(kLong, 4, 4, Layout::row, 8), DType::f64), is(UpdateKernel::lanes));
  EXPECT_EQ(kernel(problem(kLong, 32, 32, Layout::row), DType::f32), is(UpdateKernel::mma_rows));
  EXPECT_EQ(kernel(problem(kLong, 16, 32, Layout::row), DType::f32), is(UpdateKernel::tile));
  EXPECT_EQ(kernel(problem(kLong, 16, 16, Layout::row), DType::bf16), is(UpdateKernel::mma_rows));
  EXPECT_EQ(kernel(problem(kLong, 4, 4, Layout::col), DType::c64), is(UpdateKernel::direct));
  EXPECT_EQ(kernel(problem(kLong, 8, 8, Layout::col), DType::c64), is(UpdateKernel::direct));
  EXPECT_EQ(kernel(problem(kLong, 8, 32, Layout::col), DType::c64), is(UpdateKernel::ring_columns));
  EXPECT_EQ(kernel(problem(kLong, 16, 16, Layout::col), DType::c64),
            is(UpdateKernel::ring_mma_columns));
  EXPECT_EQ(kernel(problem(kLong, 8, 8, Layout::row), DType::c64), is(UpdateKernel::ring_rows));
  EXPECT_EQ(kernel(problem(10'000, 16, 16, Layout::row), DType::c128),
            is(UpdateKernel::ring_mma_rows));
  EXPECT_EQ(kernel(problem(kLong, 16, 16, Layout::col, 0, Op::trans), DType::c128),
            is(UpdateKernel::ring_mma_rows));
  EXPECT_EQ(kernel(problem(kLong, 48, 48, Layout::col), DType::f64),
            is(UpdateKernel::ring_mma_columns));
  EXPECT_EQ(kernel(problem(kLong + 1, 8, 8, Layout::col), DType::f64),
            is(UpdateKernel::ring_columns));
  EXPECT_EQ(kernel(problem(kLong, 13, 7, Layout::row), DType::f64), is(UpdateKernel::words));
  EXPECT_EQ(kernel(problem(kLong, 13, 7, Layout::row), DType::c64), is(UpdateKernel::ring_rows));
  EXPECT_EQ(kernel(problem(kLong + 1, 8, 8, Layout::col), DType::f16), is(UpdateKernel::words));
  EXPECT_EQ(kernel(problem(kLong + 1, 2, 2, Layout::col), DType::f16), is(UpdateKernel::staged));
  EXPECT_EQ(kernel(problem(kLong, 64, 4, Layout::col), DType::f64), is(UpdateKernel::mma_columns));
  EXPECT_EQ(kernel(problem(kLong, 64, 4, Layout::col), DType::f32), is(UpdateKernel::direct));
  EXPECT_EQ(kernel(problem(10'000, 64, 4, Layout::col), DType::f32),
            is(UpdateKernel::ring_columns));
  EXPECT_EQ(kernel(problem(kLong, 128, 4, Layout::col), DType::f64), is(UpdateKernel::direct));
  EXPECT_EQ(is(dense::choose_update(problem(kLong, 8, 9, Layout::col), DType::c64, DType::c64,
                                    known_machine("A100"))
                   .kernel),
            is(UpdateKernel::staged));
}

/// A by rows and C by columns, or the other way round.
TEST(UpdatePolicy, MixedLayouts) {
  using dense::UpdateKernel;
  const auto kernel = [](std::int64_t m, std::int64_t k, std::int64_t n, Layout layout, DType in) {
    return static_cast<int>(
        dense::choose_update(problem(m, k, n, layout, 0, Op::trans), in, in, known_machine("H200"))
            .kernel);
  };
  const auto is = [](UpdateKernel k) { return static_cast<int>(k); };
  constexpr std::int64_t kLong = 1'000'000;
  for (const DType type : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    EXPECT_EQ(kernel(kLong, 32, 8, Layout::col, type), is(UpdateKernel::mma_to_columns));
    EXPECT_EQ(kernel(kLong, 32, 8, Layout::row, type), is(UpdateKernel::mma_to_rows));
    EXPECT_NE(kernel(kLong, 33, 8, Layout::col, type), is(UpdateKernel::mma_to_columns));
    EXPECT_NE(kernel(kLong + 1, 32, 8, Layout::row, type), is(UpdateKernel::mma_to_rows));
    const auto vendor = [&](std::int64_t n, Layout layout) {
      return dense::vendor_beats_update(problem(kLong, n, n, layout, 0, Op::trans), type,
                                        known_machine("H200"));
    };
    EXPECT_FALSE(vendor(16, Layout::col));
    EXPECT_FALSE(vendor(32, Layout::row));
    EXPECT_EQ(vendor(32, Layout::col), type == DType::f64);
  }
}

/// Where rows are few, warps of the ring share out k; a block has one tile then.
TEST(UpdatePolicy, WarpsShareOutALongReductionOfFewRows) {
  const auto ring = [](std::int64_t m) {
    return dense::choose_update(problem(m, 64, 4, Layout::col), DType::c64, DType::c64,
                                known_machine("H200"))
        .ring;
  };
  EXPECT_EQ(ring(10'000).warps_k, 4);
  EXPECT_EQ(ring(10'000).row_tiles, 313);
  EXPECT_EQ(ring(100'000).warps_k, 1);
}

TEST(UpdatePolicy, LeavesToTheVendorWhatItDoesFaster) {
  constexpr std::int64_t kLong = 1'000'000;
  const auto vendor = [&](std::int64_t m, std::int64_t n, DType in, Math math = Math::ieee) {
    dense::Problem p = problem(m, n, n, Layout::col);
    p.math = math;
    return dense::vendor_beats_update(p, in, known_machine("H200"));
  };
  EXPECT_FALSE(vendor(kLong, 32, DType::f64));
  EXPECT_FALSE(vendor(kLong, 64, DType::f64));
  EXPECT_TRUE(vendor(kLong, 80, DType::f64));
  EXPECT_FALSE(vendor(kLong + 1, 16, DType::f32));
  EXPECT_TRUE(vendor(kLong + 1, 32, DType::f32));
  EXPECT_FALSE(vendor(kLong + 1, 8, DType::f16));
  EXPECT_FALSE(vendor(kLong + 1, 48, DType::f16));
  EXPECT_TRUE(vendor(kLong + 1, 64, DType::f16));
  EXPECT_FALSE(vendor(kLong, 63, DType::f16)) << "B is off 16 bytes, A and C are not";
  EXPECT_TRUE(vendor(kLong, 72, DType::f16));
  EXPECT_FALSE(vendor(200'000, 39, DType::f32)) << "likewise";
  EXPECT_FALSE(vendor(200'000, 40, DType::f32));
  EXPECT_FALSE(vendor(kLong, 8, DType::f16));
  EXPECT_FALSE(vendor(kLong, 32, DType::f32, Math::tf32x3));
  EXPECT_FALSE(vendor(kLong, 32, DType::f32, Math::tf32));
  EXPECT_TRUE(vendor(kLong, 40, DType::f32, Math::tf32));
  EXPECT_FALSE(vendor(kLong, 16, DType::f32, Math::tf32));
  EXPECT_FALSE(vendor(kLong, 64, DType::f32));
  EXPECT_FALSE(vendor(kLong, 128, DType::f32));
  EXPECT_TRUE(vendor(10'000, 64, DType::f32));
  EXPECT_FALSE(vendor(kLong, 16, DType::c128));
  EXPECT_FALSE(vendor(kLong, 64, DType::c128));
  EXPECT_TRUE(vendor(kLong, 80, DType::c128));
  EXPECT_TRUE(vendor(10'000, 64, DType::c128));
  EXPECT_FALSE(vendor(kLong, 32, DType::c64));
  EXPECT_TRUE(vendor(kLong, 64, DType::c64));
}

TEST(UpdatePolicy, SeveralPassesWhereBlocksAbound) {
  const auto passes = [&](std::int64_t m) {
    return dense::choose_update(problem(m, 16, 32, Layout::row), DType::f32, DType::f32,
                                known_machine("H200"))
        .passes;
  };
  EXPECT_EQ(passes(10'000), 1);
  EXPECT_EQ(passes(100'000), 1);
  EXPECT_EQ(passes(10'000'000), 4);
}

/// No block reads or writes beyond the rows that the configuration gives it, whatever the shape.
TEST(UpdatePolicy, EveryConfigurationFitsTheDevice) {
  for (const DType type :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::c64, DType::c128}) {
    for (const Layout layout : {Layout::col, Layout::row}) {
      for (std::int64_t k = 0; k <= 128; ++k) {
        for (std::int64_t n = 1; n <= 128; ++n) {
          for (const std::int64_t m : {10'000, 1'000'001}) {
            const auto config =
                dense::choose_update(problem(m, k, n, layout), type, type, known_machine("H200"));
            EXPECT_LE(config.threads, 256);
            EXPECT_EQ(config.threads % 32, 0);
            EXPECT_GT(config.rows, 0);
            EXPECT_LE(config.shared_bytes, known_machine("H200").shared_bytes_per_block)
                << m << " " << n << " " << k;
            if (config.kernel == dense::UpdateKernel::words) {
              EXPECT_EQ(config.alignment, 1);
            }
            if (config.ring.row_tiles == 0) continue;
            EXPECT_GE(config.ring.stages, config.ring.warps_k) << m << " " << n << " " << k;
            EXPECT_LE(config.ring.warps_k > 1 ? m : 0,
                      std::int64_t{config.ring.row_tiles} * config.rows);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace lanky
