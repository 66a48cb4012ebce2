#include <cublas_v2.h>
#include <cusolverDn.h>

#include <algorithm>
#include <lanky/buffer.hpp>
#include <lanky/error.hpp>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

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
  static constexpr auto kPotrfSize = cusolverDnDpotrf_bufferSize;
  static constexpr auto kPotrf = cusolverDnDpotrf;
  static constexpr auto kGemm = cublasDgemm;
  static constexpr auto kTrsm = cublasDtrsm;
  static constexpr auto kTrmm = cublasDtrmm;
};
template <>
struct Calls<float> {
  static constexpr auto kGeqrfSize = cusolverDnSgeqrf_bufferSize;
  static constexpr auto kGeqrf = cusolverDnSgeqrf;
  static constexpr auto kOrgqrSize = cusolverDnSorgqr_bufferSize;
  static constexpr auto kOrgqr = cusolverDnSorgqr;
  static constexpr auto kPotrfSize = cusolverDnSpotrf_bufferSize;
  static constexpr auto kPotrf = cusolverDnSpotrf;
  static constexpr auto kGemm = cublasSgemm;
  static constexpr auto kTrsm = cublasStrsm;
  static constexpr auto kTrmm = cublasStrmm;
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
        r_before_(stream, n, n),
        inverse_(stream, n, n),
        tau_(stream, n),
        identity_(stream, n * n),
        infos_(stream, 4),
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
    int potrf_size = 0;
    check_vendor(Calls<T>::kPotrfSize(solver, CUBLAS_FILL_MODE_UPPER, n_, g_.buffer().data(), n_,
                                      &potrf_size),
                 "potrf_bufferSize");
    workspace_ = Buffer<T>(stream, std::max({geqrf_size, orgqr_size, potrf_size}));
    std::vector<T> identity(static_cast<std::size_t>(n * n));
    for (std::int64_t i = 0; i < n; ++i)
      identity[static_cast<std::size_t>(i + i * n)] = T{1};
    identity_.copy_from(identity);
    infos_.fill_zero();
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

  void cholesky() override {
    const CurrentDevice current(stream_.device());
    const T one{1};
    const T zero{0};
    T* source = q_.buffer().data();
    T* target = between_.buffer().data();
    T* const g = g_.buffer().data();
    T* const inverse = inverse_.buffer().data();
    const T* before = identity_.data();
    for (int pass = 0; pass < 2; ++pass) {
      T* const total = (pass == 0 ? r_before_ : r_).buffer().data();
      check_vendor(Calls<T>::kGemm(blas_.get(), CUBLAS_OP_T, CUBLAS_OP_N, n_, n_, m_, &one, source,
                                   m_, source, m_, &zero, g, n_),
                   "gemm");
      check_vendor(
          Calls<T>::kPotrf(solver_.get(), CUBLAS_FILL_MODE_UPPER, n_, g, n_, workspace_.data(),
                           static_cast<int>(workspace_.size()), infos_.data() + kPotrfInfo + pass),
          "potrf");
      check_cuda(cudaMemcpyAsync(inverse, identity_.data(), sizeof(T) * n_ * n_,
                                 cudaMemcpyDeviceToDevice, stream_.native()),
                 "cudaMemcpyAsync");
      check_vendor(
          Calls<T>::kTrsm(blas_.get(), CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N,
                          CUBLAS_DIAG_NON_UNIT, n_, n_, &one, g, n_, inverse, n_),
          "trsm");
      check_vendor(
          Calls<T>::kTrmm(blas_.get(), CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N,
                          CUBLAS_DIAG_NON_UNIT, n_, n_, &one, g, n_, before, n_, total, n_),
          "trmm");
      check_vendor(Calls<T>::kGemm(blas_.get(), CUBLAS_OP_N, CUBLAS_OP_N, m_, n_, n_, &one, source,
                                   m_, inverse, n_, &zero, target, m_),
                   "gemm");
      std::swap(source, target);
      before = total;
    }
  }

  MatrixView<const T> q() const override { return q_.view(); }
  MatrixView<const T> r() const override { return r_.view(); }

  void check() const override {
    const std::vector<int> infos = infos_.to_host();
    for (int pass = 0; pass < 2; ++pass) {
      const int pivot = infos[static_cast<std::size_t>(kPotrfInfo + pass)];
      if (pivot <= 0) continue;
      throw Error(ErrorCode::unsupported, "pass " + std::to_string(pass + 1) +
                                              " of CholeskyQR broke down: potrf found pivot " +
                                              std::to_string(pivot) + " of " + std::to_string(n_) +
                                              " not positive");
    }
    for (const int info : infos)
      check_vendor(info, "geqrf, orgqr or potrf");
  }

 private:
  static constexpr int kPotrfInfo = 2;  // the first of two

  Stream stream_;
  int m_;
  int n_;
  std::unique_ptr<std::remove_pointer_t<cusolverDnHandle_t>, SolverCloser> solver_;
  std::unique_ptr<std::remove_pointer_t<cublasHandle_t>, BlasCloser> blas_;
  Matrix<T> q_;
  Matrix<T> between_;  // the first pass of two
  Matrix<T> r_;
  Matrix<T> g_;
  Matrix<T> r_before_;
  Matrix<T> inverse_;
  Buffer<T> tau_;
  Buffer<T> identity_;
  Buffer<int> infos_;  // of geqrf, orgqr and potrf
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
