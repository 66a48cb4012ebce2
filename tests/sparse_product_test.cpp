// Values of sparse products, one body for every executor, type and kernel path.
// For compute-sanitizer: --gtest_filter='*Short*' runs in seconds.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "support/sparse_oracle.hpp"

namespace lanky::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class Case>
class SparseProduct : public ::testing::Test {
 protected:
  using Element = typename Case::Element;
  using Result = typename Case::Result;
  using CaseOperands = Operands<Element, Result>;

  /// x of cols and y of rows entries, drawn alike.
  template <class Draw, class DrawOut>
  static CaseOperands operands_of(const CsrMatrix<Element>& a, Random& random, Draw draw,
                                  DrawOut draw_out) {
    return {1, 0, vector_of<Element>(a.cols, random, draw),
            vector_of<Result>(a.rows, random, draw_out)};
  }
  static CaseOperands integer_operands(const CsrMatrix<Element>& a, Random& random) {
    return operands_of(a, random, small_integer<Element>, small_integer<Result>);
  }
  static CaseOperands uniform_operands(const CsrMatrix<Element>& a, Random& random) {
    return operands_of(a, random, uniform<Element>, uniform<Result>);
  }

  static void expect_exact_on(Device device, const CsrMatrix<Element>& a,
                              const CaseOperands& operands) {
    for_each_path(device, a, operands,
                  [&](const std::vector<Result>& y) { expect_exact(a, operands, y); });
  }
};
TYPED_TEST_SUITE(SparseProduct, PlanCases, OnName);

EXECUTOR_TEST(SparseProduct, ShortRunOfEveryClassIsExact) {
  using T = typename TypeParam::Element;
  Random random(1);
  const auto a = matrix_of<T>(boundary_lengths(), 300, random, small_integer<T>);
  TestFixture::expect_exact_on(device, a, TestFixture::integer_operands(a, random));
}

EXECUTOR_TEST(SparseProduct, ShortRunWithAlphaAndBetaIsExact) {
  using T = typename TypeParam::Element;
  Random random(2);
  const auto a = matrix_of<T>(boundary_lengths(), 77, random, small_integer<T>);
  auto operands = TestFixture::integer_operands(a, random);
  for (const double alpha : {0.0, 1.0, -2.0}) {
    for (const double beta : {0.0, 1.0, -0.5}) {
      SCOPED_TRACE(::testing::Message() << "alpha " << alpha << ", beta " << beta);
      operands.alpha = element<Accumulator<T>>(alpha);
      operands.beta = element<Accumulator<T>>(beta);
      TestFixture::expect_exact_on(device, a, operands);
    }
  }
}

EXECUTOR_TEST(SparseProduct, RandomDataStaysWithinItsBound) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  const std::uint64_t seed = seed_or(3);
  SCOPED_TRACE(::testing::Message() << "LANKY_SEED=" << seed);
  Random random(seed);
  std::vector<std::int64_t> lengths = boundary_lengths();
  lengths.push_back(100'000);
  const auto a = matrix_of<T>(lengths, 1000, random, uniform<T>);
  auto operands = TestFixture::uniform_operands(a, random);
  operands.alpha = element<Accumulator<T>>(0.7);
  operands.beta = element<Accumulator<T>>(-1.3);
  for_each_path(device, a, operands,
                [&](const std::vector<TOut>& y) { expect_within_bound(a, operands, y); });
}

EXECUTOR_TEST(SparseProduct, RandomShapesAreExact) {
  using T = typename TypeParam::Element;
  const std::uint64_t seed = seed_or(4);
  for (std::uint64_t round = 0; round < 60; ++round) {
    SCOPED_TRACE(::testing::Message() << "LANKY_SEED=" << seed << ", round " << round);
    Random random(seed + 1000 * round);
    const std::int64_t rows = random_int(random, 0, 200);
    const std::int64_t cols = random_int(random, 1, 500);
    const std::int64_t mosts[] = {1, 4, 8, 40, 300, 3000};
    std::vector<std::int64_t> lengths;
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t most = mosts[random_int(random, 0, row % 16 == 0 ? 5 : 3)];
      lengths.push_back(random_int(random, 0, most));
    }
    const auto a = matrix_of<T>(lengths, cols, random, small_integer<T>);
    auto operands = TestFixture::integer_operands(a, random);
    operands.beta = small_integer<Accumulator<T>>(random);
    TestFixture::expect_exact_on(device, a, operands);
    if (TestFixture::HasFatalFailure()) return;
  }
}

