// A X = B for a self-adjoint sparse A and one or several right-hand sides, by Krylov methods.
// CG: Hestenes and Stiefel, J. Res. NBS 49, 1952. Block CG: O'Leary, Linear Algebra Appl. 29, 1980,
// without breakdown: Ji and Li, BIT 57, 2017. MINRES: Paige and Saunders, SIAM J. Numer. Anal. 12,
// 1975.
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/export.hpp>
#include <lanky/linear_operator.hpp>
#include <lanky/solver.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <type_traits>
#include <vector>

namespace lanky::inline v1 {

struct LinearOptions {
  /// A right-hand side b is solved where |b - A x| <= max(tolerance |b|, absolute_tolerance), in
  /// Euclidean norms. 0: 1e-8 for double, 1e-4 for float.
  double tolerance = 0;
  double absolute_tolerance = 0;
  int max_iterations = 0;  // 0: ten times the rows of A, at most 100,000
  OnProgress progress = {};
  Allocator* allocator = nullptr;  // of device memory
};

struct LinearResult {
  SolverStatus status = SolverStatus::converged;
  int iterations = 0;
  std::int64_t converged = 0;           // right-hand sides that are solved
  std::vector<double> residuals;        // [c] |b - A x| / |b|, computed anew at the end
  std::vector<SolverProgress> history;  // an entry for each test of convergence
};

/// A X = B, A [n, n] positive definite, each right-hand side by the recurrence of its own: the
/// products of all with A and the preconditioner are one. B [n, c] and X [n, c] by rows, on the
/// stream's device; X holds the first approximations, which may be zeros, and then the solutions.
/// Where b = 0, x becomes 0. Columns that are solved rest. The same bits in every run on the same
/// device, whatever the other columns are. Waits. Throws Error: invalid_argument (extents, A or the
/// preconditioner not positive definite: the value of p^H A p is told; NaN or Inf in B or A P),
/// wrong_memory, out_of_memory, and what operators and OnProgress throw.
template <class T>
LANKY_EXPORT LinearResult cg(const Stream& stream, const LinearOperator<T>& a,
                             std::type_identity_t<MatrixView<const T>> b, MatrixView<T> x,
                             const LinearOptions& options = {},
                             const LinearOperator<T>& preconditioner = {});

/// The same by block CG: every solution is sought in the Krylov spaces of all right-hand sides,
/// which takes fewer iterations where these are several; an iteration has gram products and updates
/// beside the product with A. Right-hand sides may depend on each other. Bits of a column depend on
/// the others.
template <class T>
LANKY_EXPORT LinearResult block_cg(const Stream& stream, const LinearOperator<T>& a,
                                   std::type_identity_t<MatrixView<const T>> b, MatrixView<T> x,
                                   const LinearOptions& options = {},
                                   const LinearOperator<T>& preconditioner = {});

/// The same for a self-adjoint A that may be indefinite or singular, each right-hand side by
/// MINRES, which makes the residual least in the norm of the preconditioner (positive definite). Of
/// a singular A, x is a least-squares solution, and `stagnated` is told where b is not in A's
/// range.
template <class T>
LANKY_EXPORT LinearResult minres(const Stream& stream, const LinearOperator<T>& a,
                                 std::type_identity_t<MatrixView<const T>> b, MatrixView<T> x,
                                 const LinearOptions& options = {},
                                 const LinearOperator<T>& preconditioner = {});

}  // namespace lanky::inline v1
