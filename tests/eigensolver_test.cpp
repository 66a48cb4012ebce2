// LOBPCG on every executor, beside known spectra and dense solutions; residuals of results are
// computed here anew, on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <lanky/lanky.hpp>
#include <limits>
#include <numbers>
#include <random>
#include <stdexcept>
#include <vector>

#include "solvers/dense_eigen.hpp"
#include "solvers/number.hpp"
#include "support/executor.hpp"
#include "support/expect_error.hpp"
#include "support/vectors.hpp"

namespace lanky {
namespace {

using testing::conjugate;
using testing::kDouble;
using testing::Wide;

template <class T>
class Eigensolver : public ::testing::Test {};
TYPED_TEST_SUITE(Eigensolver, testing::VectorCases, testing::OnName);

template <class T>
T element(double re, double im) {
  if constexpr (solvers::kParts<T> == 2) {
    return T(static_cast<solvers::RealOf<T>>(re), static_cast<solvers::RealOf<T>>(im));
  } else {
    return static_cast<T>(re);
  }
}

/// A matrix from f(i, j), where that is not zero.
template <class T, class F>
CsrMatrix<T> matrix(std::int64_t n, std::int64_t reach, const F& f) {
  CsrMatrix<T> a;
  a.rows = a.cols = n;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = std::max<std::int64_t>(0, i - reach); j <= std::min(n - 1, i + reach);
         ++j) {
      const T value = f(i, j);
      if (value == T{}) continue;
      a.col_indices.push_back(static_cast<std::int32_t>(j));
      a.values.push_back(value);
    }
    a.row_offsets.push_back(static_cast<std::int64_t>(a.values.size()));
  }
  return a;
}

/// The Laplacian of a path, ends held; complex ones turn by a phase, which leaves the spectrum.
template <class T>
CsrMatrix<T> path(std::int64_t n) {
  return matrix<T>(n, 1, [](std::int64_t i, std::int64_t j) {
    if (i == j) return element<T>(2, 0);
    if constexpr (solvers::kParts<T> == 1) return element<T>(-1, 0);
    return element<T>(-std::cos(0.7), i < j ? -std::sin(0.7) : std::sin(0.7));
  });
}

/// Its eigenvalues, from the smallest on (j = 1).
double path_value(std::int64_t n, std::int64_t j) {
  return 2 - 2 * std::cos(std::numbers::pi * static_cast<double>(j) / static_cast<double>(n + 1));
}

template <class T>
CsrMatrix<T> diagonal(const std::vector<double>& values) {
  return matrix<T>(static_cast<std::int64_t>(values.size()), 0,
                   [&](std::int64_t i, std::int64_t /*j*/) {
                     return element<T>(values[static_cast<std::size_t>(i)], 0);
                   });
}

/// A band of random numbers, self-adjoint.
template <class T>
CsrMatrix<T> random_band(std::int64_t n, std::int64_t reach, unsigned seed, double on_diagonal) {
  return matrix<T>(n, reach, [=](std::int64_t i, std::int64_t j) {
    std::mt19937 random(seed + static_cast<unsigned>(std::min(i, j) * n + std::max(i, j)));
    std::uniform_real_distribution<double> uniform(-1, 1);
    const double re = uniform(random);
    const double im = uniform(random);
    if (i == j) return element<T>(re + on_diagonal, 0);
    return element<T>(re, i < j ? im : -im);
  });
}

template <class T>
std::vector<Wide<T>> multiply(const CsrMatrix<T>& a, const std::vector<T>& x) {
  std::vector<Wide<T>> y(static_cast<std::size_t>(a.rows));
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (auto e = static_cast<std::size_t>(a.row_offsets[i]);
         e < static_cast<std::size_t>(a.row_offsets[i + 1]); ++e)
      y[i] += static_cast<Wide<T>>(a.values[e]) *
              static_cast<Wide<T>>(x[static_cast<std::size_t>(a.col_indices[e])]);
  }
  return y;
}

template <class T>
std::vector<T> column(const std::vector<T>& rows, std::int64_t cols, std::int64_t j) {
  std::vector<T> x;
  for (std::size_t i = static_cast<std::size_t>(j); i < rows.size();
       i += static_cast<std::size_t>(cols))
    x.push_back(rows[i]);
  return x;
}

template <class T>
struct Expectation {
  const CsrMatrix<T>* a;
  const CsrMatrix<T>* b = nullptr;
  double tolerance = kDouble<T> ? 1e-8 : 1e-4;
};

