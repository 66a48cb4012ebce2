#include <cublas_v2.h>
#include <cusolverDn.h>

#include <lanky/buffer.hpp>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "examples/cholqr/cholqr.hpp"
#include "examples/cholqr/vendor_qr.hpp"
#include "examples/support/cuda_status.hpp"

namespace lanky::examples::cholqr {

namespace {

/// The libraries' functions of a type.
template <class T>
struct Calls;
template <>
struct Calls<double> {
  static constexpr auto kGeqrfSize = cusolverDnDgeqrf_bufferSize;
  static constexpr auto kGeqrf = cusolverDnDgeqrf;
  static constexpr auto kOrgqrSize = cusolverDnDorgqr_bufferSize;
  static constexpr auto kOrgqr = cusolverDnDorgqr;
  static constexpr auto kGemm = cublasDgemm;
};
template <>
struct Calls<float> {
  static constexpr auto kGeqrfSize = cusolverDnSgeqrf_bufferSize;
  static constexpr auto kGeqrf = cusolverDnSgeqrf;
  static constexpr auto kOrgqrSize = cusolverDnSorgqr_bufferSize;
  static constexpr auto kOrgqr = cusolverDnSorgqr;
  static constexpr auto kGemm = cublasSgemm;
};

struct SolverCloser {
  void operator()(cusolverDnHandle_t handle) const { cusolverDnDestroy(handle); }
};
struct BlasCloser {
  void operator()(cublasHandle_t handle) const { cublasDestroy(handle); }
};

int as_int(std::int64_t extent) {
  if (extent > std::numeric_limits<int>::max())
    throw Error(ErrorCode::unsupported,
                "cuSOLVER's geqrf takes int extents, not " + std::to_string(extent));
  return static_cast<int>(extent);
}

template <class T>
class CudaVendorQr : public VendorQr<T> {
 public:
  CudaVendorQr(const Stream& stream, std::int64_t m, std::int64_t n)
      : stream_(stream),
        m_(as_int(m)),
        n_(as_int(n)),
        q_(stream, m, n),
        between_(stream, m, n),
        r_(stream, n, n),
        g_(stream, n, n),
        r_step_(stream, n, n),
        r_before_(stream, n, n),
        inverse_(stream, n, n),
        tau_(stream, n),
        infos_(stream, 2),
        breakdown_(stream, 1),
        workspace_(stream, 0) {
    const CurrentDevice current(stream.device());
    cusolverDnHandle_t solver = nullptr;
    check_vendor(cusolverDnCreate(&solver), "cusolverDnCreate");
    solver_.reset(solver);
    check_vendor(cusolverDnSetStream(solver, stream.native()), "cusolverDnSetStream");
    cublasHandle_t blas = nullptr;
    check_vendor(cublasCreate(&blas), "cublasCreate");
    blas_.reset(blas);
    check_vendor(cublasSetStream(blas, stream.native()), "cublasSetStream");
    T* const q = q_.buffer().data();
    int geqrf_size = 0;
    int orgqr_size = 0;
    check_vendor(Calls<T>::kGeqrfSize(solver, m_, n_, q, m_, &geqrf_size), "geqrf_bufferSize");
    check_vendor(Calls<T>::kOrgqrSize(solver, m_, n_, n_, q, m_, tau_.data(), &orgqr_size),
                 "orgqr_bufferSize");
    workspace_ = Buffer<T>(stream, std::max(geqrf_size, orgqr_size));
    infos_.fill_zero();
    breakdown_.fill_zero();
    r_.buffer().fill_zero();
  }

  void restore(MatrixView<const T> a) override {
    const CurrentDevice current(stream_.device());
    check_cuda(cudaMemcpyAsync(q_.buffer().data(), a.data, sizeof(T) * m_ * n_,
                               cudaMemcpyDeviceToDevice, stream_.native()),
               "cudaMemcpyAsync");
  }