EXECUTOR_TEST(SparseProduct, ShapesWithoutEntriesScaleY) {
  using T = typename TypeParam::Element;
  Random random(5);
  for (const std::int64_t rows : {0, 1, 7, 1000}) {
    for (const std::int64_t cols : {0, 5}) {
      SCOPED_TRACE(::testing::Message() << rows << " x " << cols);
      CsrMatrix<T> a;
      a.rows = rows;
      a.cols = cols;
      a.row_offsets.assign(rows + 1, 0);
      auto operands = TestFixture::integer_operands(a, random);
      TestFixture::expect_exact_on(device, a, operands);
      operands.beta = 2;
      TestFixture::expect_exact_on(device, a, operands);
    }
  }
}

/// Ten million; a hundredth under AddressSanitizer, and on the CPU for all types but one: they find
/// there what it finds.
template <class T>
std::int64_t ten_million(const Device& device) {
  const bool all = device.is_cuda() || (kDType<T> == DType::f64 && !kSanitized);
  return all ? 10'000'000 : 100'000;
}

EXECUTOR_TEST(SparseProduct, OneRowOfTenMillionEntries) {
  using T = typename TypeParam::Element;
  Random random(6);
  const auto sign = [](Random& r) {
    return draw_parts<T>([&] { return static_cast<double>(r() % 3) - 1.0; });
  };
  const auto a = matrix_of<T>({ten_million<T>(device)}, 5000, random, sign);
  auto operands = TestFixture::integer_operands(a, random);
  for (T& x : operands.x)
    x = sign(random);
  TestFixture::expect_exact_on(device, a, operands);
}

EXECUTOR_TEST(SparseProduct, TenMillionRowsOfOneEntry) {
  using T = typename TypeParam::Element;
  Random random(7);
  const std::vector<std::int64_t> lengths(ten_million<T>(device), 1);
  const auto a = matrix_of<T>(lengths, 100'000, random, small_integer<T>);
  TestFixture::expect_exact_on(device, a, TestFixture::integer_operands(a, random));
}

// Long rows in numbers: split rows that a warp finishes, and ones that a block finishes.
EXECUTOR_TEST(SparseProduct, ManySplitRowsAndFewHugeOnes) {
  using T = typename TypeParam::Element;
  Random random(8);
  std::vector<std::int64_t> many;
  for (std::int64_t i = 0; i < 100; ++i)
    many.push_back(1000 + 10 * i);
  const auto a = matrix_of<T>(many, 400, random, small_integer<T>);
  TestFixture::expect_exact_on(device, a, TestFixture::integer_operands(a, random));
  const auto b = matrix_of<T>({40'000, 2, 70'001, 1025}, 400, random, small_integer<T>);
  TestFixture::expect_exact_on(device, b, TestFixture::integer_operands(b, random));
}

EXECUTOR_TEST(SparseProduct, ShortRunOverwritesNanInYWhereBetaIsZero) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(9);
  const auto a = matrix_of<T>(boundary_lengths(), 50, random, small_integer<T>);
  auto operands = TestFixture::integer_operands(a, random);
  for (TOut& y : operands.y)
    y = element<TOut>(kNan);
  TestFixture::expect_exact_on(device, a, operands);
}

// Each row in turn gets a NaN or Inf among its values; no other row may notice.
EXECUTOR_TEST(SparseProduct, ShortRunKeepsNanAndInfOfAInTheirRow) {
  using T = typename TypeParam::Element;
  Random random(10);
  auto a = matrix_of<T>({1, 1, 3, 2, 4, 3, 1, 2, 0, 1, 6, 12, 9, 5, 300, 1100, 270, 2, 3}, 30,
                        random, small_integer<T>);
  const auto operands = TestFixture::integer_operands(a, random);
  const double special[] = {kNan, std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity()};
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const std::int64_t length = a.row_offsets[row + 1] - a.row_offsets[row];
    if (length == 0) continue;
    SCOPED_TRACE(::testing::Message() << "special value in row " << row);
    T& value = a.values[a.row_offsets[row] + random_int(random, 0, length - 1)];
    const T kept = value;
    value = element<T>(special[row % 3]);
    TestFixture::expect_exact_on(device, a, operands);
    if (TestFixture::HasFatalFailure()) return;
    value = kept;
  }
}