/// Residuals within the tolerance and as told, vectors (B-)orthonormal, values in order.
template <class T>
void expect_pairs(const EigenResult<T>& result, const Expectation<T>& expected, EigenEnd end) {
  const auto k = static_cast<std::int64_t>(result.values.size());
  const std::vector<T> rows = result.vectors.buffer().to_host();
  const double roundoff = unit_roundoff(kDType<T>);
  const double hidden = 64 * roundoff * result.norm;
  std::vector<std::vector<Wide<T>>> mass;
  for (std::int64_t j = 0; j < k; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const std::vector<T> x = column(rows, k, j);
    const std::vector<Wide<T>> ax = multiply(*expected.a, x);
    const std::vector<Wide<T>> bx =
        expected.b != nullptr ? multiply(*expected.b, x) : std::vector<Wide<T>>(x.begin(), x.end());
    double rest = 0;
    double length = 0;
    double scale = 0;  // |B x|^2
    for (std::size_t i = 0; i < x.size(); ++i) {
      rest += std::norm(ax[i] - result.values[at] * bx[i]);
      length += std::norm(static_cast<Wide<T>>(x[i]));
      scale += std::norm(bx[i]);
    }
    const double residual = std::sqrt(rest / length);
    EXPECT_LE(residual,
              expected.tolerance * std::abs(result.values[at]) * std::sqrt(scale / length) + hidden)
        << "pair " << j;
    EXPECT_NEAR(residual, result.residuals[at], 0.01 * residual + hidden) << "pair " << j;
    mass.push_back(bx);
    for (std::int64_t i = 0; i <= j; ++i) {
      const std::vector<T> other = column(rows, k, i);
      Wide<T> product{};
      for (std::size_t e = 0; e < other.size(); ++e)
        product += conjugate(static_cast<Wide<T>>(other[e])) * bx[e];
      EXPECT_NEAR(std::abs(product), i == j ? 1 : 0, 1e5 * roundoff) << i << ", " << j;
    }
    if (j > 0) {
      const double step = result.values[at] - result.values[at - 1];
      EXPECT_GE(end == EigenEnd::smallest ? step : -step, -hidden);
    }
  }
}

/// The values are those of a dense solution, from the end on.
template <class T>
void expect_values(const EigenResult<T>& result, std::vector<double> known, EigenEnd end,
                   double allowed) {
  std::sort(known.begin(), known.end());
  if (end == EigenEnd::largest) std::reverse(known.begin(), known.end());
  for (std::size_t j = 0; j < result.values.size(); ++j)
    EXPECT_NEAR(result.values[j], known[j], allowed) << "value " << j;
}

template <class T>
std::vector<double> dense_values(const CsrMatrix<T>& a, const CsrMatrix<T>* b = nullptr) {
  const auto small = [](const CsrMatrix<T>& from) {
    solvers::SmallMatrix<Wide<T>> to(from.rows, from.cols);
    for (std::int64_t i = 0; i < from.rows; ++i) {
      for (auto e = static_cast<std::size_t>(from.row_offsets[static_cast<std::size_t>(i)]);
           e < static_cast<std::size_t>(from.row_offsets[static_cast<std::size_t>(i) + 1]); ++e)
        to(i, from.col_indices[e]) += static_cast<Wide<T>>(from.values[e]);
    }
    return to;
  };
  return solvers::constrained_eigen<Wide<T>>(
             small(a), b == nullptr ? solvers::SmallMatrix<Wide<T>>() : small(*b), {})
      .values;
}

EXECUTOR_TEST(Eigensolver, BothEndsOfAPath) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  constexpr std::int64_t kN = 300;
  const CsrMatrix<T> a = path<T>(kN);
  for (const EigenEnd end : {EigenEnd::smallest, EigenEnd::largest}) {
    const EigenProblem<T> problem{.a = make_operator(stream, a.view(), 8)};
    EigenOptions options;
    options.k = 5;
    options.end = end;
    const EigenResult<T> result = lobpcg(stream, problem, options);
    EXPECT_EQ(result.status, SolverStatus::converged);
    EXPECT_EQ(result.converged, 5);
    EXPECT_EQ(result.history.size(), static_cast<std::size_t>(result.iterations));
    EXPECT_GT(result.norm, 3);
    EXPECT_LT(result.norm, 6);
    expect_pairs(result, Expectation<T>{&a}, end);
    for (std::int64_t j = 0; j < 5; ++j) {
      const double known = path_value(kN, end == EigenEnd::smallest ? j + 1 : kN - j);
      EXPECT_NEAR(result.values[static_cast<std::size_t>(j)], known,
                  result.bounds[static_cast<std::size_t>(j)]);
    }
  }
}

