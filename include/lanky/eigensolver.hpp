// A few eigenpairs at one end of the spectrum, A x = lambda x or A x = lambda B x: LOBPCG (Knyazev,
// SIAM J. Sci. Comput. 23, 2001) with an orthonormal basis (Hetmaniuk and Lehoucq, J. Comput. Phys.
// 218, 2006; Duersch, Shao, Yang and Gu, SIAM J. Sci. Comput. 40, 2018).
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/export.hpp>
#include <lanky/linear_operator.hpp>
#include <lanky/solver.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <string>
#include <vector>

namespace lanky::inline v1 {

enum class EigenEnd : std::uint8_t { smallest, largest };  // algebraically

struct EigenOptions {
  std::int64_t k = 6;  // eigenpairs wanted, 1 to n
  EigenEnd end = EigenEnd::smallest;
  /// An eigenpair has converged where |A x - lambda B x| <= max(tolerance |lambda B x|, u |A| |x|),
  /// in Euclidean norms, u being 16 roundings. 0: 1e-8 for double, 1e-4 for float. The error of
  /// lambda is about the square of the residual over the distance to other eigenvalues.
  double tolerance = 0;
  int max_iterations = 2000;
  /// Vectors iterated at once, at least k; 0: k and a few more, which make the last of the k
  /// converge as fast as the others.
  std::int64_t block_size = 0;
  /// block_size, or what 0 stands for: a plan for A serves best that expects so many columns.
  std::int64_t columns() const noexcept {
    return block_size > 0 ? block_size : k + (k < 16 ? 2 : k / 8);
  }
  /// Steps of Chebyshev iteration that precondition residuals where there is neither B nor a
  /// preconditioner: a polynomial of A, near the inverse of A less its outermost Ritz value. Each
  /// step costs a product with A an iteration; about as many times fewer iterations are needed. 0:
  /// none. -1: from 1 to 16, so many that their products move about as many bytes as the rest of
  /// an iteration.
  int polynomial_degree = -1;
  std::uint64_t seed = 0;  // of random start vectors
  OnProgress progress = {};
  Allocator* allocator = nullptr;  // of device memory; must outlive the result
};

/// A x = lambda B x. Operators are [n, n] and self-adjoint on the stream's device.
template <class T>
struct EigenProblem {
  LinearOperator<T> a;
  /// Positive definite; none: the identity. For the smallest eigenvalues of a positive definite A
  /// it may be singular, but its rank is several times the vectors that are iterated.
  LinearOperator<T> b = {};
  /// Near the inverse of A (of A - sigma B for the eigenvalues near sigma), positive definite;
  /// none: the identity.
  LinearOperator<T> preconditioner = {};
  /// Y [n, c]: eigenpairs are sought among vectors that are B-orthogonal to these columns, which
  /// need not be eigenvectors: A x = lambda B x + B Y mu.
  MatrixView<const T> constraints = {};
  /// [n, any]: first approximations of eigenvectors, in no order, however dependent; random ones
  /// are added.
  MatrixView<const T> start = {};
  /// A with values in single precision, for mixed precision: the polynomial that preconditions
  /// residuals is one of this, on vectors in single precision, which moves half the bytes. All
  /// else, residuals and results above all, stays in T. Not beside B or a preconditioner;
  /// make_single_operator() makes one from a matrix.
  LinearOperator<SingleOf<T>> a_single = {};
};

template <class T>
struct EigenResult {
  /// Room for k vectors of n elements.
  EigenResult(const Stream& stream, std::int64_t n, std::int64_t k, Allocator* allocator = nullptr)
      : vectors(stream, n, k, Layout::row, 0, allocator) {}

  SolverStatus status = SolverStatus::converged;
  int iterations = 0;
  std::int64_t converged = 0;  // of the k, counted from the end
  std::vector<double> values;  // [k], ascending for the smallest, descending for the largest
  Matrix<T> vectors;           // [n, k] by rows, B-orthonormal
  /// [k] |A x - lambda B x - B Y mu| / |x|, computed anew at the end.
  std::vector<double> residuals;
  /// [k]: without B, A has an eigenvalue (among the vectors that constraints leave) no farther than
  /// this from each value: the residual and what rounding may hide of it (Parlett, The Symmetric
  /// Eigenvalue Problem, theorem 4.5.1). With B, the distance is measured in the norm of B^-1, and
  /// this is infinite.
  std::vector<double> bounds;
  double norm = 0;  // |A| as far as it was seen: the largest |Ritz value|; with B, |A x| / |x|
  std::vector<SolverProgress> history;  // an entry an iteration
};

/// k eigenpairs at one end of the spectrum of A, or of the pencil (A, B). The same bits in every
/// run on the same device. Where n is small beside the block, all eigenpairs are computed by a
/// dense solver. Waits. T: double, float, complex<float>, complex<double>. Throws Error:
/// invalid_argument (k < 1 or k > n, operators that are not n x n or not self-adjoint, B not
/// positive definite, NaN or Inf in A X, a tolerance below 0), size_mismatch, wrong_memory,
/// out_of_memory, and what operators and OnProgress throw.
template <class T>
LANKY_EXPORT EigenResult<T> lobpcg(const Stream& stream, const EigenProblem<T>& problem,
                                   const EigenOptions& options = {});

}  // namespace lanky::inline v1
