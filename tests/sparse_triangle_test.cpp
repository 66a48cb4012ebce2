// Plans of symmetric, skew-symmetric and Hermitian matrices given as one triangle.
#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "support/counting_allocator.hpp"
#include "support/expect_error.hpp"
#include "support/triangle.hpp"

namespace lanky::testing {
namespace {

template <class Case>
class SparseTriangle : public ::testing::Test {
 protected:
  using T = typename Case::Element;
  using TOut = typename Case::Result;

  template <class Draw>
  static Operands<T, TOut> operands_of(const CsrMatrix<T>& a, Random& random, Draw draw) {
    return {1, 0, vector_of<T>(a.cols, random, draw), std::vector<TOut>(a.rows)};
  }

  /// The plan of the triangle, at first and with other values, gives the bits of plans of all of A.
  static void expect_bits_of_full(const Stream& stream, CsrMatrix<T> a,
                                  const SparseOptions& options, Random& random) {
    SparsePlan<T, TOut> plan(stream, a.view(), options);
    EXPECT_EQ(plan.nnz(), a.nnz());
    for (int round = 0; round < 2; ++round) {
      const CsrMatrix<T> full = full_of(a, options.symmetry);
      const auto operands = operands_of(full, random, uniform<T>);
      const SparsePlan<T, TOut> direct(stream, full.view(), {.op = options.op});
      const auto expected = run_plan(stream, direct, operands);
      const auto actual = run_plan(stream, plan, operands);
      ASSERT_EQ(actual.size(), expected.size());
      EXPECT_EQ(std::memcmp(actual.data(), expected.data(), actual.size() * sizeof(TOut)), 0)
          << "round " << round;
      a.values = vector_of<T>(a.nnz(), random, uniform<T>);
      if (options.op == Op::none) {
        plan.update_values(a.values);
      } else {
        plan.update_values(Buffer<T>::from(stream, a.values));
      }
    }
  }
};
TYPED_TEST_SUITE(SparseTriangle, PlanCases, OnName);

EXECUTOR_TEST(SparseTriangle, RunHasTheBitsOfAllOfTheMatrix) {
  using T = typename TypeParam::Element;
  Random random(1);
  const Stream stream(device);
  for (const bool lower : {false, true}) {
    for (const Symmetry symmetry : kSymmetries) {
      SCOPED_TRACE(::testing::Message() << (lower ? "lower, symmetry " : "upper, symmetry ")
                                        << static_cast<int>(symmetry));
      auto a = triangle_of<T>(boundary_lengths(), lower, random, uniform<T>);
      TestFixture::expect_bits_of_full(stream, a, {.symmetry = symmetry, .updates = true}, random);
      sort_rows(a);  // the order in which plans of a general matrix transpose it
      for (const Op op : {Op::trans, Op::conj_trans}) {
        TestFixture::expect_bits_of_full(stream, a,
                                         {.symmetry = symmetry, .op = op, .updates = true}, random);
      }
    }
  }
}

// The diagonal is taken as it is, also of a skew-symmetric matrix.
EXECUTOR_TEST(SparseTriangle, ShortRunOfTheSmallestAndOfDiagonals) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(3);
  const Stream stream(device);
  for (const std::int64_t rows : {0, 1, 300}) {
    for (const std::int64_t length : {0, 1, 3}) {
      SCOPED_TRACE(::testing::Message() << rows << " rows of " << length);
      CsrMatrix<T> a =
          matrix_of<T>(std::vector<std::int64_t>(rows, length), rows + 1, random, small_integer<T>);
      a.cols = rows;
      for (std::int64_t entry = 0; entry < a.nnz(); ++entry)
        a.col_indices[entry] = static_cast<std::int32_t>(entry / length);
      const auto operands = TestFixture::operands_of(a, random, small_integer<T>);
      SparsePlan<T, TOut> plan(stream, a.view(),
                               {.symmetry = Symmetry::skew_symmetric, .updates = true});
      expect_exact(a, operands, run_plan(stream, plan, operands));
      a.values = vector_of<T>(a.nnz(), random, small_integer<T>);
      plan.update_values(a.values);
      expect_exact(a, operands, run_plan(stream, plan, operands));
    }
  }
  const SparsePlan<T, TOut> nothing(stream, {0, 0, 0, nullptr, nullptr, nullptr, 1},
                                    {.symmetry = Symmetry::symmetric});
  EXPECT_EQ(nothing.rows(), 0);
}

EXECUTOR_TEST(SparseTriangle, ShortRunIsTheSameForBothBasesAndOffsetWidths) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(4);
  const Stream stream(device);
  const auto a = triangle_of<T>(boundary_lengths(), true, random, small_integer<T>);
  const CsrMatrix<T> full = full_of(a, Symmetry::hermitian);
  const auto operands = TestFixture::operands_of(full, random, small_integer<T>);
  const auto values = Buffer<T>::from(stream, a.values);
  for (const int base : {0, 1}) {
    std::vector<std::int64_t> offsets = a.row_offsets;
    for (std::int64_t& offset : offsets)
      offset += base;
    std::vector<std::int32_t> columns = a.col_indices;
    for (std::int32_t& column : columns)
      column += base;
    const auto wide = Buffer<std::int64_t>::from(stream, offsets);
    const auto narrow = Buffer<std::int32_t>::from(
        stream, std::vector<std::int32_t>(offsets.begin(), offsets.end()));
    const auto device_columns = Buffer<std::int32_t>::from(stream, columns);
    for (const RowOffsets& row_offsets : {RowOffsets(wide.data()), RowOffsets(narrow.data())}) {
      const CsrView<T> view{a.rows,        a.cols, a.nnz(), row_offsets, device_columns.data(),
                            values.data(), base};
      const SparsePlan<T, TOut> plan(stream, view, {.symmetry = Symmetry::hermitian});
      expect_exact(full, operands, run_plan(stream, plan, operands));
    }
  }
}

