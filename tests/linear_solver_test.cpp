// cg, block_cg and minres on every executor: their solutions are judged by residuals that the tests
// compute themselves, in double on the host.
#include <lanky/linear_solver.hpp>

#include <cmath>
#include <complex>
#include <lanky/csr.hpp>
#include <lanky/device.hpp>
#include <lanky/error.hpp>
#include <lanky/solver.hpp>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "solvers/number.hpp"
#include "support/counting_allocator.hpp"
#include "support/executor.hpp"
#include "support/expect_error.hpp"

namespace lanky {
namespace {

using testing::CountingAllocator;
using testing::On;

template <class T>
using RealPart = solvers::RealOf<T>;
template <class T>
constexpr bool kIsDouble = std::is_same_v<RealPart<T>, double>;
template <class T>
constexpr double kTolerance = kIsDouble<T> ? 1e-8 : 1e-4;

/// `re` and, for complex types, `im`.
template <class T>
T number(double re, double im = 0) {
  if constexpr (std::is_same_v<T, RealPart<T>>) {
    return static_cast<T>(re);
  } else {
    return {static_cast<RealPart<T>>(re), static_cast<RealPart<T>>(im)};
  }
}

template <class T>
struct Entries {
  std::int64_t n = 0;
  std::map<std::pair<std::int64_t, std::int64_t>, T> at;

  /// Element (i, j), and its conjugate across the diagonal.
  void set(std::int64_t i, std::int64_t j, T value) {
    at[{i, j}] = value;
    if constexpr (std::is_same_v<T, RealPart<T>>) {
      at[{j, i}] = value;
    } else {
      at[{j, i}] = std::conj(value);
    }
  }
  CsrMatrix<T> matrix() const {
    CsrMatrix<T> a;
    a.rows = a.cols = n;
    std::int64_t row = 0;
    for (const auto& [place, value] : at) {
      while (row < place.first) {
        a.row_offsets.push_back(static_cast<std::int64_t>(a.values.size()));
        ++row;
      }
      a.col_indices.push_back(static_cast<std::int32_t>(place.second));
      a.values.push_back(value);
    }
    while (row++ < n)
      a.row_offsets.push_back(static_cast<std::int64_t>(a.values.size()));
    return a;
  }
};

/// The Laplacian of a grid with `shift` on its diagonal; complex ones have phases on their edges.
/// `closed`: rows sum to the shift, so that the constant vector is an eigenvector (real types).
template <class T>
CsrMatrix<T> grid(std::int64_t side, double shift = 0, bool closed = false) {
  Entries<T> entries;
  entries.n = side * side;
  const auto phase = [&](double angle) { return number<T>(-std::cos(angle), -std::sin(angle)); };
  for (std::int64_t i = 0; i < side; ++i) {
    for (std::int64_t j = 0; j < side; ++j) {
      const std::int64_t k = i * side + j;
      const double edges = (i > 0) + (i + 1 < side) + (j > 0) + (j + 1 < side);
      entries.set(k, k, number<T>((closed ? edges : 4.0) + shift));
      const bool real = closed || std::is_same_v<T, RealPart<T>>;
      const double angle = real ? 0 : 0.3 * static_cast<double>(i + j);
      if (j + 1 < side) entries.set(k, k + 1, phase(angle));
      if (i + 1 < side) entries.set(k, k + side, phase(2 * angle));
    }
  }
  return entries.matrix();
}

/// D A D, D from 1 to `range` in a geometric sequence.
template <class T>
CsrMatrix<T> scaled(CsrMatrix<T> a, double range) {
  const auto scale = [&](std::int64_t i) {
    return std::pow(range, static_cast<double>((i * 7919) % a.rows) / static_cast<double>(a.rows));
  };
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t e = a.row_offsets[static_cast<std::size_t>(i)];
         e < a.row_offsets[static_cast<std::size_t>(i + 1)]; ++e) {
      const auto at = static_cast<std::size_t>(e);
      a.values[at] *= static_cast<RealPart<T>>(scale(i) * scale(a.col_indices[at]));
    }
  }
  return a;
}

