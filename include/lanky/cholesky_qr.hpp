// A = Q R of a tall dense A by CholeskyQR2 (Yamamoto, Nakatsukasa, Yanagisawa and Fukaya, Electron.
// Trans. Numer. Anal. 44, 2015): twice G = A^H A = R^H R and Q = A R^-1. It serves for condition
// numbers up to about roundoff^-1/2; shifted CholeskyQR3 (Fukaya, Kannan, Nakatsukasa, Yamamoto and
// Yanagisawa, SIAM J. Sci. Comput. 42, 2020), with a pass more before it, up to about roundoff^-1.
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/export.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <memory>
#include <string>

namespace lanky::inline v1 {

struct CholeskyQrOptions {
  bool shifted = false;         // three passes: for nearly dependent columns
  Layout layout = Layout::col;  // of A, Q and R
  std::int64_t lda = 0;         // leading dimensions; 0: tight
  std::int64_t ldq = 0;
  Allocator* allocator = nullptr;  // of device memory; must outlive the factorization
};

/// The factorization of matrices [m, n] on one device, with the memory that it works in: another
/// [m, n] and a few [n, n]. T: double, float, complex<float>, complex<double>. Move-only; a
/// factorization moved from may only be assigned to or destroyed.
template <class T>
class LANKY_EXPORT CholeskyQr {
 public:
  /// Throws Error: invalid_argument (n < 1, m < n, leading dimensions shorter than a column or
  /// row), out_of_memory.
  CholeskyQr(const Stream& stream, std::int64_t m, std::int64_t n,
             const CholeskyQrOptions& options = {});
  CholeskyQr(CholeskyQr&&) noexcept;
  CholeskyQr& operator=(CholeskyQr&&) noexcept;
  /// Runs must be done.
  ~CholeskyQr();

  /// Q [m, n] and R [n, n], whose diagonal is positive and whose lower part is zero. A is kept; Q
  /// does not overlap it. Gives its work to the constructor's stream and waits for nothing; can be
  /// captured in a CUDA graph. Where columns of A depend on each other too closely, Q and R are NaN
  /// and check() throws. Throws Error: size_mismatch, wrong_memory, invalid_argument (another
  /// layout, null memory).
  void run(MatrixView<const T> a, MatrixView<T> q, MatrixView<T> r);
  /// Waits. Throws Error where the last run broke down: unsupported, with the pass and the pivot;
  /// invalid_argument for NaN or Inf in A.
  void check() const;
  /// How the products are computed: of each pass, the gram product and the update.
  std::string explain() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lanky::inline v1
