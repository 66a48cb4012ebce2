// Gram products beyond what every family is tested for: each kernel at the edges of its tiles, B =
// A, operands that wide loads do not fit, lone NaN and Inf at the end of k; and how kernels are
// chosen.
#include <gtest/gtest.h>

#include <algorithm>
#include <lanky/lanky.hpp>

#include "core/text.hpp"
#include "dense/cuda/gram/policy.hpp"
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
using testing::text;

template <class Case>
class DenseGram : public ::testing::Test {};
TYPED_TEST_SUITE(DenseGram, testing::RealCases, testing::OnName);

/// A^T B of m and n columns.
GemmShape gram(std::int64_t m, std::int64_t n, std::int64_t k, Layout layout) {
  return {.m = m, .n = n, .k = k, .op_a = Op::trans, .layout = layout};
}

// Sides at and beside the tiles of every kernel; k short of one step, and odd.
EXECUTOR_TEST(DenseGram, ShortExactForEverySide) {
  LANKY_DENSE_BODY();
  constexpr std::int64_t kSides[][2] = {{1, 1},  {2, 1},    {3, 3},    {5, 4},    {7, 7},
                                        {8, 8},  {9, 2},    {13, 13},  {16, 16},  {24, 17},
                                        {32, 5}, {32, 32},  {40, 33},  {64, 1},   {64, 64},
                                        {72, 9}, {100, 70}, {128, 16}, {128, 128}};
  for (const auto& [m, n] : kSides) {
    for (const Layout layout : {Layout::col, Layout::row}) {
      const GemmShape shape = gram(m, n, 257, layout);
      SCOPED_TRACE(text(shape));
      const DenseCase<T, TOut> dense(shape, Data::integers, 1);
      dense.expect_exact(multiply(stream, dense));
    }
  }
}

// Padding of 16 bytes, of one element, and pointers off by one; k a multiple of all steps, and not.
EXECUTOR_TEST(DenseGram, ExactForEveryAlignment) {
  LANKY_DENSE_BODY();
  for (const std::int64_t side : {2, 4, 7, 16, 32, 44}) {
    for (const std::int64_t k : {4096, 5003}) {
      for (const Layout layout : {Layout::col, Layout::row}) {
        for (const auto& [padding, offset] :
             {std::pair<std::int64_t, std::int64_t>{0, 0}, {16, 0}, {1, 0}, {0, 1}}) {
          const GemmShape shape = gram(side, side, k, layout);
          SCOPED_TRACE(concat(text(shape), " padding ", padding, " offset ", offset));
          const DenseCase<T, TOut> dense(shape, Data::integers, 2, 1, 0, padding, offset);
          dense.expect_exact(multiply(stream, dense));
        }
      }
    }
  }
}

// One operand's k adjacent, the other's rows; both strided (one column of a padded row); each short
// of 16 bytes, or off them.
EXECUTOR_TEST(DenseGram, ShortExactForMixedLayouts) {
  LANKY_DENSE_BODY();
  constexpr std::int64_t kSides[][2] = {{1, 1},   {2, 2},   {4, 3},   {8, 8},  {7, 5}, {16, 16},
                                        {24, 17}, {13, 13}, {32, 32}, {32, 5}, {64, 1}};
  for (const auto& [m, n] : kSides) {
    for (const Op op : {Op::none, Op::trans}) {  // of both: A by rows, then B
      for (const auto& [padding, offset] :
           {std::pair<std::int64_t, std::int64_t>{0, 0}, {8, 0}, {1, 0}, {0, 1}}) {
        GemmShape shape = gram(m, n, 1025, Layout::col);
        shape.op_a = shape.op_b = op;
        SCOPED_TRACE(concat(text(shape), op == Op::none ? " nn" : " tt", " padding ", padding,
                            " offset ", offset));
        const DenseCase<T, TOut> dense(shape, Data::integers, 6, 1, 0, padding, offset);
        dense.expect_exact(multiply(stream, dense));
      }
    }
  }
}