// NaN and Inf in x reach exactly the rows with an entry in that column, explicit zeros included.
EXECUTOR_TEST(SparseProduct, ShortRunTakesNanAndInfOfXWhereIeeeSays) {
  using T = typename TypeParam::Element;
  Random random(11);
  const auto a = matrix_of<T>(boundary_lengths(), 2000, random, small_integer<T>);
  auto operands = TestFixture::integer_operands(a, random);
  operands.x[3] = element<T>(kNan);
  operands.x[0] = element<T>(std::numeric_limits<double>::infinity());
  operands.x[1999] = element<T>(-std::numeric_limits<double>::infinity());
  std::int64_t finite = 0;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    finite += std::isfinite(reference_row(a, operands, row).value.real()) ? 1 : 0;
  }
  EXPECT_GT(finite, 30);
  EXPECT_LT(finite, a.rows - 3);
  TestFixture::expect_exact_on(device, a, operands);
  operands.alpha = 0;  // no exception: 0 times NaN is NaN
  TestFixture::expect_exact_on(device, a, operands);
}

EXECUTOR_TEST(SparseProduct, ShortRunWithNanForAScalarReachesEveryRow) {
  using T = typename TypeParam::Element;
  Random random(19);
  const auto a = matrix_of<T>(boundary_lengths(), 60, random, small_integer<T>);
  auto operands = TestFixture::integer_operands(a, random);
  operands.alpha = element<Accumulator<T>>(kNan);
  TestFixture::expect_exact_on(device, a, operands);
  operands.alpha = 1;
  operands.beta = element<Accumulator<T>>(kNan);
  TestFixture::expect_exact_on(device, a, operands);
}

// One entry a row counts, times 1: the least number of T is not flushed to 0, and twice the
// greatest overflows where the result's type does.
EXECUTOR_TEST(SparseProduct, ShortRunKeepsSubnormalsAndOverflowsToInf) {
  using T = typename TypeParam::Element;
  Random random(20);
  auto a = matrix_of<T>(boundary_lengths(), 60, random, [](Random&) { return T{}; });
  auto operands = TestFixture::integer_operands(a, random);
  const auto run_with = [&](T value, double factor) {
    for (std::int64_t row = 0; row < a.rows; ++row) {
      if (a.row_offsets[row] < a.row_offsets[row + 1]) a.values[a.row_offsets[row]] = value;
    }
    operands.x.assign(operands.x.size(), element<T>(factor));
    TestFixture::expect_exact_on(device, a, operands);
  };
  T least{};
  reinterpret_cast<unsigned char*>(&least)[0] = 1;  // little-endian: the bits of integer 1
  ASSERT_GT(parts(least).real(), 0.0);
  run_with(least, 1.0);
  if (kIsComplex<T>) return;  // where one part overflows, alpha = 1 makes the other NaN
  const double greatest = kDType<T> == DType::f16    ? 65504.0
                          : kDType<T> == DType::bf16 ? 0x1.fep127
                          : kDType<T> == DType::f32  ? std::numeric_limits<float>::max()
                                                     : std::numeric_limits<double>::max();
  run_with(element<T>(greatest), 2.0);
}

EXECUTOR_TEST(SparseProduct, ShortRunOnOperandsAlignedToTheirTypeOnly) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(21);
  const auto a = matrix_of<T>(boundary_lengths(), 90, random, small_integer<T>);
  auto operands = TestFixture::integer_operands(a, random);
  operands.beta = 1;
  const Stream stream(device);
  for (const Engine engine : engines_on<T>(device)) {
    const SparsePlan<T, TOut> plan(stream, a.view(), {.engine = engine});
    std::vector<T> x(operands.x);
    std::vector<TOut> y(operands.y);
    x.insert(x.begin(), T{});
    y.insert(y.begin(), 3, TOut{});
    y.push_back(TOut{});
    const auto x_buffer = Buffer<T>::from(stream, x);
    auto y_buffer = Buffer<TOut>::from(stream, y);
    plan.run(stream, Accumulator<T>{1}, {x_buffer.data() + 1, a.cols}, Accumulator<T>{1},
             {y_buffer.data() + 3, a.rows});
    const std::vector<TOut> result = y_buffer.to_host();
    expect_exact(a, operands, {result.begin() + 3, result.end() - 1});
    for (const std::int64_t outside : {std::int64_t{0}, std::int64_t{2}, a.rows + 3})
      EXPECT_EQ(parts(result[outside]), 0.0) << outside;
  }
}

