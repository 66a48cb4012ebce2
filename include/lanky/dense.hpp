// Dense products with a skinny side: C = alpha op(A) op(B) + beta C, op(A) [m, k], op(B) [k, n],
// C [m, n]. Three families have kernels of their own (panel and update: TSM2, Chen et al., ICS '19,
// and TSM2X; gram: tall-skinny transposed times tall-skinny, Ernst et al.); products without a
// skinny side go to the vendor's library, as do skinny ones that it computes faster.
#pragma once

#include <array>
#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/dtype.hpp>
#include <lanky/export.hpp>
#include <lanky/operation.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace lanky::inline v1 {

/// The product that a plan is made for. Sizes count elements; leading dimensions of 0 mean tight.
struct GemmShape {
  std::int64_t m = 0;  // rows of op(A) and C
  std::int64_t n = 0;  // columns of op(B) and C
  std::int64_t k = 0;  // columns of op(A), rows of op(B)
  Op op_a = Op::none;
  Op op_b = Op::none;
  Layout layout = Layout::col;  // of A, B and C
  std::int64_t lda = 0;         // of A as stored: [m, k], or [k, m] where op_a transposes
  std::int64_t ldb = 0;         // of B as stored: [k, n], or [n, k] where op_b transposes
  std::int64_t ldc = 0;         // of C
};

/// Which equation of docs/design.md a shape is computed by.
enum class GemmFamily : std::uint8_t { panel, update, gram, regular };

/// Name of the family as it stands in the enum ("gram").
LANKY_EXPORT std::string_view to_string(GemmFamily family) noexcept;

class LANKY_EXPORT GemmTuning;

struct GemmOptions {
  Math math = Math::ieee;  // tf32 and tf32x3: of float only
  /// The constructor times the ways to compute the product (measure_choices() of lanky/tuning.hpp)
  /// on operands of its own, which take the memory of A, B and C, and follows the fastest.
  bool tune = false;
  /// Measured choices (lanky/tuning.hpp) that go before the plan's own, where they know such a
  /// product; needed by the constructor only. Without them GemmTuning::of_lanky() is followed.
  const GemmTuning* tuning = nullptr;
  Allocator* allocator = nullptr;  // of the plan's workspace; must outlive the plan
};

/// The family that computes m x n x k.
LANKY_EXPORT GemmFamily gemm_family(std::int64_t m, std::int64_t n, std::int64_t k) noexcept;

/// A way that a plan computes by, and the runs that take it.
struct GemmRoute {
  std::string when{};           // "where A is B", "where C is off 16 bytes"; "" for plain runs
  std::string kernel{};         // "gram_direct_kernel", "cuBLASLt", "OpenBLAS"
  std::string algorithm{};      // as GemmChoice (lanky/tuning.hpp) names it
  std::string configuration{};  // kernel, tiles, split: one line
  bool vendor = false;
};

/// What a plan has decided, and what that is to cost; explain() is its text.
struct GemmInfo {
  std::vector<GemmRoute> routes{};  // that of plain runs first; none where C is empty
  // Which of them takes runs on operands that begin at multiples of 16 bytes: where B is A or not,
  // and where beta is other than 0 or not: [same][adds].
  std::array<std::array<int, 2>, 2> of_aligned{};
  std::string tuning{};  // what was measured of such products: lines, or ""
  double bytes = 0;      // A, B and C once each
  double flops = 0;
  double bound_us = 0;  // at nominal bandwidth and peak
  bool memory_bound = true;
  double predicted_us = 0;  // of plain runs; 0 where nothing is known of the kernel
};

/// The type in which a dense product of T with a C of TOut is summed, and that of alpha and beta:
/// double where C is of double, Accumulator<T> otherwise.
template <class T, class TOut = T>
using GemmAccumulator =
    std::conditional_t<has_wide_sums(kDType<T>, kDType<TOut>), double, Accumulator<T>>;

/// A dense product of fixed shape on one device. T is the type of A and B (double, float, half,
/// bfloat16, complex<float>, complex<double>); TOut that of C: T, float for the half types, or
/// double for these and float. Products of float and of the half types with a C of double are
/// multiplied without rounding and summed in double. Move-only; a plan moved from may only be
/// assigned to or destroyed.
template <class T, class TOut = T>
class LANKY_EXPORT GemmPlan {
 public:
  using Scalar = lanky::Scalar<GemmAccumulator<T, TOut>>;

  /// Chooses kernels and allocates the workspace. Throws Error: invalid_argument (negative sizes,
  /// leading dimensions shorter than a column or row; operands of more than 2^52 bytes, where
  /// extents of 0 count as 1), unsupported (tf32 or tf32x3 of other types than float),
  /// out_of_memory.
  GemmPlan(const Stream& stream, const GemmShape& shape, const GemmOptions& options = {});
  GemmPlan(GemmPlan&&) noexcept;
  GemmPlan& operator=(GemmPlan&&) noexcept;
  /// Runs given to other streams than the constructor's must be done.
  ~GemmPlan();

