// liblanky_vendor.so: cuBLAS and cuSPARSE as lanky::bench::Vendor. It has a CUDA runtime of its own
// (the driver's contexts and streams are shared), so that it sets the current device itself.
#include <cuComplex.h>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cusparse.h>

#include <algorithm>
#include <array>
#include <complex>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/rivals/vendor.hpp"
#include "core/cublaslt_algorithm.hpp"
#include "core/cuda_check.hpp"

/// Without what the library's own knows of its launches, which this module has no part in.
void lanky::throw_cuda(cudaError_t status, const char* what) {
  cudaGetLastError();
  throw Error(status == cudaErrorMemoryAllocation ? ErrorCode::out_of_memory : ErrorCode::device,
              concat(what, ": ", cudaGetErrorString(status), " (", cudaGetErrorName(status), ")"));
}

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

/// A real alpha or beta in the type of accumulation: f64 for f64, f32 for f32 and the half types,
/// and the complex types themselves.
class HostScalar {
 public:
  HostScalar(DType dtype, double value)
      : wide_(value),
        narrow_(static_cast<float>(value)),
        is_wide_(component_type(dtype) == DType::f64) {}
  /// Also of the real scalar: the real part comes first.
  const void* data() const {
    return is_wide_ ? static_cast<const void*>(&wide_) : static_cast<const void*>(&narrow_);
  }

 private:
  // As cuDoubleComplex is: cuSPARSE reads it by an aligned load.
  alignas(16) std::complex<double> wide_;
  std::complex<float> narrow_;
  bool is_wide_;
};

/// A library's descriptor, which its function kDestroy gives back.
template <auto kDestroy>
struct Destroyer {
  template <class Descriptor>
  void operator()(Descriptor* descriptor) const {
    kDestroy(descriptor);
  }
};
template <class Descriptor, auto kDestroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Descriptor>, Destroyer<kDestroy>>;

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

/// Two events.
class Stopwatch {
 public:
  Stopwatch() {
    check_cuda(cudaEventCreate(&start_), "cudaEventCreate");
    check_cuda(cudaEventCreate(&end_), "cudaEventCreate");
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    cudaEventDestroy(start_);
    cudaEventDestroy(end_);
  }
  /// Time of what `work` gives to the stream; infinite where work says that it could not.
  template <class Work>
  double ms(cudaStream_t stream, Work work) const {
    check_cuda(cudaEventRecord(start_, stream), "cudaEventRecord");
    const bool done = work();
    check_cuda(cudaEventRecord(end_, stream), "cudaEventRecord");
    check_cuda(cudaEventSynchronize(end_), "cudaEventSynchronize");
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, start_, end_), "cudaEventElapsedTime");
    return done ? static_cast<double>(ms) : std::numeric_limits<double>::infinity();
  }

 private:
  cudaEvent_t start_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

/// The libraries' handles of one device, made once and never destroyed.
struct Handles {
  cublasHandle_t cublas = nullptr;
  cublasLtHandle_t lt = nullptr;
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
    check_cublas(cublasLtCreate(&mine.lt), "cublasLtCreate");
    check_cublas(cublasCreate(&mine.cublas), "cublasCreate");
  }
  return mine;
}

cusparseSpMVAlg_t cusparse_algorithm(VendorSpmvAlgorithm algorithm) {
  switch (algorithm) {
    case VendorSpmvAlgorithm::alg1:
      return CUSPARSE_SPMV_CSR_ALG1;
    case VendorSpmvAlgorithm::alg2:
      return CUSPARSE_SPMV_CSR_ALG2;
    case VendorSpmvAlgorithm::sell:
      return CUSPARSE_SPMV_SELL_ALG1;
    case VendorSpmvAlgorithm::bsr:
      return CUSPARSE_SPMV_BSR_ALG1;
  }
  throw Error(ErrorCode::unsupported, "no such algorithm");
}

