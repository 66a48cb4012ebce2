// examples/solvers: conjugate gradients and power iterations against solutions known otherwise, on
// the CPU and on a GPU, and the programs cg and power.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <lanky/error.hpp>
#include <lanky/io.hpp>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "examples/solvers/conjugate_gradients.hpp"
#include "examples/solvers/contest.hpp"
#include "examples/solvers/links.hpp"
#include "examples/solvers/matrix.hpp"
#include "examples/solvers/power_iterations.hpp"
#include "examples/solvers/vector_file.hpp"
#include "examples/support/uniform.hpp"
#include "support/executor.hpp"
#include "support/expect_error.hpp"
#include "support/program.hpp"
#include "support/temporary_directory.hpp"

namespace lanky::examples::solvers {

namespace {

using Entries = std::map<std::pair<std::int64_t, std::int64_t>, double>;

CsrMatrix<double> from_entries(std::int64_t rows, std::int64_t cols, const Entries& entries) {
  CsrMatrix<double> a;
  a.rows = rows;
  a.cols = cols;
  a.row_offsets.assign(static_cast<std::size_t>(rows) + 1, 0);
  for (const auto& [place, value] : entries) {
    a.col_indices.push_back(static_cast<std::int32_t>(place.second));
    a.values.push_back(value);
    ++a.row_offsets[static_cast<std::size_t>(place.first) + 1];
  }
  std::partial_sum(a.row_offsets.begin(), a.row_offsets.end(), a.row_offsets.begin());
  return a;
}

CsrMatrix<double> diagonal_matrix(const std::vector<double>& diagonal) {
  Entries entries;
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    entries[{at, at}] = diagonal[i];
  }
  const auto n = static_cast<std::int64_t>(diagonal.size());
  return from_entries(n, n, entries);
}

CsrMatrix<double> stencil(const char* spec = "stencil27:9") {
  return laplacian(io::generate<double>(spec), 0.05);
}

std::vector<double> known_solution(std::int64_t n) {
  std::vector<double> x;
  for (std::int64_t i = 0; i < n; ++i)
    x.push_back(2 * uniform(1, i) - 1);
  return x;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

template <class T>
std::vector<double> doubles(const std::vector<T>& x) {
  return {x.begin(), x.end()};
}

/// A matrix with its product on a device.
template <class T>
struct Multiplied {
  Multiplied(const Device& device, const CsrMatrix<double>& a, const char* name = "lanky")
      : stream(device),
        matrix(stream, a),
        product(make_product(name, stream, matrix.view()).product) {}

  Stream stream;
  DeviceMatrix<T> matrix;
  std::unique_ptr<Product<T>> product;
};

template <class T>
struct CgRun {
  Progress progress;
  std::vector<T> x;
};

template <class T = double>
CgRun<T> run_cg(const Device& device, const CsrMatrix<double>& a, const std::vector<double>& b,
                double tolerance, bool jacobi = false, std::int64_t iterations = 1000,
                int check = 10, bool graph = false, const char* product = "lanky") {
  const Multiplied<T> multiplied(device, a, product);
  const std::vector<double> inverse = jacobi ? inverse_diagonal(a) : std::vector<double>();
  ConjugateGradients<T> cg(multiplied.stream, *multiplied.product,
                           std::vector<T>(b.begin(), b.end()),
                           std::vector<T>(inverse.begin(), inverse.end()), tolerance);
  const Progress progress = Loop(cg, check, graph).run(iterations);
  return {progress, cg.solution()};
}

/// A graph of n nodes: a third have no links, some link to themselves, one has no link to it.
CsrMatrix<double> random_graph(std::int64_t n) {
  Entries entries;
  for (std::int64_t i = 0; i < n; ++i) {
    if (i % 3 == 1) continue;
    for (std::int64_t k = 0; k < 1 + i % 5; ++k) {
      const double draw = uniform(1, i * 100 + k);
      const auto to = static_cast<std::int64_t>(draw * static_cast<double>(n - 1));
      entries[{i, to}] = 7;  // whatever the value
    }
    if (i % 4 == 0) entries[{i, i}] = -1;
  }
  std::erase_if(entries, [n](const auto& entry) { return entry.first.second == n - 1; });
  return from_entries(n, n, entries);
}

/// Ranks by elimination, from (I - d S) x = (1 - d) / n, S[j, i] = 1 / links of i for each link and
/// 1 / n for a node without any.
std::vector<double> dense_pagerank(const CsrMatrix<double>& graph, double d) {
  const auto n = static_cast<std::size_t>(graph.rows);
  std::vector<std::vector<double>> m(n, std::vector<double>(n + 1, 0.0));
  for (std::size_t i = 0; i < n; ++i) {
    m[i][i] += 1;
    m[i][n] = (1 - d) / static_cast<double>(n);
    const std::int64_t first = graph.row_offsets[i];
    const std::int64_t last = graph.row_offsets[i + 1];
    for (std::int64_t k = first; k < last; ++k) {
      const auto j = static_cast<std::size_t>(graph.col_indices[static_cast<std::size_t>(k)]);
      m[j][i] -= d / static_cast<double>(last - first);
    }
    for (std::size_t j = 0; first == last && j < n; ++j)
      m[j][i] -= d / static_cast<double>(n);
  }
  for (std::size_t pivot = 0; pivot < n; ++pivot) {  // columns are diagonally dominant
    for (std::size_t row = 0; row < n; ++row) {
      if (row == pivot) continue;
      const double factor = m[row][pivot] / m[pivot][pivot];
      for (std::size_t k = pivot; k <= n; ++k)
        m[row][k] -= factor * m[pivot][k];
    }
  }
  std::vector<double> x;
  for (std::size_t i = 0; i < n; ++i)
    x.push_back(m[i][n] / m[i][i]);
  return x;
}

class Solvers : public ::testing::TestWithParam<DeviceKind> {};
INSTANTIATE_TEST_SUITE_P(On, Solvers, ::testing::Values(DeviceKind::cpu, DeviceKind::cuda),
                         [](const auto& kind) {
                           return kind.param == DeviceKind::cuda ? "cuda" : "cpu";
                         });

TEST_P(Solvers, CgFindsTheKnownSolution) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const CsrMatrix<double> a = stencil();
  const std::vector<double> known = known_solution(a.rows);
  const std::vector<double> b = multiply(a, known);
  for (const bool jacobi : {false, true}) {
    const auto f64 = run_cg(device, a, b, 1e-12, jacobi);
    EXPECT_EQ(f64.progress.state, State::converged);
    EXPECT_LE(f64.progress.residual, 1e-12);
    EXPECT_LE(relative_residual(a, f64.x, b), 2e-12);
    EXPECT_LE(largest_difference(f64.x, known), 1e-9);
    const auto f32 = run_cg<float>(device, a, b, 1e-5, jacobi);
    EXPECT_EQ(f32.progress.state, State::converged);
    EXPECT_LE(relative_residual(a, doubles(f32.x), b), 2e-5);
    EXPECT_LE(largest_difference(doubles(f32.x), known), 1e-2);
  }
}

// In exact arithmetic CG takes as many iterations as there are distinct eigenvalues; sizes that
// leave part of 16 bytes, of a block, and more than the blocks of one round.
TEST_P(Solvers, CgTakesAnIterationForEachEigenvalue) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  for (const std::size_t n : {3U, 6U, 1025U, 300'001U}) {
    std::vector<double> diagonal(n);
    for (std::size_t i = 0; i < n; ++i)
      diagonal[i] = std::vector<double>{1, 2.5, 4}[i % 3];
    const std::vector<double> b(n, 1.0);
    const CsrMatrix<double> a = diagonal_matrix(diagonal);
    const auto plain = run_cg(device, a, b, 1e-12);
    EXPECT_EQ(plain.progress.iterations, 3) << n;
    EXPECT_LE(relative_residual(a, plain.x, b), 1e-12) << n;
    const auto jacobi = run_cg(device, a, b, 1e-12, true);
    EXPECT_EQ(jacobi.progress.iterations, 1) << n;
    EXPECT_LE(relative_residual(a, jacobi.x, b), 1e-12) << n;
  }
}

TEST_P(Solvers, JacobiMendsABadScale) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  CsrMatrix<double> a = stencil("stencil27:7");
  const auto scale = [](std::int64_t i) { return std::pow(10.0, static_cast<double>(i % 4)); };
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (auto k = static_cast<std::size_t>(a.row_offsets[row]);
         k < static_cast<std::size_t>(a.row_offsets[row + 1]); ++k) {
      a.values[k] *= scale(i) * scale(a.col_indices[k]);
    }
  }
  check_symmetric(a);
  const std::vector<double> b(static_cast<std::size_t>(a.rows), 1.0);
  const auto plain = run_cg(device, a, b, 1e-10, false, 300);
  const auto jacobi = run_cg(device, a, b, 1e-10, true, 300);
  EXPECT_EQ(jacobi.progress.state, State::converged);
  EXPECT_LE(relative_residual(a, jacobi.x, b), 1e-9);
  EXPECT_LT(2 * jacobi.progress.iterations, plain.progress.iterations);
}

