// Parts of solvers beside what they are for: coefficients of blocks that are not made, and bases
// that grow.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <lanky/dtype.hpp>
#include <lanky/eigensolver.hpp>
#include <lanky/linear_operator.hpp>
#include <lanky/svd.hpp>
#include <random>
#include <vector>

#include "solvers/dense_eigen.hpp"
#include "solvers/orthogonalizer.hpp"
#include "solvers/small_matrix.hpp"
#include "solvers/svd_work.hpp"
#include "support/executor.hpp"
#include "support/vectors.hpp"

namespace lanky::solvers {
namespace {

using testing::number;

template <class W>
SmallMatrix<W> random_matrix(std::int64_t rows, std::int64_t cols, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  SmallMatrix<W> matrix(rows, cols);
  for (std::int64_t j = 0; j < cols; ++j) {
    for (std::int64_t i = 0; i < rows; ++i)
      matrix(i, j) = number<W>([&] { return normal(random); });
  }
  return matrix;
}

/// A^H B.
template <class W>
SmallMatrix<W> product(const SmallMatrix<W>& a, const SmallMatrix<W>& b) {
  SmallMatrix<W> c(a.cols(), b.cols());
  for (std::int64_t i = 0; i < a.cols(); ++i) {
    for (std::int64_t j = 0; j < b.cols(); ++j) {
      for (std::int64_t l = 0; l < a.rows(); ++l)
        c(i, j) += testing::conjugate(a(l, i)) * b(l, j);
    }
  }
  return c;
}

template <class W>
void expect_unmade_block() {
  constexpr std::int64_t kQ = 13;
  constexpr std::int64_t kW = 6;
  constexpr std::int64_t kAll = kQ + kW;
  const SmallMatrix<W> c = random_matrix<W>(kAll, kW, 1);
  const SmallMatrix<W> half = random_matrix<W>(kAll, kAll, 2);
  const SmallMatrix<W> h = product(half, half);
  SmallMatrix<W> basis(kAll, kAll);  // [Q W'] in [Q W]
  for (std::int64_t i = 0; i < kQ; ++i)
    basis(i, i) = 1;
  for (std::int64_t j = 0; j < kW; ++j) {
    for (std::int64_t i = 0; i < kAll; ++i)
      basis(i, kQ + j) = c(i, j);
  }
  const SmallMatrix<W> expected = product(basis, product(h, basis));
  SmallMatrix<W> upper = h;
  for (std::int64_t j = 0; j < kAll; ++j) {
    for (std::int64_t i = j + 1; i < kAll; ++i)
      upper(i, j) = NAN;  // is not read
  }
  gram_with(c, upper);
  for (std::int64_t j = 0; j < kAll; ++j) {
    for (std::int64_t i = 0; i <= j; ++i)
      EXPECT_NEAR(std::abs(upper(i, j) - expected(i, j)), 0, 1e-10) << i << ", " << j;
  }

  SmallMatrix<W> x = random_matrix<W>(kAll, 4, 3);
  const SmallMatrix<W> before = x;
  coefficients_without(c, x);
  for (std::int64_t i = 0; i < kAll; ++i) {
    for (std::int64_t j = 0; j < 4; ++j) {
      W sum{};
      for (std::int64_t l = 0; l < kAll; ++l)
        sum += basis(i, l) * before(l, j);
      EXPECT_NEAR(std::abs(x(i, j) - sum), 0, 1e-12) << i << ", " << j;
    }
  }
}

TEST(UnmadeBlock, IsMultipliedIntoGramAndCoefficients) {
  expect_unmade_block<double>();
  expect_unmade_block<std::complex<double>>();
}

TEST(Loss, AllowsWhatItsLimitLeaves) {
  for (const double most : {0.0, 1.0, 20.0, 179.0}) {
    Loss loss{180, most};
    loss.add(loss.allowed_growth());
    EXPECT_NEAR(loss.most, 180, 1e-9) << most;
  }
  EXPECT_LT((Loss{180, 180}.allowed_growth()), 2);
  Loss loss{180};
  loss.add(1);
  EXPECT_EQ(loss.most, 1);
}

TEST(EigenOptions, TellHowManyColumnsAreIterated) {
  EXPECT_EQ(EigenOptions{.k = 6}.columns(), 8);
  EXPECT_EQ(EigenOptions{.k = 40}.columns(), 45);
  EXPECT_EQ((EigenOptions{.k = 6, .block_size = 7}.columns()), 7);
}

template <class Case>
class SolverParts : public ::testing::Test {};
TYPED_TEST_SUITE(SolverParts, testing::VectorCases, testing::OnName);

/// The products that append_and_multiply() returns are those of all columns, in one pass and more.
EXECUTOR_TEST(SolverParts, BasesMultiplyWhatTheyTakeIn) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  constexpr std::int64_t kRows = 700;
  const LinearOperator<T> none(kRows, kRows,
                               [](const Stream&, MatrixView<const T>, MatrixView<T>) {});
  const SvdOptions options;
  SvdWork<T> work(stream, none, options);
  Basis<T> basis(work, kRows, 40, 16);
  const double rounding = 1e3 * unit_roundoff(kDType<T>);
  for (const auto& [columns, copies] : {std::pair{8, 0}, {8, 0}, {5, 3}, {19, 0}}) {
    Matrix<T> x(stream, kRows, columns, Layout::row);
    work.work->fill_random(static_cast<std::uint64_t>(columns + basis.size()), 0, x.view());
    // Columns near what is there already take a second pass.
    if (copies > 0) {
      work.work->combine(1e3, read_only(basis.columns(0, copies)), 1,
                         columns_of(x.view(), 0, copies));
    }
    const auto told = basis.append_and_multiply(read_only(x.view()), 4);
    const auto expected = gram_on_host<T>(work, read_only(basis.all()), read_only(x.view()));
    ASSERT_EQ(told.rows(), basis.size());
    ASSERT_EQ(told.cols(), columns);
    for (std::int64_t j = 0; j < columns; ++j) {
      for (std::int64_t i = 0; i < told.rows(); ++i)
        EXPECT_NEAR(std::abs(told(i, j) - expected(i, j)), 0, 2e3 * rounding) << i << ", " << j;
    }
  }
  const auto gram = gram_on_host<T>(work, read_only(basis.all()), read_only(basis.all()));
  for (std::int64_t j = 0; j < gram.cols(); ++j) {
    for (std::int64_t i = 0; i < gram.rows(); ++i)
      EXPECT_NEAR(std::abs(gram(i, j) - (i == j ? 1.0 : 0.0)), 0, rounding) << i << ", " << j;
  }
}

}  // namespace
}  // namespace lanky::solvers
