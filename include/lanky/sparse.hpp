// Sparse matrix times dense vector, or several: y = alpha A x + beta y, A sparse [m, n], x [n],
// y [m] (SpMV), and Y = alpha A X + beta Y, X [n, c], Y [m, c] (SpMM).
// Rows are packed for the device once, side by side with compressed column indices (GPUs:
// docs/packed_format.md, CPU: docs/cpu_format.md), then multiplied any number of times.
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/dtype.hpp>
#include <lanky/export.hpp>
#include <lanky/operation.hpp>
#include <lanky/stream.hpp>
#include <lanky/symmetry.hpp>
#include <lanky/view.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace lanky::inline v1 {

struct SparseOptions {
  /// Tensor cores multiply double, half and bfloat16, and float where `math` allows tf32 or tf32x3
  /// (values within 2^115 of 2^128 count as Inf then). In ieee, they multiply float as double, for
  /// several vectors by a plan that expects 5 or more.
  Engine engine = Engine::automatic;
  Math math = Math::ieee;  // tf32 and tf32x3: of float only
  /// Other than general: the CSR holds one triangle of A, which the plan expands. Either triangle,
  /// with or without entries on the diagonal; those are taken as they are.
  Symmetry symmetry = Symmetry::general;
  Op op = Op::none;  // y = alpha op(A) x + beta y: the plan holds op(A), and has its extents
  /// With a symmetry or an op, update_values() needs 4 bytes an entry of op(A) more, which the plan
  /// keeps where this is true.
  bool updates = false;
  /// On a GPU: shapes of the packed matrix near the one that the plan would choose (and where
  /// `engine` is automatic, each engine) are measured by the constructor, and the fastest is kept,
  /// if it takes 2 % less. The constructor then packs up to twelve times, runs up to some thousands
  /// of products, and takes up to three times the memory of the plan. Two plans of a matrix may
  /// have other shapes, hence other bits, as their explain() tells. Nothing is remembered for other
  /// plans. A plan that expects several vectors then keeps the faster of its two kinds of copies,
  /// too. On the CPU the two to four ways to lay out rows are measured instead.
  bool tune = false;
  /// Vectors that most runs will multiply at once, 1 or more; other numbers are multiplied as well.
  /// Above 1, the workspace grows by cols() times as many elements (at most those of 1 KiB on a
  /// GPU, 16 on the CPU), in which column-major X is made row-major. On a GPU the kernels of one
  /// vector multiply 2 and 4 vectors, of float and halves also 8, and by columns, where columns of
  /// A near each other have entries, any number up to these. For other numbers and complex types
  /// the plan has a second copy of op(A), about as large as the CSR. From 5 vectors on (halves: 9)
  /// it is for tensor cores where `engine` says so, or is automatic and they are faster (double,
  /// float, half and bfloat16); so many columns have bits of their own then, see run() of matrices.
  /// The workspace has the sums of split rows for as many columns. Long rows (on the CPU, all rows)
  /// may be cut otherwise than for one vector, which may then take longer and has other bits.
  std::int64_t expected_columns = 1;
  /// How X and Y of these runs stand: the copy that serves them best depends on it. Others are
  /// multiplied as well.
  Layout expected_layout = Layout::row;
  Allocator* allocator = nullptr;  // of the plan's device memory; must outlive the plan
};

/// A shape of the packed matrix that SparseOptions::tune measured, multiplied by some kernels.
struct SparseTrial {
  std::string shape{};  // what tells it from the others
  Engine engine = Engine::automatic;
  Math math = Math::ieee;
  double ratio = 1;  // its time over that of the plan's own choice
};

/// What a plan has decided; explain() tells that, and what the packed matrix is made of.
struct SparseInfo {
  Engine engine = Engine::automatic;  // of the kernels of one vector; automatic: the CPU
  Math math = Math::ieee;             // of the same
  double padding = 0;                 // share of the slots that hold no entry
  double predicted_us = 0;            // of a product, as the model chose; 0 on the CPU
  std::vector<SparseTrial> trials{};  // the plan's own choice first; none where it was not tuned
  std::size_t kept = 0;               // of these
};

/// A matrix packed for repeated products on one device. T is the type of A and x (double, float,
/// half, bfloat16, complex<float>, complex<double>); TOut that of y (T, or float for the half
/// types). Complex products are the plain formula, in which Inf + 0i times Inf is NaN in its
/// imaginary part, alpha = 1 included. Move-only; a plan moved from may only be assigned to or
/// destroyed.
template <class T, class TOut = T>
class LANKY_EXPORT SparsePlan {
 public:
  using Scalar = lanky::Scalar<Accumulator<T>>;

  /// Copies and packs A (in host memory, or in that of the stream's device), and allocates all that
  /// run needs. Throws Error: invalid_argument (index base, offsets or columns out of range; with a
  /// symmetry: not square, entries on both sides of the diagonal), unsupported (more than 2^31 - 1
  /// rows or columns; tensor cores for complex types, or for float in ieee with less than 5
  /// expected columns; tf32 or tf32x3 for other types than float; 2^32 entries or more to
  /// transpose, 2^31 in a triangle), wrong_memory, out_of_memory.
  SparsePlan(const Stream& stream, const CsrView<T>& a, const SparseOptions& options = {});
  SparsePlan(SparsePlan&&) noexcept;
  SparsePlan& operator=(SparsePlan&&) noexcept;
  /// Runs given to other streams than the constructor's must be done.
  ~SparsePlan();