TEST_P(Solvers, CgNamesWhereAMatrixIsNotPositiveDefinite) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  // p.Ap is 2 - 1, then, for p = (6, 12), 72 - 144.
  expect_error(
      [&] {
        run_cg(device, diagonal_matrix({2, -1}), {1, 1}, 1e-12);
      },
      ErrorCode::invalid_argument, {"p.Ap is -72 ", "iteration 2", "positive definite"});
  expect_error(
      [&] {
        run_cg(device, diagonal_matrix({1, NAN}), {1, 1}, 1e-12);
      },
      ErrorCode::invalid_argument, {"p.Ap is ", "nan", "iteration 1"});
}

TEST_P(Solvers, CgStaysWhereItConverged) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const CsrMatrix<double> a = stencil();
  const std::vector<double> b(static_cast<std::size_t>(a.rows), 1.0);
  const auto each = run_cg(device, a, multiply(a, known_solution(a.rows)), 1e-6, false, 500, 1);
  EXPECT_GT(each.progress.iterations, 10);
  for (const bool graph : {false, true}) {
    if (graph && !device.is_cuda()) continue;
    const auto seldom =
        run_cg(device, a, multiply(a, known_solution(a.rows)), 1e-6, false, 500, 61, graph);
    EXPECT_EQ(seldom.progress.iterations, each.progress.iterations);
    EXPECT_EQ(seldom.x, each.x) << "graph: " << graph;
  }
  const auto zero =
      run_cg(device, a, std::vector<double>(static_cast<std::size_t>(a.rows), 0.0), 1e-6);
  EXPECT_EQ(zero.progress.iterations, 0);
  EXPECT_EQ(zero.progress.state, State::converged);
  EXPECT_EQ(zero.x, std::vector<double>(zero.x.size(), 0.0));
}

