#include <complex>
#include <lanky/error.hpp>
#include <limits>
#include <type_traits>
#include <utility>

#include "bench/rivals/mkl.hpp"
#include "bench/rivals/vendor.hpp"
#include "core/shared_library.hpp"
#include "core/text.hpp"

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

const SharedLibrary& openblas_library() {
  static const SharedLibrary instance{"libopenblas.so.0"};
  return instance;
}

struct Library {
  const char* name;
  const SharedLibrary& shared;
};

Library library_of(CpuVendor vendor) {
  if (vendor == CpuVendor::mkl) return {"MKL", mkl_library()};
  return {"OpenBLAS", openblas_library()};
}

template <class T>
class CblasProduct final : public VendorGemmProduct {
 public:
  CblasProduct(const Library& library, const char* name, const GemmCall& gemm)
      : gemm_(gemm),
        function_(library.shared.function<CblasGemm<T, Scale>>(name)),
        alpha_(static_cast<Real>(gemm.alpha)),
        beta_(static_cast<Real>(gemm.beta)) {
    if (!library.shared.loaded())
      throw Error(ErrorCode::unsupported,
                  concat(library.name, " cannot be opened: ", library.shared.failure()));
    if (function_ == nullptr)
      throw Error(ErrorCode::unsupported, concat(library.name, " has no ", name));
    const GemmShape& s = gemm.shape;
    for (const std::int64_t size : {s.m, s.n, s.k, s.lda, s.ldb, s.ldc}) {
      if (size > std::numeric_limits<int>::max())
        throw Error(ErrorCode::unsupported,
                    concat(library.name, " counts in 32 bits, which ", size, " exceeds"));
    }
  }

  void run(CUstream_st* /*stream*/, const GemmOperands& operands) override {
    const auto size = [](std::int64_t value) { return static_cast<int>(value); };
    const GemmShape& s = gemm_.shape;
    function_(s.layout == Layout::row ? kRowMajor : kColMajor, cblas_op(s.op_a), cblas_op(s.op_b),
              size(s.m), size(s.n), size(s.k), passed(alpha_), static_cast<const T*>(operands.a),
              size(s.lda), static_cast<const T*>(operands.b), size(s.ldb), passed(beta_),
              static_cast<T*>(operands.c), size(s.ldc));
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

std::unique_ptr<VendorGemmProduct> cpu_vendor_gemm(CpuVendor vendor, const GemmCall& gemm) {
  const Library library = library_of(vendor);
  if (gemm.type.in == gemm.type.out) {
    switch (gemm.type.in) {
      case DType::f64:
        return std::make_unique<CblasProduct<double>>(library, "cblas_dgemm", gemm);
      case DType::f32:
        return std::make_unique<CblasProduct<float>>(library, "cblas_sgemm", gemm);
      case DType::c128:
        return std::make_unique<CblasProduct<std::complex<double>>>(library, "cblas_zgemm", gemm);
      case DType::c64:
        return std::make_unique<CblasProduct<std::complex<float>>>(library, "cblas_cgemm", gemm);
      case DType::f16:
      case DType::bf16:
        break;
    }
  }
  throw Error(ErrorCode::unsupported,
              concat(library.name, " has no product of type ", to_string(gemm.type)));
}

std::string openblas_version() {
  auto* const config = openblas_library().function<char*()>("openblas_get_config");
  return config == nullptr ? "" : config();
}

}  // namespace lanky::bench
