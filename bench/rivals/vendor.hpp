// The vendors' products as baselines. NVIDIA's stand in a module of their own, liblanky_vendor.so,
// that is opened when first asked for: the lanky program starts on machines without cuBLAS and
// cuSPARSE. Everything here may throw Error; `unsupported` where the vendor has no such product.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/rivals/gemm_call.hpp"

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

enum class VendorFormat : std::uint8_t { csr, sell, bsr };

/// A sparse matrix in device memory, zero-based; padded_formats.hpp says what stands where in
/// sliced ELL (sell) and in square blocks (bsr).
struct VendorSparse {
  VendorFormat format = VendorFormat::csr;
  DType dtype = DType::f64;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  const void* offsets = nullptr;  // [rows + 1]; [slices + 1]; [rows of blocks + 1]
  bool wide_offsets = false;
  const std::int32_t* col_indices = nullptr;  // [nnz]; [slots]; [blocks]
  const void* values = nullptr;               // [slots]
  std::int64_t slots = 0;                     // nnz and the padding
  int unit = 1;                               // rows of a slice, or side of a block
};

/// cuSPARSE's ways to compute y = A x: two of CSR, one of sliced ELL, one of blocks.
enum class VendorSpmvAlgorithm : std::uint8_t { alg1, alg2, sell, bsr };

/// y = A x in device memory, all of one type, A in the algorithm's format; of several columns one
/// after the other.
struct VendorSpmvCall {
  VendorSpmvAlgorithm algorithm = VendorSpmvAlgorithm::alg1;
  VendorSparse a{};
  const void* x = nullptr;  // [columns][cols]; of blocks cols are rounded up to whole ones
  void* y = nullptr;        // [columns][rows], likewise
  std::int64_t columns = 1;
  std::int64_t element_bytes = 0;  // where there are several columns
};

/// cuSPARSE's ways to compute Y = A X: its own choice and three of CSR, one of blocks.
enum class VendorSpmmAlgorithm : std::uint8_t { standard, alg1, alg2, alg3, bsr };

/// Y = A X in device memory, all of one type, A in the algorithm's format, X and Y of that layout
/// without gaps. Of blocks there are whole ones: in column-major layout the extents of A are
/// multiples of their side, by rows X and Y have so many rows more.
struct VendorSpmmCall {
  VendorSpmmAlgorithm algorithm = VendorSpmmAlgorithm::standard;
  VendorSparse a{};
  const void* x = nullptr;
  void* y = nullptr;
  std::int64_t columns = 1;
  Layout layout = Layout::col;
};

/// SDDMM in device memory, all of one type: values = X Y^T at the entries of the CSR matrix
/// `pattern`, whose own values are not looked at; X and Y of that layout without gaps. cuSPARSE has
/// two ways to say Y^T: Y as it is, `transposed`, or what its memory holds in the other layout.
struct VendorSddmmCall {
  bool transposed = true;
  VendorSparse pattern{};
  const void* x = nullptr;  // [rows][columns]
  const void* y = nullptr;  // [cols][columns]
  void* values = nullptr;   // [nnz]
  std::int64_t columns = 1;
  Layout layout = Layout::col;
};

/// A dense product of fixed shape, on any operands of that shape.
class VendorGemmProduct {
 public:
  virtual ~VendorGemmProduct() = default;
  virtual void run(CUstream_st* stream, const GemmOperands& operands) = 0;
  virtual std::int64_t workspace_bytes() const = 0;
  /// Of the library, where the routine chose one.
  virtual std::string algorithm() const { return ""; }
};

/// Ways to compute a dense product with NVIDIA's libraries.
///   gemmex   cublasGemmEx: IEEE arithmetic, or TF32 where that is asked for
///   lt_best  cublasLtMatmul, the fastest of its heuristic's algorithms on these operands
///   gemv     cublas<t>gemv, where C is one column or row
///   syrk     cublas<t>syrk or herk: one triangle of C = A^T A
/// CUBLAS_COMPUTE_32F_EMULATED_16BFX9 is none of its own: on an H200 cuBLAS 13.1 runs the IEEE
/// kernels for it (equal times within noise).
enum class VendorRoutine : std::uint8_t { gemmex, lt_best, gemv, syrk };

/// The routines that exist for a product, gemmex first.
std::vector<VendorRoutine> vendor_routines(const GemmCall& gemm);

class Vendor {
 public:
  virtual ~Vendor() = default;
  virtual std::string cublas_version() = 0;
  virtual std::string cusparse_version() = 0;
  /// Creates what is made once per process and device, so that it is in no product's setup time.
  virtual void prepare(int device) = 0;
  virtual std::unique_ptr<VendorProduct> spmv(VendorStream stream, const VendorSpmvCall& call) = 0;
  virtual std::unique_ptr<VendorProduct> spmm(VendorStream stream, const VendorSpmmCall& call) = 0;
  virtual std::unique_ptr<VendorProduct> sddmm(VendorStream stream,
                                               const VendorSddmmCall& call) = 0;
  /// `sets`: operands to try algorithms on, where the routine has a choice. Their C is overwritten.
  virtual std::unique_ptr<VendorGemmProduct> gemm(VendorStream stream, const GemmCall& gemm,
                                                  VendorRoutine routine,
                                                  std::span<const GemmOperands> sets) = 0;
};

/// The module's one function.
extern "C" lanky::bench::Vendor* lanky_vendor();

/// cuBLAS and cuSPARSE; Error(unsupported) with the loader's reason where they cannot be opened.
Vendor& gpu_vendor();

/// Libraries with dense products on the CPU, opened at run time.
enum class CpuVendor : std::uint8_t { openblas, mkl };

/// The product by cblas_?gemm: f64, f32, c128, c64.
std::unique_ptr<VendorGemmProduct> cpu_vendor_gemm(CpuVendor vendor, const GemmCall& gemm);
/// OpenBLAS's version and build; "" where libopenblas.so.0 cannot be opened.
std::string openblas_version();

}  // namespace lanky::bench