TEST_P(Solvers, IterationsAreLimitedAndCanGoOn) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const CsrMatrix<double> a = stencil();
  const std::vector<double> b = multiply(a, known_solution(a.rows));
  const Multiplied<double> multiplied(device, a);
  ConjugateGradients<double> cg(multiplied.stream, *multiplied.product, b, {}, 1e-10);
  std::vector<std::int64_t> looks;
  const Loop loop(cg, 3, false);
  const auto look = [&](const Progress& progress) { looks.push_back(progress.iterations); };
  const Progress first = loop.run(7, look);
  EXPECT_EQ(first.iterations, 7);
  EXPECT_EQ(first.state, State::running);
  EXPECT_EQ(looks, (std::vector<std::int64_t>{3, 6, 7}));
  EXPECT_EQ(loop.run(0).iterations, 7);
  const Progress last = loop.run(1000);
  EXPECT_EQ(last.state, State::converged);
  const std::vector<double> x = cg.solution();
  cg.start();  // anew, to the same bits
  EXPECT_EQ(loop.run(1000).iterations, last.iterations);
  EXPECT_EQ(cg.solution(), x);
  expect_error([&] { Loop(cg, 0, false); }, ErrorCode::invalid_argument, {"every 0"});
  if (!device.is_cuda()) {
    expect_error([&] { Loop(cg, 1, true); }, ErrorCode::unsupported, {"graph", "cpu"});
    expect_error([&] { make_product("cusparse", multiplied.stream, multiplied.matrix.view()); },
                 ErrorCode::unsupported, {"cuSPARSE", "cpu"});
  }
  expect_error([&] { make_product("mkl", multiplied.stream, multiplied.matrix.view()); },
               ErrorCode::invalid_argument, {"mkl", "cusparse"});
}