EXECUTOR_TEST(Eigensolver, PencilWithPreconditioner) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const CsrMatrix<T> a = random_band<T>(400, 4, 1, 5);
  const CsrMatrix<T> b = random_band<T>(400, 2, 2, 4);
  const std::vector<double> known = dense_values(a, &b);
  for (const std::int64_t block : {0, 1, 7, 64}) {
    EigenProblem<T> problem{.a = make_operator(stream, a.view(), 8),
                            .b = make_operator(stream, b.view(), 8)};
    if (block > 0) problem.preconditioner = block_jacobi(stream, a.view(), block);
    EigenOptions options;
    options.k = 7;
    const EigenResult<T> result = lobpcg(stream, problem, options);
    EXPECT_EQ(result.status, SolverStatus::converged);
    expect_pairs(result, Expectation<T>{&a, &b}, EigenEnd::smallest);
    expect_values(result, known, EigenEnd::smallest, kDouble<T> ? 1e-9 : 2e-4);
  }
}

/// A and B near the ends of the range of numbers, whose squares are not in it.
EXECUTOR_TEST(Eigensolver, ScalesOfAnySize) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const double far = kDouble<T> ? 300 : 35;
  for (const std::int64_t n : {20, 300}) {  // dense, and iterated
    const auto times = [](CsrMatrix<T> a, double scale) {
      for (T& value : a.values)
        value *= element<T>(scale, 0);
      return a;
    };
    for (const double power : {-far, -far / 3, far / 3, far}) {
      SCOPED_TRACE(::testing::Message() << n << " rows, 1e" << power);
      const double scale = std::pow(10.0, power);
      const CsrMatrix<T> a = times(path<T>(n), scale);
      for (const bool preconditioned : {false, true}) {
        EigenProblem<T> problem{.a = make_operator(stream, a.view(), 8)};
        if (preconditioned) problem.preconditioner = jacobi(stream, a.view());
        EigenOptions options;
        options.k = 4;
        const EigenResult<T> result = lobpcg(stream, problem, options);
        EXPECT_EQ(result.status, SolverStatus::converged);
        for (std::int64_t j = 0; j < 4; ++j) {
          const auto at = static_cast<std::size_t>(j);
          EXPECT_NEAR(result.values[at] / scale, path_value(n, j + 1), result.bounds[at] / scale);
          EXPECT_LT(result.bounds[at] / scale, kDouble<T> ? 1e-9 : 1e-4);
        }
      }
    }
  }
}

/// A semidefinite B has infinite eigenvalues, and leaves the smallest ones as they are.
EXECUTOR_TEST(Eigensolver, SingularB) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  for (const std::int64_t n : {22, 400}) {  // dense, and iterated
    const CsrMatrix<T> a = random_band<T>(n, 3, 5, 6);
    for (const std::int64_t period : {2, 20}) {
      for (const bool preconditioned : {false, true}) {
        SCOPED_TRACE(::testing::Message()
                     << n << " rows, " << period << (preconditioned ? ", p" : ""));
        std::vector<double> masses(static_cast<std::size_t>(n), 1.0);
        for (std::size_t i = 0; i < masses.size(); i += static_cast<std::size_t>(period))
          masses[i] = 0;
        const CsrMatrix<T> b = diagonal<T>(masses);
        std::vector<double> known = dense_values(b, &a);  // of B x = mu A x
        std::reverse(known.begin(), known.end());
        for (double& value : known)
          value = value > 1e-12 ? 1 / value : std::numeric_limits<double>::infinity();
        EigenProblem<T> problem{.a = make_operator(stream, a.view(), 8),
                                .b = make_operator(stream, b.view(), 8)};
        if (preconditioned) problem.preconditioner = block_jacobi(stream, a.view(), 8);
        EigenOptions options;
        options.k = 4;
        const EigenResult<T> result = lobpcg(stream, problem, options);
        EXPECT_EQ(result.status, SolverStatus::converged);
        expect_pairs(result, Expectation<T>{&a, &b}, EigenEnd::smallest);
        expect_values(result, known, EigenEnd::smallest, kDouble<T> ? 1e-8 : 1e-3);
        options.end = EigenEnd::largest;
        expect_error([&] { lobpcg(stream, problem, options); }, ErrorCode::invalid_argument,
                     {"singular"});
      }
    }
  }
}

