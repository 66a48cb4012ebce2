// The device's work for solvers beside lanky's products, with implementations in cpu/ and cuda/; a
// build without CUDA takes cuda/absent.cpp. Work is given to the stream, and nothing waits.
#pragma once

#include <cstdint>
#include <lanky/linear_operator.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <memory>

#include "solvers/number.hpp"
#include "solvers/orthogonal_factor.hpp"

namespace lanky::solvers {

/// The next basis and the residuals of its X.
template <class T>
struct TurnOperands {
  std::int64_t x;          // columns of X
  MatrixView<const T> xp;  // of the basis
  MatrixView<const T> w;
  MatrixView<const T> product;  // A [X P W]
  const T* coefficients;        // [x + p + w, next.cols], tight
  MatrixView<T> next;           // [X P]
  MatrixView<T> next_product;
  const double* theta;            // [x]
  const std::int32_t* positions;  // [x] in the residuals, or -1
  MatrixView<T> residuals;
  double* squares;  // [x] of all residuals
  T* gram;          // [next residuals]^H residuals, tight; or null
};

/// T: double, float, complex<float>, complex<double>. Views are by rows.
template <class T>
class BlockWork {
 public:
  virtual ~BlockWork() = default;

  /// W = A X - B X diag(theta) in the columns of X that have a position in W, -1 being none;
  /// squares [columns] of all residuals. theta and positions [columns].
  virtual void residual(MatrixView<const T> ax, MatrixView<const T> bx, const double* theta,
                        const std::int32_t* positions, MatrixView<T> w, double* squares) = 0;
  /// next = [X P W] C, next_product = A [X P W] C, residuals = A X - X diag(theta) and their gram
  /// matrix in one pass; false, and nothing is done, where there is no kernel for it.
  virtual bool turn(const TurnOperands<T>& /*operands*/) { return false; }
  /// The real part of x_j^H y_j of all columns.
  virtual void dots(MatrixView<const T> x, MatrixView<const T> y, double* sums) = 0;
  /// Y = alpha X + beta Y; with beta = 0, Y is not read.
  virtual void combine(double alpha, MatrixView<const T> x, double beta, MatrixView<T> y) = 0;
  /// Y = t[0] X + t[1] Y + t[2] R + t[3] A X, t in memory of the device; t[1] = 0 reads no Y.
  virtual void recur(const double* t, MatrixView<const T> x, MatrixView<T> y, MatrixView<const T> r,
                     MatrixView<const T> ax) = 0;
  /// Y = X, times *factor of the device's memory where that is not null, and back without one.
  virtual void narrow(const double* factor, MatrixView<const T> x, MatrixView<SingleOf<T>> y) = 0;
  virtual void widen(MatrixView<const SingleOf<T>> x, MatrixView<T> y) = 0;
  /// Uniform in (-1, 1), by place and seed; a column of another matrix at its `first_column`.
  virtual void fill_random(std::uint64_t seed, std::int64_t first_column, MatrixView<T> x) = 0;
  /// The small factorization of a pass of orthogonalization; all pointers are memory of the device.
  virtual void orthogonal_pass(const PassOperands<RealOf<T>>& operands) = 0;
  /// Loads what passes over up to `columns` columns need, so that they can be captured.
  virtual void prepare(std::int64_t columns) = 0;
};

template <class T>
std::unique_ptr<BlockWork<T>> make_block_work(const Stream& stream);

namespace cpu {
template <class T>
std::unique_ptr<BlockWork<T>> make_block_work(const Stream& stream);
}
namespace cuda {
template <class T>
std::unique_ptr<BlockWork<T>> make_block_work(const Stream& stream);
}

template <class T>
std::unique_ptr<BlockWork<T>> make_block_work(const Stream& stream) {
  return stream.device().is_cuda() ? cuda::make_block_work<T>(stream)
                                   : cpu::make_block_work<T>(stream);
}

/// apply(T) for every type of vectors.
#define LANKY_FOR_EACH_VECTOR_TYPE(apply) \
  apply(double) apply(float) apply(std::complex<float>) apply(std::complex<double>)

}  // namespace lanky::solvers
