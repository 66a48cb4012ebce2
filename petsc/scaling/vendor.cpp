#include "vendor.hpp"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <algorithm>
#include <cstddef>
#include <lanky/buffer.hpp>
#include <lanky/error.hpp>
#include <memory>
#include <string>

namespace lanky_scaling {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw lanky::Error(lanky::ErrorCode::device,
                     std::string(what) + ": " + cudaGetErrorString(status));
}

namespace {

void check(cusparseStatus_t status, const char* what) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  throw lanky::Error(lanky::ErrorCode::device,
                     std::string(what) + ": " + cusparseGetErrorString(status));
}

void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw lanky::Error(lanky::ErrorCode::device,
                     std::string(what) + ": " + cublasGetStatusString(status));
}

/// The handle of cuSPARSE; one for all products of the program, which has one stream.
cusparseHandle_t sparse_handle(const lanky::Stream& stream) {
  static cusparseHandle_t handle = nullptr;
  if (handle == nullptr) check(cusparseCreate(&handle), "cusparseCreate");
  check(cusparseSetStream(handle, stream.native()), "cusparseSetStream");
  return handle;
}

cublasHandle_t dense_handle(const lanky::Stream& stream) {
  static cublasHandle_t handle = nullptr;
  if (handle == nullptr) check(cublasCreate(&handle), "cublasCreate");
  check(cublasSetStream(handle, stream.native()), "cublasSetStream");
  return handle;
}

