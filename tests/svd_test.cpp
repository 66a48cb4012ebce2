// Singular values of matrices whose triplets are known, of all shapes, on every executor.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <lanky/csr.hpp>
#include <lanky/linear_operator.hpp>
#include <lanky/svd.hpp>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "solvers/dense_svd.hpp"
#include "solvers/number.hpp"
#include "support/executor.hpp"
#include "support/expect_error.hpp"
#include "support/vectors.hpp"

namespace {

using lanky::CsrMatrix;
using lanky::ErrorCode;
using lanky::LinearOperator;
using lanky::Matrix;
using lanky::MatrixView;
using lanky::SolverProgress;
using lanky::SolverStatus;
using lanky::Stream;
using lanky::SvdMethod;
using lanky::SvdOptions;
using lanky::SvdResult;
using lanky::testing::conjugate;
using lanky::testing::kDouble;
using lanky::testing::number;
using lanky::testing::Wide;

template <class T>
Wide<T> drawn(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  return number<T>([&] { return normal(random); });
}

/// H A of a random Householder reflection H; a is [m, n] by rows.
template <class T>
void reflect(std::vector<Wide<T>>& a, std::size_t m, std::size_t n, std::mt19937_64& random) {
  std::vector<Wide<T>> v;
  double square = 0;
  for (std::size_t i = 0; i < m; ++i) {
    v.push_back(drawn<T>(random));
    square += std::norm(v.back());
  }
  for (std::size_t j = 0; j < n; ++j) {
    Wide<T> dot{};
    for (std::size_t i = 0; i < m; ++i)
      dot += conjugate(v[i]) * a[i * n + j];
    for (std::size_t i = 0; i < m; ++i)
      a[i * n + j] -= 2 / square * v[i] * dot;
  }
}

template <class T>
std::vector<Wide<T>> adjoint(const std::vector<Wide<T>>& a, std::size_t m, std::size_t n) {
  std::vector<Wide<T>> h(a.size());
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      h[j * m + i] = conjugate(a[i * n + j]);
  }
  return h;
}

/// All entries that are not zero.
template <class T>
CsrMatrix<T> sparse(const std::vector<Wide<T>>& a, std::size_t m, std::size_t n) {
  CsrMatrix<T> csr;
  csr.rows = static_cast<std::int64_t>(m);
  csr.cols = static_cast<std::int64_t>(n);
  csr.row_offsets.assign(1, 0);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (a[i * n + j] == Wide<T>{}) continue;
      csr.col_indices.push_back(static_cast<std::int32_t>(j));
      csr.values.push_back(static_cast<T>(a[i * n + j]));
    }
    csr.row_offsets.push_back(static_cast<std::int64_t>(csr.values.size()));
  }
  return csr;
}

/// A dense matrix of these singular values.
template <class T>
std::vector<Wide<T>> with_values(const std::vector<double>& values, std::size_t m, std::size_t n) {
  std::mt19937_64 random(m * 1000 + n);
  std::vector<Wide<T>> a(m * n);
  for (std::size_t i = 0; i < values.size(); ++i)
    a[i * n + i] = values[i];
  reflect<T>(a, m, n, random);
  std::vector<Wide<T>> h = adjoint<T>(a, m, n);
  reflect<T>(h, n, m, random);
  return adjoint<T>(h, n, m);
}

/// A diagonal matrix of these singular values, in mixed order.
template <class T>
CsrMatrix<T> diagonal(const std::vector<double>& values, std::int64_t m, std::int64_t n) {
  CsrMatrix<T> csr;
  csr.rows = m;
  csr.cols = n;
  csr.row_offsets.assign(1, 0);
  const auto count = static_cast<std::int64_t>(values.size());
  for (std::int64_t i = 0; i < m; ++i) {
    if (i < count) {
      csr.col_indices.push_back(static_cast<std::int32_t>(n - 1 - i));
      csr.values.push_back(static_cast<lanky::solvers::RealOf<T>>(
          values[static_cast<std::size_t>((i * 7 + 3) % count)]));
    }
    csr.row_offsets.push_back(static_cast<std::int64_t>(csr.values.size()));
  }
  return csr;
}

template <class T>
LinearOperator<T> operator_of(const Stream& stream, const CsrMatrix<T>& a) {
  return lanky::make_operator_with_adjoint<T>(stream, a.view(), 8);
}