EXECUTOR_TEST(SparseProduct, ShortRunIsTheSameForBothBasesAndOffsetWidths) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(12);
  const auto a = matrix_of<T>(boundary_lengths(), 90, random, small_integer<T>);
  const auto operands = TestFixture::integer_operands(a, random);
  const Stream stream(device);
  for (const int base : {0, 1}) {
    std::vector<std::int64_t> wide = a.row_offsets;
    for (std::int64_t& offset : wide)
      offset += base;
    const std::vector<std::int32_t> narrow(wide.begin(), wide.end());
    std::vector<std::int32_t> columns = a.col_indices;
    for (std::int32_t& column : columns)
      column += base;
    for (const RowOffsets offsets : {RowOffsets(wide.data()), RowOffsets(narrow.data())}) {
      const CsrView<T> view{a.rows,         a.cols,          a.nnz(), offsets,
                            columns.data(), a.values.data(), base};
      ASSERT_EQ(PackedOnHost<T>(view).violation(), "");
      expect_exact(a, operands, run_plan(stream, SparsePlan<T, TOut>(stream, view), operands));
    }
  }
}

EXECUTOR_TEST(SparseProduct, ShortRunAfterUpdateOfValues) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(13);
  auto a = matrix_of<T>(boundary_lengths(), 90, random, small_integer<T>);
  const auto operands = TestFixture::integer_operands(a, random);
  const Stream stream(device);
  SparsePlan<T, TOut> plan(stream, a.view());
  a.values = vector_of<T>(a.nnz(), random, small_integer<T>);
  plan.update_values({a.values.data(), a.nnz()});
  expect_exact(a, operands, run_plan(stream, plan, operands));
  a.values = vector_of<T>(a.nnz(), random, small_integer<T>);
  const auto on_device = Buffer<T>::from(stream, a.values);
  plan.update_values(on_device.view());
  expect_exact(a, operands, run_plan(stream, plan, operands));
}

// Bit by bit what a plan of the transpose itself gives, before and after new values.
EXECUTOR_TEST(SparseProduct, ShortRunOfTheTranspose) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(12);
  const Stream stream(device);
  for (const std::int64_t cols : {3, 300, 40'000}) {
    SCOPED_TRACE(::testing::Message() << cols << " columns");
    auto a = matrix_of<T>(boundary_lengths(), cols, random, uniform<T>);
    for (const Op op : {Op::trans, Op::conj_trans}) {
      SparsePlan<T, TOut> plan(stream, a.view(), {.op = op, .updates = true});
      EXPECT_EQ(plan.rows(), a.cols);
      EXPECT_EQ(plan.cols(), a.rows);
      for (int round = 0; round < 2; ++round) {
        const CsrMatrix<T> transposed = transpose_of(a, op == Op::conj_trans);
        const auto operands = TestFixture::uniform_operands(transposed, random);
        const SparsePlan<T, TOut> direct(stream, transposed.view());
        const auto expected = run_plan(stream, direct, operands);
        const auto actual = run_plan(stream, plan, operands);
        EXPECT_EQ(std::memcmp(actual.data(), expected.data(), actual.size() * sizeof(TOut)), 0);
        a.values = vector_of<T>(a.nnz(), random, uniform<T>);
        plan.update_values(a.values);
      }
    }
  }
}

