// Update products, C[m, n] = A[m, k] B[k, n] with a long m and skinny n and k: every size class,
// layout and alignment that a kernel of their own serves, and those that none does.
#include <gtest/gtest.h>

#include <lanky/lanky.hpp>
#include <limits>
#include <string>
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
using testing::DeviceMatrix;
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

/// By update_stream_kernel, asked for by its name. Padding is NaN.
template <class T, class TOut>
void expect_exact_stream(const Stream& stream, const GemmShape& shape, double beta,
                         Math math = Math::ieee) {
  const std::int64_t padding = shape.m % 2 == 0 ? 3 : 0;
  SCOPED_TRACE(text(shape, padding));
  const DenseCase<T, TOut> dense(shape, Data::integers, 7, 2, beta, padding, 1);
  GemmTuning named;
  for (const bool adds : {false, true}) {
    const GemmQuery query{stream.device(), dense.shape, kDType<T>, kDType<TOut>, false, adds, math};
    for (const GemmChoice& choice : gemm_choices(query))
      if (choice.algorithm.starts_with("update_stream_kernel")) named.set(query, choice);
  }
  const GemmPlan<T, TOut> plan(stream, dense.shape, {.math = math, .tuning = &named});
  ASSERT_NE(plan.explain().find("update_stream_kernel"), std::string::npos) << plan.explain();
  DeviceMatrix<T> a(stream, dense.a);
  DeviceMatrix<T> b(stream, dense.b);
  DeviceMatrix<TOut> c(stream, dense.c);
  using Scale = GemmAccumulator<T, TOut>;
  plan.run(stream, static_cast<Scale>(dense.alpha), a.view(), b.view(),
           static_cast<Scale>(dense.beta), c.view());
  dense.expect_exact(c.download());
}

template <class T, class TOut>
void expect_exact_streams(const Stream& stream, std::int64_t m, std::int64_t k, std::int64_t n) {
  for (const Layout layout : {Layout::col, Layout::row}) {
    for (const Op op_a : {Op::none, Op::trans}) {
      const GemmShape shape{.m = m, .n = n, .k = k, .op_a = op_a, .layout = layout};
      expect_exact_stream<T, TOut>(stream, shape, 0);
      expect_exact_stream<T, TOut>(stream, shape, -1);
      if (std::is_same_v<T, float>) expect_exact_stream<T, TOut>(stream, shape, -1, Math::tf32);
    }
  }
}