/// [n, c] by rows, uniform in (-1, 1).
template <class T>
std::vector<T> noises(std::int64_t n, std::int64_t c, unsigned seed = 0) {
  std::mt19937_64 bits(seed);
  const auto next = [&] { return std::ldexp(static_cast<double>(bits() >> 11U), -52) - 1; };
  std::vector<T> x;
  for (std::int64_t e = 0; e < n * c; ++e) {
    const double re = next();
    x.push_back(number<T>(re, next()));
  }
  return x;
}

template <class T>
std::vector<solvers::Wide<T>> multiply(const CsrMatrix<T>& a, const std::vector<T>& x,
                                       std::int64_t c) {
  using W = solvers::Wide<T>;
  std::vector<W> y(x.size());
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t e = a.row_offsets[static_cast<std::size_t>(i)];
         e < a.row_offsets[static_cast<std::size_t>(i + 1)]; ++e) {
      const auto at = static_cast<std::size_t>(e);
      for (std::int64_t j = 0; j < c; ++j) {
        y[static_cast<std::size_t>(i * c + j)] +=
            static_cast<W>(a.values[at]) *
            static_cast<W>(x[static_cast<std::size_t>(a.col_indices[at] * c + j)]);
      }
    }
  }
  return y;
}

template <class T>
std::vector<T> product(const CsrMatrix<T>& a, const std::vector<T>& x, std::int64_t c) {
  std::vector<T> y;
  for (const auto& value : multiply(a, x, c))
    y.push_back(static_cast<T>(value));
  return y;
}

template <class V>
std::vector<double> lengths(const std::vector<V>& x, std::int64_t c) {
  std::vector<double> sums(static_cast<std::size_t>(c));
  for (std::size_t e = 0; e < x.size(); ++e)
    sums[e % static_cast<std::size_t>(c)] += std::norm(x[e]);
  for (double& sum : sums)
    sum = std::sqrt(sum);
  return sums;
}

template <class T>
std::vector<solvers::Wide<T>> rest(const CsrMatrix<T>& a, const std::vector<T>& b,
                                   const std::vector<T>& x, std::int64_t c) {
  std::vector<solvers::Wide<T>> r = multiply(a, x, c);
  for (std::size_t e = 0; e < r.size(); ++e)
    r[e] = static_cast<solvers::Wide<T>>(b[e]) - r[e];
  return r;
}

enum class Method { cg, block_cg, minres };

template <class T>
struct Solution {
  LinearResult result;
  std::vector<T> x;
};

/// X begins as `start`, or with zeros.
template <class T>
Solution<T> solve(Method method, const Stream& stream, const LinearOperator<T>& a,
                  const std::vector<T>& b, std::int64_t c, const LinearOptions& options = {},
                  const LinearOperator<T>& m = {}, const std::vector<T>& start = {}) {
  Matrix<T> device_b(stream, a.rows(), c, Layout::row);
  Matrix<T> device_x(stream, a.rows(), c, Layout::row);
  device_b.buffer().copy_from(b);
  device_x.buffer().fill_zero();
  if (!start.empty()) device_x.buffer().copy_from(start);
  const auto run = method == Method::cg         ? cg<T>
                   : method == Method::block_cg ? block_cg<T>
                                                : minres<T>;
  Solution<T> solution{run(stream, a, device_b.view(), device_x.view(), options, m), {}};
  solution.x = device_x.buffer().to_host();
  return solution;
}

