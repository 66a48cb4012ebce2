#include <cublas_v2.h>

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>

#include "examples/abft/vendor_gemm.hpp"
#include "examples/support/cuda_status.hpp"

namespace lanky::examples::abft {

namespace {

/// cuBLAS in its default mode: IEEE arithmetic of T.
template <class T>
class CublasGemm : public VendorGemm<T> {
 public:
  explicit CublasGemm(const Stream& stream) : stream_(stream) {
    const CurrentDevice current(stream.device());
    check_vendor(cublasCreate(&handle_), "cublasCreate");
    check_vendor(cublasSetStream(handle_, stream.native()), "cublasSetStream");
  }
  CublasGemm(const CublasGemm&) = delete;
  CublasGemm& operator=(const CublasGemm&) = delete;
  ~CublasGemm() override { cublasDestroy(handle_); }

  void run(Op op_a, MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c) override {
    const CurrentDevice current(stream_.device());
    const T one{1};
    const T zero{0};
    const auto op = op_a == Op::none ? CUBLAS_OP_N : CUBLAS_OP_T;
    const int m = as_int(c.rows);
    const int n = as_int(c.cols);
    const int k = as_int(b.rows);
    const int lda = as_int(a.ld);
    const int ldb = as_int(b.ld);
    const int ldc = as_int(c.ld);
    if constexpr (std::is_same_v<T, double>) {
      check_vendor(cublasDgemm(handle_, op, CUBLAS_OP_N, m, n, k, &one, a.data, lda, b.data, ldb,
                               &zero, c.data, ldc),
                   "cublasDgemm");
    } else {
      check_vendor(cublasSgemm(handle_, op, CUBLAS_OP_N, m, n, k, &one, a.data, lda, b.data, ldb,
                               &zero, c.data, ldc),
                   "cublasSgemm");
    }
  }

 private:
  static int as_int(std::int64_t extent) {
    if (extent > std::numeric_limits<int>::max())
      throw Error(ErrorCode::unsupported,
                  "cublas<t>gemm takes int extents, not " + std::to_string(extent));
    return static_cast<int>(extent);
  }

  Stream stream_;
  cublasHandle_t handle_ = nullptr;
};

}  // namespace

template <class T>
std::unique_ptr<VendorGemm<T>> make_vendor_gemm(const Stream& stream) {
  if (!stream.device().is_cuda()) return nullptr;
  return std::make_unique<CublasGemm<T>>(stream);
}

template std::unique_ptr<VendorGemm<double>> make_vendor_gemm(const Stream&);
template std::unique_ptr<VendorGemm<float>> make_vendor_gemm(const Stream&);

}  // namespace lanky::examples::abft