/// Rows short of a warp's, and warps that share out columns.
EXECUTOR_TEST(DenseUpdate, ShortStreams) {
  LANKY_DENSE_BODY();
  if (!device.is_cuda()) GTEST_SKIP() << "the stream kernel is the GPU's";
  expect_exact_streams<T, TOut>(stream, 7, 5, 3);
  expect_exact_streams<T, TOut>(stream, 538, 78, 78);
  expect_exact_streams<T, TOut>(stream, 999, 127, 7);
  expect_exact_streams<T, TOut>(stream, 1500, 17, 128);
}
/// Several passes of a block, with one slot and with two, and several rows of a warp in a pass.
EXECUTOR_TEST(DenseUpdate, StreamsOfSeveralPasses) {
  LANKY_DENSE_BODY();
  if (!device.is_cuda()) GTEST_SKIP() << "passes are the GPU's";
  expect_exact_streams<T, TOut>(stream, 20'011, 24, 97);
  expect_exact_streams<T, TOut>(stream, 70'003, 17, 13);
  expect_exact_streams<T, TOut>(stream, 200'003, 2, 9);
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

/// The launches of update_<kernel> among all candidates.
std::vector<dense::UpdateLaunch> launches_of(const std::string& kernel,
                                             const dense::Problem& problem, DType type,
                                             bool off = false, const char* chip = "H200") {
  auto all = dense::update_candidates(problem, type, type, known_machine(chip), off);
  std::erase_if(all, [&](const auto& launch) {
    return dense::kernel_name(launch.kernel) != "update_" + kernel;
  });
  return all;
}

TEST(UpdatePolicy, KernelsServeTheShapesAndStridesThatTheyAreMadeFor) {
  constexpr std::int64_t kLong = 1'000'000;
  const auto serves = [](const char* kernel, const dense::Problem& p, DType type,
                         bool off = false) { return !launches_of(kernel, p, type, off).empty(); };
  const dense::Problem columns = problem(kLong, 8, 8, Layout::col);
  const dense::Problem odd = problem(kLong + 1, 8, 8, Layout::col);
  const dense::Problem rows = problem(kLong, 16, 16, Layout::row);
  EXPECT_TRUE(serves("direct_kernel", columns, DType::f32));
  EXPECT_FALSE(serves("direct_kernel", columns, DType::f32, true)) << "off 16 bytes";
  EXPECT_FALSE(serves("direct_kernel", odd, DType::f32));
  EXPECT_FALSE(serves("direct_kernel", problem(kLong, 8, 9, Layout::col), DType::f32));
  EXPECT_TRUE(serves("mma_kernel by columns", columns, DType::f64));
  EXPECT_FALSE(serves("mma_kernel by columns", columns, DType::f32)) << "IEEE float";
  EXPECT_FALSE(serves("mma_kernel by columns", problem(kLong, 128, 8, Layout::col), DType::f64));
  EXPECT_TRUE(serves("tile_kernel", rows, DType::f32));
  EXPECT_TRUE(serves("mma_kernel by rows", rows, DType::bf16));
  EXPECT_TRUE(serves("packed_kernel", problem(kLong, 5, 5, Layout::row), DType::f16));
  EXPECT_FALSE(serves("packed_kernel", problem(kLong, 5, 5, Layout::row, 3), DType::f16));
  EXPECT_TRUE(serves("lanes_kernel", problem(kLong, 4, 4, Layout::row, 8), DType::f64));
  EXPECT_TRUE(serves("ring_kernel by columns", odd, DType::f64));
  EXPECT_FALSE(serves("ring_kernel by columns", odd, DType::f16));
  EXPECT_TRUE(serves("ring_mma_kernel by columns", columns, DType::c64));
  EXPECT_FALSE(serves("ring_mma_kernel by columns", columns, DType::f16));
  EXPECT_TRUE(serves("mma_any_kernel by columns", odd, DType::f32));
  EXPECT_FALSE(serves("mma_any_kernel by columns", columns, DType::f64)) << "whole words";
  EXPECT_TRUE(serves("mma_any_kernel by columns", columns, DType::f64, true));
  EXPECT_TRUE(serves("mma_any_kernel by rows", problem(kLong, 13, 7, Layout::row), DType::f16));
  for (const DType type : {DType::f64, DType::f16, DType::c128})
    EXPECT_TRUE(serves("staged_kernel", odd, type, true));
  dense::Problem tf32 = odd;
  tf32.math = Math::tf32;
  for (const DType type : {DType::f64, DType::f32, DType::f16, DType::bf16})
    EXPECT_TRUE(serves("stream_kernel", odd, type, true));
  EXPECT_TRUE(serves("stream_kernel", tf32, DType::f32, true));
  EXPECT_FALSE(serves("stream_kernel", odd, DType::c64, true));
}

void expect_full_machine(const dense::UpdateLaunch& launch, DType type, std::int64_t m,
                         std::int64_t n) {
  const auto& stream = std::get<dense::UpdateStream>(launch.kernel);
  const int warp_rows = 16 * dense::update_stream_fragments(stream.tiles);
  EXPECT_EQ(launch.rows, stream.plan.turns * stream.plan.row_warps * warp_rows);
  EXPECT_LE(launch.shared_bytes, known_machine("H200").shared_bytes_per_block);
  EXPECT_GE(launch.passes, 1);
  EXPECT_LE(launch.passes, 16);
  if (type == DType::f16) {
    EXPECT_GE(8 * stream.tiles, n);
  }
  const std::int64_t blocks = (m - 1) / (std::int64_t{launch.rows} * launch.passes) + 1;
  if (m > 132 * 256) {
    EXPECT_GE(blocks, 132);
  }
}

TEST(UpdatePolicy, StreamsFillTheMachine) {
  for (const DType type : {DType::f64, DType::f32, DType::f16}) {
    for (const Layout layout : {Layout::col, Layout::row}) {
      for (std::int64_t n = 1; n <= 128; ++n) {
        for (const std::int64_t k : {3, 40, 127}) {
          for (const std::int64_t m : {2001, 300'001, 3'000'001}) {
            SCOPED_TRACE(concat(to_string(type), " ", m, " x ", n, " x ", k));
            const auto all = launches_of("stream_kernel", problem(m, k, n, layout), type, true);
            ASSERT_EQ(all.size(), 1U);
            expect_full_machine(all.front(), type, m, n);
          }
        }
      }
    }
  }
}

TEST(UpdatePolicy, AGpuWithoutBulkCopiesHasTheRingsToo) {
  const dense::Problem p = problem(1'000'000, 8, 9, Layout::col);
  EXPECT_FALSE(launches_of("ring_kernel by columns", p, DType::c64, false, "A100").empty());
  EXPECT_FALSE(launches_of("ring_mma_kernel by columns", p, DType::c64, false, "A100").empty());
  EXPECT_FALSE(launches_of("staged_kernel", p, DType::c64, false, "A100").empty());
}

/// A by rows and C by columns, or the other way round.
TEST(UpdatePolicy, MixedLayouts) {
  constexpr std::int64_t kLong = 1'000'000;
  const auto mixed = [](std::int64_t m, std::int64_t k, Layout layout) {
    return problem(m, k, 8, layout, 0, Op::trans);
  };
  for (const DType type : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    EXPECT_FALSE(launches_of("mma_kernel from rows to columns", mixed(kLong, 32, Layout::col), type)
                     .empty());
    EXPECT_FALSE(launches_of("mma_kernel from columns to rows", mixed(kLong, 32, Layout::row), type)
                     .empty());
    EXPECT_TRUE(launches_of("mma_kernel from rows to columns", mixed(kLong, 33, Layout::col), type)
                    .empty());
    EXPECT_TRUE(
        launches_of("mma_kernel from columns to rows", mixed(kLong + 1, 32, Layout::row), type)
            .empty());
  }
}

/// Where rows are few, warps of the ring share out k; a block has one tile then.
TEST(UpdatePolicy, WarpsShareOutALongReductionOfFewRows) {
  const auto ring = [](std::int64_t m) {
    const auto all =
        launches_of("ring_kernel by columns", problem(m, 64, 4, Layout::col), DType::c64);
    return *all.front().ring;
  };
  EXPECT_EQ(ring(10'000).warps_k, 4);
  EXPECT_EQ(ring(10'000).row_tiles, 313);
  EXPECT_EQ(ring(100'000).warps_k, 1);
}

TEST(UpdatePolicy, SeveralPassesWhereBlocksAbound) {
  const auto passes = [](std::int64_t m) {
    return launches_of("tile_kernel", problem(m, 16, 32, Layout::row), DType::f32).back().passes;
  };
  EXPECT_EQ(passes(10'000), 1);
  EXPECT_EQ(passes(100'000), 1);
  EXPECT_EQ(passes(10'000'000), 4);
}

/// No block reads or writes beyond the rows that the configuration gives it.
void expect_fitting_launches(const dense::Problem& problem, DType type, const Machine& machine) {
  for (const auto& launch : dense::update_candidates(problem, type, type, machine, false)) {
    EXPECT_LE(launch.threads, 256);
    EXPECT_EQ(launch.threads % 32, 0);
    EXPECT_GT(launch.rows, 0);
    EXPECT_LE(launch.shared_bytes, machine.shared_bytes_per_block);
    if (!launch.ring) continue;
    const dense::UpdateRingPlan& ring = *launch.ring;
    EXPECT_GE(ring.stages, ring.warps_k);
    EXPECT_LE(ring.warps_k > 1 ? problem.m : 0, std::int64_t{ring.row_tiles} * launch.rows);
  }
}

TEST(UpdatePolicy, EveryLaunchFitsTheDevice) {
  for (const DType type :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::c64, DType::c128}) {
    for (const Layout layout : {Layout::col, Layout::row}) {
      for (std::int64_t k = 0; k <= 128; k += 1 + k / 16) {
        for (std::int64_t n = 1; n <= 128; n += 1 + n / 16) {
          for (const std::int64_t m : {10'000, 1'000'001}) {
            SCOPED_TRACE(concat(m, " x ", n, " x ", k));
            for (const char* chip : {"H200", "A100", "RTX 5090"})
              expect_fitting_launches(problem(m, k, n, layout), type, known_machine(chip));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace lanky