/// That all right-hand sides are solved, and what is told of their residuals is true.
template <class T>
void expect_solved(const CsrMatrix<T>& a, const std::vector<T>& b, std::int64_t c,
                   const Solution<T>& solution, double tolerance = kTolerance<T>) {
  const LinearResult& result = solution.result;
  EXPECT_EQ(result.status, SolverStatus::converged) << to_string(result.status);
  EXPECT_EQ(result.converged, c);
  ASSERT_EQ(result.residuals.size(), static_cast<std::size_t>(c));
  const std::vector<double> sizes = lengths(b, c);
  const std::vector<double> rests = lengths(rest(a, b, solution.x, c), c);
  // Products of the solver are rounded to T.
  const double rounding = (kIsDouble<T> ? 1e-12 : 1e-5);
  for (std::size_t j = 0; j < sizes.size(); ++j) {
    EXPECT_LE(rests[j], (1.01 * tolerance + rounding) * sizes[j]) << "right-hand side " << j;
    const double share = sizes[j] > 0 ? rests[j] / sizes[j] : 0;
    EXPECT_NEAR(result.residuals[j], share, 0.01 * share + rounding) << "right-hand side " << j;
  }
}

template <class TypeParam>
class LinearSolver : public ::testing::Test {};
using Cases =
    ::testing::Types<On<DeviceKind::cpu, double>, On<DeviceKind::cpu, float>,
                     On<DeviceKind::cpu, std::complex<float>>,
                     On<DeviceKind::cpu, std::complex<double>>, On<DeviceKind::cuda, double>,
                     On<DeviceKind::cuda, float>, On<DeviceKind::cuda, std::complex<float>>,
                     On<DeviceKind::cuda, std::complex<double>>>;
TYPED_TEST_SUITE(LinearSolver, Cases, testing::OnName);

constexpr Method kAll[] = {Method::cg, Method::block_cg, Method::minres};
constexpr std::int64_t kCounts[] = {1, 2, 3, 8, 17};

EXECUTOR_TEST(LinearSolver, FindsSolutionsOfAnyNumberOfRightHandSides) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const CsrMatrix<T> a = grid<T>(20);
  for (const std::int64_t c : kCounts) {
    const LinearOperator<T> op = make_operator(stream, a.view(), c);
    const std::vector<T> known = noises<T>(a.rows, c);
    const std::vector<T> b = product(a, known, c);
    for (const Method method : kAll) {
      SCOPED_TRACE(::testing::Message() << "method " << static_cast<int>(method) << ", " << c);
      const Solution<T> solution = solve(method, stream, op, b, c);
      expect_solved(a, b, c, solution);
      // A's least eigenvalue is 8 sin^2(pi / 42) = 0.0447, its largest below 8.
      for (std::size_t e = 0; e < known.size(); ++e)
        ASSERT_NEAR(std::abs(solution.x[e] - known[e]), 0, 8 / 0.0447 * 20 * kTolerance<T>);
    }
  }
}

/// More than a block of threads has at once, and than small matrices have shared memory for.
EXECUTOR_TEST(LinearSolver, TakesHundredsOfRightHandSides) {
  using T = typename TypeParam::Element;
  constexpr std::int64_t kC = 300;
  const Stream stream(device);
  const CsrMatrix<T> a = grid<T>(18);
  const LinearOperator<T> op = make_operator(stream, a.view(), kC);
  const std::vector<T> b = noises<T>(a.rows, kC);
  for (const Method method : kAll) {
    SCOPED_TRACE(static_cast<int>(method));
    expect_solved(a, b, kC, solve(method, stream, op, b, kC));
  }
}

EXECUTOR_TEST(LinearSolver, BlockTakesFewerIterations) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const CsrMatrix<T> a = grid<T>(30);
  const std::vector<T> b = noises<T>(a.rows, 8);
  const LinearOperator<T> op = make_operator(stream, a.view(), 8);
  const Solution<T> one_by_one = solve(Method::cg, stream, op, b, 8);
  const Solution<T> block = solve(Method::block_cg, stream, op, b, 8);
  expect_solved(a, b, 8, one_by_one);
  expect_solved(a, b, 8, block);
  // Phases on edges make the complex ones well-conditioned.
  const double share = std::is_same_v<T, RealPart<T>> ? 0.7 : 1;
  EXPECT_LT(block.result.iterations, share * one_by_one.result.iterations);
}

