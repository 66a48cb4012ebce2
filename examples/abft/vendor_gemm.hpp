// Dense products by cuBLAS.
#pragma once

#include <lanky/operation.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <memory>

namespace lanky::examples::abft {

/// C = op(A) B, column major, on the stream that it was made for.
template <class T>
class VendorGemm {
 public:
  virtual ~VendorGemm() = default;
  /// Throws Error: unsupported (extents beyond an int), device.
  virtual void run(Op op_a, MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) = 0;
};

/// Null on the CPU, where lanky itself leaves regular shapes to OpenBLAS.
template <class T>
std::unique_ptr<VendorGemm<T>> make_vendor_gemm(const Stream& stream);

}  // namespace lanky::examples::abft
