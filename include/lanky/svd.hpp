// The largest singular triplets of a large sparse matrix, A V = U diag(s), and principal
// components. Randomized: Halko, Martinsson and Tropp, SIAM Review 53, 2011, with power iterations
// and CholeskyQR. Golub-Kahan: block Lanczos bidiagonalization with thick restarts (Baglama and
// Reichel, SIAM J. Sci. Comput. 27, 2005).
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/export.hpp>
#include <lanky/linear_operator.hpp>
#include <lanky/solver.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <vector>

namespace lanky::inline v1 {

/// `randomized` takes a fixed number of products, and finds values within a factor of the largest
/// ones that power iterations bring near 1. Its status is `converged` where the tolerance happens
/// to be reached, and `iterations_exhausted` otherwise. `golub_kahan` goes on until the tolerance
/// is reached. Both solve matrices with few rows or columns whole, by products with the identity.
enum class SvdMethod : std::uint8_t { randomized, golub_kahan };

struct SvdOptions {
  std::int64_t k = 6;  // singular triplets wanted, 1 to min(m, n)
  SvdMethod method = SvdMethod::golub_kahan;
  /// A triplet has converged where max(|A v - s u|, |A^H u - s v|) <= tolerance times the largest
  /// singular value. 0: 1e-8 for double, 1e-4 for float. Never less than 32 roundings.
  double tolerance = 0;
  /// Golub-Kahan's limit. An iteration is a product of A with 8 vectors and one of A^H; the solver
  /// exceeds the limit until its bases have k vectors.
  int max_iterations = 1000;
  /// Vectors beside the k, which are iterated (randomized) or kept by restarts (Golub-Kahan): more
  /// of them take memory and save iterations.
  std::int64_t oversampling = 10;
  int power_iterations = 4;  // of the randomized method; each is a product with A and one with A^H
  /// Columns of A less their means, without that matrix being formed (PCA): rows are samples.
  bool center = false;
  std::uint64_t seed = 0;  // of random start vectors
  /// Called by Golub-Kahan where it looks at its residuals, every few iterations; by the randomized
  /// method after each power iteration, with an infinite residual until the last.
  OnProgress progress = {};
  Allocator* allocator = nullptr;  // of device memory; must outlive the result
};

template <class T>
struct SvdResult {
  /// Room for k triplets of a matrix [m, n].
  SvdResult(const Stream& stream, std::int64_t m, std::int64_t n, std::int64_t k,
            Allocator* allocator = nullptr)
      : u(stream, m, k, Layout::row, 0, allocator), v(stream, n, k, Layout::row, 0, allocator) {}

  SolverStatus status = SolverStatus::converged;
  int iterations = 0;
  std::int64_t converged = 0;  // of the k, counted from the largest
  std::vector<double> values;  // [k], descending
  Matrix<T> u;                 // [m, k] by rows, orthonormal
  Matrix<T> v;                 // [n, k] by rows, orthonormal
  /// [k] max(|A v - s u|, |A^H u - s v|), computed anew at the end: A has a singular value no
  /// farther than this from s.
  std::vector<double> residuals;
  std::vector<double> means;            // [n] of A's columns (real parts), where they were centered
  std::vector<SolverProgress> history;  // what OnProgress was told
};

/// The k largest singular triplets of A [m, n], an operator with its adjoint, as
/// make_operator_with_adjoint() makes it (of plans that expect 8 columns for Golub-Kahan, k +
/// oversampling for the randomized method). Multiple singular values come out as often as they are
/// there, and where k is more than A's rank, zeros with vectors that are orthonormal, too. The same
/// bits in every run on the same device. Waits. T: double, float, complex<float>, complex<double>.
/// Throws Error: invalid_argument (k < 1 or k > min(m, n), no adjoint, NaN or Inf in products, an
/// adjoint that is not A's, options below zero), out_of_memory, and what operators and OnProgress
/// throw.
template <class T>
LANKY_EXPORT SvdResult<T> svds(const Stream& stream, const LinearOperator<T>& a,
                               const SvdOptions& options = {});

}  // namespace lanky::inline v1