/// Eigenvalues that solvers have been reported to miss: equal ones, clusters, zeros, a large range.
EXECUTOR_TEST(Eigensolver, HardSpectra) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  constexpr std::size_t kN = 200;
  struct Case {
    const char* name;
    std::int64_t k;
    std::function<double(std::size_t)> value;
  };
  const Case cases[] = {
      {"identity", 6, [](std::size_t) { return 1.0; }},
      {"zero", 6, [](std::size_t) { return 0.0; }},
      {"two values", 20, [](std::size_t i) { return i % 10 == 0 ? 50.0 : 1.0; }},
      {"rank 3", 8, [](std::size_t i) { return i < 3 ? 1.0 + static_cast<double>(i) : 0.0; }},
      {"linear", 10, [](std::size_t i) { return 1 + 999 * static_cast<double>(i) / (kN - 1); }},
      {"inverse", 10, [](std::size_t i) { return 1 / (1 + static_cast<double>(i)); }},
      {"indefinite", 10, [](std::size_t i) { return static_cast<double>(i) - 100; }},
      {"clusters", 12,
       [](std::size_t i) {
         return std::floor(static_cast<double>(i) / 5) + 1e-7 * static_cast<double>(i % 5);
       }},
  };
  for (const Case& spectrum : cases) {
    SCOPED_TRACE(spectrum.name);
    std::vector<double> values(kN);
    for (std::size_t i = 0; i < kN; ++i)
      values[(i * 37) % kN] = spectrum.value(i);
    const CsrMatrix<T> a = diagonal<T>(values);
    for (const EigenEnd end : {EigenEnd::smallest, EigenEnd::largest}) {
      const EigenProblem<T> problem{.a = make_operator(stream, a.view(), 8)};
      EigenOptions options;
      options.k = spectrum.k;
      options.end = end;
      const EigenResult<T> result = lobpcg(stream, problem, options);
      EXPECT_EQ(result.status, SolverStatus::converged) << (end == EigenEnd::smallest ? "s" : "l");
      EXPECT_EQ(result.converged, spectrum.k);
      expect_pairs(result, Expectation<T>{&a}, end);
      const double largest =
          std::abs(*std::max_element(values.begin(), values.end(),
                                     [](double x, double y) { return std::abs(x) < std::abs(y); }));
      expect_values(result, values, end, (kDouble<T> ? 1e-9 : 3e-4) * largest);
    }
  }
}

EXECUTOR_TEST(Eigensolver, AllSizesAndBlocks) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  for (const std::int64_t n : {1, 2, 5, 30, 61, 150}) {
    const CsrMatrix<T> a = random_band<T>(n, 3, 7, 0);
    const std::vector<double> known = dense_values(a);
    for (const std::int64_t k : {std::int64_t{1}, std::int64_t{3}, n / 2, n - 1, n}) {
      if (k < 1 || k > n) continue;
      for (const std::int64_t block : {std::int64_t{0}, k, k + 3}) {
        SCOPED_TRACE(::testing::Message() << "n " << n << ", k " << k << ", block " << block);
        const EigenProblem<T> problem{.a = make_operator(stream, a.view(), 8)};
        EigenOptions options;
        options.k = k;
        options.block_size = block;
        const EigenResult<T> result = lobpcg(stream, problem, options);
        EXPECT_EQ(result.status, SolverStatus::converged);
        expect_pairs(result, Expectation<T>{&a}, EigenEnd::smallest);
        expect_values(result, known, EigenEnd::smallest, kDouble<T> ? 1e-9 : 3e-4);
      }
    }
  }
}