cusparseSpMMAlg_t cusparse_algorithm(VendorSpmmAlgorithm algorithm) {
  switch (algorithm) {
    case VendorSpmmAlgorithm::standard:
      return CUSPARSE_SPMM_ALG_DEFAULT;
    case VendorSpmmAlgorithm::alg1:
      return CUSPARSE_SPMM_CSR_ALG1;
    case VendorSpmmAlgorithm::alg2:
      return CUSPARSE_SPMM_CSR_ALG2;
    case VendorSpmmAlgorithm::alg3:
      return CUSPARSE_SPMM_CSR_ALG3;
    case VendorSpmmAlgorithm::bsr:
      return CUSPARSE_SPMM_BSR_ALG1;
  }
  throw Error(ErrorCode::unsupported, "no such algorithm");
}

std::int64_t whole_units(std::int64_t size, int unit) {
  return (size + unit - 1) / unit * unit;
}

cusparseConstSpMatDescr_t describe(const VendorSparse& a) {
  cusparseConstSpMatDescr_t matrix = nullptr;
  const cudaDataType type = data_type(a.dtype);
  const cusparseIndexType_t wide = a.wide_offsets ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
  constexpr cusparseIndexType_t kIndex = CUSPARSE_INDEX_32I;
  constexpr cusparseIndexBase_t kBase = CUSPARSE_INDEX_BASE_ZERO;
  switch (a.format) {
    case VendorFormat::csr:
      check_cusparse(cusparseCreateConstCsr(&matrix, a.rows, a.cols, a.nnz, a.offsets,
                                            a.col_indices, a.values, wide, kIndex, kBase, type),
                     "cusparseCreateConstCsr");
      break;
    case VendorFormat::sell:
      check_cusparse(
          cusparseCreateConstSlicedEll(&matrix, a.rows, a.cols, a.nnz, a.slots, a.unit, a.offsets,
                                       a.col_indices, a.values, wide, kIndex, kBase, type),
          "cusparseCreateConstSlicedEll");
      break;
    case VendorFormat::bsr: {
      const std::int64_t unit = a.unit;
      check_cusparse(
          cusparseCreateConstBsr(&matrix, whole_units(a.rows, a.unit) / unit,
                                 whole_units(a.cols, a.unit) / unit, a.slots / (unit * unit), unit,
                                 unit, a.offsets, a.col_indices, a.values, wide, kIndex, kBase,
                                 type, CUSPARSE_ORDER_ROW),
          "cusparseCreateConstBsr");
      break;
    }
  }
  return matrix;
}

/// What cuSPARSE's products share: the matrix, alpha = 1 and beta = 0, the workspace.
class CusparseProduct : public VendorProduct {
 public:
  CusparseProduct(VendorStream stream, const VendorSparse& a)
      : CusparseProduct(stream, a, describe(a)) {}
  /// Owns the matrix.
  CusparseProduct(VendorStream stream, const VendorSparse& a, cusparseConstSpMatDescr_t matrix)
      : device_(stream.device),
        handle_(handles(device_).cusparse),
        type_(is_half(a.dtype) ? CUDA_R_32F : data_type(a.dtype)),
        matrix_(matrix),
        alpha_(a.dtype, 1),
        beta_(a.dtype, 0) {}

  void run(CUstream_st* stream) final {
    check_cusparse(cusparseSetStream(handle_, stream), "cusparseSetStream");
    multiply();
  }
  std::int64_t workspace_bytes() const final {
    return static_cast<std::int64_t>(workspace_->bytes());
  }

 protected:
  virtual void multiply() = 0;
  /// Elements of a vector along rows or columns of A: of blocks there are whole ones.
  static std::int64_t extent(const VendorSparse& a, std::int64_t size) {
    return a.format == VendorFormat::bsr ? whole_units(size, a.unit) : size;
  }
  /// The workspace that `size`(&bytes) asks for, then `preprocess`(). A format that has no
  /// preparation may still have the product: that will tell.
  template <class Size, class Preprocess>
  void prepare(VendorStream stream, const VendorSparse& a, Size size, Preprocess preprocess) {
    const DeviceGuard current(device_);
    check_cusparse(cusparseSetStream(handle_, stream.native), "cusparseSetStream");
    std::size_t bytes = 0;
    check_cusparse(size(&bytes), "the size of cuSPARSE's workspace");
    workspace_ = std::make_unique<DeviceMemory>(bytes);
    const cusparseStatus_t preprocessed = preprocess();
    if (a.format == VendorFormat::csr || preprocessed != CUSPARSE_STATUS_NOT_SUPPORTED)
      check_cusparse(preprocessed, "cuSPARSE's preprocessing");
  }

