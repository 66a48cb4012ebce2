// Parts that the methods for singular values share: the problem with its shorter side as columns,
// bases that grow by blocks, and triplets of a matrix that is projected on a basis.
#pragma once

#include <chrono>
#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/linear_operator.hpp>
#include <lanky/solver.hpp>
#include <lanky/stream.hpp>
#include <lanky/svd.hpp>
#include <lanky/view.hpp>
#include <memory>
#include <vector>

#include "solvers/block_work.hpp"
#include "solvers/dense_svd.hpp"
#include "solvers/orthogonalizer.hpp"
#include "solvers/products.hpp"

namespace lanky::solvers {

/// A problem in work.
template <class T>
struct SvdWork {
  SvdWork(const Stream& on, const LinearOperator<T>& op, const SvdOptions& given);

  Stream stream;
  LinearOperator<T> a;  // rows >= cols: the caller's operator or its adjoint
  const SvdOptions& options;
  std::unique_ptr<BlockWork<T>> work;
  Products<T> products;
  /// Products are divided by this power of 2 before their gram products, which might overflow.
  double scale = 1;
  double tolerance;  // over the largest singular value; no less than roundings of products
  std::vector<SolverProgress> history;
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();

  /// Notes how far the solver is; false where the caller wants it to end. `residual` is over the
  /// largest singular value.
  bool report(int iteration, std::int64_t converged, double residual);
};

/// Approximate triplets A right = left diag(values), of A with its shorter side as columns.
template <class T>
struct Triplets {
  std::vector<double> values;
  Matrix<T> left;
  Matrix<T> right;
};

/// Orthonormal columns, to which blocks are appended. They have room on their left, which passes of
/// the orthogonalizer take turns with.
template <class T>
class Basis {
 public:
  /// Holds up to `capacity` columns, of which up to `at_once` are made orthonormal together, in as
  /// many further columns of memory.
  Basis(SvdWork<T>& work, std::int64_t rows, std::int64_t capacity, std::int64_t at_once = 64);

  std::int64_t size() const noexcept { return size_; }
  void clear() noexcept {
    size_ = 0;
    loss_.most = 0;
  }
  MatrixView<T> columns(std::int64_t first, std::int64_t count) {
    return columns_of(matrix_.view(), room_ + first, count);
  }
  MatrixView<T> all() { return columns(0, size_); }
  /// Where the next `count` columns are written before they are appended.
  MatrixView<T> next(std::int64_t count) { return columns(size_, count); }
  /// Makes the next `count` columns orthonormal, and orthogonal to all others. Waits. Throws
  /// Error(invalid_argument) where they have NaN or Inf.
  void append(std::int64_t count);
  /// The same with a copy of `x` over a scale.
  void append(MatrixView<const T> x, double scale = 1);
  /// append(), and all()^H x of what all() is then.
  SmallMatrix<Wide<T>> append_and_multiply(MatrixView<const T> x, double scale);

 private:
  SvdWork<T>& work_;
  std::int64_t room_;
  Matrix<T> matrix_;  // [rows, room_ + capacity]
  Orthogonalizer<T> orthogonalizer_;
  std::int64_t size_ = 0;
  Loss loss_;  // of orthogonality
};

/// C = A^H B on the host.
template <class T>
SmallMatrix<Wide<T>> gram_on_host(SvdWork<T>& work, MatrixView<const T> a, MatrixView<const T> b);

/// Y = X times the first columns of C, as many as Y has.
template <class T>
void combine_columns(SvdWork<T>& work, MatrixView<const T> x, const SmallMatrix<Wide<T>>& c,
                     MatrixView<T> y);

/// The k largest triplets of A X X^H, X [cols, l] nearly orthonormal.
template <class T>
Triplets<T> projected_triplets(SvdWork<T>& work, MatrixView<const T> x);

/// All triplets by products with the identity; for few columns.
template <class T>
Triplets<T> whole_triplets(SvdWork<T>& work);

/// Makes the vectors orthonormal to rounding, of which bases lose more, and returns how far
/// |A right - left diag(values)| and |A^H left - right diag(values)| are from zero then: the larger
/// of both, of each triplet.
template <class T>
std::vector<double> finish(SvdWork<T>& work, Triplets<T>& triplets);

/// How many of the largest have residuals up to `tolerance` times the largest singular value.
std::int64_t count_converged(const std::vector<double>& values,
                             const std::vector<double>& residuals, double tolerance);

}  // namespace lanky::solvers