/// The largest |X^H X - I|.
template <class T>
double deviation(const Matrix<T>& matrix) {
  const std::vector<T> x = matrix.buffer().to_host();
  const auto cols = static_cast<std::size_t>(matrix.view().cols);
  double worst = 0;
  for (std::size_t a = 0; a < cols; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      Wide<T> sum = a == b ? -1 : 0;
      for (std::size_t e = 0; e < x.size(); e += cols)
        sum += conjugate(static_cast<Wide<T>>(x[e + a])) * static_cast<Wide<T>>(x[e + b]);
      worst = std::max(worst, std::abs(sum));
    }
  }
  return worst;
}

/// max(|A v - s u|, |A^H u - s v|) of triplet j, on the host.
template <class T>
double residual(const CsrMatrix<T>& a, const SvdResult<T>& result, std::size_t j) {
  const std::vector<T> u = result.u.buffer().to_host();
  const std::vector<T> v = result.v.buffer().to_host();
  const std::size_t k = result.values.size();
  std::vector<Wide<T>> forward;
  std::vector<Wide<T>> backward;
  for (std::size_t i = j; i < u.size(); i += k)
    forward.push_back(-result.values[j] * static_cast<Wide<T>>(u[i]));
  for (std::size_t i = j; i < v.size(); i += k)
    backward.push_back(-result.values[j] * static_cast<Wide<T>>(v[i]));
  for (std::size_t i = 0; i < forward.size(); ++i) {
    for (auto e = a.row_offsets[i]; e < a.row_offsets[i + 1]; ++e) {
      const auto at = static_cast<std::size_t>(e);
      const auto col = static_cast<std::size_t>(a.col_indices[at]);
      const auto value = static_cast<Wide<T>>(a.values[at]);
      forward[i] += value * static_cast<Wide<T>>(v[col * k + j]);
      backward[col] += conjugate(value) * static_cast<Wide<T>>(u[i * k + j]);
    }
  }
  double squares[2] = {};
  for (const auto& x : forward)
    squares[0] += std::norm(x);
  for (const auto& x : backward)
    squares[1] += std::norm(x);
  return std::sqrt(std::max(squares[0], squares[1]));
}

/// Values within `within` of s_1 of those expected, vectors orthonormal, residuals as told.
template <class T>
void expect_triplets(const CsrMatrix<T>& a, const SvdResult<T>& result,
                     std::vector<double> expected, double within) {
  std::sort(expected.rbegin(), expected.rend());
  const double largest = expected.front();
  const double roundings = kDouble<T> ? 1e-14 : 5e-6;
  EXPECT_EQ(result.u.view().rows, a.rows);
  EXPECT_EQ(result.v.view().rows, a.cols);
  EXPECT_LT(deviation(result.u), roundings);
  EXPECT_LT(deviation(result.v), roundings);
  for (std::size_t j = 0; j < result.values.size(); ++j) {
    SCOPED_TRACE(j);
    const double known = j < expected.size() ? expected[j] : 0;
    EXPECT_NEAR(result.values[j], known, within * largest);
    if (j > 0) {
      EXPECT_LE(result.values[j], result.values[j - 1]);
    }
    EXPECT_NEAR(result.residuals[j], residual(a, result, j), roundings * largest);
    // A singular value is no farther than the residual.
    double distance = std::min(a.rows, a.cols) > static_cast<std::int64_t>(expected.size())
                          ? result.values[j]
                          : std::numeric_limits<double>::infinity();
    for (const double s : expected)
      distance = std::min(distance, std::abs(s - result.values[j]));
    EXPECT_LE(distance, result.residuals[j] + roundings * largest);
  }
}

template <class T>
void expect_converged(const CsrMatrix<T>& a, const SvdResult<T>& result,
                      const std::vector<double>& expected) {
  EXPECT_EQ(result.status, SolverStatus::converged);
  EXPECT_EQ(result.converged, static_cast<std::int64_t>(result.values.size()));
  expect_triplets(a, result, expected, kDouble<T> ? 2e-8 : 2e-4);
}

std::vector<double> geometric(std::size_t count, double ratio) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(std::pow(ratio, static_cast<double>(i)));
  return values;
}

