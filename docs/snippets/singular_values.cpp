// Singular values, principal components and CholeskyQR, for docs/guide/singular_values.md.
#include "expect.hpp"

#include <algorithm>
#include <cmath>
#include <lanky/lanky.hpp>
#include <vector>

int main() {
  const lanky::Stream stream(lanky::Device::best());
  const auto A = lanky::io::generate<double>("uniform:3000:12:1000,seed=4");  // 3000 x 1000
  // begin svds
  const auto op = lanky::make_operator_with_adjoint(stream, A.view(), 8);
  const lanky::SvdResult<double> svd = lanky::svds(stream, op, {.k = 5});
  // svd.values: descending; svd.u [3000, 5] and svd.v [1000, 5] on the device
  const bool all_there = svd.status == lanky::SolverStatus::converged;
  // end svds
  expect(all_there && svd.converged == 5);
  expect(std::is_sorted(svd.values.rbegin(), svd.values.rend()));
  expect(svd.residuals[4] <= 1e-8 * svd.values[0]);

  // begin randomized
  const auto wide = lanky::make_operator_with_adjoint(stream, A.view(), 5 + 10);
  const lanky::SvdResult<double> near = lanky::svds(
      stream, wide,
      {.k = 5, .method = lanky::SvdMethod::randomized, .oversampling = 10, .power_iterations = 6});
  const double off = near.residuals[4];  // A has a singular value no farther from near.values[4]
  // end randomized
  expect(near.values[4] <= svd.values[4] * (1 + 1e-12) && near.values[4] > 0.9 * svd.values[4]);
  expect(off >= 0 && off < svd.values[0]);

  // begin pca
  const lanky::SvdResult<double> pca = lanky::svds(stream, op, {.k = 3, .center = true});
  std::vector<double> variances;  // of the samples in the directions that are pca.v's columns
  for (const double s : pca.values)
    variances.push_back(s * s / static_cast<double>(op.rows() - 1));
  // end pca
  expect(pca.status == lanky::SolverStatus::converged && pca.means.size() == 1000);
  expect(variances[0] >= variances[2] && variances[2] > 0);

  // begin cholesky_qr
  lanky::Matrix<double> Q(stream, 3000, 5, lanky::Layout::row);
  lanky::Matrix<double> R(stream, 5, 5, lanky::Layout::row);
  lanky::CholeskyQr<double> qr(stream, 3000, 5, {.layout = lanky::Layout::row});
  qr.run(svd.u, Q, R);  // svd.u = Q R; any number of runs, in CUDA graphs, too
  qr.check();           // waits, and throws where the columns depend on each other too closely
  // end cholesky_qr
  const std::vector<double> r = R.buffer().to_host();
  expect(std::abs(r[0] - 1) < 1e-13 && std::abs(r[1]) < 1e-13 && r[5] == 0);
}
