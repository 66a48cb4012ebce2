#include <cublas_v2.h>

#include <type_traits>

#include "examples/kmeans/product.hpp"
#include "examples/support/cuda_status.hpp"

namespace lanky::examples {

namespace {

struct HandleDestroyer {
  void operator()(cublasContext* handle) const { cublasDestroy(handle); }
};

template <class T>
class CublasProduct final : public Product<T> {
 public:
  explicit CublasProduct(const Stream& stream) {
    check_cuda(cudaSetDevice(stream.device().index()), "cudaSetDevice");
    cublasHandle_t handle = nullptr;
    check_vendor(cublasCreate(&handle), "cublasCreate");
    handle_.reset(handle);
    check_vendor(cublasSetStream(handle, stream.native()), "cublasSetStream");
  }

  // cuBLAS counts by columns, where products^T [k, n] = -2 centers x^T.
  void run(const Stream& /*stream*/, MatrixView<const T> x, MatrixView<const T> centers,
           MatrixView<T> products) const override {
    constexpr bool kWide = std::is_same_v<T, double>;
    constexpr cudaDataType kType = kWide ? CUDA_R_64F : CUDA_R_32F;
    const T alpha = -2;
    const T beta = 0;
    check_vendor(
        cublasGemmEx_64(handle_.get(), CUBLAS_OP_T, CUBLAS_OP_N, centers.rows, x.rows, x.cols,
                        &alpha, centers.data, kType, centers.ld, x.data, kType, x.ld, &beta,
                        products.data, kType, products.ld,
                        kWide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
        "cublasGemmEx");
  }
  std::string explain() const override {
    int version = 0;
    check_vendor(cublasGetVersion(handle_.get(), &version), "cublasGetVersion");
    return "cublasGemmEx of cuBLAS " + std::to_string(version) + "\n";
  }

 private:
  std::unique_ptr<cublasContext, HandleDestroyer> handle_;
};

}  // namespace

template <class T>
std::unique_ptr<Product<T>> make_cublas_product(const Stream& stream) {
  if (!stream.device().is_cuda())
    throw Error(ErrorCode::unsupported, "cuBLAS computes on a GPU, the device is cpu");
  return std::make_unique<CublasProduct<T>>(stream);
}

template std::unique_ptr<Product<float>> make_cublas_product(const Stream&);
template std::unique_ptr<Product<double>> make_cublas_product(const Stream&);

}  // namespace lanky::examples
