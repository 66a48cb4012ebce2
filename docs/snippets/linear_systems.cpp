// Linear systems with several right-hand sides, for docs/guide/linear_systems.md.
#include "expect.hpp"

#include <cmath>
#include <cstdio>
#include <lanky/lanky.hpp>
#include <lanky/linear_solver.hpp>
#include <string>
#include <vector>

/// -1, 2 + shift, -1 on three diagonals.
static lanky::CsrMatrix<double> chain(std::int32_t n, double shift) {
  lanky::CsrMatrix<double> a;
  a.rows = a.cols = n;
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = i - 1; j <= i + 1; ++j) {
      if (j < 0 || j >= n) continue;
      a.col_indices.push_back(j);
      a.values.push_back(i == j ? 2 + shift : -1);
    }
    a.row_offsets.push_back(a.nnz());
  }
  return a;
}

int main() {
  const lanky::Stream stream(lanky::Device::best());
  const lanky::CsrMatrix<double> A = chain(500, 0.01);
  // begin solve
  const auto op = lanky::make_operator(stream, A.view(), 8);  // eight right-hand sides by rows
  const auto preconditioner = lanky::jacobi(stream, A.view());

  lanky::Matrix<double> B(stream, A.rows, 8, lanky::Layout::row);
  lanky::Matrix<double> X(stream, A.rows, 8, lanky::Layout::row);
  B.buffer().copy_from(std::vector<double>(500 * 8, 1.0));
  X.buffer().fill_zero();  // where the iteration begins
  const lanky::LinearResult result =
      lanky::cg(stream, op, B.view(), X.view(), {.tolerance = 1e-10}, preconditioner);
  std::printf("%s after %d iterations, |b - A x| = %.1e |b|\n",
              std::string(lanky::to_string(result.status)).c_str(), result.iterations,
              result.residuals[0]);
  // end solve
  expect(result.status == lanky::SolverStatus::converged && result.residuals[7] <= 1e-10);
  const std::vector<double> x = X.buffer().to_host();
  expect(std::abs(2.01 * x[250 * 8] - x[249 * 8] - x[251 * 8] - 1) < 1e-6);

  // begin indefinite
  const lanky::CsrMatrix<double> indefinite = chain(500, -1.05);
  const auto saddle = lanky::make_operator(stream, indefinite.view(), 8);
  X.buffer().fill_zero();
  lanky::LinearOptions options;
  options.max_iterations = 5000;
  options.progress = [](const lanky::SolverProgress& now) { return now.seconds < 60; };
  const lanky::LinearResult other = lanky::minres(stream, saddle, B.view(), X.view(), options);
  // end indefinite
  expect(other.status == lanky::SolverStatus::converged);
}
