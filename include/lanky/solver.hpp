// Common to all solvers: how they end, what they report, how they are stopped, and preconditioners
// made from a matrix.
#pragma once

#include <cstdint>
#include <functional>
#include <lanky/export.hpp>
#include <lanky/linear_operator.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <string_view>

namespace lanky::inline v1 {

/// How a solver ended. `stagnated`: residuals have not decreased for long, as rounding allows no
/// less. `stopped`: the caller's OnProgress said so. The best so far is returned in all cases.
enum class SolverStatus : std::uint8_t { converged, iterations_exhausted, stagnated, stopped };
/// Name of the status as it stands in the enum.
LANKY_EXPORT std::string_view to_string(SolverStatus status) noexcept;

/// Where a solver stands after an iteration.
struct SolverProgress {
  int iteration = 0;
  std::int64_t wanted = 0;     // eigenpairs, singular triplets or right-hand sides
  std::int64_t converged = 0;  // of these
  double residual = 0;         // the largest of the wanted, over what it is compared with
  double tolerance = 0;        // at which `residual` has converged
  double seconds = 0;          // since the solver began
};

/// Called after each iteration, in the caller's thread; false ends the solver with the best so far.
/// An exception ends it, too, and reaches its caller.
using OnProgress = std::function<bool(const SolverProgress&)>;

/// The inverse of A's diagonal (Jacobi), by absolute value, 1 where A has none: positive definite.
/// A is square, in host memory or in that of the stream's device. Throws Error: invalid_argument
/// (not square; NaN or Inf on the diagonal), as SparsePlan's constructor.
template <class T>
LANKY_EXPORT LinearOperator<T> jacobi(const Stream& stream, const CsrView<T>& a);

/// The inverses of A's diagonal blocks of `block_size` rows (block Jacobi), the last one smaller.
/// Each block is made positive definite: its eigenvalues are taken by absolute value and no smaller
/// than 1e-8 times the largest. A is symmetric or Hermitian; entries below the diagonal decide.
/// Throws Error: as jacobi(), invalid_argument (a block size outside of 1 to 64).
template <class T>
LANKY_EXPORT LinearOperator<T> block_jacobi(const Stream& stream, const CsrView<T>& a,
                                            std::int64_t block_size);

/// An operator that owns its plan of A in single precision, which expects `columns` vectors by
/// rows. A is in host memory or in that of the stream's device; values that are too large for
/// single precision become Inf. Throws Error: as SparsePlan's constructor, out_of_memory.
template <class T>
LANKY_EXPORT LinearOperator<SingleOf<T>> make_single_operator(const Stream& stream,
                                                              const CsrView<T>& a,
                                                              std::int64_t columns,
                                                              const SparseOptions& options = {});

}  // namespace lanky::inline v1