  /// y = A x, on memory of the plan's device; x and y do not overlap. Works in the plan's own
  /// workspace, which belongs to the constructor's stream: runs there take their turns, whichever
  /// threads ask for them, and other streams are for runs with a Workspace. Never allocates,
  /// synchronizes or prints; can be captured in a CUDA graph. Throws Error: size_mismatch,
  /// wrong_memory, invalid_argument (null or overlapping operands, another stream).
  void run(const Stream& stream, VectorView<const T> x, VectorView<TOut> y) const;
  /// y = alpha A x + beta y. With beta = 0, y is overwritten whatever it held; alpha = 0 is no
  /// exception, and multiplies as IEEE says.
  void run(const Stream& stream, Scalar alpha, VectorView<const T> x, Scalar beta,
           VectorView<TOut> y) const;
  /// The same with the caller's workspace of workspace_bytes(), aligned as cudaMalloc and Buffer
  /// do, so that runs may overlap.
  void run(const Stream& stream, Scalar alpha, VectorView<const T> x, Scalar beta,
           VectorView<TOut> y, Workspace workspace) const;

  /// Y = A X: X [cols(), c] and Y [rows(), c] of any c >= 0, each by rows or by columns, with its
  /// own leading dimension. Column j of Y has the bits that run() of vectors gives for column j of
  /// X, whatever c, layouts and the other columns are, with two exceptions: a plan whose kernels of
  /// one vector are tensor cores multiplies matrices, of one column as of several, on CUDA cores;
  /// and 5 columns (of halves, 9) or more by a second copy for tensor cores, as explain() tells,
  /// have bits of their own. In both, bits of a column do not depend on c (from 5 or 9 on, in the
  /// second), layouts and other columns. Engine::cuda_cores has no exception. Otherwise as run() of
  /// vectors, in the same workspace. Throws Error: as that, invalid_argument (a leading dimension
  /// shorter than a row or column; a matrix of more than 2^52 bytes), and unsupported (on a GPU,
  /// rows of X that are 4 GiB apart or more).
  void run(const Stream& stream, MatrixView<const T> x, MatrixView<TOut> y) const;
  /// Y = alpha A X + beta Y.
  void run(const Stream& stream, Scalar alpha, MatrixView<const T> x, Scalar beta,
           MatrixView<TOut> y) const;
  /// The same with the caller's workspace of workspace_bytes().
  void run(const Stream& stream, Scalar alpha, MatrixView<const T> x, Scalar beta,
           MatrixView<TOut> y, Workspace workspace) const;

  /// New numbers for the same pattern: nnz values in the order of the constructor's CSR, for runs
  /// that follow on `stream`; without one, on the constructor's. Runs on other streams are the
  /// caller's to order, those before it as those after. Values in host memory have been taken on
  /// return. Those in the memory of the plan's device are read when the stream comes there, as by
  /// cudaMemcpyAsync, and nothing waits: this can be captured in a CUDA graph, which reads them
  /// each time. With a symmetry or an op it takes memory for nnz() of op(A), in the order of the
  /// stream. Throws Error: size_mismatch, wrong_memory, invalid_argument (null), out_of_memory,
  /// unsupported (with a symmetry or an op, but without SparseOptions::updates).
  void update_values(const Stream& stream, VectorView<const T> values);
  void update_values(VectorView<const T> values);

  std::int64_t rows() const noexcept;  // of op(A) and y
  std::int64_t cols() const noexcept;  // columns of op(A), rows of x
  /// Entries of the constructor's CSR; explain() tells how many an expanded triangle has.
  std::int64_t nnz() const noexcept;
  Device device() const noexcept;
  /// Device memory that one run of the plan works in, of however many vectors.
  std::int64_t workspace_bytes() const noexcept;
  /// Device memory that the plan holds, workspace included.
  std::int64_t device_bytes() const noexcept;
  SparseInfo info() const;  // what the plan has decided
  /// Rows and entries of each class, how columns are stored, windows and slices or (on the CPU)
  /// chunks, kernels and why, memory.
  std::string explain() const;
  /// Plans with equal fingerprints give equal bits for equal A, x and y: it covers extents, types,
  /// device, version, and all that decides the order of sums, but no addresses and no operands. For
  /// comparison within one version of lanky.
  std::uint64_t fingerprint() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// y = alpha A x + beta y through a plan that is thrown away; for repeated products keep a plan.
/// Waits for the result. Throws Error as the plan's constructor and run do.
template <class T, class TOut = T>
LANKY_EXPORT void spmv(const Stream& stream, Accumulator<T> alpha, const CsrView<T>& a,
                       std::type_identity_t<VectorView<const T>> x, Accumulator<T> beta,
                       VectorView<TOut> y);
/// Y = alpha A X + beta Y, likewise.
template <class T, class TOut = T>
LANKY_EXPORT void spmm(const Stream& stream, Accumulator<T> alpha, const CsrView<T>& a,
                       std::type_identity_t<MatrixView<const T>> x, Accumulator<T> beta,
                       MatrixView<TOut> y);

}  // namespace lanky::inline v1