  /// C = op(A) op(B), on memory of the plan's device. Views must have the plan's extents, layout
  /// and leading dimensions. Works in the plan's own workspace, which belongs to the constructor's
  /// stream: runs there take their turns, whichever threads ask for them, and other streams are for
  /// runs with a Workspace (any will do where workspace_bytes() is 0). Never allocates,
  /// synchronizes or prints; can be captured in a CUDA graph. Throws Error: size_mismatch,
  /// wrong_memory, invalid_argument (null memory; another stream; elements not aligned to their
  /// size on a GPU, complex ones included).
  void run(const Stream& stream, MatrixView<const T> a, MatrixView<const T> b,
           MatrixView<TOut> c) const;
  /// C = alpha op(A) op(B) + beta C. With beta = 0, C is overwritten whatever it held; with
  /// alpha = 0 or k = 0, C = beta C and A and B are not read, as in BLAS (docs/dense.md names the
  /// one exception). C must not overlap A or B: the result is undefined then.
  void run(const Stream& stream, Scalar alpha, MatrixView<const T> a, MatrixView<const T> b,
           Scalar beta, MatrixView<TOut> c) const;
  /// The same with the caller's workspace of workspace_bytes(), aligned to 256 bytes, so that runs
  /// may overlap.
  void run(const Stream& stream, Scalar alpha, MatrixView<const T> a, MatrixView<const T> b,
           Scalar beta, MatrixView<TOut> c, Workspace workspace) const;

  /// The shape with its leading dimensions filled in.
  const GemmShape& shape() const noexcept;
  GemmFamily family() const noexcept;  // which equation computes the shape
  Device device() const noexcept;      // of the constructor's stream
  /// Device memory that one run of the plan works in.
  std::int64_t workspace_bytes() const noexcept;
  GemmInfo info() const;  // what the plan has decided
  /// info() as text: family, kernel (the vendor's where it computes), tiles, split, bytes and
  /// bound.
  std::string explain() const;
  /// Plans with equal fingerprints give equal bits for equal operands at equal alignment of the
  /// pointers to 16 bytes, and if A and B are the same memory in both runs or in neither. It covers
  /// the product, device, version, and all that decides the order of sums. For comparison within
  /// one version of lanky.
  std::uint64_t fingerprint() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// C = alpha op(A) op(B) + beta C through a plan that is thrown away, shapes taken from the views.
/// Waits for the result. Throws Error as the plan's constructor and run do.
template <class T, class TOut = T>
LANKY_EXPORT void gemm(const Stream& stream, Op op_a, Op op_b, Accumulator<T> alpha,
                       MatrixView<const T> a, std::type_identity_t<MatrixView<const T>> b,
                       Accumulator<T> beta, MatrixView<TOut> c);
/// The same for a view of mutable elements, from which T could not be deduced otherwise.
template <class T, class TOut = T>
requires(!std::is_const_v<T>) void gemm(const Stream& stream, Op op_a, Op op_b,
                                        Accumulator<T> alpha, MatrixView<T> a,
                                        std::type_identity_t<MatrixView<const T>> b,
                                        Accumulator<T> beta, MatrixView<TOut> c) {
  gemm<T, TOut>(stream, op_a, op_b, alpha, MatrixView<const T>(a), b, beta, c);
}

namespace detail {
template <class T>
LANKY_EXPORT void gemm_in_double(const Stream& stream, Op op_a, Op op_b, double alpha,
                                 MatrixView<const T> a, MatrixView<const T> b, double beta,
                                 MatrixView<double> c);

/// Whether alpha and beta are for a product that is summed in double: other ones than the
/// Accumulator<T> that gemm() above takes, which would round them.
template <class T, class TOut, class Alpha, class Beta>
concept ScalesInDouble = has_wide_sums(kDType<T>, kDType<TOut>) &&
    std::is_convertible_v<Alpha, double> && std::is_convertible_v<Beta, double> &&
    !(std::is_same_v<Alpha, Accumulator<T>> && std::is_same_v<Beta, Accumulator<T>>);
}  // namespace detail

/// The same of float, half or bfloat16 with a C of double, for which alpha and beta are doubles.
template <class T, class TOut, class Alpha, class Beta>
requires(detail::ScalesInDouble<T, TOut, Alpha, Beta>) void gemm(
    const Stream& stream, Op op_a, Op op_b, Alpha alpha, MatrixView<const T> a,
    std::type_identity_t<MatrixView<const T>> b, Beta beta, MatrixView<TOut> c) {
  detail::gemm_in_double<T>(stream, op_a, op_b, alpha, a, b, beta, c);
}
template <class T, class TOut, class Alpha, class Beta>
requires(!std::is_const_v<T>) && detail::ScalesInDouble<T, TOut, Alpha, Beta> void gemm(
                                     const Stream& stream, Op op_a, Op op_b, Alpha alpha,
                                     MatrixView<T> a, std::type_identity_t<MatrixView<const T>> b,
                                     Beta beta, MatrixView<TOut> c) {
  detail::gemm_in_double<T>(stream, op_a, op_b, alpha, a, b, beta, c);
}

}  // namespace lanky::inline v1