EXECUTOR_TEST(LinearSolver, BeginsFromWhatXHolds) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const CsrMatrix<T> a = grid<T>(15);
  const LinearOperator<T> op = make_operator(stream, a.view(), 3);
  const std::vector<T> known = noises<T>(a.rows, 3);
  const std::vector<T> b = product(a, known, 3);
  for (const Method method : kAll) {
    const Solution<T> solved = solve(method, stream, op, b, 3, {}, {}, known);
    expect_solved(a, b, 3, solved);
    EXPECT_EQ(solved.result.iterations, 0);
    EXPECT_EQ(solved.x, known);
    expect_solved(a, b, 3, solve(method, stream, op, b, 3, {}, {}, noises<T>(a.rows, 3, 5)));
  }
}

EXECUTOR_TEST(LinearSolver, JacobiMakesUpForScaling) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  // A condition number of 1e10 in double, of 1e5 in float.
  const CsrMatrix<T> a = scaled(grid<T>(12, 0.5), kIsDouble<T> ? 1e5 : 300);
  const LinearOperator<T> op = make_operator(stream, a.view(), 3);
  const LinearOperator<T> m = jacobi(stream, a.view());
  const std::vector<T> b = noises<T>(a.rows, 3);
  for (const Method method : kAll) {
    SCOPED_TRACE(static_cast<int>(method));
    const Solution<T> solution = solve(method, stream, op, b, 3, {}, m);
    expect_solved(a, b, 3, solution);
    EXPECT_LT(solution.result.iterations, 200);
  }
}

EXECUTOR_TEST(LinearSolver, SolvesIllConditionedSystems) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const CsrMatrix<T> a = scaled(grid<T>(8, 0.5), kIsDouble<T> ? 1e5 : 100);
  const LinearOperator<T> op = make_operator(stream, a.view(), 2);
  const std::vector<T> b = product(a, noises<T>(a.rows, 2), 2);
  for (const Method method : kAll) {
    SCOPED_TRACE(static_cast<int>(method));
    expect_solved(a, b, 2, solve(method, stream, op, b, 2, {.max_iterations = 50'000}));
  }
}

/// Columns that are equal, multiples of each other, zero, solved by the start or at once.
EXECUTOR_TEST(LinearSolver, RightHandSidesMayDependOnEachOther) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const CsrMatrix<T> a = grid<T>(12);
  constexpr std::int64_t kC = 6;
  const LinearOperator<T> op = make_operator(stream, a.view(), kC);
  const LinearOperator<T> m = jacobi(stream, a.view());
  std::vector<T> b = noises<T>(a.rows, kC);
  // Column 5 is an eigenvector in real types, which one step solves.
  const double step = std::acos(-1.0) / 13;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    T* const row = &b[static_cast<std::size_t>(i * kC)];
    row[1] = row[0];
    row[2] = number<T>(0);
    row[3] = number<T>(-1e-6) * row[0];
    row[5] = number<T>(std::sin(step * static_cast<double>(i / 12 + 1)) *
                       std::sin(step * static_cast<double>(i % 12 + 1)));
    row[4] = row[0] + row[5];
  }
  const std::vector<T> start = noises<T>(a.rows, kC, 3);
  for (const Method method : kAll) {
    for (const bool preconditioned : {false, true}) {
      SCOPED_TRACE(::testing::Message() << static_cast<int>(method) << preconditioned);
      const LinearOperator<T> with = preconditioned ? m : LinearOperator<T>();
      const Solution<T> solution = solve(method, stream, op, b, kC, {}, with);
      expect_solved(a, b, kC, solution);
      const Solution<T> other = solve(method, stream, op, b, kC, {}, with, start);
      expect_solved(a, b, kC, other);
      for (std::int64_t i = 0; i < a.rows; ++i) {
        ASSERT_EQ(solution.x[static_cast<std::size_t>(i * kC + 2)], T{});
        ASSERT_EQ(other.x[static_cast<std::size_t>(i * kC + 2)], T{});
      }
      EXPECT_EQ(solution.result.residuals[2], 0);
    }
  }
}