/// A^T A from one copy of A, where the case has two equal ones; `tuning` as GemmOptions has it.
template <class T, class TOut>
HostMatrix<TOut> multiply_with_itself(const Stream& stream, const DenseCase<T, TOut>& dense,
                                      const GemmTuning* tuning = nullptr) {
  const GemmPlan<T, TOut> plan(stream, dense.shape, {.tuning = tuning});
  DeviceMatrix<T> a(stream, dense.a);
  DeviceMatrix<TOut> c(stream, dense.c);
  plan.run(stream, static_cast<Accumulator<T>>(dense.alpha), a.view(), a.view(), 0, c.view());
  return c.download();
}

/// The same by lanky's own kernels, also where the vendor's are faster.
template <class T, class TOut>
HostMatrix<TOut> own_with_itself(const Stream& stream, const DenseCase<T, TOut>& dense) {
  GemmTuning own;
  for (const bool same : {false, true})
    own.set({stream.device(), dense.shape, kDType<T>, kDType<TOut>, same}, {.vendor = false});
  return multiply_with_itself(stream, dense, &own);
}

template <class TOut>
void expect_symmetric(const HostMatrix<TOut>& c, std::int64_t side) {
  for (std::int64_t i = 0; i < side; ++i) {
    for (std::int64_t j = 0; j < i; ++j)
      ASSERT_EQ(static_cast<double>(c.at(i, j)), static_cast<double>(c.at(j, i))) << i << ", " << j;
  }
}

