// A X = B for a self-adjoint sparse A and one or several right-hand sides, by Krylov methods.
// CG: Hestenes and Stiefel, J. Res. NBS 49, 1952. Block CG: O'Leary, Linear Algebra Appl. 29, 1980,
// with orthonormal residuals: Dubrulle, Electron. Trans. Numer. Anal. 12, 2001. MINRES: Paige and
// Saunders, SIAM J. Numer. Anal. 12, 1975.
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
  /// Called after 1, 2, 4, ... iterations and then every 16, when the host looks at the device.
  OnProgress progress = {};
  Allocator* allocator = nullptr;  // of device memory
};

struct LinearResult {
  SolverStatus status = SolverStatus::converged;
  int iterations = 0;                   // of the right-hand side that took the most
  std::int64_t converged = 0;           // right-hand sides that are solved
  std::vector<double> residuals;        // [c] |b - A x| / |b|, computed anew at the end
  std::vector<SolverProgress> history;  // an entry for each test of convergence
};

/// A X = B, A [n, n] positive definite, each right-hand side by the recurrence of its own: the
/// products of all with A and the preconditioner are one. B [n, c] and X [n, c] by rows, on the
/// stream's device; X holds the first approximations, which may be zeros, and then the solutions.
/// Where b = 0, x becomes 0. Columns that are solved rest. A right-hand side is solved once its
/// true residual says so; where rounding has let the recurrence part from it, the column begins
/// anew, and is `stagnated` where that gains nothing.
///
/// The same bits in every run on the same device. Bits of a column depend on how many others there
/// are, but not on what these hold, as far as operators keep to that; plans do.
///
/// Waits. Throws Error: invalid_argument (extents; A or the preconditioner not positive definite:
/// the value of p^H A p or r^H M r is told; NaN or Inf in B or in products; right-hand sides whose
/// squares leave the range of double; a stream that is captured), wrong_memory, out_of_memory, and
/// what operators and OnProgress throw.
template <class T>
LANKY_EXPORT LinearResult cg(const Stream& stream, const LinearOperator<T>& a,
                             std::type_identity_t<MatrixView<const T>> b, MatrixView<T> x,
                             const LinearOptions& options = {},
                             const LinearOperator<T>& preconditioner = {});

/// The same by block CG: every solution is sought in the Krylov spaces of all right-hand sides,
/// which takes fewer iterations where these are several; an iteration has three gram products and
/// five updates beside the product with A. Right-hand sides may depend on each other, and may be
/// more than A has rows. Bits of a column depend on the others.
template <class T>
LANKY_EXPORT LinearResult block_cg(const Stream& stream, const LinearOperator<T>& a,
                                   std::type_identity_t<MatrixView<const T>> b, MatrixView<T> x,
                                   const LinearOptions& options = {},
                                   const LinearOperator<T>& preconditioner = {});

/// As cg(), for a self-adjoint A that may be indefinite or singular, each right-hand side by
/// MINRES, which makes the residual least in the norm of the preconditioner (positive definite).
/// Where b is not in the range of a singular A, `stagnated` is told, and x is a least-squares
/// solution: |A r| is about the root of T's roundoff times |A| |r|.
template <class T>
LANKY_EXPORT LinearResult minres(const Stream& stream, const LinearOperator<T>& a,
                                 std::type_identity_t<MatrixView<const T>> b, MatrixView<T> x,
                                 const LinearOptions& options = {},
                                 const LinearOperator<T>& preconditioner = {});

}  // namespace lanky::inline v1