EXECUTOR_TEST(Eigensolver, ConstraintsAndStart) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  for (const std::int64_t n : {30, 400}) {  // dense, and iterated
    const CsrMatrix<T> a = random_band<T>(n, 3, 11, 4);
    const CsrMatrix<T> b = random_band<T>(n, 1, 12, 4);
    const std::vector<double> known = dense_values(a, &b);
    EigenProblem<T> problem{.a = make_operator(stream, a.view(), 8),
                            .b = make_operator(stream, b.view(), 8)};
    EigenOptions options;
    options.k = 3;
    const EigenResult<T> first = lobpcg(stream, problem, options);
    expect_values(first, known, EigenEnd::smallest, kDouble<T> ? 1e-9 : 3e-4);
    problem.constraints = first.vectors.view();
    // Dependent start vectors: the same column thrice, and one of zeros.
    std::vector<T> start(static_cast<std::size_t>(4 * n));
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      for (std::size_t j = 0; j < 3; ++j)
        start[4 * i + j] = element<T>(std::sin(static_cast<double>(i)), 0);
    }
    Matrix<T> device_start(stream, n, 4, Layout::row);
    device_start.buffer().copy_from(start);
    problem.start = device_start;
    const EigenResult<T> next = lobpcg(stream, problem, options);
    EXPECT_EQ(next.status, SolverStatus::converged);
    expect_values(next, {known.begin() + 3, known.end()}, EigenEnd::smallest,
                  kDouble<T> ? 1e-8 : 1e-3);
  }
}

/// A constraint that is no eigenvector: what is left of the plane of the first two coordinates is
/// one vector, whose Rayleigh quotient is an eigenvalue.
EXECUTOR_TEST(Eigensolver, ConstraintsNeedNotBeEigenvectors) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  for (const std::int64_t n : {12, 300}) {  // dense, and iterated
    std::vector<double> numbers;
    std::vector<double> masses(static_cast<std::size_t>(n), 1);
    for (std::int64_t i = 1; i <= n; ++i)
      numbers.push_back(static_cast<double>(i));
    masses[1] = 3;
    const CsrMatrix<T> a = diagonal<T>(numbers);
    const CsrMatrix<T> b = diagonal<T>(masses);
    Matrix<T> y(stream, n, 1, Layout::row);
    std::vector<T> given(static_cast<std::size_t>(n));
    given[0] = given[1] = element<T>(1, 0);
    y.buffer().copy_from(given);
    for (const bool pencil : {false, true}) {
      SCOPED_TRACE(::testing::Message() << n << " rows, with B: " << pencil);
      EigenProblem<T> problem{.a = make_operator(stream, a.view(), 8)};
      if (pencil) problem.b = make_operator(stream, b.view(), 8);
      problem.constraints = y.view();
      EigenOptions options;
      options.k = 3;
      const EigenResult<T> result = lobpcg(stream, problem, options);
      EXPECT_EQ(result.status, SolverStatus::converged);
      EXPECT_EQ(result.converged, 3);
      // x = (1, -1), and with B (3, -1): (9 + 2) / (9 + 3).
      expect_values(result, {pencil ? 11.0 / 12 : 1.5, 3, 4}, EigenEnd::smallest,
                    kDouble<T> ? 1e-9 : 1e-4);
    }
  }
}

/// Where all of X is in the null space of A, X^H A X is nothing but rounding.
EXECUTOR_TEST(Eigensolver, NullSpacesLargerThanTheBlock) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  constexpr std::int64_t kPart = 5;  // rows of a component
  constexpr std::int64_t kRows = 400;
  const CsrMatrix<T> a = matrix<T>(kRows, 1, [](std::int64_t i, std::int64_t j) {
    if (i / kPart != j / kPart) return T{};
    const bool ends = i % kPart == 0 || i % kPart == kPart - 1;
    return element<T>(i == j ? (ends ? 1.1 : 2.2) : -1.1, 0);
  });
  for (int draw = 0; draw < 24; ++draw) {
    const bool pencil = draw > 0;
    SCOPED_TRACE(::testing::Message() << "draw " << draw);
    const CsrMatrix<T> b = random_band<T>(kRows, 1, 20 + static_cast<unsigned>(draw), 4);
    EigenProblem<T> problem{.a = make_operator(stream, a.view(), 12)};
    if (pencil) problem.b = make_operator(stream, b.view(), 12);
    EigenOptions options;
    options.k = 10;
    options.seed = static_cast<std::uint64_t>(draw);
    const EigenResult<T> result = lobpcg(stream, problem, options);
    EXPECT_EQ(result.converged, 10);
    EXPECT_LT(result.iterations, 150);
    for (const double value : result.values)
      EXPECT_NEAR(value, 0, kDouble<T> ? 1e-12 : 1e-5);
  }
}