// k is long enough for several loads of every lane, on a GPU, to be in flight at once.
EXECUTOR_TEST(DenseGram, ItselfGivesTheBitsOfTwoCopiesOrASymmetricProduct) {
  LANKY_DENSE_BODY();
  const std::int64_t k = device.is_cuda() ? 400'016 : 5003;
  for (const std::int64_t side : {1, 2, 3, 4, 5, 8, 12, 16, 20, 32, 50, 64}) {
    if (side > 16 && !device.is_cuda()) continue;
    for (const Layout layout : {Layout::col, Layout::row}) {
      const GemmShape shape = gram(side, side, side > 16 ? 60'016 : k, layout);
      SCOPED_TRACE(text(shape));
      DenseCase<T, TOut> dense(shape, Data::random, 3, 0.25);  // sums of squares that a half holds
      dense.b = dense.a;
      const HostMatrix<TOut> itself = multiply_with_itself(stream, dense);
      const GemmInfo info = GemmPlan<T, TOut>(stream, shape).info();
      const int of_one = info.of_aligned[true][false];
      if (of_one != info.of_aligned[false][false]) {
        dense.expect_within_bound(itself);
        if (!info.routes[static_cast<std::size_t>(of_one)].vendor) expect_symmetric(itself, side);
      } else {
        const HostMatrix<TOut> two_copies = multiply(stream, dense);
        EXPECT_TRUE(same_bits(itself.data, two_copies.data));
        if (side <= 3) dense.expect_within_bound(two_copies);
      }
    }
  }
}

// Sides at and beside the tiles of kernels for A = B; k ends within a segment, and with one.
EXECUTOR_TEST(DenseGram, ShortExactWhereAIsB) {
  LANKY_DENSE_BODY();
  for (const std::int64_t side : {5, 8, 12, 16, 20, 32, 36, 48, 64, 68, 96, 104, 128}) {
    for (const std::int64_t k : {264, 1024}) {
      if (k > 264 && !device.is_cuda()) continue;
      for (const Layout layout : {Layout::col, Layout::row}) {
        const GemmShape shape = gram(side, side, k, layout);
        SCOPED_TRACE(text(shape));
        DenseCase<T, TOut> dense(shape, Data::integers, 7, 2);
        dense.b = dense.a;
        dense.expect_exact(own_with_itself(stream, dense));
      }
    }
  }
}

// So long that every ring goes round several times, with an odd end where rows allow it.
EXECUTOR_TEST(DenseGram, ExactOverLongSumsWhereAIsB) {
  LANKY_DENSE_BODY();
  if (!device.is_cuda()) GTEST_SKIP() << "the ring is a GPU's";
  for (const auto& [side, k] : {std::pair<std::int64_t, std::int64_t>{8, 2'000'016},
                                {16, 150'024},
                                {40, 100'008},
                                {72, 50'008}}) {
    if (side == 8 && !std::is_same_v<T, float>) continue;  // others are not served so narrow
    for (const Layout layout : {Layout::col, Layout::row}) {
      const GemmShape shape = gram(side, side, layout == Layout::col ? k : k + 3, layout);
      SCOPED_TRACE(text(shape));
      DenseCase<T, TOut> dense(shape, Data::integers, 8, 1.0 / 1024);
      dense.b = dense.a;
      dense.expect_exact(own_with_itself(stream, dense));
    }
  }
}

// Numbers of tiles that deal out evenly and do not, halves of one pair and four; k ends within a
// segment, and with one; A is B, and not.
TEST(DenseGramOfDoubles, ShortExactForLongSides) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  constexpr std::int64_t kSides[][2] = {{33, 33},   {34, 2},   {50, 50},  {64, 2},
                                        {64, 64},   {66, 66},  {81, 33},  {96, 96},
                                        {100, 100}, {128, 60}, {128, 128}};
  for (const auto& [m, n] : kSides) {
    for (const std::int64_t k : {264, 4096 + 10}) {
      for (const Layout layout : {Layout::col, Layout::row}) {
        const std::int64_t padding = layout == Layout::row ? m % 2 : 0;  // both or none are odd
        DenseCase<double, double> dense(gram(m, n, k, layout), Data::integers, 9, 2, 0, padding);
        const GemmShape& shape = dense.shape;
        SCOPED_TRACE(text(shape));
        GemmTuning named;
        for (const bool same : {false, true}) {
          named.set({device, shape, DType::f64, DType::f64, same},
                    {.algorithm = concat("gram_double_kernel, 16 x 16",
                                         layout == Layout::row ? ", row-major" : "")});
        }
        const GemmPlan<double> plan(stream, shape, {.tuning = &named});
        ASSERT_NE(plan.explain().find("gram_double_kernel"), std::string::npos) << plan.explain();
        DeviceMatrix<double> a(stream, dense.a);
        DeviceMatrix<double> b(stream, dense.b);
        DeviceMatrix<double> c(stream, dense.c);
        plan.run(stream, dense.alpha, a.view(), b.view(), 0, c.view());
        dense.expect_exact(c.download());
        if (m != n) continue;
        dense.b = dense.a;
        plan.run(stream, dense.alpha, a.view(), a.view(), 0, c.view());
        dense.expect_exact(c.download());
      }
    }
  }
}

// What is padded along k multiplies zeros by zeros: a NaN in the last row or a step before it
// reaches its own row of C alone.
EXECUTOR_TEST(DenseGram, NanAtTheEndOfKStaysInItsRow) {
  LANKY_DENSE_BODY();
  for (const std::int64_t side : {3, 8, 16, 32, 66}) {
    for (const std::int64_t k : {300, 1025, 1032}) {
      for (const Layout layout : {Layout::col, Layout::row}) {
        const GemmShape shape = gram(side, side, k, layout);
        SCOPED_TRACE(text(shape));
        DenseCase<T, TOut> dense(shape, Data::integers, 4);
        dense.a.at(k - 1, 1) = DenseCase<T, TOut>::template nan<T>();
        const HostMatrix<TOut> got = multiply(stream, dense);
        const HostMatrix<TOut> itself = multiply_with_itself(stream, dense);
        for (std::int64_t i = 0; i < side; ++i) {
          for (std::int64_t j = 0; j < side; ++j) {
            ASSERT_EQ(std::isnan(static_cast<double>(got.at(i, j))), i == 1) << i << ", " << j;
            ASSERT_EQ(std::isnan(static_cast<double>(itself.at(i, j))), i == 1 || j == 1)
                << i << ", " << j << ", A is B";
          }
        }
      }
    }
  }
}

// So long that every ring of slots goes round several times, and that warps which keep loads in
// flight end anywhere in a round of them.
EXECUTOR_TEST(DenseGram, ExactOverLongSums) {
  LANKY_DENSE_BODY();
  if (!device.is_cuda()) GTEST_SKIP() << "the ring is a GPU's";
  constexpr std::int64_t kUnit = 16 / sizeof(T);
  constexpr std::int64_t kShapes[][3] = {{36, 20, 100'003},           {80, 10, 100'003},
                                         {1, 1, 600'000 * kUnit + 3}, {4, 3, 150'000 * kUnit},
                                         {13, 13, 100'003},           {8, 8, 100'000 * kUnit},
                                         {16, 16, 20'000 * kUnit},    {32, 32, 100'004}};
  for (const auto& [m, n, k] : kShapes) {
    for (const Layout layout : {Layout::col, Layout::row}) {
      const GemmShape shape = gram(m, n, k, layout);
      SCOPED_TRACE(text(shape));
      const DenseCase<T, TOut> dense(shape, Data::integers, 6, 0.25);
      dense.expect_exact(multiply(stream, dense));
    }
  }
}

EXECUTOR_TEST(DenseGram, AFewPlansRunManyTimesWithEqualBits) {
  LANKY_DENSE_BODY();
  for (const std::int64_t side : {2, 4, 8, 32}) {
    const GemmShape shape = gram(side, side, 20'000, Layout::col);
    SCOPED_TRACE(text(shape));
    const DenseCase<T, TOut> dense(shape, Data::random, 5);
    const GemmPlan<T, TOut> plan(stream, dense.shape);
    DeviceMatrix<T> a(stream, dense.a);
    DeviceMatrix<T> b(stream, dense.b);
    DeviceMatrix<TOut> c(stream, dense.c);
    plan.run(stream, a.view(), b.view(), c.view());
    const HostMatrix<TOut> first = c.download();
    for (int again = 0; again < (device.is_cuda() ? 50 : 2); ++again)
      plan.run(stream, a.view(), b.view(), c.view());
    ASSERT_TRUE(same_bits(c.download().data, first.data));
  }
}

// The first workspace that a plan sees has the sum in the last block, where that is chosen; others
// leave it to a second kernel. Every repeat adds to C, which takes what is in it from the run
// before.
EXECUTOR_TEST(DenseGram, AnyWorkspaceGivesTheSameBits) {
  LANKY_DENSE_BODY();
  for (const std::int64_t side : {1, 3, 4, 7, 8, 16}) {
    for (const Layout layout : {Layout::col, Layout::row}) {
      const GemmShape shape = gram(side, side, 9'999, layout);
      SCOPED_TRACE(text(shape));
      const DenseCase<T, TOut> dense(shape, Data::random, 8, 0.01);
      const GemmPlan<T, TOut> plan(stream, dense.shape);
      DeviceMatrix<T> a(stream, dense.a);
      DeviceMatrix<T> b(stream, dense.b);
      Buffer<std::byte> workspaces[] = {{stream, plan.workspace_bytes()},
                                        {stream, plan.workspace_bytes()}};
      std::vector<TOut> results[2];
      for (std::vector<TOut>& result : results) {
        DeviceMatrix<TOut> c(stream, dense.c);
        Buffer<std::byte>& lent = workspaces[&result - results];
        for (int repeat = 0; repeat < (device.is_cuda() ? 20 : 2); ++repeat)
          plan.run(stream, Acc(0.01), a.view(), b.view(), Acc(repeat == 0 ? 0 : 0.5), c.view(),
                   {lent.data(), lent.size()});
        result = c.download().data;
      }
      EXPECT_TRUE(same_bits(results[0], results[1]));
    }
  }
}

std::vector<dense::GramLaunch> candidates(const GemmShape& shape, DType type, bool off = false,
                                          bool same = false) {
  const dense::Problem problem = dense::canonical(dense::with_leading_dimensions(shape));
  return dense::gram_candidates(problem, {type, type}, known_machine("H200"), off, same);
}
/// The launches of a kernel among all candidates.
template <class Kernel>
std::vector<dense::GramLaunch> launches_of(const GemmShape& shape, DType type, bool off = false,
                                           bool same = false) {
  auto all = candidates(shape, type, off, same);
  std::erase_if(all,
                [](const auto& launch) { return !std::holds_alternative<Kernel>(launch.kernel); });
  return all;
}
template <class Kernel>
bool serves(const GemmShape& shape, DType type, bool off = false) {
  return !launches_of<Kernel>(shape, type, off).empty();
}

constexpr std::int64_t kLong = 1'000'000;

TEST(GramPolicy, KernelsServeTheShapesAndTypesThatTheyAreMadeFor) {
  for (const DType type : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::c64}) {
    EXPECT_TRUE(serves<dense::GramVector>(gram(1, 64, kLong, Layout::col), type));
    EXPECT_TRUE(serves<dense::GramVector>(gram(1, 64, kLong, Layout::col), type, true))
        << "off 16 bytes";
    EXPECT_TRUE(serves<dense::GramRowVector>(gram(2, 2, kLong, Layout::row), type));
    EXPECT_TRUE(serves<dense::GramRowStrip>(gram(64, 1, kLong, Layout::row), type));
    EXPECT_EQ(serves<dense::GramDirect>(gram(16, 16, kLong, Layout::col), type), !is_complex(type));
    EXPECT_FALSE(serves<dense::GramDirect>(gram(17, 17, kLong, Layout::col), type));
    EXPECT_EQ(serves<dense::GramFma>(gram(64, 64, kLong, Layout::col), type),
              type == DType::f32 || is_complex(type));
    EXPECT_EQ(serves<dense::GramWgmma>(gram(64, 64, kLong, Layout::row), type), is_half(type));
    EXPECT_TRUE(serves<dense::GramWords>(gram(32, 32, kLong + 1, Layout::col), type));
  }
  EXPECT_TRUE(serves<dense::GramStaged>(gram(32, 32, kLong, Layout::col), DType::f64));
  EXPECT_FALSE(serves<dense::GramStaged>(gram(32, 32, kLong, Layout::col), DType::f64, true));
  EXPECT_FALSE(serves<dense::GramStaged>(gram(32, 32, kLong + 1, Layout::col), DType::f64));
  for (const Layout layout : {Layout::col, Layout::row}) {
    EXPECT_TRUE(serves<dense::GramDouble>(gram(128, 34, kLong, layout), DType::f64));
    EXPECT_FALSE(serves<dense::GramDouble>(gram(128, 34, kLong, layout), DType::f64, true));
    EXPECT_FALSE(serves<dense::GramDouble>(gram(128, 34, kLong, layout), DType::f32));
    EXPECT_FALSE(serves<dense::GramDouble>(gram(32, 32, kLong, layout), DType::f64));
  }
  EXPECT_TRUE(serves<dense::GramWgmma>(gram(128, 128, kLong, Layout::row), DType::bf16));
  EXPECT_TRUE(serves<dense::GramRows>(gram(20, 20, kLong, Layout::row), DType::f16));
  EXPECT_FALSE(serves<dense::GramWords>(gram(32, 32, kLong + 1, Layout::col), DType::c128));
  EXPECT_TRUE(candidates(gram(0, 0, kLong, Layout::row), DType::f64).empty());
}

TEST(GramPolicy, TrianglesAreForAThatIsB) {
  const auto triangle = [](const GemmShape& shape, DType type, bool same) {
    return !launches_of<dense::GramTriangle>(shape, type, false, same).empty();
  };
  for (const Layout layout : {Layout::col, Layout::row}) {
    EXPECT_TRUE(triangle(gram(64, 64, kLong, layout), DType::f64, true));
    EXPECT_FALSE(triangle(gram(64, 64, kLong, layout), DType::f64, false));
    EXPECT_FALSE(triangle(gram(128, 128, kLong, layout), DType::f64, true));
    EXPECT_FALSE(triangle(gram(64, 64, kLong, layout), DType::f16, true));
    EXPECT_FALSE(triangle(gram(32, 32, kLong, layout), DType::c64, true));
    EXPECT_EQ(triangle(gram(16, 16, kLong, layout), DType::f32, true), layout == Layout::col);
  }
  EXPECT_FALSE(triangle(gram(16, 16, kLong + 1, Layout::col), DType::f32, true));
}

TEST(GramPolicy, WideRowsBeginAtUnits) {
  const auto packed = [](const GemmShape& shape, DType type) {
    std::vector<int> rows;
    for (const auto& launch : launches_of<dense::GramRows>(shape, type))
      rows.push_back(dense::packed_rows(launch.kernel));
    return *std::max_element(rows.begin(), rows.end());
  };
  // 7 halves: eight rows are 14 units of 4; padded to 8 a row holds no whole number of them.
  EXPECT_EQ(packed(gram(7, 7, 100'000, Layout::row), DType::f16), 8);
  GemmShape padded = gram(7, 7, 100'000, Layout::row);
  padded.lda = padded.ldb = 8;
  EXPECT_EQ(packed(padded, DType::f16), 1);
  EXPECT_EQ(packed(gram(8, 8, 100'000, Layout::row), DType::f64), 4);
}

/// The launch by the kernel that has one for columns of such a side.
template <class Kernel>
dense::GramLaunch of_columns(std::int64_t side, std::int64_t k, DType type) {
  return launches_of<Kernel>(gram(side, side, k, Layout::col), type).back();
}

TEST(GramPolicy, TheLastBlockAddsFewPartialSums) {
  EXPECT_TRUE(of_columns<dense::GramVector>(1, 10'000'000, DType::f64).one_launch);
  EXPECT_TRUE(of_columns<dense::GramVector>(4, 100'000, DType::f64).one_launch);
  EXPECT_TRUE(of_columns<dense::GramDirect>(8, 10'000, DType::f64).one_launch);
  EXPECT_TRUE(of_columns<dense::GramDirect>(8, 100'000, DType::f16).one_launch);
  EXPECT_LT(of_columns<dense::GramDirect>(8, 100'000, DType::f16).blocks,
            known_machine("H200").multiprocessors);
  EXPECT_FALSE(of_columns<dense::GramDirect>(8, 100'000, DType::f64).one_launch);
  EXPECT_TRUE(of_columns<dense::GramDirect>(16, 10'000, DType::f16).one_launch);
  EXPECT_FALSE(of_columns<dense::GramDirect>(16, 100'000, DType::f64).one_launch);
  EXPECT_FALSE(of_columns<dense::GramStaged>(32, 10'000, DType::f16).one_launch);
}

TEST(GramPolicy, OnlyWhatIsReadAtOnceIsPrefetched) {
  const auto prefetches = [](const dense::GramLaunch& launch) {
    if (const auto* direct = std::get_if<dense::GramDirect>(&launch.kernel))
      return direct->prefetch;
    return std::get<dense::GramVector>(launch.kernel).prefetch;
  };
  EXPECT_TRUE(prefetches(of_columns<dense::GramDirect>(8, 100'000, DType::f64)));
  EXPECT_FALSE(prefetches(of_columns<dense::GramDirect>(8, 1'000'000, DType::f64)));
  EXPECT_FALSE(prefetches(of_columns<dense::GramVector>(8, 99'999, DType::f32)));  // off 16 bytes
}

TEST(GramPolicy, AnyStridesAreServed) {
  GemmShape strided = gram(1, 1, 100'000, Layout::row);
  strided.lda = strided.ldb = 3;
  EXPECT_FALSE(dense::is_wide(launches_of<dense::GramVector>(strided, DType::f32).back().kernel));

  GemmShape mixed = gram(16, 16, 100'000, Layout::row);
  mixed.op_b = Op::trans;
  mixed.ldb = mixed.k;
  const auto halves = launches_of<dense::GramRows>(mixed, DType::f16);
  EXPECT_TRUE(std::any_of(halves.begin(), halves.end(), [](const auto& c) {
    const auto& each = std::get<dense::GramRows>(c.kernel);
    return each.wide && each.b_turned && !each.a_turned;
  }));
  EXPECT_EQ(
      std::get<dense::GramStaged>(launches_of<dense::GramStaged>(mixed, DType::f32).back().kernel)
          .layout,
      dense::GramLayout::mixed);
  EXPECT_TRUE(serves<dense::GramRows>(gram(32, 32, 3'000'001, Layout::col), DType::f64));
  EXPECT_TRUE(serves<dense::GramVector>(gram(32, 8, 100'001, Layout::col), DType::f32));
}

// All slots fit beside those of another block, but for the shortest slots of many columns.
TEST(GramPolicy, WordsFitTwoBlocksToAMultiprocessor) {
  for (const Layout layout : {Layout::col, Layout::row}) {
    for (std::int64_t side = 9; side <= 64; ++side) {
      const GemmShape shape = gram(side, side, 200'001, layout);
      const dense::Problem problem = dense::canonical(dense::with_leading_dimensions(shape));
      for (const DType type : {DType::f32, DType::f64, DType::f16, DType::c64}) {
        for (const auto& c : launches_of<dense::GramWords>(shape, type)) {
          const int run_log2 = std::get<dense::GramWords>(c.kernel).run_log2;
          EXPECT_LE(dense::gram_words_bytes(problem, {type, type}, run_log2),
                    (run_log2 > 0 ? 113 : 227) << 10)
              << side;
          EXPECT_FALSE(c.one_launch) << "it leaves the sum to another kernel";
        }
      }
    }
  }
}

// A slot is whole products of every warp that shares it, and three slots of each group fit a block.
TEST(GramPolicy, StreamsHaveSlotsOfWholeProducts) {
  for (const char* const card : {"H200", "H100", "A100"}) {
    const Machine machine = known_machine(card);
    for (const Layout layout : {Layout::col, Layout::row}) {
      for (const DType type : {DType::f16, DType::f32}) {
        for (std::int64_t side = 2; side <= 128; side += 3) {
          const GemmShape shape = gram(side, side, 200'001, layout);
          const dense::Problem p =
              dense::canonical(dense::with_leading_dimensions(shape), Math::tf32);
          for (const bool same : {false, true}) {
            int streams = 0;
            for (const auto& c : dense::gram_candidates(p, {type, type}, machine, true, same)) {
              const auto* const stream = std::get_if<dense::GramStream>(&c.kernel);
              if (stream == nullptr) continue;
              ++streams;
              const dense::StreamTile& tile = dense::kStreamTiles[stream->tile];
              const int warps = 1 << stream->group_log2;
              const auto tiles = static_cast<int>((side + tile.m() - 1) / tile.m() *
                                                  ((side + tile.n() - 1) / tile.n()));
              ASSERT_EQ(warps % tiles, 0) << side;
              EXPECT_EQ(stream->depth % (4 * stream->turn * warps / tiles), 0) << side;
              EXPECT_LE(dense::gram_stream_bytes(p, type, *stream), machine.shared_bytes_per_block)
                  << side;
              EXPECT_EQ(stream->one, same);
              EXPECT_FALSE(c.one_launch) << "it leaves the sum to another kernel";
            }
            EXPECT_EQ(streams, 1) << card << ", side " << side;
          }
        }
      }
    }
  }
  EXPECT_FALSE(serves<dense::GramStream>(gram(32, 32, kLong + 1, Layout::col), DType::f32))
      << "IEEE arithmetic";
  EXPECT_FALSE(serves<dense::GramStream>(gram(32, 32, kLong + 1, Layout::col), DType::f64));
  GemmShape mixed = gram(40, 24, 100'001, Layout::row);
  mixed.op_b = Op::trans;
  mixed.ldb = mixed.k;
  EXPECT_TRUE(launches_of<dense::GramStream>(mixed, DType::f16).front().exchanged)
      << "A by columns";
}

TEST(GramPolicy, ShortSumsTakeFewBlocks) {
  EXPECT_EQ(of_columns<dense::GramVector>(2, 200, DType::f64).blocks, 1);
  EXPECT_EQ(of_columns<dense::GramStaged>(32, 320, DType::f64).blocks, 10);
  EXPECT_EQ(of_columns<dense::GramStaged>(32, kLong, DType::f64).blocks,
            known_machine("H200").multiprocessors);
}

}  // namespace
}  // namespace lanky
