#include <dlfcn.h>

#include <complex>
#include <lanky/error.hpp>
#include <limits>
#include <type_traits>
#include <utility>

#include "bench/rivals/vendor.hpp"

namespace lanky::bench {

namespace {

// cblas.h, which is not needed to build lanky.
constexpr int kRowMajor = 101;
constexpr int kColMajor = 102;
constexpr int kNoTrans = 111;
constexpr int kTrans = 112;

constexpr int kConjTrans = 113;

/// Scale: T, or for complex T a pointer to one.
template <class T, class Scale>
using CblasGemm = void(int order, int op_a, int op_b, int m, int n, int k, Scale alpha, const T* a,
                       int lda, const T* b, int ldb, Scale beta, T* c, int ldc);

int cblas_op(Op op) {
  return op == Op::none ? kNoTrans : op == Op::trans ? kTrans : kConjTrans;
}

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
class OpenblasGemm final : public VendorGemmProduct {
 public:
  OpenblasGemm(const char* name, const GemmCall& gemm)
      : gemm_(gemm),
        function_(function<CblasGemm<T, Scale>>(name)),
        alpha_(static_cast<Real>(gemm.alpha)),
        beta_(static_cast<Real>(gemm.beta)) {
    if (function_ == nullptr)
      throw Error(ErrorCode::unsupported, "libopenblas.so.0 cannot be opened");
    for (const std::int64_t size :
         {gemm.shape.m, gemm.shape.n, gemm.shape.k, gemm.shape.lda, gemm.shape.ldb, gemm.shape.ldc})
      blas_int(size);
  }

  void run(CUstream_st* /*stream*/, const GemmOperands& operands) override {
    const GemmShape& s = gemm_.shape;
    function_(s.layout == Layout::row ? kRowMajor : kColMajor, cblas_op(s.op_a), cblas_op(s.op_b),
              blas_int(s.m), blas_int(s.n), blas_int(s.k), passed(alpha_),
              static_cast<const T*>(operands.a), blas_int(s.lda), static_cast<const T*>(operands.b),
              blas_int(s.ldb), passed(beta_), static_cast<T*>(operands.c), blas_int(s.ldc));
  }
  std::int64_t workspace_bytes() const override { return 0; }

 private:
  static constexpr bool kComplex = is_complex(kDType<T>);
  using Real = std::conditional_t<component_type(kDType<T>) == DType::f64, double, float>;
  using Scale = std::conditional_t<kComplex, const void*, T>;

  static Scale passed(const T& scalar) {
    if constexpr (kComplex) {
      return &scalar;
    } else {
      return scalar;
    }
  }

  GemmCall gemm_;
  CblasGemm<T, Scale>* function_;
  T alpha_;
  T beta_;
};

}  // namespace

std::unique_ptr<VendorGemmProduct> openblas_gemm(const GemmCall& gemm) {
  if (gemm.type.in == gemm.type.out) {
    switch (gemm.type.in) {
      case DType::f64:
        return std::make_unique<OpenblasGemm<double>>("cblas_dgemm", gemm);
      case DType::f32:
        return std::make_unique<OpenblasGemm<float>>("cblas_sgemm", gemm);
      case DType::c128:
        return std::make_unique<OpenblasGemm<std::complex<double>>>("cblas_zgemm", gemm);
      case DType::c64:
        return std::make_unique<OpenblasGemm<std::complex<float>>>("cblas_cgemm", gemm);
      case DType::f16:
      case DType::bf16:
        break;
    }
  }
  throw Error(ErrorCode::unsupported,
              "OpenBLAS has no product of type " + std::string(name(gemm.type)));
}

std::string openblas_version() {
  auto* config = function<char*()>("openblas_get_config");
  return config == nullptr ? "" : config();
}

}  // namespace lanky::bench