  cusparseHandle_t handle() const { return handle_; }
  cudaDataType type() const { return type_; }  // of the accumulation
  cusparseConstSpMatDescr_t matrix() const { return matrix_.get(); }
  const void* alpha() const { return alpha_.data(); }
  const void* beta() const { return beta_.data(); }
  void* workspace() const { return workspace_->data(); }

 private:
  int device_;
  cusparseHandle_t handle_;
  cudaDataType type_;
  Owned<cusparseConstSpMatDescr_t, cusparseDestroySpMat> matrix_;
  HostScalar alpha_;
  HostScalar beta_;
  std::unique_ptr<DeviceMemory> workspace_;
};

constexpr cusparseOperation_t kAsItIs = CUSPARSE_OPERATION_NON_TRANSPOSE;

/// Columns one after the other, by one preparation.
class CusparseSpmv final : public CusparseProduct {
 public:
  CusparseSpmv(VendorStream stream, const VendorSpmvCall& call)
      : CusparseProduct(stream, call.a), algorithm_(cusparse_algorithm(call.algorithm)) {
    const std::int64_t of_x = extent(call.a, call.a.cols);
    const std::int64_t of_y = extent(call.a, call.a.rows);
    const auto* const x = static_cast<const char*>(call.x);
    auto* const y = static_cast<char*>(call.y);
    for (std::int64_t c = 0; c < call.columns; ++c) {
      columns_.push_back(column(data_type(call.a.dtype), of_x,
                                x + c * call.a.cols * call.element_bytes, of_y,
                                y + c * call.a.rows * call.element_bytes));
    }
    const Column& first = columns_.front();
    prepare(
        stream, call.a,
        [&](std::size_t* bytes) {
          return cusparseSpMV_bufferSize(handle(), kAsItIs, alpha(), matrix(), first.x.get(),
                                         beta(), first.y.get(), type(), algorithm_, bytes);
        },
        [&] {
          return cusparseSpMV_preprocess(handle(), kAsItIs, alpha(), matrix(), first.x.get(),
                                         beta(), first.y.get(), type(), algorithm_, workspace());
        });
  }

 private:
  struct Column {
    Owned<cusparseConstDnVecDescr_t, cusparseDestroyDnVec> x;
    Owned<cusparseDnVecDescr_t, cusparseDestroyDnVec> y;
  };

  static Column column(cudaDataType type, std::int64_t of_x, const void* x, std::int64_t of_y,
                       void* y) {
    Column made;
    cusparseConstDnVecDescr_t from = nullptr;
    check_cusparse(cusparseCreateConstDnVec(&from, of_x, x, type), "cusparseCreateConstDnVec");
    made.x.reset(from);
    cusparseDnVecDescr_t to = nullptr;
    check_cusparse(cusparseCreateDnVec(&to, of_y, y, type), "cusparseCreateDnVec");
    made.y.reset(to);
    return made;
  }

  void multiply() override {
    for (const Column& column : columns_) {
      check_cusparse(cusparseSpMV(handle(), kAsItIs, alpha(), matrix(), column.x.get(), beta(),
                                  column.y.get(), type(), algorithm_, workspace()),
                     "cusparseSpMV");
    }
  }

  cusparseSpMVAlg_t algorithm_;
  std::vector<Column> columns_;
};

/// Our arguments are valid: a combination of algorithm, type and layout that is called invalid is
/// one that is not offered.
cusparseStatus_t offered(cusparseStatus_t status) {
  return status == CUSPARSE_STATUS_INVALID_VALUE ? CUSPARSE_STATUS_NOT_SUPPORTED : status;
}

using DenseFactor = Owned<cusparseConstDnMatDescr_t, cusparseDestroyDnMat>;

cusparseOrder_t order_of(Layout layout) {
  return layout == Layout::row ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
}

/// A dense matrix without gaps that is read.
DenseFactor describe_factor(DType dtype, std::int64_t rows, std::int64_t columns, Layout layout,
                            const void* data) {
  cusparseConstDnMatDescr_t matrix = nullptr;
  check_cusparse(
      cusparseCreateConstDnMat(&matrix, rows, columns, layout == Layout::row ? columns : rows, data,
                               data_type(dtype), order_of(layout)),
      "cusparseCreateConstDnMat");
  return DenseFactor(matrix);
}