  void householder() override {
    const CurrentDevice current(stream_.device());
    T* const q = q_.buffer().data();
    const int size = static_cast<int>(workspace_.size());
    check_vendor(Calls<T>::kGeqrf(solver_.get(), m_, n_, q, m_, tau_.data(), workspace_.data(),
                                  size, infos_.data()),
                 "geqrf");
    // R stands in the upper triangle; what is below it no reader of R reads.
    check_cuda(cudaMemcpy2DAsync(r_.buffer().data(), sizeof(T) * n_, q, sizeof(T) * m_,
                                 sizeof(T) * n_, n_, cudaMemcpyDeviceToDevice, stream_.native()),
               "cudaMemcpy2DAsync");
    check_vendor(Calls<T>::kOrgqr(solver_.get(), m_, n_, n_, q, m_, tau_.data(), workspace_.data(),
                                  size, infos_.data() + 1),
                 "orgqr");
  }

  void cholesky(TallWork<T>& work) override {
    const CurrentDevice current(stream_.device());
    const T one{1};
    const T zero{0};
    T* source = q_.buffer().data();
    T* target = between_.buffer().data();
    for (int pass = 1; pass <= 2; ++pass) {
      check_vendor(Calls<T>::kGemm(blas_.get(), CUBLAS_OP_T, CUBLAS_OP_N, n_, n_, m_, &one, source,
                                   m_, source, m_, &zero, g_.buffer().data(), n_),
                   "gemm");
      work.factor(stream_, {.n = n_,
                            .gram = g_.buffer().data(),
                            .shift = 0,
                            .roundoff = unit_roundoff(kDType<T>),
                            .pass = pass,
                            .r_before = pass == 1 ? nullptr : r_before_.buffer().data(),
                            .r_step = r_step_.buffer().data(),
                            .r_total = (pass == 1 ? r_before_ : r_).buffer().data(),
                            .inverse = inverse_.buffer().data(),
                            .breakdown = breakdown_.data()});
      check_vendor(Calls<T>::kGemm(blas_.get(), CUBLAS_OP_N, CUBLAS_OP_N, m_, n_, n_, &one, source,
                                   m_, inverse_.buffer().data(), n_, &zero, target, m_),
                   "gemm");
      std::swap(source, target);
    }
  }

  MatrixView<const T> q() const override { return q_.view(); }
  MatrixView<const T> r() const override { return r_.view(); }

  void check() const override {
    throw_breakdown(breakdown_.to_host()[0], n_, false);
    for (const int info : infos_.to_host())
      check_vendor(info, "geqrf or orgqr");
  }

 private:
  Stream stream_;
  int m_;
  int n_;
  std::unique_ptr<std::remove_pointer_t<cusolverDnHandle_t>, SolverCloser> solver_;
  std::unique_ptr<std::remove_pointer_t<cublasHandle_t>, BlasCloser> blas_;
  Matrix<T> q_;
  Matrix<T> between_;  // the first pass of two
  Matrix<T> r_;
  Matrix<T> g_;
  Matrix<T> r_step_;
  Matrix<T> r_before_;
  Matrix<T> inverse_;
  Buffer<T> tau_;
  Buffer<int> infos_;
  Buffer<Breakdown> breakdown_;
  Buffer<T> workspace_;
};

}  // namespace

template <class T>
std::unique_ptr<VendorQr<T>> make_vendor_qr(const Stream& stream, std::int64_t m, std::int64_t n) {
  if (!stream.device().is_cuda()) return nullptr;
  return std::make_unique<CudaVendorQr<T>>(stream, m, n);
}

template std::unique_ptr<VendorQr<double>> make_vendor_qr(const Stream&, std::int64_t,
                                                          std::int64_t);
template std::unique_ptr<VendorQr<float>> make_vendor_qr(const Stream&, std::int64_t, std::int64_t);

}  // namespace lanky::examples::cholqr