EXECUTOR_TEST(LinearSolver, TakesMoreRightHandSidesThanRows) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  for (const std::int64_t side : {1, 2, 3}) {
    const CsrMatrix<T> a = grid<T>(side, 1);
    const LinearOperator<T> op = make_operator(stream, a.view(), 17);
    const std::vector<T> b = noises<T>(a.rows, 17);
    for (const Method method : kAll) {
      SCOPED_TRACE(::testing::Message() << side << " " << static_cast<int>(method));
      expect_solved(a, b, 17, solve(method, stream, op, b, 17));
    }
  }
}

EXECUTOR_TEST(LinearSolver, MinresSolvesIndefiniteSystems) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const CsrMatrix<T> a = grid<T>(14, -2.3);
  const LinearOperator<T> op = make_operator(stream, a.view(), 5);
  const std::vector<T> b = noises<T>(a.rows, 5);
  expect_solved(a, b, 5, solve(Method::minres, stream, op, b, 5));
  expect_solved(a, b, 5, solve(Method::minres, stream, op, b, 5, {}, jacobi(stream, a.view())));
}

EXECUTOR_TEST(LinearSolver, MinresSolvesSingularSystems) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const CsrMatrix<T> a = grid<T>(14, 0, true);  // constant vectors are its null space
  const LinearOperator<T> op = make_operator(stream, a.view(), 3);
  std::vector<T> b = product(a, noises<T>(a.rows, 3), 3);
  for (std::size_t j = 0; j < 3; ++j) {  // rounding has left the range
    T sum{};
    for (std::size_t e = j; e < b.size(); e += 3)
      sum += b[e];
    b[j] -= sum;
  }
  expect_solved(a, b, 3, solve(Method::minres, stream, op, b, 3));

  // Column 1 leaves the range by the constant vector, which the best residual is.
  for (std::size_t e = 1; e < b.size(); e += 3)
    b[e] += number<T>(0.5);
  const Solution<T> solution = solve(Method::minres, stream, op, b, 3);
  EXPECT_EQ(solution.result.status, SolverStatus::stagnated) << to_string(solution.result.status);
  EXPECT_EQ(solution.result.converged, 2);
  const auto r = rest(a, b, solution.x, 3);
  for (std::size_t e = 1; e < r.size(); e += 3)
    ASSERT_NEAR(std::abs(r[e] - 0.5), 0, kIsDouble<T> ? 1e-6 : 2e-2);
  EXPECT_LT(solution.result.iterations, 1000);
  for (const double length : lengths(solution.x, 3))
    EXPECT_LT(length, 100 * std::sqrt(static_cast<double>(a.rows)));  // not off in the null space

  // The null space itself: x = 0 is a least-squares solution.
  const std::vector<T> ones(static_cast<std::size_t>(a.rows), number<T>(1));
  const Solution<T> none = solve(Method::minres, stream, op, ones, 1);
  EXPECT_EQ(none.result.status, SolverStatus::stagnated);
  EXPECT_NEAR(none.result.residuals[0], 1, 1e-6);
}

EXECUTOR_TEST(LinearSolver, RunsHaveTheSameBits) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const CsrMatrix<T> a = grid<T>(60);  // several chunks and blocks of rows
  const LinearOperator<T> op = make_operator(stream, a.view(), 4);
  const LinearOperator<T> m = jacobi(stream, a.view());
  const std::vector<T> b = noises<T>(a.rows, 4);
  for (const Method method : kAll) {
    for (const LinearOperator<T>& with : {LinearOperator<T>(), m}) {
      const Solution<T> first = solve(method, stream, op, b, 4, {}, with);
      const Solution<T> second = solve(method, stream, op, b, 4, {}, with);
      expect_solved(a, b, 4, first);
      EXPECT_EQ(first.x, second.x);
      EXPECT_EQ(first.result.residuals, second.result.residuals);
    }
  }
}