/// A graph of many small components has few eigenvalues, most of them 0: what the polynomial makes
/// of residuals is soon in the space of X and P.
EXECUTOR_TEST(Eigensolver, FewEigenvaluesOfManyCopies) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  std::vector<std::int64_t> component;  // of each row; components are paths of 1 to 4 rows
  for (std::int64_t c = 0; component.size() < 140; ++c)
    component.insert(component.end(), static_cast<std::size_t>(c % 5 == 0 ? 1 + c / 5 % 4 : 1), c);
  const auto n = static_cast<std::int64_t>(component.size());
  const auto joined = [&](std::int64_t i, std::int64_t j) {
    return i >= 0 && j < n &&
           component[static_cast<std::size_t>(i)] == component[static_cast<std::size_t>(j)];
  };
  const CsrMatrix<T> a = matrix<T>(n, 1, [&](std::int64_t i, std::int64_t j) {
    if (i == j) return element<T>((joined(i - 1, i) ? 1 : 0) + (joined(i, i + 1) ? 1 : 0), 0);
    return element<T>(joined(std::min(i, j), std::max(i, j)) ? -1 : 0, 0);
  });
  const std::vector<double> known = dense_values(a);
  for (const EigenEnd end : {EigenEnd::smallest, EigenEnd::largest}) {
    for (const int degree : {-1, 0, 1, 4, 8}) {
      SCOPED_TRACE(::testing::Message() << degree << " steps, end " << static_cast<int>(end));
      EigenOptions options;
      options.k = 9;
      options.end = end;
      options.polynomial_degree = degree;
      const EigenProblem<T> problem{.a = make_operator(stream, a.view(), 12)};
      const EigenResult<T> result = lobpcg(stream, problem, options);
      EXPECT_EQ(result.status, SolverStatus::converged);
      EXPECT_LT(result.iterations, 400);
      expect_values(result, known, end, kDouble<T> ? 1e-9 : 1e-4);
      expect_pairs(result, {.a = &a}, end);
    }
  }
}

/// The scale of B changes Ritz values, and nothing else; tiny eigenvalues take long to fall.
EXECUTOR_TEST(Eigensolver, ScaledPencilAndSlowFall) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const CsrMatrix<T> a = path<T>(200);
  for (const double scale : {4.0, 1e-8, 1e8}) {
    SCOPED_TRACE(scale);
    const CsrMatrix<T> b = diagonal<T>(std::vector<double>(200, scale));
    EigenOptions options;
    options.k = 3;
    const EigenResult<T> result = lobpcg(stream,
                                         EigenProblem<T>{.a = make_operator(stream, a.view(), 8),
                                                         .b = make_operator(stream, b.view(), 8)},
                                         options);
    EXPECT_EQ(result.status, SolverStatus::converged);
    EXPECT_EQ(result.converged, 3);
    for (std::int64_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(result.values[static_cast<std::size_t>(j)] * scale, path_value(200, j + 1),
                  kDouble<T> ? 1e-11 : 1e-4);
    }
  }
  if (!kDouble<T>) return;
  EigenOptions options;
  options.k = 3;
  options.polynomial_degree = 0;
  options.max_iterations = 4000;
  const CsrMatrix<T> slow = path<T>(1500);
  const EigenResult<T> result =
      lobpcg(stream, EigenProblem<T>{.a = make_operator(stream, slow.view(), 8)}, options);
  EXPECT_EQ(result.status, SolverStatus::converged);
}

/// Polynomials of any degree lead to the same eigenvalues, in fewer iterations.
EXECUTOR_TEST(Eigensolver, PolynomialDegrees) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const CsrMatrix<T> a = path<T>(400);
  for (const EigenEnd end : {EigenEnd::smallest, EigenEnd::largest}) {
    int iterations = std::numeric_limits<int>::max();
    for (const int degree : {0, 1, 4, 9}) {
      SCOPED_TRACE(degree);
      EigenOptions options;
      options.k = 4;
      options.end = end;
      options.polynomial_degree = degree;
      const EigenResult<T> result =
          lobpcg(stream, EigenProblem<T>{.a = make_operator(stream, a.view(), 8)}, options);
      EXPECT_EQ(result.status, SolverStatus::converged);
      EXPECT_LT(result.iterations, iterations);
      iterations = result.iterations;
      for (std::int64_t j = 0; j < 4; ++j) {
        const double known = path_value(400, end == EigenEnd::smallest ? j + 1 : 400 - j);
        EXPECT_NEAR(result.values[static_cast<std::size_t>(j)], known,
                    result.bounds[static_cast<std::size_t>(j)]);
      }
    }
  }
}

