// What CholeskyQR needs beside lanky's products, on the CPU or in CUDA kernels: the factor of a
// small matrix, data, and an independent judgement of the result.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <memory>

namespace lanky::examples::cholqr {

inline constexpr int kMostColumns = 128;  // a factor fits one block's shared memory

/// Where a factorization ended too early; pass 0: it did not.
struct Breakdown {
  std::int32_t pass;
  std::int32_t pivot;  // from 0
  double value;        // of that pivot, in Q^T Q of that pass
  double diagonal;     // the diagonal element that it is left of
};

/// One pass of CholeskyQR in the small: G + shift I = R^T R. Matrices are [n, n], column major and
/// tight; of G the upper triangle is read.
template <class T>
struct FactorStep {
  std::int64_t n;
  const T* gram;
  double shift;       // over the trace of G
  double roundoff;    // pivots below n roundoff times their diagonal element are lost
  int pass;           // from 1; the first clears `breakdown`
  const T* r_before;  // of the passes before, or null
  T* r_step;          // R, zero below its diagonal
  T* r_total;         // R r_before
  T* inverse;         // of R; NaN, with R, where the pass broke down
  Breakdown* breakdown;
};

/// Gauss elimination of G = L D L^T, L unit lower, on `work` [n, n], row major: where step j has
/// made zeros below pivot j, it leaves L^-1 instead. Row j of R is sqrt(d_j) times row j of L^T;
/// column j of its inverse is row j of L^-1 over sqrt(d_j).
struct EliminationRow {
  double* row;          // i
  const double* pivot;  // row j < i
  std::int64_t i;
  std::int64_t j;

  constexpr void eliminate(double factor, std::int64_t c) const {
    if (c < j || c >= i)
      row[c] -= factor * pivot[c];
    else if (c == j)
      row[c] = -factor;  // between them: left of the diagonal, read no more
  }
};

/// Matrices are column major.
template <class T>
class TallWork {
 public:
  virtual ~TallWork() = default;

  /// Uniform in (-1, 1).
  virtual void fill(const Stream& stream, std::uint64_t seed, MatrixView<T> matrix) = 0;
  /// In stream order; waits for nothing.
  virtual void factor(const Stream& stream, const FactorStep<T>& step) = 0;

  /// |Q^T Q - I| in the Frobenius norm and |A - Q R| over |A| likewise, summed in double. Wait.
  virtual double orthogonality(const Stream& stream, MatrixView<const T> q) = 0;
  virtual double residual(const Stream& stream, MatrixView<const T> a, MatrixView<const T> q,
                          MatrixView<const T> r) = 0;
};

/// Throws Error(no_device).
template <class T>
std::unique_ptr<TallWork<T>> make_tall_work(const Stream& stream);
template <class T>
std::unique_ptr<TallWork<T>> make_cuda_tall_work(const Stream& stream);

/// `work` captured as a CUDA graph, to be replayed by one launch on the stream; itself on the CPU.
std::function<void()> replay(const Stream& stream, const std::function<void()>& work);
std::function<void()> cuda_replay(const Stream& stream, const std::function<void()>& work);

}  // namespace lanky::examples::cholqr
