// A few eigenpairs of a sparse matrix, for docs/guide/eigenvalues.md.
#include "expect.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <lanky/lanky.hpp>
#include <vector>

namespace {

constexpr std::int64_t kSide = 30;

/// The five-point Laplacian of a square grid: 4 on the diagonal, -1 for each neighbour.
lanky::CsrMatrix<double> laplacian() {
  lanky::CsrMatrix<double> a;
  a.rows = a.cols = kSide * kSide;
  const auto add = [&](std::int64_t column, double value) {
    a.col_indices.push_back(static_cast<std::int32_t>(column));
    a.values.push_back(value);
  };
  for (std::int64_t i = 0; i < a.rows; ++i) {
    if (i >= kSide) add(i - kSide, -1);
    if (i % kSide > 0) add(i - 1, -1);
    add(i, 4);
    if (i % kSide < kSide - 1) add(i + 1, -1);
    if (i + kSide < a.rows) add(i + kSide, -1);
    a.row_offsets.push_back(static_cast<std::int64_t>(a.values.size()));
  }
  return a;
}

/// Its eigenvalue of the waves i and j, which count from 1.
double exact(int i, int j) {
  const double step = std::acos(-1.0) / static_cast<double>(2 * (kSide + 1));
  return 4 * (std::pow(std::sin(i * step), 2) + std::pow(std::sin(j * step), 2));
}

}  // namespace

int main() {
  const lanky::Stream stream(lanky::Device::best());
  const lanky::CsrMatrix<double> matrix = laplacian();

  // begin smallest
  const lanky::SparsePlan<double> plan(stream, matrix.view(), {.expected_columns = 8});
  const lanky::EigenProblem<double> problem{
      .a = plan, .preconditioner = lanky::block_jacobi(stream, matrix.view(), 30)};
  const lanky::EigenResult<double> found = lanky::lobpcg(stream, problem, {.k = 3});
  for (std::size_t j = 0; j < 3; ++j) {
    std::printf("%.12f, with an eigenvalue no farther than %.1e\n", found.values[j],
                found.bounds[j]);
  }
  // end smallest
  expect(found.status == lanky::SolverStatus::converged);
  const double reference[3] = {exact(1, 1), exact(1, 2), exact(2, 1)};
  for (std::size_t j = 0; j < 3; ++j)
    expect(std::abs(found.values[j] - reference[j]) <= found.bounds[j] && found.bounds[j] < 1e-7);

  // begin mixed
  const lanky::EigenProblem<double> mixed{
      .a = plan, .a_single = lanky::make_single_operator(stream, matrix.view(), 8)};
  const lanky::EigenResult<double> same = lanky::lobpcg(stream, mixed, {.k = 3});
  // end mixed
  for (std::size_t j = 0; j < 3; ++j)
    expect(std::abs(same.values[j] - reference[j]) <= same.bounds[j] && same.bounds[j] < 1e-7);

  // begin function
  // Any linear map: here A A, by two products that are given to the stream.
  const auto square = [&](const lanky::Stream& on, lanky::MatrixView<const double> x,
                          lanky::MatrixView<double> y) {
    lanky::Matrix<double> product(on, x.rows, x.cols, lanky::Layout::row);
    plan.run(on, x, product);
    plan.run(on, product, y);
  };
  const lanky::EigenProblem<double> squared{
      .a = lanky::LinearOperator<double>(plan.rows(), plan.rows(), square)};
  const auto largest = lanky::lobpcg(stream, squared, {.k = 1, .end = lanky::EigenEnd::largest});
  // end function
  expect(std::abs(largest.values[0] - std::pow(exact(kSide, kSide), 2)) <= largest.bounds[0]);

  // begin more
  // Three more: the search leaves out what was found, and starts from nothing of it.
  const lanky::EigenProblem<double> next{
      .a = plan, .preconditioner = problem.preconditioner, .constraints = found.vectors.view()};
  const lanky::EigenResult<double> more = lanky::lobpcg(stream, next, {.k = 3});
  // end more
  expect(std::abs(more.values[0] - exact(2, 2)) < 1e-9);

  // begin progress
  lanky::EigenOptions options{.k = 3};
  options.max_iterations = 500;
  options.progress = [](const lanky::SolverProgress& progress) {
    return progress.seconds < 60;  // false ends the solver with the best so far
  };
  const lanky::EigenResult<double> limited = lanky::lobpcg(stream, problem, options);
  if (limited.status != lanky::SolverStatus::converged) {
    std::printf("%lld of %lld have converged\n", static_cast<long long>(limited.converged),
                static_cast<long long>(options.k));
  }
  // end progress
  expect(limited.converged == 3);
}