/// Values as expected, and triplets that are the matrix.
template <class W>
void expect_small_svd(const std::vector<double>& values) {
  const auto n = static_cast<std::int64_t>(values.size());
  const auto rows = static_cast<std::size_t>(n);
  const std::vector<W> dense = with_values<W>(values, rows, rows);
  lanky::solvers::SmallMatrix<W> a(n, n);
  for (std::int64_t e = 0; e < n * n; ++e)
    a(e / n, e % n) = dense[static_cast<std::size_t>(e)];
  const auto svd = lanky::solvers::small_svd(a);
  double worst = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    EXPECT_NEAR(svd.values[static_cast<std::size_t>(i)], values[static_cast<std::size_t>(i)],
                1e-14 * values[0]);
    for (std::int64_t j = 0; j < n; ++j) {
      W rest = a(i, j);
      W left = i == j ? -1 : 0;
      W right = left;
      for (std::int64_t l = 0; l < n; ++l) {
        rest -=
            svd.values[static_cast<std::size_t>(l)] * svd.left(i, l) * conjugate(svd.right(j, l));
        left += conjugate(svd.left(l, i)) * svd.left(l, j);
        right += conjugate(svd.right(l, i)) * svd.right(l, j);
      }
      worst = std::max(
          {worst, std::abs(rest) / std::max(values[0], 1e-300), std::abs(left), std::abs(right)});
    }
  }
  EXPECT_LT(worst, 4e-14);
}

TEST(SmallSvd, OfEqualGradedAndNoValues) {
  std::vector<double> steps(100, 1.0);
  std::fill(steps.begin() + 40, steps.end(), 1e-3);
  std::fill(steps.begin() + 70, steps.end(), 0.0);
  for (const std::vector<double>& values :
       {geometric(1, 1), geometric(120, 0.9), geometric(60, 0.3), geometric(30, 1e-3), steps,
        std::vector<double>(50, 1e150), std::vector<double>(9, 0.0)}) {
    SCOPED_TRACE(::testing::Message() << values.size() << " to " << values.back());
    expect_small_svd<double>(values);
    expect_small_svd<std::complex<double>>(values);
  }
}

template <class T>
class Svd : public ::testing::Test {};
TYPED_TEST_SUITE(Svd, lanky::testing::VectorCases, lanky::testing::OnName);

EXECUTOR_TEST(Svd, DenseMatricesOfAllShapes) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  for (const auto& [m, n] : {std::pair{1, 1},
                             {1, 9},
                             {9, 1},
                             {7, 5},
                             {5, 7},
                             {40, 40},
                             {300, 20},
                             {20, 300},
                             {260, 140},
                             {140, 260}}) {
    const auto rows = static_cast<std::size_t>(m);
    const auto cols = static_cast<std::size_t>(n);
    const std::size_t most = std::min(rows, cols);
    const std::vector<double> values = geometric(most, 0.95);
    const CsrMatrix<T> a = sparse<T>(with_values<T>(values, rows, cols), rows, cols);
    for (const std::size_t k : {std::size_t{1}, std::min<std::size_t>(6, most), most}) {
      if (k == most && most > 40) continue;
      for (const SvdMethod method : {SvdMethod::golub_kahan, SvdMethod::randomized}) {
        SCOPED_TRACE(::testing::Message() << m << " x " << n << ", k = " << k << ", method "
                                          << static_cast<int>(method));
        const SvdResult<T> result =
            svds(stream, operator_of(stream, a),
                 {.k = static_cast<std::int64_t>(k), .method = method, .power_iterations = 30});
        expect_converged(a, result, values);
      }
    }
  }
}

EXECUTOR_TEST(Svd, GolubKahanConvergesWithoutGaps) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i)
    values.push_back(1 + i * 4e-3);
  for (const bool wide : {false, true}) {
    const CsrMatrix<T> a = diagonal<T>(values, wide ? 1000 : 1300, wide ? 1300 : 1000);
    const SvdResult<T> result = svds(stream, operator_of(stream, a), {.k = 5});
    expect_converged(a, result, values);
    EXPECT_GT(result.iterations, 8);
    EXPECT_FALSE(result.history.empty());
    EXPECT_EQ(result.history.back().converged, 5);
    EXPECT_LE(result.history.back().residual, result.history.back().tolerance);
  }
}

EXECUTOR_TEST(Svd, MultipleValues) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  std::vector<double> values(1000, 1.0);
  // 30 copies are more than a block, and more than are wanted in the second case.
  std::fill_n(values.begin(), 30, 2.0);
  for (const std::int64_t k : {6, 20, 40}) {
    SCOPED_TRACE(k);
    const CsrMatrix<T> a = diagonal<T>(values, 1200, 1000);
    expect_converged(a, svds(stream, operator_of(stream, a), {.k = k}), values);
  }
  std::vector<double> spread = geometric(1000, 0.99);
  std::fill_n(spread.begin(), 30, 1.0);
  const CsrMatrix<T> a = diagonal<T>(spread, 1000, 1000);
  expect_converged(a, svds(stream, operator_of(stream, a), {.k = 25}), spread);
}