/// A polynomial in single precision takes about as many iterations, to residuals in double; at any
/// scale of A that single precision has.
EXECUTOR_TEST(Eigensolver, MixedPrecision) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  for (const double scale : {1e-25, 1.0, 1e25}) {
    SCOPED_TRACE(scale);
    CsrMatrix<T> a = path<T>(400);
    for (T& value : a.values)
      value *= element<T>(scale, 0);
    for (const EigenEnd end : {EigenEnd::smallest, EigenEnd::largest}) {
      EigenOptions options;
      options.k = 4;
      options.end = end;
      for (const int degree : {-1, 1, 4, 9}) {
        if (degree > 0 && scale != 1) continue;
        SCOPED_TRACE(degree);
        options.polynomial_degree = degree;
        EigenProblem<T> problem{.a = make_operator(stream, a.view(), 8)};
        const EigenResult<T> reference = lobpcg(stream, problem, options);
        problem.a_single = make_single_operator(stream, a.view(), 8);
        const EigenResult<T> result = lobpcg(stream, problem, options);
        EXPECT_EQ(result.status, SolverStatus::converged);
        if (degree > 0) {
          EXPECT_LE(result.iterations, reference.iterations * 3 / 2);
        }
        for (std::int64_t j = 0; j < 4; ++j) {
          const auto at = static_cast<std::size_t>(j);
          const double known = path_value(400, end == EigenEnd::smallest ? j + 1 : 400 - j);
          EXPECT_NEAR(result.values[at] / scale, known, result.bounds[at] / scale);
          EXPECT_LT(result.bounds[at] / scale, kDouble<T> ? 1e-7 : 1e-3);
        }
      }
    }
  }
  EigenOptions options;
  const CsrMatrix<T> a = path<T>(400);
  EigenProblem<T> problem{.a = make_operator(stream, a.view(), 8),
                          .b = make_operator(stream, a.view(), 8),
                          .a_single = make_single_operator(stream, a.view(), 8)};
  expect_error([&] { lobpcg(stream, problem, options); }, ErrorCode::invalid_argument,
               {"single precision", "B"});
  problem.b = {};
  problem.preconditioner = jacobi(stream, a.view());
  expect_error([&] { lobpcg(stream, problem, options); }, ErrorCode::invalid_argument,
               {"single precision", "preconditioner"});
  problem.preconditioner = {};
  problem.a_single = make_single_operator(stream, path<T>(30).view(), 8);
  expect_error([&] { lobpcg(stream, problem, options); }, ErrorCode::invalid_argument,
               {"single precision", "30 x 30", "400 x 400"});
}

EXECUTOR_TEST(Eigensolver, SameBits) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const CsrMatrix<T> a = random_band<T>(500, 5, 3, 1);
  const EigenProblem<T> problem{.a = make_operator(stream, a.view(), 8),
                                .preconditioner = jacobi(stream, a.view())};
  const EigenResult<T> one = lobpcg(stream, problem);
  std::vector<std::vector<char>> others;  // from here on, memory is elsewhere
  for (std::size_t bytes = 24; bytes < 40000; bytes += 24)
    others.emplace_back(bytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(solvers::SmallMatrix<Wide<T>>(3, 3).data()) % 64, 0U);
  const EigenResult<T> two = lobpcg(stream, problem);
  EXPECT_EQ(one.values, two.values);
  EXPECT_EQ(one.iterations, two.iterations);
  EXPECT_EQ(one.vectors.buffer().to_host(), two.vectors.buffer().to_host());
}

EXECUTOR_TEST(Eigensolver, StopsAndGivesUp) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const CsrMatrix<T> a = path<T>(2000);
  const EigenProblem<T> problem{.a = make_operator(stream, a.view(), 8)};
  EigenOptions options;
  options.k = 4;
  options.max_iterations = 9;
  const EigenResult<T> few = lobpcg(stream, problem, options);
  EXPECT_EQ(few.status, SolverStatus::iterations_exhausted);
  EXPECT_EQ(few.iterations, 9);
  EXPECT_LT(few.converged, 4);
  expect_pairs(few, Expectation<T>{&a, nullptr, std::numeric_limits<double>::infinity()},
               EigenEnd::smallest);

  std::vector<SolverProgress> seen;
  options.progress = [&](const SolverProgress& progress) {
    seen.push_back(progress);
    return progress.iteration < 5;
  };
  const EigenResult<T> stopped = lobpcg(stream, problem, options);
  EXPECT_EQ(stopped.status, SolverStatus::stopped);
  ASSERT_EQ(seen.size(), 5U);
  EXPECT_EQ(seen.back().wanted, 4);
  EXPECT_GT(seen.back().residual, seen.back().tolerance);

  options.progress = [](const SolverProgress&) -> bool { throw std::runtime_error("enough"); };
  EXPECT_THROW(lobpcg(stream, problem, options), std::runtime_error);
}

