#include "solvers/dense_svd.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <lanky/error.hpp>
#include <numeric>
#include <utility>

namespace lanky::solvers {

namespace {

template <class W>
using Dense = Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>;

/// Columns of `dense` in another order.
template <class W>
SmallMatrix<W> columns_in(const Dense<W>& dense, const std::vector<Eigen::Index>& order) {
  SmallMatrix<W> matrix(dense.rows(), dense.cols());
  for (std::size_t j = 0; j < order.size(); ++j)
    std::copy_n(&dense(0, order[j]), dense.rows(), &matrix(0, static_cast<std::int64_t>(j)));
  return matrix;
}

}  // namespace

// Eigen's BDCSVD reads beyond its arrays where singular values are equal (Eigen 3.4.0), and the
// rotations of its JacobiSVD are slow and add up to hundreds of roundings.
//
// With V of A^H A = V diag(s^2) V^H, columns of A V are orthogonal to about u s_1^2, and A V = U R
// with a nearly diagonal R: |r_ij| is about u s_1^2 / s_i. So the large singular values are
// accurate. The lower right of R, which belongs to the small ones, is a matrix of its own norm, and
// is treated the same way.
template <class W>
SmallSvd<W> small_svd(const SmallMatrix<W>& a) {
  constexpr double kLarge = 1.0 / 16;  // of a matrix' norm, what is taken from its R
  constexpr double kNone = 1e-18;      // of the norm of A, what counts as zero
  const Eigen::Map<const Dense<W>> given(a.data(), a.rows(), a.cols());
  if (!given.allFinite()) {
    throw Error(ErrorCode::invalid_argument,
                "products with A or its adjoint have elements that are NaN or Inf");
  }
  const Eigen::Index n = given.rows();
  Dense<W> rest = given;
  Dense<W> left = Dense<W>::Identity(n, n);
  Dense<W> right = left;
  std::vector<double> values(static_cast<std::size_t>(n));
  double norm = 0;
  for (Eigen::Index first = 0; first < n;) {
    const Eigen::Index size = n - first;
    const double largest = rest.cwiseAbs().maxCoeff();
    norm = std::max(norm, largest);
    if (!(largest > kNone * norm)) break;
    rest /= largest;  // squares neither overflow nor vanish
    const Eigen::SelfAdjointEigenSolver<Dense<W>> squares(rest.adjoint() * rest);
    if (squares.info() != Eigen::Success) {
      throw Error(ErrorCode::device, "the QR iteration of a small eigenproblem did not converge");
    }
    const Dense<W> v = squares.eigenvectors().rowwise().reverse();
    const Eigen::HouseholderQR<Dense<W>> qr(rest * v);
    const Dense<W> u = qr.householderQ();
    const Dense<W> r = qr.matrixQR().template triangularView<Eigen::Upper>();
    left.rightCols(size) = (left.rightCols(size) * u).eval();
    right.rightCols(size) = (right.rightCols(size) * v).eval();
    Eigen::Index taken = 0;
    do {
      const double value = std::real(r(taken, taken));
      values[static_cast<std::size_t>(first + taken)] = largest * std::abs(value);
      if (value < 0) left.col(first + taken) *= -1;
      ++taken;
    } while (taken < size && std::abs(r(taken, taken)) > kLarge * std::abs(r(0, 0)));
    rest = largest * r.bottomRightCorner(size - taken, size - taken);
    first += taken;
  }
  std::vector<Eigen::Index> order(values.size());
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  const auto value_of = [&](Eigen::Index j) { return values[static_cast<std::size_t>(j)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](Eigen::Index i, Eigen::Index j) { return value_of(i) > value_of(j); });
  SmallSvd<W> svd{{}, columns_in<W>(left, order), columns_in<W>(right, order)};
  for (const Eigen::Index j : order)
    svd.values.push_back(value_of(j));
  return svd;
}

template SmallSvd<double> small_svd(const SmallMatrix<double>&);
template SmallSvd<std::complex<double>> small_svd(const SmallMatrix<std::complex<double>>&);

}  // namespace lanky::solvers
