// liblanky_vendor.so: cuBLAS and cuSPARSE as lanky::bench::Vendor. It has a CUDA runtime of its own
// (the driver's contexts and streams are shared), so that it sets the current device itself.
#include <cublas_v2.h>
#include <cusparse.h>

#include <array>
#include <map>
#include <string>

#include "bench/vendor.hpp"
#include "core/cuda_check.hpp"

namespace lanky::bench {

namespace {

void check_cublas(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(status == CUBLAS_STATUS_NOT_SUPPORTED  ? ErrorCode::unsupported
              : status == CUBLAS_STATUS_ALLOC_FAILED ? ErrorCode::out_of_memory
                                                     : ErrorCode::device,
              std::string(what) + ": " + cublasGetStatusString(status));
}

void check_cusparse(cusparseStatus_t status, const char* what) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  throw Error(status == CUSPARSE_STATUS_NOT_SUPPORTED            ? ErrorCode::unsupported
              : status == CUSPARSE_STATUS_ALLOC_FAILED           ? ErrorCode::out_of_memory
              : status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES ? ErrorCode::out_of_memory
                                                                 : ErrorCode::device,
              std::string(what) + ": " + cusparseGetErrorString(status));
}

cudaDataType data_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return CUDA_R_64F;
    case DType::f32:
      return CUDA_R_32F;
    case DType::f16:
      return CUDA_R_16F;
    case DType::bf16:
      return CUDA_R_16BF;
    case DType::c64:
      return CUDA_C_32F;
    case DType::c128:
      return CUDA_C_64F;
  }
  return CUDA_R_64F;
}

/// alpha or beta of a real product, in its type of accumulation: double for f64, float otherwise.
class HostScalar {
 public:
  HostScalar(DType dtype, double value)
      : wide_(value), narrow_(static_cast<float>(value)), is_wide_(dtype == DType::f64) {}
  const void* data() const {
    return is_wide_ ? static_cast<const void*>(&wide_) : static_cast<const void*>(&narrow_);
  }

 private:
  double wide_;
  float narrow_;
  bool is_wide_;
};

/// Device memory of one product.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) : bytes_(bytes) {
    if (bytes > 0) check_cuda(cudaMalloc(&data_, bytes), "cudaMalloc of a vendor's workspace");
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() { cudaFree(data_); }
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

/// The libraries' handles of one device, made once and never destroyed.
struct Handles {
  cublasHandle_t cublas = nullptr;
  cusparseHandle_t cusparse = nullptr;
  void* workspace = nullptr;
};

constexpr std::size_t kCublasWorkspace = 32 << 20;  // what NVIDIA recommends for Hopper

Handles& handles(int device) {
  static std::map<int, Handles> all;
  Handles& mine = all[device];
  if (mine.cublas == nullptr) {
    const DeviceGuard current(device);
    check_cuda(cudaMalloc(&mine.workspace, kCublasWorkspace), "cudaMalloc of cuBLAS's workspace");
    check_cusparse(cusparseCreate(&mine.cusparse), "cusparseCreate");
    check_cublas(cublasCreate(&mine.cublas), "cublasCreate");
  }
  return mine;
}

class CusparseSpmv final : public VendorProduct {
 public:
  CusparseSpmv(VendorStream stream, const VendorCsr& csr, VendorSpmvAlgorithm algorithm)
      : device_(stream.device),
        handle_(handles(device_).cusparse),
        type_(csr.dtype == DType::f64 ? CUDA_R_64F : CUDA_R_32F),
        algorithm_(algorithm == VendorSpmvAlgorithm::alg1 ? CUSPARSE_SPMV_CSR_ALG1
                                                          : CUSPARSE_SPMV_CSR_ALG2),
        alpha_(csr.dtype, 1),
        beta_(csr.dtype, 0) {
    const DeviceGuard current(device_);
    const cudaDataType type = data_type(csr.dtype);
    check_cusparse(cusparseCreateConstCsr(
                       &matrix_, csr.rows, csr.cols, csr.nnz, csr.row_offsets, csr.col_indices,
                       csr.values, csr.wide_offsets ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I,
                       CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type),
                   "cusparseCreateConstCsr");
    check_cusparse(cusparseCreateConstDnVec(&x_, csr.cols, csr.x, type),
                   "cusparseCreateConstDnVec");
    check_cusparse(cusparseCreateDnVec(&y_, csr.rows, csr.y, type), "cusparseCreateDnVec");
    check_cusparse(cusparseSetStream(handle_, stream.native), "cusparseSetStream");
    std::size_t bytes = 0;
    check_cusparse(
        cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha_.data(), matrix_,
                                x_, beta_.data(), y_, type_, algorithm_, &bytes),
        "cusparseSpMV_bufferSize");
    workspace_ = std::make_unique<DeviceMemory>(bytes);
    check_cusparse(
        cusparseSpMV_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha_.data(), matrix_,
                                x_, beta_.data(), y_, type_, algorithm_, workspace_->data()),
        "cusparseSpMV_preprocess");
  }
  CusparseSpmv(const CusparseSpmv&) = delete;
  CusparseSpmv& operator=(const CusparseSpmv&) = delete;
  ~CusparseSpmv() override {
    if (matrix_ != nullptr) cusparseDestroySpMat(matrix_);
    if (x_ != nullptr) cusparseDestroyDnVec(x_);
    if (y_ != nullptr) cusparseDestroyDnVec(y_);
  }

  void run(CUstream_st* stream) override {
    check_cusparse(cusparseSetStream(handle_, stream), "cusparseSetStream");
    check_cusparse(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha_.data(), matrix_,
                                x_, beta_.data(), y_, type_, algorithm_, workspace_->data()),
                   "cusparseSpMV");
  }
  std::int64_t workspace_bytes() const override {
    return static_cast<std::int64_t>(workspace_->bytes());
  }

 private:
  int device_;
  cusparseHandle_t handle_;
  cudaDataType type_;  // of the accumulation
  cusparseSpMVAlg_t algorithm_;
  HostScalar alpha_;
  HostScalar beta_;
  cusparseConstSpMatDescr_t matrix_ = nullptr;
  cusparseConstDnVecDescr_t x_ = nullptr;
  cusparseDnVecDescr_t y_ = nullptr;
  std::unique_ptr<DeviceMemory> workspace_;
};