EXECUTOR_TEST(SparseProduct, ShortRunOnMatrixInMemoryOfTheDevice) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(14);
  const auto a = matrix_of<T>(boundary_lengths(), 90, random, small_integer<T>);
  const auto operands = TestFixture::integer_operands(a, random);
  const Stream stream(device);
  const auto offsets = Buffer<std::int64_t>::from(stream, a.row_offsets);
  const auto columns = Buffer<std::int32_t>::from(stream, a.col_indices);
  const auto values = Buffer<T>::from(stream, a.values);
  const CsrView<T> view{a.rows,         a.cols,        a.nnz(), std::as_const(offsets).data(),
                        columns.data(), values.data(), 0};
  expect_exact(a, operands, run_plan(stream, SparsePlan<T, TOut>(stream, view), operands));
}

EXECUTOR_TEST(SparseProduct, ShortRunReadsAlphaAndBetaOnTheDevice) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  using Sum = Accumulator<T>;
  Random random(15);
  const auto a = matrix_of<T>(boundary_lengths(), 90, random, small_integer<T>);
  auto operands = TestFixture::integer_operands(a, random);
  const Stream stream(device);
  const SparsePlan<T, TOut> plan(stream, a.view());
  const auto x = Buffer<T>::from(stream, operands.x);
  for (const Sum beta : {Sum{-1}, Sum{0}}) {
    operands.alpha = 2;
    operands.beta = beta;
    const auto scalars = Buffer<Sum>::from(stream, std::vector<Sum>{operands.alpha, beta});
    auto y = Buffer<TOut>::from(stream, operands.y);
    plan.run(stream, Scalar<Sum>::on_device(scalars.data()), x.view(),
             Scalar<Sum>::on_device(scalars.data() + 1), y.view());
    expect_exact(a, operands, y.to_host());
  }
}

EXECUTOR_TEST(SparseProduct, ShortRunInTheWorkspaceOfTheCaller) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(16);
  const auto a = matrix_of<T>({5000, 3, 20'000}, 90, random, small_integer<T>);
  const auto operands = TestFixture::integer_operands(a, random);
  const Stream stream(device);
  const SparsePlan<T, TOut> plan(stream, a.view());
  ASSERT_GT(plan.workspace_bytes(), 0);
  Buffer<std::byte> workspace(stream, plan.workspace_bytes());
  const auto x = Buffer<T>::from(stream, operands.x);
  auto y = Buffer<TOut>::from(stream, operands.y);
  plan.run(stream, Accumulator<T>{1}, x.view(), Accumulator<T>{0}, y.view(),
           {workspace.data(), workspace.size()});
  expect_exact(a, operands, y.to_host());
}

EXECUTOR_TEST(SparseProduct, ShortRunOfTheOneLineConvenience) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(17);
  const auto a = matrix_of<T>(boundary_lengths(), 90, random, small_integer<T>);
  auto operands = TestFixture::integer_operands(a, random);
  operands.alpha = 3;
  operands.beta = 1;
  const Stream stream(device);
  const auto x = Buffer<T>::from(stream, operands.x);
  auto y = Buffer<TOut>::from(stream, operands.y);
  spmv<T, TOut>(stream, operands.alpha, a.view(), x.view(), operands.beta, y.view());
  expect_exact(a, operands, y.to_host());
}

// Equal explain(), equal bits: over runs of one plan, and over plans.
EXECUTOR_TEST(SparseProduct, ResultsAreReproducedBitForBit) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(18);
  std::vector<std::int64_t> lengths = boundary_lengths();
  lengths.insert(lengths.end(), {20'000, 33'333});
  const auto a = matrix_of<T>(lengths, 1000, random, uniform<T>);
  const auto operands = TestFixture::uniform_operands(a, random);
  const Stream stream(device);
  for (const Engine engine : engines_on<T>(device)) {
    SCOPED_TRACE(to_string(engine));
    const SparsePlan<T, TOut> plan(stream, a.view(), {.engine = engine});
    const SparsePlan<T, TOut> again(stream, a.view(), {.engine = engine});
    ASSERT_EQ(plan.explain(), again.explain());
    const std::vector<TOut> first = run_plan(stream, plan, operands);
    for (int round = 0; round < 10; ++round) {
      const std::vector<TOut> next = run_plan(stream, round % 2 == 0 ? plan : again, operands);
      ASSERT_EQ(std::memcmp(first.data(), next.data(), first.size() * sizeof(TOut)), 0);
    }
  }
}

}  // namespace
}  // namespace lanky::testing