EXECUTOR_TEST(Eigensolver, FunctionsOfTheCaller) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const CsrMatrix<T> a = path<T>(200);
  const SparsePlan<T> plan(stream, a.view());
  int calls = 0;
  const LinearOperator<T> shifted(200, 200,
                                  [&](const Stream& on, MatrixView<const T> x, MatrixView<T> y) {
                                    ++calls;
                                    plan.run(on, x, y);
                                  });
  const EigenResult<T> result = lobpcg(stream, EigenProblem<T>{.a = shifted});
  EXPECT_EQ(result.status, SolverStatus::converged);
  EXPECT_GT(calls, result.iterations);
  expect_pairs(result, Expectation<T>{&a}, EigenEnd::smallest);

  const LinearOperator<T> failing(200, 200, [](const Stream&, MatrixView<const T>, MatrixView<T>) {
    throw std::runtime_error("no product today");
  });
  EXPECT_THROW(lobpcg(stream, EigenProblem<T>{.a = failing}), std::runtime_error);
}

/// The legacy default stream, which most callers in Python have, cannot be captured.
EXECUTOR_TEST(Eigensolver, DefaultStream) {
  using T = typename TypeParam::Element;
  const Stream stream = device.is_cuda() ? Stream::wrap(nullptr, device) : Stream(device);
  const CsrMatrix<T> a = path<T>(200);
  const EigenResult<T> result =
      lobpcg(stream, EigenProblem<T>{.a = make_operator(stream, a.view(), 8)});
  EXPECT_EQ(result.status, SolverStatus::converged);
  expect_pairs(result, Expectation<T>{&a}, EigenEnd::smallest);
}

EXECUTOR_TEST(Eigensolver, RefusesBadProblems) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const auto refuses = [&](const EigenProblem<T>& problem, const EigenOptions& options,
                           const std::vector<std::string>& words) {
    expect_error([&] { lobpcg(stream, problem, options); }, ErrorCode::invalid_argument, words);
  };
  for (const std::int64_t n : {20, 300}) {  // dense, and iterated
    const CsrMatrix<T> good = path<T>(n);
    const auto op = [&](const CsrMatrix<T>& a) { return make_operator(stream, a.view(), 8); };
    EigenOptions options;
    options.k = 4;
    CsrMatrix<T> bad = good;
    bad.values[1] = element<T>(5, 0);
    refuses({.a = op(bad)}, options, {"A is not self-adjoint"});
    bad = good;
    bad.values[3] = element<T>(std::numeric_limits<double>::quiet_NaN(), 0);
    refuses({.a = op(bad)}, options, {"NaN"});
    bad = good;
    bad.values[0] = element<T>(std::numeric_limits<double>::infinity(), 0);
    refuses({.a = op(bad)}, options, {"Inf"});
    std::vector<double> values(static_cast<std::size_t>(n), 1.0);
    values[7] = -2000;
    refuses({.a = op(good), .b = op(diagonal<T>(values))}, options, {"B is not positive definite"});
    refuses({.a = op(good), .b = op(path<T>(n + 1))}, options, {"B is", "needed"});
    refuses({.a = LinearOperator<T>()}, options, {"without A"});
    EigenOptions wrong = options;
    wrong.k = n + 1;
    refuses({.a = op(good)}, wrong, {std::to_string(n + 1), std::to_string(n)});
    wrong.k = 0;
    refuses({.a = op(good)}, wrong, {"0 eigenpairs"});
    wrong = options;
    wrong.block_size = 2;
    refuses({.a = op(good)}, wrong, {"block of 2"});
    wrong = options;
    wrong.tolerance = -1;
    refuses({.a = op(good)}, wrong, {"tolerance is -1"});
    Matrix<T> by_columns(stream, n, 2);
    by_columns.buffer().fill_zero();
    refuses({.a = op(good), .start = by_columns}, options, {"by columns"});
  }
}

}  // namespace
}  // namespace lanky
