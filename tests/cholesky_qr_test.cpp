// CholeskyQR on every executor: Q orthonormal, R upper triangular with a positive diagonal, Q R =
// A, which together determine both factors; and clear errors where the method does not serve.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <lanky/buffer.hpp>
#include <lanky/cholesky_qr.hpp>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/executor.hpp"
#include "support/expect_error.hpp"
#include "support/vectors.hpp"

namespace {

using lanky::CholeskyQr;
using lanky::CholeskyQrOptions;
using lanky::ErrorCode;
using lanky::Layout;
using lanky::Matrix;
using lanky::MatrixView;
using lanky::Stream;
using lanky::testing::conjugate;
using lanky::testing::kDouble;
using lanky::testing::number;
using lanky::testing::Wide;

/// A matrix of the device as numbers by rows.
template <class T>
std::vector<Wide<T>> by_rows(const Matrix<T>& matrix) {
  const std::vector<T> elements = matrix.buffer().to_host();
  const MatrixView<const T> view = matrix;
  std::vector<Wide<T>> numbers;
  for (std::int64_t i = 0; i < view.rows; ++i) {
    for (std::int64_t j = 0; j < view.cols; ++j) {
      const std::int64_t place = view.layout == Layout::row ? i * view.ld + j : i + j * view.ld;
      numbers.push_back(static_cast<Wide<T>>(elements[static_cast<std::size_t>(place)]));
    }
  }
  return numbers;
}

/// Column j is 1 - mix random and mix the same in all columns, times size^j.
template <class T>
void fill(Matrix<T>& matrix, double mix, double size = 1) {
  const MatrixView<T> view = matrix;
  std::vector<T> elements(static_cast<std::size_t>(matrix.buffer().size()));
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto draw = [&] { return number<T>([&] { return uniform(random); }); };
  for (std::int64_t i = 0; i < view.rows; ++i) {
    const Wide<T> same = draw();
    for (std::int64_t j = 0; j < view.cols; ++j) {
      const std::int64_t place = view.layout == Layout::row ? i * view.ld + j : i + j * view.ld;
      elements[static_cast<std::size_t>(place)] = static_cast<T>(
          std::pow(size, static_cast<double>(j)) * (mix * same + (1 - mix) * draw()));
    }
  }
  matrix.buffer().copy_from(elements);
}

struct Deviations {
  double orthogonality = 0;  // the largest |Q^H Q - I|
  double product = 0;        // the largest |A - Q R| over the length of its column of A
};

/// And expects R to be upper triangular with a positive diagonal.
template <class T>
Deviations judge(const Matrix<T>& a, const Matrix<T>& q, const Matrix<T>& r) {
  const std::vector<Wide<T>> as = by_rows(a);
  const std::vector<Wide<T>> qs = by_rows(q);
  const std::vector<Wide<T>> rs = by_rows(r);
  const auto n = static_cast<std::size_t>(r.view().rows);
  const std::size_t m = as.size() / n;
  Deviations worst;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      Wide<T> sum = i == j ? -1 : 0;
      for (std::size_t l = 0; l < m; ++l)
        sum += conjugate(qs[l * n + i]) * qs[l * n + j];
      worst.orthogonality = std::max(worst.orthogonality, std::abs(sum));
      if (i > j) {
        EXPECT_EQ(rs[i * n + j], Wide<T>{});
      }
    }
    EXPECT_GT(std::real(rs[j * n + j]), 0);
    EXPECT_EQ(std::imag(rs[j * n + j]), 0);
    double rest = 0;
    double whole = 0;
    for (std::size_t l = 0; l < m; ++l) {
      Wide<T> sum = -as[l * n + j];
      for (std::size_t i = 0; i <= j; ++i)
        sum += qs[l * n + i] * rs[i * n + j];
      rest += std::norm(sum);
      whole += std::norm(as[l * n + j]);
    }
    worst.product = std::max(worst.product, std::sqrt(rest / whole));
  }
  return worst;
}

template <class T>
class CholeskyQrOf : public ::testing::Test {};
TYPED_TEST_SUITE(CholeskyQrOf, lanky::testing::VectorCases, lanky::testing::OnName);

EXECUTOR_TEST(CholeskyQrOf, FactorsOfAllLayouts) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  for (const Layout layout : {Layout::col, Layout::row}) {
    for (const auto& [rows, cols] : {std::pair{1, 1}, {50, 1}, {33, 33}, {700, 13}, {400, 150}}) {
      for (const bool shifted : {false, true}) {
        for (const int more : {0, 5}) {
          SCOPED_TRACE(::testing::Message()
                       << rows << " x " << cols << " shifted " << shifted << " more " << more);
          const std::int64_t m = rows;
          const std::int64_t n = cols;
          const std::int64_t tight = layout == Layout::row ? n : m;
          Matrix<T> a(stream, m, n, layout, tight + more);
          Matrix<T> q(stream, m, n, layout, tight + 2 * more);
          Matrix<T> r(stream, n, n, layout, n + more);
          // A square random matrix is too near a singular one for floats.
          fill(a, m == n ? 0 : 0.3);
          if (m == n && !kDouble<T>) continue;
          CholeskyQr<T> qr(
              stream, m, n,
              {.shifted = shifted, .layout = layout, .lda = tight + more, .ldq = tight + 2 * more});
          qr.run(a, q, r);
          qr.check();
          const Deviations worst = judge(a, q, r);
          EXPECT_LT(worst.orthogonality, kDouble<T> ? 1e-14 : 4e-6);
          EXPECT_LT(worst.product, kDouble<T> ? 1e-14 : 4e-6);
          EXPECT_FALSE(qr.explain().empty());
        }
      }
    }
  }
}