class CusparseSpmm final : public CusparseProduct {
 public:
  CusparseSpmm(VendorStream stream, const VendorSpmmCall& call)
      : CusparseProduct(stream, call.a), algorithm_(cusparse_algorithm(call.algorithm)) {
    const bool by_rows = call.layout == Layout::row;
    const std::int64_t of_y = extent(call.a, call.a.rows);
    x_ = describe_factor(call.a.dtype, extent(call.a, call.a.cols), call.columns, call.layout,
                         call.x);
    cusparseDnMatDescr_t y = nullptr;
    check_cusparse(cusparseCreateDnMat(&y, of_y, call.columns, by_rows ? call.columns : of_y,
                                       call.y, data_type(call.a.dtype), order_of(call.layout)),
                   "cusparseCreateDnMat");
    y_.reset(y);
    prepare(
        stream, call.a,
        [&](std::size_t* bytes) {
          return offered(cusparseSpMM_bufferSize(handle(), kAsItIs, kAsItIs, alpha(), matrix(),
                                                 x_.get(), beta(), y_.get(), type(), algorithm_,
                                                 bytes));
        },
        [&] {
          return offered(cusparseSpMM_preprocess(handle(), kAsItIs, kAsItIs, alpha(), matrix(),
                                                 x_.get(), beta(), y_.get(), type(), algorithm_,
                                                 workspace()));
        });
  }

 private:
  void multiply() override {
    check_cusparse(offered(cusparseSpMM(handle(), kAsItIs, kAsItIs, alpha(), matrix(), x_.get(),
                                        beta(), y_.get(), type(), algorithm_, workspace())),
                   "cusparseSpMM");
  }

  cusparseSpMMAlg_t algorithm_;
  DenseFactor x_;
  Owned<cusparseDnMatDescr_t, cusparseDestroyDnMat> y_;
};

/// CSR whose values are written.
cusparseSpMatDescr_t describe_values(const VendorSparse& pattern, void* values) {
  cusparseSpMatDescr_t matrix = nullptr;
  // A descriptor that may be written has no const pointer, also not to what is only read.
  check_cusparse(
      cusparseCreateCsr(&matrix, pattern.rows, pattern.cols, pattern.nnz,
                        const_cast<void*>(pattern.offsets),
                        const_cast<std::int32_t*>(pattern.col_indices), values,
                        pattern.wide_offsets ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I,
                        CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, data_type(pattern.dtype)),
      "cusparseCreateCsr");
  return matrix;
}

class CusparseSddmm final : public CusparseProduct {
 public:
  CusparseSddmm(VendorStream stream, const VendorSddmmCall& call)
      : CusparseSddmm(stream, call, describe_values(call.pattern, call.values)) {}

 private:
  CusparseSddmm(VendorStream stream, const VendorSddmmCall& call, cusparseSpMatDescr_t values)
      : CusparseProduct(stream, call.pattern, values),
        values_(values),
        of_y_(call.transposed ? CUSPARSE_OPERATION_TRANSPOSE : kAsItIs) {
    const DType dtype = call.pattern.dtype;
    const Layout other = call.layout == Layout::row ? Layout::col : Layout::row;
    x_ = describe_factor(dtype, call.pattern.rows, call.columns, call.layout, call.x);
    y_ = call.transposed
             ? describe_factor(dtype, call.pattern.cols, call.columns, call.layout, call.y)
             : describe_factor(dtype, call.columns, call.pattern.cols, other, call.y);
    prepare(
        stream, call.pattern,
        [&](std::size_t* bytes) {
          return offered(cusparseSDDMM_bufferSize(handle(), kAsItIs, of_y_, alpha(), x_.get(),
                                                  y_.get(), beta(), values_, type(), kAlgorithm,
                                                  bytes));
        },
        [&] {
          return offered(cusparseSDDMM_preprocess(handle(), kAsItIs, of_y_, alpha(), x_.get(),
                                                  y_.get(), beta(), values_, type(), kAlgorithm,
                                                  workspace()));
        });
  }

