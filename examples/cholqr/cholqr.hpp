// A = Q R of a tall A[m, n]: CholeskyQR2 (Yamamoto, Nakatsukasa, Yanagisawa, Fukaya, ETNA '15).
// Twice: G = A^T A, G = R^T R, Q = A R^-1. Good for condition numbers up to about roundoff^-1/2;
// shifted CholeskyQR3 (Fukaya, Kannan, Nakatsukasa, Yamamoto, Yanagisawa, SISC '20), a pass more
// with a shifted G before, for about roundoff^-1.
#pragma once

#include <lanky/buffer.hpp>
#include <lanky/dense.hpp>
#include <memory>
#include <string>
#include <vector>

#include "examples/cholqr/tall_work.hpp"

namespace lanky::examples::cholqr {

template <class T>
class CholeskyQr {
 public:
  /// 1 <= n <= kMostColumns, n <= m. Throws Error: invalid_argument, unsupported, out_of_memory.
  CholeskyQr(const Stream& stream, std::int64_t m, std::int64_t n, bool shifted = false);

  /// Q[m, n] and R[n, n], its lower part zero. A is kept and may not be Q. Puts its work on the
  /// stream and returns; it can be captured in a CUDA graph.
  void run(MatrixView<const T> a, MatrixView<T> q, MatrixView<T> r);
  /// Waits. Throws Error(unsupported) where a run broke down, with the pass and the pivot; Q and R
  /// are NaN then.
  void check() const;

  TallWork<T>& work() noexcept { return *work_; }
  /// How lanky computes the gram and the update.
  std::string explain() const { return gram_.explain() + "\n" + update_.explain(); }

 private:
  Stream stream_;
  std::int64_t m_;
  std::int64_t n_;
  int passes_;
  std::unique_ptr<TallWork<T>> work_;
  GemmPlan<T> gram_;
  GemmPlan<T> update_;
  Matrix<T> between_;  // [m, n]: what the passes before the last leave
  Matrix<T> g_;        // [n, n]
  Matrix<T> r_step_;
  Matrix<T> inverse_;
  Matrix<T> r_before_[2];
  Buffer<Breakdown> breakdown_;
};

/// The first shift over the trace of G, which bounds |A|^2: 11 (sqrt(m) n + n (n + 1)) roundoff.
/// Fukaya et al. have m in place of its root; roundings of sums of m terms grow as the root.
double first_shift(std::int64_t m, std::int64_t n, double roundoff);

/// Throws what a breakdown says; nothing where there is none.
void throw_breakdown(const Breakdown& breakdown, std::int64_t n, bool shifted);

/// A[m, n] = X S: X uniform in (-1, 1), S = diag(1 .. 1 / condition, geometric) times a random
/// orthogonal matrix. Where m is far above n, A has about that condition number.
template <class T>
void fill_conditioned(const Stream& stream, TallWork<T>& work, double condition, std::uint64_t seed,
                      MatrixView<T> scratch, MatrixView<T> a);

}  // namespace lanky::examples::cholqr
