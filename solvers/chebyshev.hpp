// The polynomial that preconditions residuals of LOBPCG: steps of Chebyshev iteration for
// A less its outermost Ritz value (Saad, Iterative Methods for Sparse Linear Systems,
// section 12.3), in the precision of the vectors, or in half of it.
#pragma once

#include <cstdint>
#include <lanky/eigensolver.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <memory>
#include <vector>

#include "solvers/block_work.hpp"

namespace lanky::solvers {

/// A bound of the spectrum at one end: a few steps of Lanczos from a random vector, the outermost
/// Ritz value and the rest (Zhou and Li, Linear Algebra Appl. 435, 2011). 0 where A X has elements
/// that are NaN or Inf. Waits.
template <class T>
double spectrum_bound(const Stream& stream, const LinearOperator<T>& a, EigenEnd end,
                      BlockWork<T>& work, std::uint64_t seed, Allocator* allocator);

/// The part of the spectrum that is damped, at the end `far`, and what A is shifted by.
struct Damped {
  double shift;
  double near;
  double far;
};

/// Coefficients of `degree` steps for +-(A - shift): a polynomial that is positive on all of the
/// spectrum.
std::vector<double> chebyshev_steps(const Damped& damped, int degree);

template <class T>
class Polynomial {
 public:
  virtual ~Polynomial() = default;

  /// Numbers that apply() reads: the coefficients of chebyshev_steps(), and behind them what
  /// residuals are multiplied by where they become shorter numbers.
  static constexpr std::int64_t numbers(int degree) { return 4 * (degree + 1) + 1; }

  /// Where the residuals are to be written that apply() turns into `w`; it may be `w` itself.
  virtual MatrixView<T> residuals(MatrixView<T> w) = 0;
  /// W = p(A) R; `steps` [numbers(degree)] is memory of the device. Waits for nothing.
  virtual void apply(const double* steps, MatrixView<T> w) = 0;
};

/// For up to `columns` columns. Where `a_single` is there, it takes the place of A.
template <class T>
std::unique_ptr<Polynomial<T>> make_polynomial(const Stream& stream, const EigenProblem<T>& problem,
                                               int degree, std::int64_t columns, BlockWork<T>& work,
                                               Allocator* allocator);

}  // namespace lanky::solvers