EXECUTOR_TEST(LinearSolver, BitsOfAColumnAreIndependentOfTheOthers) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const CsrMatrix<T> a = grid<T>(25);
  const LinearOperator<T> op = make_operator(stream, a.view(), 8);
  constexpr std::int64_t kC = 8;
  const std::vector<T> b = noises<T>(a.rows, kC);
  for (const Method method : {Method::cg, Method::minres}) {
    const Solution<T> together = solve(method, stream, op, b, kC);
    // The others are replaced: by zeros, by what is solved at once, by what takes long.
    std::vector<T> changed = noises<T>(a.rows, kC, 9);
    for (std::size_t e = 0; e < b.size(); ++e) {
      if (e % kC == 3) changed[e] = b[e];
      if (e % kC == 5) changed[e] = T{};
    }
    const Solution<T> other = solve(method, stream, op, changed, kC);
    for (std::size_t e = 3; e < b.size(); e += kC)
      ASSERT_EQ(together.x[e], other.x[e]);
    EXPECT_EQ(together.result.residuals[3], other.result.residuals[3]);
  }
}

/// Column 0 lives in rows whose condition number is 2, the others in a chain that takes long.
EXECUTOR_TEST(LinearSolver, SolvedColumnsRest) {
  using T = typename TypeParam::Element;
  constexpr std::int64_t kN = 200;
  const Stream stream(device);
  Entries<T> entries;
  entries.n = kN;
  for (std::int64_t i = 0; i < kN; ++i) {
    const bool easy = i < kN / 2;
    entries.set(i, i, number<T>(easy ? 1 + static_cast<double>(i) / 100 : 2.01));
    if (!easy && i + 1 < kN) entries.set(i, i + 1, number<T>(-1));
  }
  const CsrMatrix<T> a = entries.matrix();
  const LinearOperator<T> op = make_operator(stream, a.view(), 3);
  std::vector<T> b = noises<T>(kN, 3);
  for (std::int64_t i = 0; i < kN; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) {
      if ((j == 0) != (i < kN / 2)) b[static_cast<std::size_t>(i * 3 + j)] = T{};
    }
  }
  std::vector<T> alone = b;
  for (std::size_t e = 0; e < b.size(); ++e) {
    if (e % 3 != 0) alone[e] = T{};
  }
  for (const Method method : kAll) {
    SCOPED_TRACE(static_cast<int>(method));
    const Solution<T> together = solve(method, stream, op, b, 3);
    const Solution<T> single = solve(method, stream, op, alone, 3);
    expect_solved(a, b, 3, together);
    expect_solved(a, alone, 3, single);
    EXPECT_LE(single.result.iterations, 14);
    EXPECT_GE(together.result.iterations, 30);
    if (method == Method::block_cg) continue;  // whose columns depend on each other
    for (std::size_t e = 0; e < b.size(); e += 3)
      ASSERT_EQ(together.x[e], single.x[e]);
  }
}

