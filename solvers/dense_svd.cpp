#include "solvers/dense_svd.hpp"

#include <Eigen/SVD>
#include <algorithm>
#include <complex>
#include <lanky/error.hpp>

namespace lanky::solvers {

namespace {

template <class W>
using Dense = Eigen::Matrix<W, Eigen::Dynamic, Eigen::Dynamic>;

template <class W>
SmallMatrix<W> small(const Dense<W>& dense) {
  SmallMatrix<W> matrix(dense.rows(), dense.cols());
  std::copy_n(dense.data(), dense.size(), matrix.data());
  return matrix;
}

template <class W, class Solver>
SmallSvd<W> triplets(const Solver& solver) {
  if (solver.info() != Eigen::Success) {
    throw Error(ErrorCode::device,
                "the iteration of a small singular value problem did not "
                "converge");
  }
  const auto& values = solver.singularValues();
  return {{values.data(), values.data() + values.size()},
          small<W>(solver.matrixU()),
          small<W>(solver.matrixV())};
}

}  // namespace

template <class W>
SmallSvd<W> small_svd(const SmallMatrix<W>& a) {
  constexpr unsigned kVectors = Eigen::ComputeThinU | Eigen::ComputeThinV;
  constexpr Eigen::Index kJacobi = 16;  // rows or columns up to which Jacobi's rotations are faster
  const Eigen::Map<const Dense<W>> dense(a.data(), a.rows(), a.cols());
  if (!dense.allFinite()) {
    throw Error(ErrorCode::invalid_argument,
                "products with A or its adjoint have elements that are NaN or Inf");
  }
  if (std::min(dense.rows(), dense.cols()) <= kJacobi)
    return triplets<W>(Eigen::JacobiSVD<Dense<W>>(dense, kVectors));
  return triplets<W>(Eigen::BDCSVD<Dense<W>>(dense, kVectors));
}

template SmallSvd<double> small_svd(const SmallMatrix<double>&);
template SmallSvd<std::complex<double>> small_svd(const SmallMatrix<std::complex<double>>&);

}  // namespace lanky::solvers
