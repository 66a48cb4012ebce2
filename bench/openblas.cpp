#include <dlfcn.h>

#include <lanky/error.hpp>
#include <limits>
#include <utility>

#include "bench/vendor.hpp"

namespace lanky::bench {

namespace {

// cblas.h, which is not needed to build lanky.
constexpr int kRowMajor = 101;
constexpr int kColMajor = 102;
constexpr int kNoTrans = 111;
constexpr int kTrans = 112;

template <class T>
using CblasGemm = void(int order, int op_a, int op_b, int m, int n, int k, T alpha, const T* a,
                       int lda, const T* b, int ldb, T beta, T* c, int ldc);

void* openblas() {
  static void* const handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  return handle;
}

template <class Function>
Function* function(const char* name) {
  return openblas() == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(openblas(), name));
}

int blas_int(std::int64_t size) {
  if (size > std::numeric_limits<int>::max()) {
    throw Error(ErrorCode::unsupported,
                "OpenBLAS counts in 32 bits, which " + std::to_string(size) + " exceeds");
  }
  return static_cast<int>(size);
}

template <class T>
class OpenblasGemm final : public VendorProduct {
 public:
  OpenblasGemm(const char* name, const VendorGemm& gemm)
      : gemm_(gemm), function_(function<CblasGemm<T>>(name)) {
    if (function_ == nullptr)
      throw Error(ErrorCode::unsupported, "libopenblas.so.0 cannot be opened");
    for (const std::int64_t size :
         {gemm.shape.m, gemm.shape.n, gemm.shape.k, gemm.shape.lda, gemm.shape.ldb, gemm.shape.ldc})
      blas_int(size);
  }

  void run(CUstream_st* /*stream*/) override {
    const GemmShape& s = gemm_.shape;
    function_(s.layout == Layout::row ? kRowMajor : kColMajor,
              s.op_a == Op::none ? kNoTrans : kTrans, s.op_b == Op::none ? kNoTrans : kTrans,
              blas_int(s.m), blas_int(s.n), blas_int(s.k), T(1), static_cast<const T*>(gemm_.a),
              blas_int(s.lda), static_cast<const T*>(gemm_.b), blas_int(s.ldb),
              static_cast<T>(gemm_.beta), static_cast<T*>(gemm_.c), blas_int(s.ldc));
  }
  std::int64_t workspace_bytes() const override { return 0; }

 private:
  VendorGemm gemm_;
  CblasGemm<T>* function_;
};

}  // namespace

std::unique_ptr<VendorProduct> openblas_gemm(const VendorGemm& gemm) {
  if (gemm.dtype == DType::f64) return std::make_unique<OpenblasGemm<double>>("cblas_dgemm", gemm);
  if (gemm.dtype == DType::f32) return std::make_unique<OpenblasGemm<float>>("cblas_sgemm", gemm);
  throw Error(ErrorCode::unsupported,
              "OpenBLAS has no product of type " + std::string(name(gemm.dtype)));
}

std::string openblas_version() {
  auto* config = function<char*()>("openblas_get_config");
  return config == nullptr ? "" : config();
}

}  // namespace lanky::bench