  void multiply() override {
    check_cusparse(offered(cusparseSDDMM(handle(), kAsItIs, of_y_, alpha(), x_.get(), y_.get(),
                                         beta(), values_, type(), kAlgorithm, workspace())),
                   "cusparseSDDMM");
  }

  static constexpr cusparseSDDMMAlg_t kAlgorithm = CUSPARSE_SDDMM_ALG_DEFAULT;

  cusparseSpMatDescr_t values_;  // CusparseProduct's matrix
  cusparseOperation_t of_y_;
  DenseFactor x_;
  DenseFactor y_;
};

cublasOperation_t operation(Op op) {
  constexpr std::array<cublasOperation_t, 3> kOps = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
  return kOps[static_cast<std::size_t>(op)];
}

/// Arithmetic of a product; 16-bit partial sums aside, what CUBLAS_COMPUTE_32F computes is IEEE's.
cublasComputeType_t compute_type(const GemmType& type) {
  if (component_type(type.in) == DType::f64) return CUBLAS_COMPUTE_64F;
  return type.math == Math::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

/// Column-major C[m,n] = op_a(a)[m,k] op_b(b)[k,n]. A row-major product is C^T = op(B)^T op(A)^T,
/// each as stored a transpose: then a is the caller's B.
struct ColumnMajor {
  explicit ColumnMajor(const GemmShape& s)
      : swapped(s.layout == Layout::row),
        op_a(operation(swapped ? s.op_b : s.op_a)),
        op_b(operation(swapped ? s.op_a : s.op_b)),
        m(swapped ? s.n : s.m),
        n(swapped ? s.m : s.n),
        k(s.k),
        lda(swapped ? s.ldb : s.lda),
        ldb(swapped ? s.lda : s.ldb),
        ldc(s.ldc) {}
  const void* a(const GemmOperands& operands) const { return swapped ? operands.b : operands.a; }
  const void* b(const GemmOperands& operands) const { return swapped ? operands.a : operands.b; }

  bool swapped;
  cublasOperation_t op_a;
  cublasOperation_t op_b;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  std::int64_t lda;
  std::int64_t ldb;
  std::int64_t ldc;
};

/// What cuBLAS's own products share: the handle with its workspace, alpha and beta.
class CublasProduct : public VendorGemmProduct {
 public:
  CublasProduct(VendorStream stream, const GemmCall& gemm)
      : gemm_(gemm),
        handles_(handles(stream.device)),
        alpha_(gemm.type.in, gemm.alpha),
        beta_(gemm.type.in, gemm.beta) {
    const DeviceGuard current(stream.device);
    bind(stream.native);
  }
  void run(CUstream_st* stream, const GemmOperands& operands) final {
    cudaStream_t bound = nullptr;
    check_cublas(cublasGetStream(handles_.cublas, &bound), "cublasGetStream");
    if (bound != stream) bind(stream);
    multiply(handles_.cublas, operands);
  }
  std::int64_t workspace_bytes() const final { return kCublasWorkspace; }

 protected:
  virtual void multiply(cublasHandle_t handle, const GemmOperands& operands) = 0;
  /// alpha or beta as a T.
  template <class T>
  const T* alpha() const {
    return static_cast<const T*>(alpha_.data());
  }
  template <class T>
  const T* beta() const {
    return static_cast<const T*>(beta_.data());
  }
  const GemmCall& gemm() const { return gemm_; }

 private:
  /// cublasSetStream takes the workspace back, so it is given again.
  void bind(CUstream_st* stream) {
    check_cublas(cublasSetStream(handles_.cublas, stream), "cublasSetStream");
    check_cublas(cublasSetWorkspace(handles_.cublas, handles_.workspace, kCublasWorkspace),
                 "cublasSetWorkspace");
  }

  GemmCall gemm_;
  Handles& handles_;
  HostScalar alpha_;
  HostScalar beta_;
};

/// cublasGemmEx without partial sums in 16 bits.
class CublasGemm final : public CublasProduct {
 public:
  CublasGemm(VendorStream stream, const GemmCall& gemm)
      : CublasProduct(stream, gemm), call_(gemm.shape) {
    check_cublas(cublasSetMathMode(
                     handles(stream.device).cublas,
                     static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH |
                                               CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)),
                 "cublasSetMathMode");
  }

 private:
  void multiply(cublasHandle_t handle, const GemmOperands& operands) override {
    const cudaDataType in = data_type(gemm().type.in);
    check_cublas(
        cublasGemmEx_64(handle, call_.op_a, call_.op_b, call_.m, call_.n, call_.k, alpha<void>(),
                        call_.a(operands), in, call_.lda, call_.b(operands), in, call_.ldb,
                        beta<void>(), operands.c, data_type(gemm().type.out), call_.ldc,
                        compute_type(gemm().type), CUBLAS_GEMM_DEFAULT),
        "cublasGemmEx");
  }

  ColumnMajor call_;
};