/// What a product needs as long as it may run.
struct Product {
  explicit Product(const lanky::Stream& stream) : handle(sparse_handle(stream)) {}
  ~Product() {
    if (matrix != nullptr) (void)cusparseDestroySpMat(matrix);
    if (x != nullptr) (void)cusparseDestroyDnVec(x);
    if (y != nullptr) (void)cusparseDestroyDnVec(y);
    if (many_x != nullptr) (void)cusparseDestroyDnMat(many_x);
    if (many_y != nullptr) (void)cusparseDestroyDnMat(many_y);
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  cusparseHandle_t handle;
  cusparseConstSpMatDescr_t matrix = nullptr;
  cusparseConstDnVecDescr_t x = nullptr;
  cusparseDnVecDescr_t y = nullptr;
  cusparseConstDnMatDescr_t many_x = nullptr;
  cusparseDnMatDescr_t many_y = nullptr;
  double alpha = 1, beta = 0;
  std::unique_ptr<lanky::Buffer<std::byte>> workspace{};
};

std::shared_ptr<Product> product_of(const lanky::Stream& stream, const lanky::CsrView<double>& a,
                                    double beta) {
  auto product = std::make_shared<Product>(stream);
  check(cusparseCreateConstCsr(&product->matrix, a.rows, a.cols, a.nnz, a.row_offsets.data(),
                               a.col_indices, a.values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                               CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
        "cusparseCreateConstCsr");
  product->beta = beta;
  return product;
}

void reserve(Product& product, const lanky::Stream& stream, std::size_t bytes) {
  product.workspace = std::make_unique<lanky::Buffer<std::byte>>(
      stream, static_cast<std::int64_t>(bytes == 0 ? 1 : bytes));
}

constexpr auto kAsItIs = CUSPARSE_OPERATION_NON_TRANSPOSE;

}  // namespace

std::function<void()> vendor_spmv(const lanky::Stream& stream, const lanky::CsrView<double>& a,
                                  lanky::VectorView<const double> x, double beta,
                                  lanky::VectorView<double> y, VendorAlgorithm algorithm) {
  const auto p = product_of(stream, a, beta);
  const cusparseSpMVAlg_t chosen =
      algorithm == VendorAlgorithm::alg1 ? CUSPARSE_SPMV_CSR_ALG1 : CUSPARSE_SPMV_CSR_ALG2;
  check(cusparseCreateConstDnVec(&p->x, x.size, x.data, CUDA_R_64F), "cusparseCreateConstDnVec");
  check(cusparseCreateDnVec(&p->y, y.size, y.data, CUDA_R_64F), "cusparseCreateDnVec");
  std::size_t bytes = 0;
  check(cusparseSpMV_bufferSize(p->handle, kAsItIs, &p->alpha, p->matrix, p->x, &p->beta, p->y,
                                CUDA_R_64F, chosen, &bytes),
        "cusparseSpMV_bufferSize");
  reserve(*p, stream, bytes);
  check(cusparseSpMV_preprocess(p->handle, kAsItIs, &p->alpha, p->matrix, p->x, &p->beta, p->y,
                                CUDA_R_64F, chosen, p->workspace->data()),
        "cusparseSpMV_preprocess");
  return [p, chosen] {
    check(cusparseSpMV(p->handle, kAsItIs, &p->alpha, p->matrix, p->x, &p->beta, p->y, CUDA_R_64F,
                       chosen, p->workspace->data()),
          "cusparseSpMV");
  };
}

std::function<void()> vendor_spmm(const lanky::Stream& stream, const lanky::CsrView<double>& a,
                                  lanky::MatrixView<const double> x, double beta,
                                  lanky::MatrixView<double> y, VendorAlgorithm algorithm) {
  const auto p = product_of(stream, a, beta);
  const cusparseSpMMAlg_t chosen =
      algorithm == VendorAlgorithm::alg1 ? CUSPARSE_SPMM_CSR_ALG1 : CUSPARSE_SPMM_CSR_ALG2;
  check(cusparseCreateConstDnMat(&p->many_x, x.rows, x.cols, x.ld, x.data, CUDA_R_64F,
                                 CUSPARSE_ORDER_COL),
        "cusparseCreateConstDnMat");
  check(
      cusparseCreateDnMat(&p->many_y, y.rows, y.cols, y.ld, y.data, CUDA_R_64F, CUSPARSE_ORDER_COL),
      "cusparseCreateDnMat");
  std::size_t bytes = 0;
  check(cusparseSpMM_bufferSize(p->handle, kAsItIs, kAsItIs, &p->alpha, p->matrix, p->many_x,
                                &p->beta, p->many_y, CUDA_R_64F, chosen, &bytes),
        "cusparseSpMM_bufferSize");
  reserve(*p, stream, bytes);
  check(cusparseSpMM_preprocess(p->handle, kAsItIs, kAsItIs, &p->alpha, p->matrix, p->many_x,
                                &p->beta, p->many_y, CUDA_R_64F, chosen, p->workspace->data()),
        "cusparseSpMM_preprocess");
  return [p, chosen] {
    check(cusparseSpMM(p->handle, kAsItIs, kAsItIs, &p->alpha, p->matrix, p->many_x, &p->beta,
                       p->many_y, CUDA_R_64F, chosen, p->workspace->data()),
          "cusparseSpMM");
  };
}

std::function<void()> vendor_axpy(const lanky::Stream& stream, std::int64_t size, const double* x,
                                  double* y) {
  const cublasHandle_t handle = dense_handle(stream);
  return [=] {
    const double alpha = 1e-9;
    check(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST), "cublasSetPointerMode");
    check(cublasDaxpy_64(handle, size, &alpha, x, 1, y, 1), "cublasDaxpy");
  };
}

std::function<void()> vendor_dot(const lanky::Stream& stream, std::int64_t size, const double* x,
                                 const double* y, double* result) {
  const cublasHandle_t handle = dense_handle(stream);
  return [=] {
    check(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE), "cublasSetPointerMode");
    check(cublasDdot_64(handle, size, x, 1, y, 1, result), "cublasDdot");
  };
}

std::unique_ptr<double, void (*)(double*)> pinned_double() {
  void* data = nullptr;
  if (lanky::Device::cuda_count() == 0) return {nullptr, [](double*) {}};
  check(cudaMallocHost(&data, sizeof(double)), "cudaMallocHost");
  return {static_cast<double*>(data), [](double* pinned) { cudaFreeHost(pinned); }};
}

void copy_to_host(const lanky::Stream& stream, const double* source, std::vector<double>& target) {
  stream.synchronize();
  if (!stream.device().is_cuda()) {
    std::copy_n(source, target.size(), target.begin());
    return;
  }
  check(cudaMemcpy(target.data(), source, target.size() * sizeof(double), cudaMemcpyDeviceToHost),
        "cudaMemcpy");
}

}  // namespace lanky_scaling
