// The elementwise work of a protected product, on the CPU or in CUDA kernels: data, norms, the
// inspection of residuals, faults and their correction. All of it runs in the order of a stream,
// and none of it waits.
#pragma once

#include <cstdint>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <memory>

#include "examples/abft/rules.hpp"

namespace lanky::examples::abft {

/// One side of a check: the columns of C (count = n), or its rows (count = m).
template <class T>
struct Side {
  std::int64_t count;
  const T* expected;      // [count, 2] column major: sums as the checksums of A and B have them
  const T* found;         // [count, 2]: sums of C
  const double* operand;  // [count]: squared norms of the columns of B (rows of A)
  const double* result;   // [count]: of the columns (rows) of C
};

/// One operand along the inner dimension k.
template <class T>
struct Inner {
  const double* squares;  // [k]: squared norms of the columns of A (rows of B)
  const T* checksum;      // [k, 2] column major
};

/// Matrices are column major.
template <class T>
class Elements {
 public:
  virtual ~Elements() = default;

  /// From the seed and each element's number.
  virtual void fill(const Stream& stream, Data data, std::uint64_t seed, MatrixView<T> matrix) = 0;
  /// Both weight vectors: [count, 2].
  virtual void fill_weights(const Stream& stream, MatrixView<T> weights) = 0;
  /// Squared 2-norms of the rows [matrix.rows] and columns [matrix.cols].
  virtual void square_norms(const Stream& stream, MatrixView<const T> matrix, double* rows,
                            double* cols) = 0;
  virtual void scales(const Stream& stream, const Inner<T>& a, const Inner<T>& b, std::int64_t m,
                      std::int64_t n, std::int64_t k, double lambda_u, Scales* scales) = 0;
  /// Writes what the residuals tell, by their bounds; leaves the fields of faults alone.
  virtual void inspect(const Stream& stream, const Side<T>& columns, const Side<T>& rows,
                       const Scales* scales, Report* report) = 0;
  /// The suspect as a product of its row and column, summed in double, and the final verdict.
  /// `factor`: rounding_factor().
  virtual void settle(const Stream& stream, MatrixView<const T> a, MatrixView<const T> b,
                      MatrixView<const T> c, double factor, Report* report) = 0;
  /// Where the report says `located`: the element of C becomes the one that was computed again.
  virtual void correct(const Stream& stream, MatrixView<T> c, const Report* report) = 0;
  /// A fault, and the element as it was before it.
  virtual void inject(const Stream& stream, const Fault& fault, MatrixView<T> c,
                      Report* report) = 0;
  virtual void restore(const Stream& stream, const Fault& fault, MatrixView<T> c,
                       const Report* report) = 0;
};

/// For A[m, k], B[k, n] and C[m, n], of which square_norms() takes each. Throws Error: no_device,
/// out_of_memory.
template <class T>
std::unique_ptr<Elements<T>> make_elements(const Stream& stream, std::int64_t m, std::int64_t n,
                                           std::int64_t k);
template <class T>
std::unique_ptr<Elements<T>> make_cuda_elements(const Stream& stream, std::int64_t m,
                                                std::int64_t n, std::int64_t k);

}  // namespace lanky::examples::abft