template <class T>
std::vector<T> run_pagerank(const Device& device, const Links& links, double tolerance,
                            bool graph = false) {
  const Multiplied<T> multiplied(device, links.transposed);
  PageRank<T> pagerank(multiplied.stream, *multiplied.product, links, tolerance);
  const Progress progress = Loop(pagerank, 10, graph).run(1000);
  EXPECT_EQ(progress.state, State::converged);
  EXPECT_GT(progress.iterations, 1);
  EXPECT_LE(progress.residual, tolerance);
  return pagerank.solution();
}

TEST_P(Solvers, PageRankIsThatOfElimination) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  for (const std::int64_t n : {2, 47, 90}) {
    const CsrMatrix<double> graph = random_graph(n);
    for (const double damping : {0.85, 0.3}) {
      const std::vector<double> expected = dense_pagerank(graph, damping);
      EXPECT_NEAR(std::accumulate(expected.begin(), expected.end(), 0.0), 1, 1e-12);
      const Links links = make_links(graph, damping);
      const auto ranks = run_pagerank<double>(device, links, 1e-14);
      EXPECT_LE(largest_difference(ranks, expected), 1e-13);
      EXPECT_NEAR(std::accumulate(ranks.begin(), ranks.end(), 0.0), 1, 1e-13);
      EXPECT_LE(pagerank_residual(links, ranks), 1e-13);
      EXPECT_EQ(run_pagerank<double>(device, links, 1e-14), ranks);
      if (device.is_cuda()) {
        EXPECT_EQ(run_pagerank<double>(device, links, 1e-14, true), ranks);
      }
      const std::vector<double> f32 = doubles(run_pagerank<float>(device, links, 1e-6));
      EXPECT_LE(largest_difference(f32, expected), 1e-6);
    }
  }
}

TEST_P(Solvers, PageRankOfTwoNodes) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  // Node 1 links to node 2, which has no links: x1 = (1 - d) / 2 + d x2 / 2, x2 = 1 - x1.
  const Links links = make_links(from_entries(2, 2, {{{0, 1}, 1}}), 0.85);
  const auto ranks = run_pagerank<double>(device, links, 1e-15);
  EXPECT_NEAR(ranks[0], 0.5 / 1.425, 1e-14);
  EXPECT_NEAR(ranks[1], 1 - 0.5 / 1.425, 1e-14);
}

TEST_P(Solvers, EigenvaluesAreThoseKnown) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const auto run = [&](const CsrMatrix<double>& a) {
    const Multiplied<double> multiplied(device, a);
    DominantEigenvalue<double> power(multiplied.stream, *multiplied.product, a.rows, 1e-10);
    const Progress progress = Loop(power, 10, false).run(2000);
    EXPECT_EQ(progress.state, State::converged);
    const EigenPair pair = eigen_pair(a, power.solution());
    EXPECT_LE(pair.relative_residual, 2e-10);
    EXPECT_NEAR(pair.lambda, power.eigenvalue(), 1e-9 * std::abs(pair.lambda));
    return power.eigenvalue();
  };
  EXPECT_NEAR(run(from_entries(2, 2, {{{0, 0}, 2}, {{0, 1}, 1}, {{1, 0}, 1}, {{1, 1}, 3}})),
              (5 + std::sqrt(5.0)) / 2, 1e-9);
  EXPECT_NEAR(run(diagonal_matrix({1, -10, 3, 2.5, 9})), -10, 1e-9);
  expect_error(
      [&] {
        run(from_entries(2, 2, {{{0, 1}, 1}}));
      },  // nilpotent
      ErrorCode::invalid_argument, {"|A x| is 0", "iteration 2"});
}