/// cublasGemmEx, IEEE arithmetic only: no TF32 (which takes CUBLAS_COMPUTE_32F_FAST_TF32 or the
/// TF32 math mode), and no partial sums in 16 bits.
class CublasGemm final : public VendorProduct {
 public:
  CublasGemm(VendorStream stream, const VendorGemm& gemm)
      : device_(stream.device),
        handle_(handles(device_).cublas),
        gemm_(gemm),
        alpha_(gemm.dtype, 1),
        beta_(gemm.dtype, gemm.beta) {
    const DeviceGuard current(device_);
    check_cublas(cublasSetMathMode(handle_, static_cast<cublasMath_t>(
                                                CUBLAS_DEFAULT_MATH |
                                                CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)),
                 "cublasSetMathMode");
    bind(stream.native);
  }

  void run(CUstream_st* stream) override {
    cudaStream_t bound = nullptr;
    check_cublas(cublasGetStream(handle_, &bound), "cublasGetStream");
    if (bound != stream) bind(stream);
    const GemmShape& s = gemm_.shape;
    if (s.layout == Layout::row) {  // C^T = op(B)^T op(A)^T, each as stored a transpose
      multiply(s.op_b, s.op_a, s.n, s.m, gemm_.b, s.ldb, gemm_.a, s.lda);
    } else {
      multiply(s.op_a, s.op_b, s.m, s.n, gemm_.a, s.lda, gemm_.b, s.ldb);
    }
  }
  std::int64_t workspace_bytes() const override { return kCublasWorkspace; }

 private:
  /// cublasSetStream takes the workspace back, so it is given again.
  void bind(CUstream_st* stream) {
    check_cublas(cublasSetStream(handle_, stream), "cublasSetStream");
    check_cublas(cublasSetWorkspace(handle_, handles(device_).workspace, kCublasWorkspace),
                 "cublasSetWorkspace");
  }

  /// Column-major C[m,n] = op(a)[m,k] op(b)[k,n].
  void multiply(Op op_a, Op op_b, std::int64_t m, std::int64_t n, const void* a, std::int64_t lda,
                const void* b, std::int64_t ldb) {
    constexpr std::array<cublasOperation_t, 3> kOps = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
    const cudaDataType type = data_type(gemm_.dtype);
    check_cublas(
        cublasGemmEx_64(handle_, kOps[static_cast<std::size_t>(op_a)],
                        kOps[static_cast<std::size_t>(op_b)], m, n, gemm_.shape.k, alpha_.data(), a,
                        type, lda, b, type, ldb, beta_.data(), gemm_.c, type, gemm_.shape.ldc,
                        gemm_.dtype == DType::f64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT),
        "cublasGemmEx");
  }

  int device_;
  cublasHandle_t handle_;
  VendorGemm gemm_;
  HostScalar alpha_;
  HostScalar beta_;
};

class NvidiaVendor final : public Vendor {
 public:
  std::string cublas_version() override {
    return version([](libraryPropertyType which) {
      int value = 0;
      cublasGetProperty(which, &value);
      return value;
    });
  }
  std::string cusparse_version() override {
    return version([](libraryPropertyType which) {
      int value = 0;
      cusparseGetProperty(which, &value);
      return value;
    });
  }
  void prepare(int device) override { handles(device); }
  std::unique_ptr<VendorProduct> spmv(VendorStream stream, const VendorCsr& csr,
                                      VendorSpmvAlgorithm algorithm) override {
    return std::make_unique<CusparseSpmv>(stream, csr, algorithm);
  }
  std::unique_ptr<VendorProduct> gemm(VendorStream stream, const VendorGemm& gemm) override {
    return std::make_unique<CublasGemm>(stream, gemm);
  }

 private:
  template <class Property>
  static std::string version(Property property) {
    return std::to_string(property(MAJOR_VERSION)) + "." + std::to_string(property(MINOR_VERSION)) +
           "." + std::to_string(property(PATCH_LEVEL));
  }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) Vendor* lanky_vendor() {
  static NvidiaVendor vendor;
  return &vendor;
}

}  // namespace lanky::bench
