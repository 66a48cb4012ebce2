// Panel products: the plan on the host, and on CUDA the shapes that its kernels cut up in different
// ways (tiles shared by blocks or not, edges in m, k and n, rows that a tensor map cannot
// describe).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <lanky/lanky.hpp>
#include <limits>
#include <vector>

#include "core/text.hpp"
#include "dense/cuda/panel/policy.hpp"
#include "support/dense_oracle.hpp"
#include "support/executor.hpp"

namespace lanky {
namespace {

using testing::Data;
using testing::DenseCase;
using testing::HostMatrix;
using testing::multiply;

const Machine& h200() {
  return known_machine("H200");
}

dense::Problem column_major(std::int64_t m, std::int64_t n, std::int64_t k) {
  return dense::canonical({.m = m, .n = n, .k = k, .lda = m, .ldb = k, .ldc = m});
}

constexpr dense::PanelChunk kChunk{.rows = 256,
                                   .depth = 4,
                                   .columns = 16,
                                   .slice = 4,
                                   .bytes_b = 256,
                                   .bytes_sum = 4,
                                   .together = 1,
                                   .stages = 16};

TEST(DensePanelPlan, BlocksShareOutAllUnits) {
  for (const std::int64_t m : {129, 256, 1000, 10240, 30720, 1000000}) {
    for (const std::int64_t k : {129, 1000, 10240, 30721}) {
      const auto plans = dense::panel_plans(column_major(m, 16, k), kChunk, h200());
      ASSERT_FALSE(plans.empty());
      for (const dense::PanelPlan& plan : plans) {
        SCOPED_TRACE(concat("m ", m, ", k ", k, ", ", plan.warps_m, " warps along m"));
        EXPECT_LE(plan.blocks, h200().multiprocessors);
        EXPECT_LE(plan.shared_bytes, h200().shared_bytes_per_block);
        EXPECT_GE(plan.stages, dense::kPanelProducers);
        EXPECT_GE(plan.tiles * plan.tile_rows, m);
        EXPECT_GE(std::int64_t{plan.steps} * plan.step, k);
        EXPECT_EQ(plan.warps_m * plan.warps_k * plan.warps_n, dense::kPanelConsumerWarps);
        EXPECT_EQ(plan.first_unit(0), 0);
        EXPECT_EQ(plan.first_unit(plan.blocks), plan.tiles * plan.steps);
        for (int block = 0; block < plan.blocks; ++block) {
          ASSERT_LT(plan.first_unit(block), plan.first_unit(block + 1));
          ASSERT_EQ(plan.block_of(plan.first_unit(block)), block);
          ASSERT_EQ(plan.block_of(plan.first_unit(block + 1) - 1), block);
        }
      }
    }
  }
}

TEST(DensePanelPlan, TooManyColumnsHaveNoPlan) {
  EXPECT_FALSE(dense::panel_plans(column_major(4096, 32, 4096), kChunk, h200()).empty());
  EXPECT_TRUE(dense::panel_plans(column_major(4096, 33, 4096), kChunk, h200()).empty());
}

// Much of B in a slot leaves no room for as many slots as there are producers.
TEST(DensePanelPlan, SlotsFitOrThereIsNoPlan) {
  dense::PanelChunk chunk = kChunk;
  chunk.bytes_b = 16 << 10;
  const auto plans = dense::panel_plans(column_major(4096, 8, 4096), chunk, h200());
  ASSERT_FALSE(plans.empty());
  for (const dense::PanelPlan& plan : plans) {
    EXPECT_LT(plan.warps_k, 8);
    EXPECT_GE(plan.stages, dense::kPanelProducers);
  }
  chunk.bytes_b = 64 << 10;
  EXPECT_TRUE(dense::panel_plans(column_major(4096, 8, 4096), chunk, h200()).empty());
}

// Lines of A off 16 bytes: of each class, all rows (of_k: columns) that exist, on either side of
// it.
TEST(DensePanelPlan, ClassesHoldAllLines) {
  for (const std::int64_t lda : {1000, 1001, 1002, 1004}) {
    for (const bool along_k : {false, true}) {
      SCOPED_TRACE(concat("stride ", lda, along_k ? ", along k" : ""));
      const dense::Problem problem = dense::canonical({.m = along_k ? 5001 : 999,
                                                       .n = 8,
                                                       .k = along_k ? 999 : 5001,
                                                       .op_a = along_k ? Op::trans : Op::none,
                                                       .lda = lda,
                                                       .ldb = 6000,
                                                       .ldc = 6000});
      const dense::PanelClasses classes = dense::panel_classes(problem, 2);
      EXPECT_EQ(classes.of_k, !along_k);
      EXPECT_EQ(classes.room, 7);
      EXPECT_EQ((lda << classes.log2) % 8, 0);
      EXPECT_TRUE(classes.log2 == 0 || (lda << (classes.log2 - 1)) % 8 != 0);
      const auto plans = dense::panel_plans(problem, kChunk, h200(), classes);
      ASSERT_FALSE(plans.empty());
      for (const dense::PanelPlan& plan : plans) {
        const std::int64_t tiles = plan.tiles >> classes.log2;
        EXPECT_GE((tiles * plan.tile_rows) << (along_k ? classes.log2 : 0),
                  problem.m + (along_k ? 0 : 7));
        EXPECT_GE((std::int64_t{plan.steps} * plan.step) << (along_k ? 0 : classes.log2),
                  problem.k);
        for (int block = 0; block < plan.blocks && !along_k; ++block) {
          const std::int64_t first = plan.first_unit(block) / plan.steps;
          EXPECT_LE((plan.first_unit(block + 1) - 1) / plan.steps - first + 1, plan.kept);
        }
      }
    }
  }
}

template <class Case>
class DensePanel : public ::testing::Test {};
using CudaCases =
    ::testing::Types<testing::On<DeviceKind::cuda, double>, testing::On<DeviceKind::cuda, float>,
                     testing::On<DeviceKind::cuda, half>,
                     testing::On<DeviceKind::cuda, half, float>,
                     testing::On<DeviceKind::cuda, bfloat16>>;
TYPED_TEST_SUITE(DensePanel, CudaCases, testing::OnName);

/// lanky's kernels, also where plans choose the vendor's.
template <class T, class TOut>
HostMatrix<TOut> multiply_own(const Stream& stream, const DenseCase<T, TOut>& dense,
                              Math math = Math::ieee) {
  GemmTuning own;
  own.set({.device = stream.device(),
           .shape = dense.shape,
           .in = kDType<T>,
           .out = kDType<TOut>,
           .math = math},
          {.vendor = false});
  return multiply(stream, dense, {.math = math, .tuning = &own});
}

/// Shapes with n of every kernel, tiles that are whole and that are shared, and ragged edges.
constexpr GemmShape kPanels[] = {
    {.m = 260, .n = 1, .k = 1024},  {.m = 1001, .n = 3, .k = 377},  {.m = 4096, .n = 2, .k = 260},
    {.m = 313, .n = 7, .k = 1201},  {.m = 2048, .n = 8, .k = 264},  {.m = 700, .n = 13, .k = 300},
    {.m = 512, .n = 16, .k = 320},  {.m = 333, .n = 24, .k = 401},  {.m = 300, .n = 32, .k = 500},
    {.m = 300, .n = 40, .k = 200},  {.m = 200, .n = 100, .k = 150}, {.m = 9000, .n = 5, .k = 200},
    {.m = 2000, .n = 29, .k = 131}, {.m = 300, .n = 64, .k = 200},  {.m = 130, .n = 128, .k = 130},
    {.m = 1100, .n = 48, .k = 140}};

TYPED_TEST(DensePanel, ShortIntegersAreExact) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  for (const GemmShape& base : kPanels) {
    for (const auto& [layout, op] :
         {std::pair{Layout::col, Op::none}, {Layout::row, Op::none}, {Layout::col, Op::trans}}) {
      // Lines at multiples of 16 bytes, of one element, of two (copied by pieces of these sizes).
      for (const auto& [padding, offset] :
           {std::pair<std::int64_t, std::int64_t>{0, 0}, {3, 1}, {2, 0}}) {
        GemmShape shape = base;
        shape.layout = layout;
        shape.op_a = op;
        SCOPED_TRACE(concat(shape.m, " x ", shape.n, " x ", shape.k, " layout ",
                            static_cast<int>(layout), " op ", static_cast<int>(op), " padding ",
                            padding));
        const DenseCase<T, TOut> dense(shape, Data::integers, 21, 2, padding == 3 ? 0.5 : 0,
                                       padding, offset);
        dense.expect_exact(multiply_own(stream, dense));
      }
    }
  }
}

/// A and B are columns of one matrix, whose rows are far apart: copies of B's elements then hold up
/// the loads of those that compute, and a slot of A must not be overwritten before these.
template <class T>
void expect_whole_slots() {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  constexpr std::int64_t kLd = 272;
  constexpr std::int64_t kFirst = 24;
  const GemmShape shape{.m = 180,
                        .n = 8,
                        .k = 200000,
                        .op_a = Op::trans,
                        .layout = Layout::row,
                        .lda = kLd,
                        .ldb = kLd,
                        .ldc = 8};
  std::vector<T> elements(static_cast<std::size_t>(shape.k * kLd));
  double expected = 0;
  for (std::int64_t p = 0; p < shape.k; ++p) {
    const auto row = elements.begin() + p * kLd + kFirst;
    std::fill_n(row, shape.m, static_cast<T>(p % 13));
    std::fill_n(row + shape.m, shape.n, static_cast<T>(p % 3));
    expected += static_cast<double>(p % 13) * static_cast<double>(p % 3);
  }
  Matrix<T> together(stream, shape.k, kLd, Layout::row);
  together.buffer().copy_from(elements);
  const T* const first = together.buffer().data() + kFirst;
  GemmTuning own;
  own.set({.device = device, .shape = shape, .in = kDType<T>, .out = kDType<T>}, {.vendor = false});
  GemmOptions options;
  options.tuning = &own;
  const GemmPlan<T> plan(stream, shape, options);
  Matrix<T> c(stream, shape.m, shape.n, Layout::row);
  for (int run = 0; run < 60; ++run) {  // one of about ten was wrong
    plan.run(stream, MatrixView<const T>(first, shape.k, shape.m, kLd, Layout::row),
             MatrixView<const T>(first + shape.m, shape.k, shape.n, kLd, Layout::row), c.view());
    for (const T sum : c.buffer().to_host())
      ASSERT_EQ(static_cast<double>(sum), expected) << "run " << run;
  }
}
TEST(DensePanelRing, SlotsStayWholeUntilTheyAreRead) {
  expect_whole_slots<double>();
}
TEST(DensePanelRing, SlotsOfFloatsStayWholeUntilTheyAreRead) {
  expect_whole_slots<float>();
}

class DensePanelSplit : public ::testing::TestWithParam<Math> {};

TEST_P(DensePanelSplit, IntegersAreExactAndNanStaysInItsRow) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  for (const GemmShape& base : kPanels) {
    for (const Layout layout : {Layout::col, Layout::row}) {
      for (const std::int64_t padding : {0, 3}) {
        GemmShape shape = base;
        shape.layout = layout;
        SCOPED_TRACE(concat(shape.m, " x ", shape.n, " x ", shape.k, " layout ",
                            static_cast<int>(layout), " padding ", padding));
        DenseCase<float, float> dense(shape, Data::integers, 22, 1, 0, padding);
        dense.expect_exact(multiply_own(stream, dense, GetParam()));
        dense.a.at(shape.m - 1, shape.k / 2) = std::numeric_limits<float>::infinity();
        dense.a.at(shape.m / 2, 0) = std::numeric_limits<float>::quiet_NaN();
        dense.b.at(shape.k - 1, shape.n - 1) = -std::numeric_limits<float>::infinity();
        const HostMatrix<float> got = multiply_own(stream, dense, GetParam());
        for (std::int64_t i = 0; i < shape.m; i += i + 40 < shape.m ? 37 : 1) {
          for (std::int64_t j = 0; j < shape.n; ++j) {
            const auto expected = static_cast<double>(dense.exact(i, j).value);
            const double value = got.at(i, j);
            ASSERT_EQ(std::isnan(value), std::isnan(expected)) << i << ", " << j;
            if (!std::isnan(expected)) {
              ASSERT_EQ(value, expected) << i << ", " << j;
            }
          }
        }
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Math, DensePanelSplit,
                         ::testing::Values(Math::tf32x3, Math::tf32, Math::ieee));

}  // namespace
}  // namespace lanky
