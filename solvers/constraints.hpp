// Eigenproblems among the vectors that are B-orthogonal to given ones, Y: A x = lambda B x + B Y mu
// with mu = Y^H A x, where Y need not be of eigenvectors.
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/eigensolver.hpp>
#include <lanky/linear_operator.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>

#include "solvers/block_work.hpp"
#include "solvers/products.hpp"

namespace lanky::solvers {

template <class T>
class Constraints {
 public:
  /// Takes up to `columns` columns at a time. Waits. Throws Error(invalid_argument) where the
  /// problem's constraints have NaN or Inf, or B is not positive definite.
  Constraints(const Stream& stream, const EigenProblem<T>& problem, BlockWork<T>& work,
              Products<T>& products, std::int64_t columns, Allocator* allocator);

  /// The same space, B-orthonormal [n, c].
  MatrixView<const T> y() const { return y_.view(); }
  /// X less B Y Y^H X: what is left of A x - lambda B x is then the residual among these vectors.
  /// Nothing is done without constraints. Can be captured, and waits for nothing.
  void project(MatrixView<T> x);

 private:
  Products<T>& products_;
  Matrix<T> y_;
  Matrix<T> by_;     // where there is a B
  Buffer<T> inner_;  // [c, columns]
};

}  // namespace lanky::solvers