/// f(tag) with a null pointer to cuBLAS's name for the type.
template <class F>
void with_blas_type(DType dtype, F f) {
  switch (dtype) {
    case DType::f64:
      return f(static_cast<double*>(nullptr));
    case DType::f32:
      return f(static_cast<float*>(nullptr));
    case DType::c128:
      return f(static_cast<cuDoubleComplex*>(nullptr));
    case DType::c64:
      return f(static_cast<cuComplex*>(nullptr));
    case DType::f16:
    case DType::bf16:
      break;
  }
  throw Error(ErrorCode::unsupported, "cuBLAS has no such product of a 16-bit type");
}

// cuBLAS's names by type.
constexpr auto gemv(double*) {
  return cublasDgemv_64;
}
constexpr auto gemv(float*) {
  return cublasSgemv_64;
}
constexpr auto gemv(cuDoubleComplex*) {
  return cublasZgemv_64;
}
constexpr auto gemv(cuComplex*) {
  return cublasCgemv_64;
}
constexpr auto syrk(double*) {
  return cublasDsyrk_64;
}
constexpr auto syrk(float*) {
  return cublasSsyrk_64;
}
constexpr auto syrk(cuDoubleComplex*) {
  return cublasZsyrk_64;
}
constexpr auto syrk(cuComplex*) {
  return cublasCsyrk_64;
}

class CublasGemv final : public CublasProduct {
 public:
  CublasGemv(VendorStream stream, const GemmCall& gemm)
      : CublasProduct(stream, gemm), call_(gemv_call(gemm)) {}

 private:
  void multiply(cublasHandle_t handle, const GemmOperands& operands) override {
    const void* matrix = call_.swapped ? operands.b : operands.a;
    const void* vector = call_.swapped ? operands.a : operands.b;
    with_blas_type(gemm().type.in, [&]<class T>(T* type) {
      check_cublas(
          gemv(type)(handle, operation(call_.op), call_.rows, call_.cols, alpha<T>(),
                     static_cast<const T*>(matrix), call_.ld, static_cast<const T*>(vector),
                     call_.stride_x, beta<T>(), static_cast<T*>(operands.c), call_.stride_y),
          "cublas<t>gemv");
    });
  }

  GemvCall call_;
};

/// The lower triangle of C = op(A) op(A)^T or, by herk, op(A) op(A)^H.
class CublasSyrk final : public CublasProduct {
 public:
  CublasSyrk(VendorStream stream, const GemmCall& gemm) : CublasProduct(stream, gemm) {
    const GemmShape& s = gemm.shape;
    const bool row = s.layout == Layout::row;  // seen transposed: the triangle is the upper one
    uplo_ = row ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    conjugated_ =
        is_complex(gemm.type.in) && (s.op_a == Op::conj_trans || s.op_b == Op::conj_trans);
    const bool transposed = (s.op_a != Op::none) != row;
    op_ = !transposed ? CUBLAS_OP_N : conjugated_ ? CUBLAS_OP_C : CUBLAS_OP_T;
  }