EXECUTOR_TEST(LinearSolver, TellsWhatItCannotSolve) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const CsrMatrix<T> a = grid<T>(5);
  const LinearOperator<T> op = make_operator(stream, a.view(), 2);
  const std::vector<T> b = noises<T>(25, 2);
  const auto invalid = ErrorCode::invalid_argument;

  const CsrMatrix<T> indefinite = grid<T>(5, -4);
  const LinearOperator<T> saddle = make_operator(stream, indefinite.view(), 2);
  for (const Method method : {Method::cg, Method::block_cg}) {
    expect_error([&] { solve(method, stream, saddle, b, 2); }, invalid,
                 {"A is not positive definite", "p^H A p = -", "right-hand side 0"});
  }
  const CsrMatrix<T> minus = scaled(grid<T>(5, -100), 1);  // negative definite
  const LinearOperator<T> bad = make_operator(stream, minus.view(), 2);
  for (const Method method : kAll) {
    expect_error([&] { solve(method, stream, op, b, 2, {}, bad); }, invalid,
                 {"preconditioner is not positive definite", "r^H M r = -", "right-hand side 0"});
    std::vector<T> broken = b;
    broken[7] = number<T>(std::numeric_limits<double>::quiet_NaN());
    expect_error([&] { solve(method, stream, op, broken, 2); }, invalid,
                 {"right-hand side 1 has 1 elements that are NaN or Inf"});
    CsrMatrix<T> with_inf = a;
    with_inf.values[3] = number<T>(std::numeric_limits<double>::infinity());
    const LinearOperator<T> inf = make_operator(stream, with_inf.view(), 2);
    expect_error([&] { solve(method, stream, inf, b, 2); }, invalid, {"NaN or Inf"});
    expect_error([&] { solve(method, stream, op, b, 2, {.tolerance = -1}); }, invalid, {"-1"});
    expect_error([&] { solve(method, stream, op, b, 2, {.max_iterations = -3}); }, invalid, {"-3"});
    if constexpr (kIsDouble<T>) {
      std::vector<T> tiny = b;
      for (T& value : tiny)
        value *= 1e-170;
      expect_error([&] { solve(method, stream, op, tiny, 2); }, invalid, {"scale it"});
    }
  }

  const LinearOperator<T> flat(25, 24, [](const Stream&, MatrixView<const T>, MatrixView<T>) {});
  Matrix<T> x(stream, 25, 2, Layout::row);
  Matrix<T> narrow(stream, 25, 1, Layout::row);
  Matrix<T> by_columns(stream, 25, 2, Layout::col);
  Matrix<T> right(stream, 25, 2, Layout::row);
  right.buffer().copy_from(b);
  expect_error([&] { cg(stream, LinearOperator<T>(), right.view(), x.view()); }, invalid,
               {"without A"});
  expect_error([&] { cg(stream, flat, right.view(), x.view()); }, invalid, {"25 x 24"});
  expect_error([&] { cg(stream, op, right.view(), x.view(), {}, flat); }, invalid,
               {"preconditioner is 25 x 24"});
  expect_error([&] { minres(stream, op, right.view(), narrow.view()); }, invalid,
               {"X is 25 x 1", "B 2"});
  expect_error([&] { block_cg(stream, op, by_columns.view(), x.view()); }, invalid,
               {"B stands by columns"});
}

EXECUTOR_TEST(LinearSolver, EndsWhereItIsTold) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const CsrMatrix<T> a = grid<T>(30);
  const LinearOperator<T> op = make_operator(stream, a.view(), 2);
  const std::vector<T> b = noises<T>(a.rows, 2);
  for (const Method method : kAll) {
    const Solution<T> exhausted = solve(method, stream, op, b, 2, {.max_iterations = 5});
    EXPECT_EQ(exhausted.result.status, SolverStatus::iterations_exhausted);
    EXPECT_EQ(exhausted.result.iterations, 5);
    EXPECT_EQ(exhausted.result.converged, 0);
    const double share = lengths(rest(a, b, exhausted.x, 2), 2)[0] / lengths(b, 2)[0];
    EXPECT_NEAR(exhausted.result.residuals[0], share, 1e-5 * share);
    EXPECT_LT(share, 2);

    int calls = 0;
    LinearOptions options;
    options.progress = [&](const SolverProgress& progress) {
      EXPECT_EQ(progress.wanted, 2);
      EXPECT_GT(progress.residual, progress.tolerance);
      return ++calls < 3;
    };
    const Solution<T> stopped = solve(method, stream, op, b, 2, options);
    EXPECT_EQ(stopped.result.status, SolverStatus::stopped);
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(stopped.result.history.size(), 3U);

    options.progress = [](const SolverProgress&) -> bool { throw 42; };
    EXPECT_THROW(solve(method, stream, op, b, 2, options), int);
  }
}

EXECUTOR_TEST(LinearSolver, AbsoluteTolerances) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const CsrMatrix<T> a = grid<T>(10);
  const LinearOperator<T> op = make_operator(stream, a.view(), 2);
  std::vector<T> b = noises<T>(a.rows, 2);
  const double least = 0.01 * lengths(b, 2)[0];
  for (const Method method : kAll) {
    const Solution<T> solution = solve(method, stream, op, b, 2, {.absolute_tolerance = least});
    EXPECT_EQ(solution.result.status, SolverStatus::converged);
    const double reached = lengths(rest(a, b, solution.x, 2), 2)[0];
    EXPECT_LE(reached, least);
    EXPECT_GT(reached, 1e-3 * least);
  }
}

