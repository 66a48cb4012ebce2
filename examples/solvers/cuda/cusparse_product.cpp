#include <cusparse.h>

#include <limits>
#include <type_traits>
#include <utility>

#include "examples/solvers/product.hpp"
#include "examples/support/cuda_status.hpp"
#include "examples/support/timing.hpp"

namespace lanky::examples::solvers {

namespace {

void check_cusparse(cusparseStatus_t status, const char* what) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  throw Error(
      status == CUSPARSE_STATUS_ALLOC_FAILED || status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES
          ? ErrorCode::out_of_memory
          : ErrorCode::device,
      std::string(what) + ": " + cusparseGetErrorString(status));
}

struct Destroy {
  void operator()(cusparseContext* handle) const { cusparseDestroy(handle); }
  void operator()(const cusparseSpMatDescr* matrix) const { cusparseDestroySpMat(matrix); }
  void operator()(const cusparseDnVecDescr* vector) const { cusparseDestroyDnVec(vector); }
};
template <class Pointer>
using Owned = std::unique_ptr<std::remove_pointer_t<Pointer>, Destroy>;

/// One algorithm, prepared.
template <class T>
class CusparseProduct final : public Product<T> {
 public:
  CusparseProduct(const Stream& stream, std::shared_ptr<cusparseContext> shared_handle,
                  const CsrView<T>& a, cusparseSpMVAlg_t algorithm, VectorView<T> x,
                  VectorView<T> y)
      : algorithm_(algorithm), handle_(std::move(shared_handle)), workspace_(stream, 0) {
    const cusparseHandle_t handle = handle_.get();
    cusparseConstSpMatDescr_t matrix = nullptr;
    check_cusparse(cusparseCreateConstCsr(
                       &matrix, a.rows, a.cols, a.nnz, a.row_offsets.data(), a.col_indices,
                       a.values, a.row_offsets.wide() ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I,
                       CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, kType),
                   "cusparseCreateConstCsr");
    matrix_.reset(matrix);
    x_ = vector(x);
    y_ = vector(y);
    check_cusparse(cusparseSetStream(handle, stream.native()), "cusparseSetStream");
    std::size_t bytes = 0;
    check_cusparse(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, matrix,
                                           x_.get(), &kZero, y_.get(), kType, algorithm, &bytes),
                   "cusparseSpMV_bufferSize");
    workspace_ = Buffer<char>(stream, static_cast<std::int64_t>(bytes));
    check_cusparse(
        cusparseSpMV_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, matrix, x_.get(),
                                &kZero, y_.get(), kType, algorithm, workspace_.data()),
        "cusparseSpMV_preprocess");
  }

  void run(const Stream& stream, VectorView<const T> x, VectorView<T> y) const override {
    check_cusparse(cusparseSetStream(handle_.get(), stream.native()), "cusparseSetStream");
    // The descriptor of x is one of a vector to write to, since that can be pointed elsewhere.
    check_cusparse(cusparseDnVecSetValues(x_.get(), const_cast<T*>(x.data)),
                   "cusparseDnVecSetValues");
    check_cusparse(cusparseDnVecSetValues(y_.get(), y.data), "cusparseDnVecSetValues");
    check_cusparse(
        cusparseSpMV(handle_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &kOne, matrix_.get(),
                     x_.get(), &kZero, y_.get(), kType, algorithm_, workspace_.data()),
        "cusparseSpMV");
  }
  std::string about() const override {
    return algorithm_ == CUSPARSE_SPMV_CSR_ALG1 ? "cusparse-alg1" : "cusparse-alg2";
  }

 private:
  static constexpr cudaDataType kType = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;
  static constexpr T kOne = 1;
  static constexpr T kZero = 0;

  static Owned<cusparseDnVecDescr_t> vector(VectorView<T> view) {
    cusparseDnVecDescr_t descriptor = nullptr;
    check_cusparse(cusparseCreateDnVec(&descriptor, view.size, view.data, kType),
                   "cusparseCreateDnVec");
    return Owned<cusparseDnVecDescr_t>(descriptor);
  }

  cusparseSpMVAlg_t algorithm_;
  std::shared_ptr<cusparseContext> handle_;
  Owned<cusparseConstSpMatDescr_t> matrix_;
  Owned<cusparseDnVecDescr_t> x_;
  Owned<cusparseDnVecDescr_t> y_;
  mutable Buffer<char> workspace_;
};

}  // namespace

template <class T>
Prepared<T> cusparse_product(const Stream& stream, const CsrView<T>& a) {
  check_cuda(cudaSetDevice(stream.device().index()), "cudaSetDevice");
  cusparseHandle_t created = nullptr;
  check_cusparse(cusparseCreate(&created), "cusparseCreate");
  const std::shared_ptr<cusparseContext> handle(created, Destroy());
  Buffer<T> x(stream, a.cols);
  Buffer<T> y(stream, a.rows);
  x.fill_zero();
  std::vector<Prepared<T>> candidates;
  std::vector<std::function<void()>> works;
  for (const cusparseSpMVAlg_t algorithm : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
    candidates.push_back(prepare<T>(stream, [&] {
      return std::make_unique<CusparseProduct<T>>(stream, handle, a, algorithm, x.view(), y.view());
    }));
    works.push_back([&, product = candidates.back().product.get()] {
      constexpr int kRuns = 5;
      for (int i = 0; i < kRuns; ++i)
        product->run(stream, std::as_const(x).view(), y.view());
    });
  }
  const std::vector<double> times = median_ms(stream, 7, works);
  return std::move(candidates[times[0] <= times[1] ? 0 : 1]);
}

template Prepared<double> cusparse_product(const Stream&, const CsrView<double>&);
template Prepared<float> cusparse_product(const Stream&, const CsrView<float>&);

}  // namespace lanky::examples::solvers