EXECUTOR_TEST(Svd, DeficientRanksAndTheZeroMatrix) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  for (const std::size_t rank : {0, 1, 3, 10}) {
    const std::vector<double> values = geometric(rank, 0.5);
    for (const auto& [m, n] : {std::pair{900, 500}, {500, 900}, {30, 20}}) {
      for (const SvdMethod method : {SvdMethod::golub_kahan, SvdMethod::randomized}) {
        SCOPED_TRACE(::testing::Message() << m << " x " << n << ", rank " << rank << ", method "
                                          << static_cast<int>(method));
        const CsrMatrix<T> a = diagonal<T>(values, m, n);
        const SvdResult<T> result =
            svds(stream, operator_of(stream, a), {.k = 6, .method = method});
        expect_converged(a, result, rank == 0 ? std::vector<double>{0.0} : values);
      }
    }
  }
}

EXECUTOR_TEST(Svd, ValuesOfAnySize) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  for (const double size : {1e-25, 1e25}) {
    std::vector<double> values = geometric(600, 0.97);
    for (double& value : values)
      value *= size;
    const CsrMatrix<T> a = diagonal<T>(values, 700, 600);
    for (const SvdMethod method : {SvdMethod::golub_kahan, SvdMethod::randomized}) {
      const SvdResult<T> result =
          svds(stream, operator_of(stream, a), {.k = 4, .method = method, .power_iterations = 30});
      EXPECT_EQ(result.converged, 4);
      expect_triplets(a, result, values, kDouble<T> ? 2e-8 : 2e-4);
    }
  }
}

EXECUTOR_TEST(Svd, RandomizedComesNearer) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  std::vector<double> values;
  for (int i = 1; i <= 800; ++i)
    values.push_back(1.0 / i);
  const CsrMatrix<T> a = diagonal<T>(values, 900, 800);
  double last = 1;
  for (const int power : {0, 1, 3}) {
    const SvdResult<T> result =
        svds(stream, operator_of(stream, a),
             {.k = 8, .method = SvdMethod::randomized, .power_iterations = power});
    EXPECT_EQ(result.iterations, power);
    expect_triplets(a, result, values, 0.2);
    const double worst = *std::max_element(result.residuals.begin(), result.residuals.end());
    EXPECT_LT(worst, last / 2);
    last = worst;
  }
}

EXECUTOR_TEST(Svd, CenteredColumns) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  for (const auto& [rows, cols] : {std::pair{400, 300}, {60, 30}, {200, 500}}) {
    const auto m = static_cast<std::size_t>(rows);
    const auto n = static_cast<std::size_t>(cols);
    std::mt19937_64 random(5);
    std::vector<Wide<T>> samples(m * n);
    std::vector<Wide<T>> centered(m * n);
    for (std::size_t j = 0; j < n; ++j) {
      const Wide<T> shift = 3.0 * drawn<T>(random);
      Wide<T> mean{};
      for (std::size_t i = 0; i < m; ++i) {
        samples[i * n + j] = shift + drawn<T>(random) / (1.0 + static_cast<double>(j));
        mean += samples[i * n + j] / static_cast<double>(m);
      }
      for (std::size_t i = 0; i < m; ++i)
        centered[i * n + j] = samples[i * n + j] - mean;
    }
    const auto a = operator_of(stream, sparse<T>(samples, m, n));
    const CsrMatrix<T> c = sparse<T>(centered, m, n);
    const SvdResult<T> expected = svds(stream, operator_of(stream, c), {.k = 4});
    ASSERT_EQ(expected.converged, 4);
    EXPECT_TRUE(expected.means.empty());
    for (const SvdMethod method : {SvdMethod::golub_kahan, SvdMethod::randomized}) {
      const SvdResult<T> result =
          svds(stream, a, {.k = 4, .method = method, .power_iterations = 30, .center = true});
      EXPECT_EQ(result.status, SolverStatus::converged);
      ASSERT_EQ(result.means.size(), n);
      double mean = 0;
      for (std::size_t i = 0; i < m; ++i)
        mean += std::real(samples[i * n + 1]) / static_cast<double>(m);
      EXPECT_NEAR(result.means[1], mean, kDouble<T> ? 1e-13 : 1e-5);
      for (std::size_t j = 0; j < 4; ++j) {
        EXPECT_NEAR(result.values[j], expected.values[j],
                    (kDouble<T> ? 2e-8 : 1e-3) * expected.values[0]);
        EXPECT_LT(residual(c, result, j), (kDouble<T> ? 2e-8 : 1e-3) * expected.values[0]);
      }
    }
  }
}