 private:
  void multiply(cublasHandle_t handle, const GemmOperands& operands) override {
    const GemmShape& s = gemm().shape;
    if (conjugated_) return herk(handle, operands);
    with_blas_type(gemm().type.in, [&]<class T>(T* type) {
      check_cublas(
          syrk(type)(handle, uplo_, op_, s.n, s.k, alpha<T>(), static_cast<const T*>(operands.a),
                     s.lda, beta<T>(), static_cast<T*>(operands.c), s.ldc),
          "cublas<t>syrk");
    });
  }
  void herk(cublasHandle_t handle, const GemmOperands& operands) {
    const GemmShape& s = gemm().shape;
    if (gemm().type.in == DType::c128) {
      check_cublas(cublasZherk_64(handle, uplo_, op_, s.n, s.k, alpha<double>(),
                                  static_cast<const cuDoubleComplex*>(operands.a), s.lda,
                                  beta<double>(), static_cast<cuDoubleComplex*>(operands.c), s.ldc),
                   "cublasZherk");
      return;
    }
    check_cublas(cublasCherk_64(handle, uplo_, op_, s.n, s.k, alpha<float>(),
                                static_cast<const cuComplex*>(operands.a), s.lda, beta<float>(),
                                static_cast<cuComplex*>(operands.c), s.ldc),
                 "cublasCherk");
  }

  cublasFillMode_t uplo_ = CUBLAS_FILL_MODE_LOWER;
  cublasOperation_t op_ = CUBLAS_OP_N;
  bool conjugated_ = false;
};

/// cublasLtMatmul with the algorithm, of those that its heuristic proposes, that is fastest on the
/// case's own operands. Reductions are in the compute type.
class CublasLtBest final : public VendorGemmProduct {
 public:
  CublasLtBest(VendorStream stream, const GemmCall& gemm, std::span<const GemmOperands> sets)
      : handles_(handles(stream.device)),
        call_(gemm.shape),
        alpha_(gemm.type.in, gemm.alpha),
        beta_(gemm.type.in, gemm.beta) {
    const DeviceGuard current(stream.device);
    describe(gemm);
    choose(stream.native, sets);
  }
  void run(CUstream_st* stream, const GemmOperands& operands) override {
    check_cublas(multiply(stream, operands), "cublasLtMatmul");
  }
  std::int64_t workspace_bytes() const override { return kCublasWorkspace; }
  std::string algorithm() const override {
    return algorithm_name(algorithm_, cublasLtMatmulAlgoConfigGetAttribute);
  }

 private:
  using Operation = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
  using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;

  void describe(const GemmCall& gemm) {
    const cudaDataType in = data_type(gemm.type.in);
    const cudaDataType out = data_type(gemm.type.out);
    const cudaDataType scale = is_complex(gemm.type.in)     ? in
                               : gemm.type.in == DType::f64 ? CUDA_R_64F
                                                            : CUDA_R_32F;
    cublasLtMatmulDesc_t operation = nullptr;
    check_cublas(cublasLtMatmulDescCreate(&operation, compute_type(gemm.type), scale),
                 "cublasLtMatmulDescCreate");
    operation_.reset(operation);
    set(CUBLASLT_MATMUL_DESC_TRANSA, call_.op_a);
    set(CUBLASLT_MATMUL_DESC_TRANSB, call_.op_b);
    const bool plain_a = call_.op_a == CUBLAS_OP_N;
    const bool plain_b = call_.op_b == CUBLAS_OP_N;
    a_ = layout(in, plain_a ? call_.m : call_.k, plain_a ? call_.k : call_.m, call_.lda);
    b_ = layout(in, plain_b ? call_.k : call_.n, plain_b ? call_.n : call_.k, call_.ldb);
    c_ = layout(out, call_.m, call_.n, call_.ldc);
  }
  void set(cublasLtMatmulDescAttributes_t attribute, cublasOperation_t value) {
    check_cublas(cublasLtMatmulDescSetAttribute(operation_.get(), attribute, &value, sizeof value),
                 "cublasLtMatmulDescSetAttribute");
  }
  static Layout layout(cudaDataType type, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
    cublasLtMatrixLayout_t created = nullptr;
    check_cublas(cublasLtMatrixLayoutCreate(&created, type, static_cast<std::uint64_t>(rows),
                                            static_cast<std::uint64_t>(cols), ld),
                 "cublasLtMatrixLayoutCreate");
    return Layout(created);
  }