EXECUTOR_TEST(SparseTriangle, TellsWhatItIsMadeOfAndTheBytesOfItsMap) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(5);
  const auto a = triangle_of<T>({1, 3, 0, 9, 300, 2}, false, random, uniform<T>);
  const std::int64_t full_nnz = full_of(a, Symmetry::symmetric).nnz();
  ASSERT_GT(full_nnz, a.nnz());
  const Stream stream(device);
  const SparsePlan<T, TOut> fixed(stream, a.view(), {.symmetry = Symmetry::skew_symmetric});
  CountingAllocator allocator;
  const SparsePlan<T, TOut> plan(
      stream, a.view(),
      {.symmetry = Symmetry::skew_symmetric, .updates = true, .allocator = &allocator});
  EXPECT_EQ(plan.device_bytes(), fixed.device_bytes() + 4 * full_nnz);
  EXPECT_EQ(allocator.live_bytes(), plan.device_bytes());
  EXPECT_EQ(plan.nnz(), 315);
  const std::string text = plan.explain();
  for (const std::string& part : {"spmv 6 x 6, " + std::to_string(full_nnz) + " entries, ",
                                  std::string(", skew-symmetric from a triangle of 315, on ")}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
}

// 4 x 4 from base `base` on, with entries on both sides of the diagonal.
TEST(SparseTriangleErrors, NameTheFirstEntryOnEitherSide) {
  const std::vector<std::int64_t> offsets = {0, 1, 2, 4, 6};
  const std::vector<std::int32_t> columns = {0, 3, 2, 1, 0, 3};
  const std::vector<double> values(6, 1.0);
  const Stream stream(Device::cpu());
  expect_error(
      [&] {
        const SparsePlan<double> plan(stream,
                                      {4, 4, 6, offsets.data(), columns.data(), values.data(), 0},
                                      {.symmetry = Symmetry::symmetric});
      },
      ErrorCode::invalid_argument,
      {"with SparseOptions::symmetry A must be one triangle, but it has entry 3 at (2, 1) below "
       "the "
       "diagonal and entry 1 at (1, 3) above it, rows and columns counted from 0"});
  const std::vector<std::int32_t> narrow = {1, 2, 3, 5, 7};
  const std::vector<std::int32_t> from_one = {1, 4, 3, 2, 1, 4};
  expect_error(
      [&] {
        const SparsePlan<double> plan(stream,
                                      {4, 4, 6, narrow.data(), from_one.data(), values.data(), 1},
                                      {.symmetry = Symmetry::hermitian});
      },
      ErrorCode::invalid_argument,
      {"entry 3 at (3, 2) below the diagonal and entry 1 at (2, 4) above it, rows and columns "
       "counted from 1"});
}

TEST(SparseTriangleErrors, ExtentsThatAreNoTriangle) {
  const Stream stream(Device::cpu());
  const auto expect_plan_error = [&](ErrorCode code, const CsrView<double>& view,
                                     const SparseOptions& options, const std::string& message) {
    expect_error([&] { const SparsePlan<double> plan(stream, view, options); }, code, {message});
  };
  const std::vector<std::int64_t> offsets = {0, 0, 0};
  expect_plan_error(ErrorCode::invalid_argument, {2, 3, 0, offsets.data(), nullptr, nullptr, 0},
                    {.symmetry = Symmetry::symmetric},
                    "A is 2 x 3: with SparseOptions::symmetry it must be square");
  constexpr std::int64_t kTooMany = std::int64_t{1} << 31;
  expect_plan_error(ErrorCode::unsupported, {2, 2, kTooMany, offsets.data(), nullptr, nullptr, 0},
                    {.symmetry = Symmetry::symmetric},
                    "A is a triangle of 2147483648 entries; lanky expands up to 2147483647");
  expect_plan_error(ErrorCode::unsupported,
                    {2, 2, 2 * kTooMany, offsets.data(), nullptr, nullptr, 0}, {.op = Op::trans},
                    "A has 4294967296 entries; lanky transposes up to 4294967295");
}

TEST(SparseTriangleErrors, NewValuesWithoutAMapOrOfAnotherNumber) {
  const std::vector<std::int64_t> offsets = {0, 1, 3};
  const std::vector<std::int32_t> columns = {0, 0, 1};
  std::vector<float> values(3, 1.0F);
  const Stream stream(Device::cpu());
  const CsrView<float> view{2, 2, 3, offsets.data(), columns.data(), values.data(), 0};
  SparsePlan<float> fixed(stream, view, {.symmetry = Symmetry::symmetric});
  expect_error([&] { fixed.update_values(values); }, ErrorCode::unsupported,
               {"new values for a triangle, whose plan was made without SparseOptions::updates"});
  SparsePlan<float> plan(stream, view, {.symmetry = Symmetry::symmetric, .updates = true});
  values.push_back(1.0F);  // as many as the whole matrix has
  expect_error([&] { plan.update_values(values); }, ErrorCode::size_mismatch,
               {"4 new values for a matrix of 3 entries"});
}

}  // namespace
}  // namespace lanky::testing