TEST_P(Solvers, ComparesAllContestantsOfTheDevice) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const CsrMatrix<double> a = stencil();
  const std::vector<double> b = multiply(a, known_solution(a.rows));
  const Stream stream(device);
  const Method<double> method{
      &a,
      [&](const Product<double>& product, double tolerance) {
        return std::make_unique<ConjugateGradients<double>>(stream, product, b,
                                                            std::vector<double>(), tolerance);
      },
      [&](const std::vector<double>& x) { return relative_residual(a, x, b); }};
  Settings settings;
  settings.iterations = 25;
  settings.tolerance = 1e-8;
  const std::vector<Outcome> outcomes = compare(stream, method, settings, 2);
  ASSERT_EQ(outcomes.size(), device.is_cuda() ? 4U : 1U);
  const double expected = relative_residual(a, run_cg(device, a, b, 0, false, 25).x, b);
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.progress.iterations, 25);
    EXPECT_GT(outcome.us_per_iteration, 0);
    EXPECT_GT(outcome.spmv_us, 0);
    EXPECT_GT(outcome.setup_us, 0);
    if (outcome.product == "lanky") {
      EXPECT_EQ(outcome.residual, expected);
    } else {
      EXPECT_NEAR(outcome.residual, expected, 1e-4 * expected);
    }
  }
  const auto solved = solve(stream, method, settings);
  EXPECT_EQ(solved.outcome.progress.iterations, 25);
  EXPECT_EQ(solved.outcome.residual, expected);
  EXPECT_EQ(relative_residual(a, solved.x, b), expected);
  settings.iterations = 0;
  expect_error([&] { compare(stream, method, settings, 2); }, ErrorCode::invalid_argument,
               {"0 iterations"});
}

// A large system: what a GPU solves is what the CPU does, also by cuSPARSE.
TEST(SolversOnCuda, AgreesWithTheCpuAndWithCusparse) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const CsrMatrix<double> a = stencil("stencil27:41");
  const std::vector<double> b = multiply(a, known_solution(a.rows));
  const auto cpu = run_cg(Device::cpu(), a, b, 1e-10);
  for (const char* product : {"lanky", "cusparse"}) {
    const auto launched = run_cg(device, a, b, 1e-10, false, 1000, 10, false, product);
    const auto replayed = run_cg(device, a, b, 1e-10, false, 1000, 10, true, product);
    EXPECT_NEAR(static_cast<double>(launched.progress.iterations),
                static_cast<double>(cpu.progress.iterations), 2);
    EXPECT_LE(largest_difference(launched.x, cpu.x), 1e-6);
    EXPECT_EQ(launched.x, replayed.x) << product;
  }
  const Links links = make_links(io::generate<double>("rmat:13"), 0.85);
  EXPECT_LE(largest_difference(run_pagerank<double>(device, links, 1e-13),
                               run_pagerank<double>(Device::cpu(), links, 1e-13)),
            1e-13);
}

TEST(SolversMatrix, WhatIsNotSymmetricIsNamed) {
  check_symmetric(stencil());
  check_symmetric(from_entries(2, 2, {{{0, 1}, 3}, {{1, 0}, 3 * (1 + 1e-12)}}));
  const auto refused = [](const Entries& entries, const std::vector<std::string>& fragments) {
    expect_error([&] { check_symmetric(from_entries(3, 3, entries)); }, ErrorCode::invalid_argument,
                 fragments);
  };
  refused({{{0, 1}, 3}, {{1, 0}, 4}}, {"entry (1, 2) is 3", "entry (2, 1) is 4"});
  refused({{{0, 2}, 3}}, {"entry (1, 3)", "none"});
  refused({{{2, 0}, 3}}, {"entry (3, 1)", "none"});
  refused({{{0, 1}, 3}, {{2, 1}, 3}, {{1, 2}, 3}}, {"entry (1, 2)", "none"});
  refused({{{1, 0}, 3}, {{2, 1}, 3}, {{1, 2}, 3}}, {"entry (2, 1)", "none"});
}