EXECUTOR_TEST(Svd, TheSameBitsInEveryRun) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const CsrMatrix<T> a = diagonal<T>(geometric(500, 0.98), 700, 500);
  for (const SvdMethod method : {SvdMethod::golub_kahan, SvdMethod::randomized}) {
    const SvdOptions options{.k = 5, .method = method};
    const SvdResult<T> first = svds(stream, operator_of(stream, a), options);
    const SvdResult<T> second = svds(stream, operator_of(stream, a), options);
    EXPECT_EQ(first.values, second.values);
    EXPECT_EQ(first.u.buffer().to_host(), second.u.buffer().to_host());
    EXPECT_EQ(first.v.buffer().to_host(), second.v.buffer().to_host());
  }
}

EXECUTOR_TEST(Svd, EndsWhereItIsTold) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  std::vector<double> values;
  for (int i = 0; i < 800; ++i)
    values.push_back(1 + i * 5e-3);
  const CsrMatrix<T> a = diagonal<T>(values, 800, 800);
  const auto op = operator_of(stream, a);
  SvdResult<T> result = svds(stream, op, {.k = 4, .max_iterations = 3});
  EXPECT_EQ(result.status, SolverStatus::iterations_exhausted);
  EXPECT_EQ(result.iterations, 3);
  EXPECT_LT(result.converged, 4);
  expect_triplets(a, result, values, 1);
  int calls = 0;
  const auto second = [&](const SolverProgress& progress) {
    EXPECT_EQ(progress.wanted, 4);
    return ++calls < 2;
  };
  for (const SvdMethod method : {SvdMethod::golub_kahan, SvdMethod::randomized}) {
    calls = 0;
    result = svds(stream, op, {.k = 4, .method = method, .progress = second});
    EXPECT_EQ(result.status, SolverStatus::stopped);
    EXPECT_LE(calls, 3);
  }
  // Rounding allows no such residual: it is not asked for.
  result = svds(stream, op, {.k = 2, .tolerance = 1e-30});
  EXPECT_GE(result.history.back().tolerance, kDouble<T> ? 1e-16 : 1e-8);
  expect_triplets(a, result, values, kDouble<T> ? 1e-12 : 1e-4);
}

EXECUTOR_TEST(Svd, RefusesWhatItCannotDo) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const CsrMatrix<T> a = diagonal<T>(geometric(300, 0.9), 400, 300);
  const auto op = operator_of(stream, a);
  const auto refused = [&](const LinearOperator<T>& of, const SvdOptions& options,
                           const std::vector<std::string>& parts) {
    lanky::expect_error([&] { svds(stream, of, options); }, ErrorCode::invalid_argument, parts);
  };
  refused(op, {.k = 0}, {"0 singular triplets", "400 x 300"});
  refused(op, {.k = 301}, {"301 singular triplets", "at most 300"});
  refused(op, {.tolerance = -1}, {"tolerance is -1"});
  refused(op, {.max_iterations = 0}, {"max_iterations is 0"});
  refused(op, {.oversampling = -2}, {"oversampling is -2"});
  refused(op, {.power_iterations = -3}, {"power_iterations is -3"});
  refused({}, {}, {"without A"});
  refused(lanky::make_operator<T>(stream, a.view(), 8), {}, {"no adjoint"});

  const auto function = [](const LinearOperator<T>& of) {
    return [of](const Stream& on, MatrixView<const T> x, MatrixView<T> y) { of.apply(on, x, y); };
  };
  const CsrMatrix<T> other = diagonal<T>(geometric(300, 0.9), 300, 400);
  const auto wrong = lanky::make_operator<T>(stream, other.view(), 8);
  refused(LinearOperator<T>(400, 300, function(op), function(wrong)), {},
          {"the adjoint is not that of A"});

  const lanky::SparsePlan<T> plan(stream, a.view());
  lanky::expect_error([&] { LinearOperator<T>(plan, plan); }, ErrorCode::size_mismatch,
                      {"adjoint is 400 x 300", "A is 400 x 300"});
  lanky::expect_error([&] { LinearOperator<T>(plan).apply_adjoint(stream, {}, {}); },
                      ErrorCode::invalid_argument, {"no adjoint"});

  CsrMatrix<T> broken = a;
  broken.values[7] = static_cast<T>(std::numeric_limits<double>::quiet_NaN());
  refused(operator_of(stream, broken), {}, {"NaN or Inf"});
}

}  // namespace
