// C[m, n] = A[m, k] B[k, n] with checksums (Huang, Abraham, IEEE ToC '84): R = A^T W [k, 2] and
// S = B V [k, 2] foretell the weighted sums of C's columns, B^T R, and of its rows, A S. A wrong
// element makes one column and one row differ. Where the two that differ most meet, the element is
// computed again. All skinny products go through lanky or, for comparison, the vendor's library.
#pragma once

#include <lanky/buffer.hpp>
#include <lanky/dense.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "examples/abft/elements.hpp"
#include "examples/abft/vendor_gemm.hpp"

namespace lanky::examples::abft {

enum class Encoder : std::uint8_t { lanky, vendor };

/// A product of fixed shape by lanky's plan or by the vendor's library.
template <class T>
class Product {
 public:
  /// By the vendor's library, which must outlive this, where it is given.
  Product(const Stream& stream, const GemmShape& shape, VendorGemm<T>* vendor)
      : op_a_(shape.op_a), vendor_(vendor) {
    if (vendor_ == nullptr) plan_.emplace(stream, shape);
  }
  void run(const Stream& stream, MatrixView<const T> a, MatrixView<const T> b,
           MatrixView<T> c) const {
    if (vendor_ != nullptr)
      vendor_->run(op_a_, a, b, c);
    else
      plan_->run(stream, a, b, c);
  }
  /// "" for the vendor's.
  std::string explain() const { return plan_ ? plan_->explain() : ""; }

 private:
  Op op_a_;
  VendorGemm<T>* vendor_;
  std::optional<GemmPlan<T>> plan_;
};

/// The parts of a protected product, in the order in which they are to be called. Each puts its
/// work on the stream and returns; matrices are column major and tight.
template <class T>
class ProtectedGemm {
 public:
  /// Encoder::vendor needs a GPU. Throws Error: invalid_argument (extents below 1), unsupported,
  /// out_of_memory, device.
  ProtectedGemm(const Stream& stream, std::int64_t m, std::int64_t n, std::int64_t k,
                Encoder encoder = Encoder::lanky);

  /// R = A^T W.
  void encode_a(MatrixView<const T> a);
  /// S = B V.
  void encode_b(MatrixView<const T> b);
  /// What the sums of C should be: B^T R and A S.
  void expect(MatrixView<const T> a, MatrixView<const T> b);
  /// The factors of the residuals' bounds (Scales), from norms of A, B, R and S.
  void bound(MatrixView<const T> a, MatrixView<const T> b);
  /// All four.
  void prepare(MatrixView<const T> a, MatrixView<const T> b);

  /// C = A B, unprotected: by the vendor's library on a GPU, by lanky on the CPU.
  void multiply(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c);
  /// Sums C, inspects the residuals and computes the suspect again (settle()). `report` is in the
  /// device's memory.
  void check(MatrixView<const T> a, MatrixView<const T> b, MatrixView<const T> c, Report* report);
  /// Where the report has located one wrong element: writes it as it was computed again. A product
  /// of its row and column is right to rounding however large the fault was; a residual subtracted
  /// from it would leave the rounding of sums that held the fault, and nothing at all of an Inf.
  void correct(MatrixView<T> c, const Report* report);

  /// Bounds of the residuals against the ones: [n] of columns, [m] of rows, of the C checked last.
  struct Bounds {
    std::vector<double> columns;
    std::vector<double> rows;
    /// 2-norms of A's rows and B's columns.
    std::vector<double> norms_of_a;  // [m]
    std::vector<double> norms_of_b;  // [n]
  };
  Bounds bounds() const;

  Elements<T>& elements() noexcept { return *elements_; }
  /// Checksums in the device's memory, for tests that damage them: R [k, 2] and B^T R [n, 2].
  MatrixView<T> checksum_of_a() noexcept { return r_.view(); }
  MatrixView<T> expected_columns() noexcept { return expected_columns_.view(); }
  /// How lanky computes A^T W; "" for the vendor's.
  std::string explain_encoding() const;

 private:
  struct Norms {
    Buffer<double> rows;
    Buffer<double> cols;
  };

  Stream stream_;
  std::int64_t m_;
  std::int64_t n_;
  std::int64_t k_;
  double lambda_;  // of Scales
  std::unique_ptr<VendorGemm<T>> vendor_;
  std::unique_ptr<Elements<T>> elements_;
  VendorGemm<T>* encoding_vendor_;
  Product<T> multiply_;
  Product<T> encode_a_;
  Product<T> encode_b_;
  Product<T> expect_columns_;
  Product<T> expect_rows_;
  Product<T> sum_columns_;
  Product<T> sum_rows_;
  Matrix<T> w_;                 // [m, 2]
  Matrix<T> v_;                 // [n, 2]
  Matrix<T> r_;                 // [k, 2]
  Matrix<T> s_;                 // [k, 2]
  Matrix<T> expected_columns_;  // [n, 2]
  Matrix<T> expected_rows_;     // [m, 2]
  Matrix<T> found_columns_;     // [n, 2]
  Matrix<T> found_rows_;        // [m, 2]
  Norms norms_a_;               // squares
  Norms norms_b_;
  Norms norms_c_;
  Buffer<Scales> scales_;
};

}  // namespace lanky::examples::abft