TEST(SolversMatrix, LaplacianAndItsFaults) {
  // A path 1 - 2 - 3, with loops that do not count; node 4 alone.
  const CsrMatrix<double> path = from_entries(
      4, 4, {{{0, 0}, 5}, {{0, 1}, 2}, {{1, 0}, 9}, {{1, 2}, 1}, {{2, 1}, 1}, {{2, 2}, 1}});
  const CsrMatrix<double> l = laplacian(path, 0.5);
  EXPECT_EQ(l.row_offsets, (std::vector<std::int64_t>{0, 2, 5, 7, 8}));
  EXPECT_EQ(l.col_indices, (std::vector<std::int32_t>{0, 1, 0, 1, 2, 1, 2, 3}));
  EXPECT_EQ(l.values, (std::vector<double>{1.5, -1, -1, 2.5, -1, -1, 1.5, 0.5}));
  expect_error([&] { laplacian(path, -1); }, ErrorCode::invalid_argument, {"-1", "positive"});
  expect_error(
      [&] {
        laplacian(from_entries(2, 2, {{{0, 1}, 1}}), 1);
      },
      ErrorCode::invalid_argument, {"(1, 2)"});
  expect_error([&] { laplacian(from_entries(2, 3, {}), 1); }, ErrorCode::size_mismatch,
               {"2 rows", "3 columns"});
  expect_error(
      [&] {
        inverse_diagonal(diagonal_matrix({1, 0, 2}));
      },
      ErrorCode::invalid_argument, {"row 2 is 0"});
  EXPECT_EQ(inverse_diagonal(diagonal_matrix({4, 0.5})), (std::vector<double>{0.25, 2}));
}

TEST(SolversMatrix, LinksAndTheirFaults) {
  expect_error([] { make_links(from_entries(2, 3, {}), 0.85); }, ErrorCode::size_mismatch,
               {"2 rows", "3 columns"});
  expect_error([] { make_links(from_entries(0, 0, {}), 0.85); }, ErrorCode::invalid_argument,
               {"no nodes"});
  expect_error([] { make_links(from_entries(2, 2, {}), 1); }, ErrorCode::invalid_argument,
               {"damping", "1"});
  const Links links = make_links(from_entries(3, 3, {{{0, 1}, 5}, {{0, 2}, 0}, {{2, 1}, 1}}), 0.5);
  EXPECT_EQ(links.transposed.row_offsets, (std::vector<std::int64_t>{0, 0, 2, 3}));
  EXPECT_EQ(links.transposed.col_indices, (std::vector<std::int32_t>{0, 2, 0}));
  EXPECT_EQ(links.transposed.values, (std::vector<double>{0.25, 0.5, 0.25}));
  EXPECT_EQ(links.dangling, (std::vector<std::uint8_t>{0, 1, 0}));
}

TEST(SolversMatrix, VectorsAreWritten) {
  const testing::TemporaryDirectory folder;
  const std::string npy = (folder.path() / "x.npy").string();
  write_vector(npy, std::vector<float>{1.5F, -2});
  const std::string bytes = testing::content(npy);
  ASSERT_EQ(bytes.size(), 128U + 8U);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_NE(bytes.find("'<f4', 'fortran_order': False, 'shape': (2,), }"), std::string::npos);
  EXPECT_EQ(bytes[127], '\n');
  float last = 0;
  std::memcpy(&last, bytes.data() + 132, sizeof(last));
  EXPECT_EQ(last, -2.F);
  const std::string text = (folder.path() / "x.txt").string();
  write_vector(text, std::vector<double>{0.1, 3});
  EXPECT_EQ(testing::content(text), "0.10000000000000001\n3\n");
  expect_error([] { write_vector("/no/such/folder/x.npy", std::vector<double>{1}); }, ErrorCode::io,
               {"/no/such/folder/x.npy"});
}

class SolverPrograms : public testing::ProgramTest {
 protected:
  testing::Ran program(const std::string& line) const {
    return shell("'" + testing::beside_the_test(line.substr(0, line.find(' '))) + "'" +
                 line.substr(line.find(' ')));
  }
};

