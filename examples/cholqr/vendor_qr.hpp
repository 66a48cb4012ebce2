// The same factorization by NVIDIA's libraries, in place on a copy of A[m, n].
#pragma once

#include <cstdint>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <memory>

namespace lanky::examples::cholqr {

template <class T>
class VendorQr {
 public:
  virtual ~VendorQr() = default;

  /// Copies A to where the factorizations work.
  virtual void restore(MatrixView<const T> a) = 0;
  /// Householder: cuSOLVER's geqrf and orgqr.
  virtual void householder() = 0;
  /// CholeskyQR2 as lanky's, with products by cuBLAS's gemm (its syrk takes up to a hundred times
  /// as long), small factors by cuSOLVER's potrf, their inverses and products by cuBLAS.
  virtual void cholesky() = 0;

  virtual MatrixView<const T> q() const = 0;
  virtual MatrixView<const T> r() const = 0;
  /// Throws Error(unsupported) where cholesky() broke down, Error(device) where cuSOLVER did.
  virtual void check() const = 0;
};

/// Null on the CPU. Throws Error: unsupported (extents beyond an int), out_of_memory, device.
template <class T>
std::unique_ptr<VendorQr<T>> make_vendor_qr(const Stream& stream, std::int64_t m, std::int64_t n);

}  // namespace lanky::examples::cholqr