EXECUTOR_TEST(LinearSolver, MemoryComesFromTheCallersAllocator) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const CsrMatrix<T> a = grid<T>(10);
  const LinearOperator<T> op = make_operator(stream, a.view(), 3);
  const LinearOperator<T> m = jacobi(stream, a.view());
  const std::vector<T> b = noises<T>(a.rows, 3);
  for (const Method method : kAll) {
    CountingAllocator allocator;
    expect_solved(a, b, 3, solve(method, stream, op, b, 3, {.allocator = &allocator}, m));
    EXPECT_GT(allocator.requests(), 0);
    EXPECT_EQ(allocator.live_bytes(), 0);
    EXPECT_EQ(allocator.returned_wrong(), 0);
    allocator.most_requests = allocator.requests() + 2;
    expect_error([&] { solve(method, stream, op, b, 3, {.allocator = &allocator}, m); },
                 ErrorCode::out_of_memory, {});
    EXPECT_EQ(allocator.live_bytes(), 0);
  }
}

EXECUTOR_TEST(LinearSolver, TakesViewsOfLargerMatricesAndFunctions) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const CsrMatrix<T> a = grid<T>(10);
  const SparsePlan<T> plan(stream, a.view());
  int products = 0;
  const LinearOperator<T> op(100, 100,
                             [&](const Stream& on, MatrixView<const T> x, MatrixView<T> y) {
                               ++products;
                               plan.run(on, x, y);
                             });
  EXPECT_FALSE(op.capturable());
  const std::vector<T> b = noises<T>(100, 3);
  for (const Method method : kAll) {
    // Columns 2 to 4 of matrices of seven and of nine columns.
    Matrix<T> wide_b(stream, 100, 7, Layout::row);
    Matrix<T> wide_x(stream, 100, 9, Layout::row);
    std::vector<T> host_b(700, number<T>(std::numeric_limits<double>::quiet_NaN()));
    std::vector<T> host_x(900, number<T>(5));
    for (std::size_t i = 0; i < 100; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        host_b[i * 7 + j + 2] = b[i * 3 + j];
        host_x[i * 9 + j + 2] = T{};
      }
    }
    wide_b.buffer().copy_from(host_b);
    wide_x.buffer().copy_from(host_x);
    const MatrixView<const T> some_b(wide_b.buffer().data() + 2, 100, 3, 7, Layout::row);
    const MatrixView<T> some_x(wide_x.buffer().data() + 2, 100, 3, 9, Layout::row);
    const auto run = method == Method::cg         ? cg<T>
                     : method == Method::block_cg ? block_cg<T>
                                                  : minres<T>;
    products = 0;
    Solution<T> solution{run(stream, op, some_b, some_x, {}, {}), {}};
    EXPECT_GE(products, solution.result.iterations);
    const std::vector<T> all = wide_x.buffer().to_host();
    for (std::size_t i = 0; i < 100; ++i) {
      for (std::size_t j = 0; j < 9; ++j) {
        if (j >= 2 && j < 5) {
          solution.x.push_back(all[i * 9 + j]);
        } else {
          ASSERT_EQ(all[i * 9 + j], number<T>(5));
        }
      }
    }
    expect_solved(a, b, 3, solution);
  }
}

EXECUTOR_TEST(LinearSolver, NothingIsSolvedAtOnce) {
  using T = typename TypeParam::Element;
  const Stream stream(device);
  const LinearOperator<T> empty(0, 0, [](const Stream&, MatrixView<const T>, MatrixView<T>) {});
  const LinearOperator<T> op = make_operator(stream, grid<T>(3).view(), 1);
  for (const Method method : kAll) {
    EXPECT_EQ(solve(method, stream, empty, {}, 3).result.status, SolverStatus::converged);
    EXPECT_TRUE(solve(method, stream, op, {}, 0).result.residuals.empty());
  }
}

}  // namespace
}  // namespace lanky