TEST_F(SolverPrograms, CgSolvesAndWrites) {
  const std::string out = (folder_ / "x.npy").string();
  const testing::Ran ran =
      program("cg --generate stencil7:8 --laplacian 0.1 -d cpu --jacobi -v --json " + json() +
              " -o " + out);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("converged after "), std::string::npos) << ran.out;
  EXPECT_NE(ran.err.find("iteration 10: relative residual "), std::string::npos) << ran.err;
  ASSERT_EQ(lines().size(), 1U);
  const Json line = lines()[0];
  EXPECT_EQ(line["kind"], "cg");
  EXPECT_EQ(line["matrix"], "stencil7:8");
  EXPECT_EQ(line["rows"], 512);
  EXPECT_EQ(line["dtype"], "f64");
  EXPECT_EQ(line["contestant"], "lanky");
  EXPECT_EQ(line["graph"], false);
  EXPECT_EQ(line["jacobi"], true);
  EXPECT_EQ(line["converged"], true);
  EXPECT_LE(line["residual"].get<double>(), 1e-8);
  EXPECT_LE(line["error"].get<double>(), 1e-6);
  EXPECT_GT(line["us_per_iteration"].get<double>(), 0);
  EXPECT_EQ(testing::content(out).size(), 128U + 512 * 8);
}

TEST_F(SolverPrograms, PowerRanksAndCompares) {
  const std::string star = write("star.mtx",
                                 "%%MatrixMarket matrix coordinate pattern general\n"
                                 "4 4 3\n1 3\n2 3\n4 3\n");
  const testing::Ran ran = program("power " + star + " -d cpu --json " + json());
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("         3  "), std::string::npos) << ran.out;
  EXPECT_LT(ran.out.find("         3  "), ran.out.find("         1  ")) << ran.out;
  const testing::Ran compared =
      program("power " + star + " -d cpu --compare --rounds 2 --json " + json());
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  const testing::Ran limited = program("power " + star + " -d cpu --iterations 2");
  EXPECT_EQ(limited.exit_code, 1) << limited.out;
  EXPECT_NE(limited.out.find("not converged after 2 "), std::string::npos) << limited.out;
  ASSERT_EQ(of_kind("pagerank").size(), 2U);
  EXPECT_NEAR(lines()[0]["sum"].get<double>(), 1, 1e-12);
  EXPECT_EQ(lines()[1]["iterations"], 100);
  const testing::Ran eigen =
      program("power " + matrix("a.mtx") + " --eigenvalue -d cpu --json " + json());
  EXPECT_EQ(eigen.exit_code, 0) << eigen.err;
  EXPECT_NE(eigen.out.find("eigenvalue 1000"), std::string::npos) << eigen.out;
}

TEST_F(SolverPrograms, RefuseBadInput) {
  const auto refused = [&](const std::string& line, int code, const std::string& fragment) {
    const testing::Ran ran = program(line);
    EXPECT_EQ(ran.exit_code, code) << line;
    EXPECT_NE(ran.err.find(fragment), std::string::npos) << line << ": " << ran.err;
  };
  refused("cg -d cpu", 3, "there is no matrix");
  refused("cg no.mtx --generate stencil7:3", 3, "two matrices");
  refused("cg no.mtx", 3, "no.mtx");
  refused("cg --generate stencil7:3 --dtype f16", 2, "f16");
  refused("cg --generate stencil7:3 --check 0", 2, "--check");
  refused("cg --generate uniform:4,cols=3 -d cpu", 3, "4 rows and 3 columns");
  refused("cg --generate stencil7:3 -d cpu", 3, "not symmetric");
  refused("cg --generate stencil7:3 --laplacian 1 -d cpu --graph on", 3, "graph");
  refused("power --generate stencil7:3 -d cpu --spmv cusparse", 3, "cuSPARSE");
  refused("power --generate stencil7:3 -d cpu --damping 2", 3, "damping factor is 2");
  const std::string complex_file =
      write("c.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n");
  refused("power -d cpu " + complex_file, 3, "complex");
}

}  // namespace

}  // namespace lanky::examples::solvers