  /// Every algorithm runs once to be loaded, then once timed, the promising ones a few times more;
  /// after kBudget further ones are tried no more.
  void choose(CUstream_st* stream, std::span<const GemmOperands> sets) {
    constexpr double kBudgetMs = 60;
    constexpr int kFewest = 4;
    constexpr double kRepeatMs = 0.3;
    const Stopwatch watch;
    double best = std::numeric_limits<double>::infinity();
    double spent = 0;
    int tried = 0;
    std::size_t turn = 0;
    cublasLtMatmulAlgo_t winner{};
    for (const cublasLtMatmulHeuristicResult_t& proposal : proposals()) {
      if (spent > kBudgetMs && tried >= kFewest) break;
      algorithm_ = proposal.algo;
      const auto time = [&](int runs) {
        return watch.ms(stream, [&] {
          cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
          for (int r = 0; r < runs && status == CUBLAS_STATUS_SUCCESS; ++r)
            status = multiply(stream, sets[turn++ % sets.size()]);
          return status == CUBLAS_STATUS_SUCCESS;
        });
      };
      const double first = time(1);  // loads its kernels
      if (first == std::numeric_limits<double>::infinity()) continue;
      ++tried;
      double ms = time(1);
      spent += first + ms;
      if (ms < 1.5 * best && ms < kRepeatMs) {
        const int runs = std::clamp(static_cast<int>(kRepeatMs / ms), 2, 20);
        ms = time(runs) / runs;
        spent += ms * runs;
      }
      if (ms >= best) continue;
      best = ms;
      winner = proposal.algo;
    }
    if (tried == 0) throw Error(ErrorCode::unsupported, "cublasLt has no algorithm that runs");
    algorithm_ = winner;
  }

  std::vector<cublasLtMatmulHeuristicResult_t> proposals() {
    constexpr int kMost = 16;
    const std::size_t workspace = kCublasWorkspace;
    cublasLtMatmulPreference_t preference = nullptr;
    check_cublas(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                         &workspace, sizeof workspace);
    // Partial sums rounded to a half type can leave the bound of their products (seen in f16).
    const std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                         &reductions, sizeof reductions);
    std::vector<cublasLtMatmulHeuristicResult_t> all(kMost);
    int found = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(handles_.lt, operation_.get(), a_.get(), b_.get(), c_.get(),
                                       c_.get(), preference, kMost, all.data(), &found);
    cublasLtMatmulPreferenceDestroy(preference);
    check_cublas(status, "cublasLtMatmulAlgoGetHeuristic");
    all.resize(static_cast<std::size_t>(found));
    std::erase_if(all, [](const auto& each) { return each.state != CUBLAS_STATUS_SUCCESS; });
    return all;
  }

  cublasStatus_t multiply(CUstream_st* stream, const GemmOperands& operands) const {
    return cublasLtMatmul(handles_.lt, operation_.get(), alpha_.data(), call_.a(operands), a_.get(),
                          call_.b(operands), b_.get(), beta_.data(), operands.c, c_.get(),
                          operands.c, c_.get(), &algorithm_, handles_.workspace, kCublasWorkspace,
                          stream);
  }

  Handles& handles_;
  ColumnMajor call_;
  HostScalar alpha_;
  HostScalar beta_;
  Operation operation_;
  Layout a_;
  Layout b_;
  Layout c_;
  cublasLtMatmulAlgo_t algorithm_{};
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
  std::unique_ptr<VendorProduct> spmv(VendorStream stream, const VendorSpmvCall& call) override {
    return std::make_unique<CusparseSpmv>(stream, call);
  }
  std::unique_ptr<VendorProduct> spmm(VendorStream stream, const VendorSpmmCall& call) override {
    return std::make_unique<CusparseSpmm>(stream, call);
  }
  std::unique_ptr<VendorProduct> sddmm(VendorStream stream, const VendorSddmmCall& call) override {
    return std::make_unique<CusparseSddmm>(stream, call);
  }
  std::unique_ptr<VendorGemmProduct> gemm(VendorStream stream, const GemmCall& gemm,
                                          VendorRoutine routine,
                                          std::span<const GemmOperands> sets) override {
    switch (routine) {
      case VendorRoutine::gemmex:
        return std::make_unique<CublasGemm>(stream, gemm);
      case VendorRoutine::gemv:
        return std::make_unique<CublasGemv>(stream, gemm);
      case VendorRoutine::syrk:
        return std::make_unique<CublasSyrk>(stream, gemm);
      case VendorRoutine::lt_best:
        return std::make_unique<CublasLtBest>(stream, gemm, sets);
    }
    throw Error(ErrorCode::unsupported, "no such routine");
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
