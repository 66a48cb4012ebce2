// Sampled dense-dense product (SDDMM): values[k] = alpha sum_c X(i, c) Y(j, c) + beta values[k] for
// every entry k, at (i, j), of a sparse [m, n] pattern; X [m, c], Y [n, c]. This is the gradient of
// A in A Y, sampled where A has entries; cuSPARSE calls it SDDMM, PyTorch sampled_addmm.
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/dtype.hpp>
#include <lanky/export.hpp>
#include <lanky/operation.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <memory>
#include <string>
#include <type_traits>

namespace lanky::inline v1 {

struct SddmmOptions {
  /// Complex types: sums of X(i, c) conj(Y(j, c)), the gradient that PyTorch's autograd expects.
  bool conjugate_y = false;
  /// The columns of X and Y, at most, for which the workspace has room for row-major copies of
  /// both: (rows() + cols()) times as many elements, rounded up to whole words of 16 bytes. A run
  /// copies an operand there that stands by columns or, on a GPU, whose rows are no whole, aligned
  /// words of 16 bytes. Operands of more columns are read element by element, to the same bits.
  std::int64_t expected_columns = 0;
  Allocator* allocator = nullptr;  // of the plan's device memory; must outlive the plan
};

/// A sparse pattern prepared for repeated sampled products on one device. T is the type of X and Y
/// (double, float, half, bfloat16, complex<float>, complex<double>); TOut that of the values (T, or
/// float for the half types). Half types are summed in float and rounded once; complex products are
/// the plain formula. The bits of a value depend on its two rows, alpha, beta and the number of
/// columns alone: layouts, alignment, the workspace, threads and other entries change none. They
/// differ between the CPU and a GPU (docs/design.md has the order of summation). Move-only; a plan
/// moved from may only be assigned to or destroyed.
template <class T, class TOut = T>
class LANKY_EXPORT SddmmPlan {
 public:
  using Scalar = lanky::Scalar<Accumulator<T>>;

  /// Copies the pattern of `a` (in host memory, or in that of the stream's device), whose values
  /// are not looked at and may be null. Entries of a row may be unsorted and repeated: each has a
  /// value of its own. Allocates all that run needs. Throws Error: invalid_argument (index base,
  /// offsets or columns out of range, negative expected_columns), unsupported (more than 2^31 - 1
  /// rows or columns), wrong_memory, out_of_memory.
  SddmmPlan(const Stream& stream, const CsrView<T>& a, const SddmmOptions& options = {});
  SddmmPlan(SddmmPlan&&) noexcept;
  SddmmPlan& operator=(SddmmPlan&&) noexcept;
  /// Runs given to other streams than the constructor's must be done.
  ~SddmmPlan();

  /// values[k] = sum_c X(i, c) Y(j, c): X [rows(), c] and Y [cols(), c] of any c >= 0, each by rows
  /// or by columns, with its own leading dimension; values [nnz()] in the order of the
  /// constructor's CSR. All on memory of the plan's device; values overlap neither X nor Y, which
  /// may overlap each other. Works in the plan's own workspace, on the constructor's stream alone,
  /// where expected_columns asked for one. Never allocates, synchronizes or prints; can be captured
  /// in a CUDA graph. Throws Error: size_mismatch, wrong_memory, invalid_argument (null or
  /// overlapping operands, a leading dimension shorter than a row or column, on a GPU elements that
  /// are not aligned to their size, complex ones included), unsupported (on a GPU, rows that are 4
  /// GiB apart or more, or 2^31 - 16 columns or more).
  void run(const Stream& stream, MatrixView<const T> x, MatrixView<const T> y,
           VectorView<TOut> values) const;
  /// values[k] = alpha sum_c X(i, c) Y(j, c) + beta values[k]. With beta = 0, values are
  /// overwritten whatever they held; alpha = 0 and c = 0 are no exceptions, and multiply as IEEE
  /// says.
  void run(const Stream& stream, Scalar alpha, MatrixView<const T> x, MatrixView<const T> y,
           Scalar beta, VectorView<TOut> values) const;
  /// The same with the caller's workspace of workspace_bytes(), aligned as cudaMalloc and Buffer
  /// do, so that runs may overlap.
  void run(const Stream& stream, Scalar alpha, MatrixView<const T> x, MatrixView<const T> y,
           Scalar beta, VectorView<TOut> values, Workspace workspace) const;

  std::int64_t rows() const noexcept;  // of the pattern and X
  std::int64_t cols() const noexcept;  // columns of the pattern, rows of Y
  std::int64_t nnz() const noexcept;   // entries of the pattern, repeated ones counted each
  Device device() const noexcept;      // of the constructor's stream
  /// Device memory that one run of the plan works in; 0 without expected_columns.
  std::int64_t workspace_bytes() const noexcept;
  /// Device memory that the plan holds, workspace included.
  std::int64_t device_bytes() const noexcept;
  /// Extents, types, how the pattern is held, workspace and memory: a line each.
  std::string explain() const;
  /// Plans with equal fingerprints give equal bits for equal operands, as SparsePlan's do.
  std::uint64_t fingerprint() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// values = alpha (X Y^T, sampled at the entries of a) + beta values through a plan that is thrown
/// away; for repeated products keep a plan. Waits for the result. Throws Error as the plan's
/// constructor and run do.
template <class T, class TOut = T>
LANKY_EXPORT void sddmm(const Stream& stream, Accumulator<T> alpha, const CsrView<T>& a,
                        std::type_identity_t<MatrixView<const T>> x,
                        std::type_identity_t<MatrixView<const T>> y, Accumulator<T> beta,
                        VectorView<TOut> values);

}  // namespace lanky::inline v1