EXECUTOR_TEST(CholeskyQrOf, LengthsOfColumnsDoNotMatter) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const double size = kDouble<T> ? 1e-9 : 1e-3;
  Matrix<T> a(stream, 300, 5);
  Matrix<T> q(stream, 300, 5);
  Matrix<T> r(stream, 5, 5);
  fill(a, 0.5, size);
  CholeskyQr<T> qr(stream, 300, 5);
  qr.run(a, q, r);
  qr.check();
  const Deviations worst = judge(a, q, r);
  EXPECT_LT(worst.orthogonality, kDouble<T> ? 1e-14 : 4e-6);
  EXPECT_LT(worst.product, kDouble<T> ? 1e-14 : 4e-6);
}

EXECUTOR_TEST(CholeskyQrOf, NearlyDependentColumnsNeedTheShift) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const double apart = kDouble<T> ? 1e-11 : 1e-4;
  for (const Layout layout : {Layout::col, Layout::row}) {
    Matrix<T> a(stream, 3000, 20, layout);
    Matrix<T> q(stream, 3000, 20, layout);
    Matrix<T> r(stream, 20, 20, layout);
    fill(a, 1 - apart);
    CholeskyQr<T> plain(stream, 3000, 20, {.layout = layout});
    plain.run(a, q, r);
    lanky::expect_error([&] { plain.check(); }, ErrorCode::unsupported,
                        {"pass 1", "of 20", "a shift may do"});
    for (const auto& element : {by_rows(q).front(), by_rows(q).back(), by_rows(r).front()})
      EXPECT_TRUE(std::isnan(std::real(element)));
    CholeskyQr<T> shifted(stream, 3000, 20, {.shifted = true, .layout = layout});
    shifted.run(a, q, r);
    shifted.check();
    const Deviations worst = judge(a, q, r);
    EXPECT_LT(worst.orthogonality, kDouble<T> ? 1e-14 : 4e-6);
    EXPECT_LT(worst.product, kDouble<T> ? 1e-14 : 4e-6);
    // What broke down serves again.
    fill(a, 0);
    plain.run(a, q, r);
    plain.check();
    EXPECT_LT(judge(a, q, r).orthogonality, kDouble<T> ? 1e-14 : 4e-6);
  }
}

EXECUTOR_TEST(CholeskyQrOf, TellsOfBadInput) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  for (const auto& [m, n] : {std::pair{5, 6}, {5, 0}, {0, 0}}) {
    lanky::expect_error([&, rows = m, cols = n] { CholeskyQr<T>(stream, rows, cols); },
                        ErrorCode::invalid_argument,
                        {std::to_string(m) + " x " + std::to_string(n)});
  }
  lanky::expect_error([&] { CholeskyQr<T>(stream, 9, 3, {.lda = 8}); }, ErrorCode::invalid_argument,
                      {"8"});
  CholeskyQr<T> qr(stream, 40, 4);
  Matrix<T> a(stream, 40, 4);
  Matrix<T> q(stream, 40, 4);
  Matrix<T> r(stream, 4, 4);
  Matrix<T> rows(stream, 40, 4, Layout::row);
  Matrix<T> apart(stream, 40, 4, Layout::col, 44);
  Matrix<T> small(stream, 3, 4);
  fill(a, 0);
  lanky::expect_error([&] { qr.run(rows, q, r); }, ErrorCode::invalid_argument, {"A", "by rows"});
  lanky::expect_error([&] { qr.run(apart, q, r); }, ErrorCode::size_mismatch, {"A", "44", "40"});
  lanky::expect_error([&] { qr.run(a, r, r); }, ErrorCode::size_mismatch, {"Q", "4 x 4", "40 x 4"});
  lanky::expect_error([&] { qr.run(a, q, small); }, ErrorCode::size_mismatch, {"R", "3 x 4"});
  lanky::expect_error([&] { qr.run(a, {nullptr, 40, 4}, r); }, ErrorCode::invalid_argument, {"Q"});

  // Zero columns depend on others, too; NaN is told apart.
  std::vector<T> elements = a.buffer().to_host();
  std::fill(elements.begin() + 40, elements.begin() + 80, T{});
  a.buffer().copy_from(elements);
  qr.run(a, q, r);
  lanky::expect_error([&] { qr.check(); }, ErrorCode::unsupported, {"pass 1", "pivot 2 of 4 is 0"});
  elements[41] = static_cast<T>(std::numeric_limits<double>::quiet_NaN());
  a.buffer().copy_from(elements);
  qr.run(a, q, r);
  lanky::expect_error([&] { qr.check(); }, ErrorCode::invalid_argument, {"NaN"});
}

}  // namespace
