// The vendors' products as baselines. NVIDIA's stand in a module of their own, liblanky_vendor.so,
// that is opened when first asked for: the lanky program starts on machines without cuBLAS and
// cuSPARSE. Everything here may throw Error; `unsupported` where the vendor has no such product.
#pragma once

#include <cstdint>
#include <lanky/dense.hpp>
#include <lanky/dtype.hpp>
#include <lanky/stream.hpp>
#include <memory>
#include <string>

namespace lanky::bench {

/// Where a vendor's product runs. (Not a lanky::Stream: the module links nothing of lanky.)
struct VendorStream {
  CUstream_st* native = nullptr;
  int device = 0;
};

/// A product bound to its operands, ready to run any number of times.
class VendorProduct {
 public:
  virtual ~VendorProduct() = default;
  virtual void run(CUstream_st* stream) = 0;
  virtual std::int64_t workspace_bytes() const = 0;
};

/// y = A x in device memory, zero-based, all of one type.
struct VendorCsr {
  DType dtype = DType::f64;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  const void* row_offsets = nullptr;  // [rows + 1]
  bool wide_offsets = false;
  const std::int32_t* col_indices = nullptr;  // [nnz]
  const void* values = nullptr;               // [nnz]
  const void* x = nullptr;                    // [cols]
  void* y = nullptr;                          // [rows]
};

enum class VendorSpmvAlgorithm : std::uint8_t { alg1, alg2 };

/// C = op(A) op(B) + beta C; leading dimensions of `shape` are set, none is 0.
struct VendorGemm {
  DType dtype = DType::f64;
  GemmShape shape;
  double beta = 0;
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
};

class Vendor {
 public:
  virtual ~Vendor() = default;
  virtual std::string cublas_version() = 0;
  virtual std::string cusparse_version() = 0;
  /// Creates what is made once per process and device, so that it is in no product's setup time.
  virtual void prepare(int device) = 0;
  virtual std::unique_ptr<VendorProduct> spmv(VendorStream stream, const VendorCsr& csr,
                                              VendorSpmvAlgorithm algorithm) = 0;
  virtual std::unique_ptr<VendorProduct> gemm(VendorStream stream, const VendorGemm& gemm) = 0;
};

/// The module's one function.
extern "C" lanky::bench::Vendor* lanky_vendor();

/// cuBLAS and cuSPARSE; Error(unsupported) with the loader's reason where they cannot be opened.
Vendor& gpu_vendor();

/// OpenBLAS's product on the CPU: f64 and f32.
std::unique_ptr<VendorProduct> openblas_gemm(const VendorGemm& gemm);
/// Its version and build; "" where libopenblas.so.0 cannot be opened.
std::string openblas_version();

}  // namespace lanky::bench
