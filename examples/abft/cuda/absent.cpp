// In place of elements.cu and cublas.cpp, in builds without CUDA.
#include <lanky/error.hpp>

#include "examples/abft/elements.hpp"
#include "examples/abft/vendor_gemm.hpp"

namespace lanky::examples::abft {

template <class T>
std::unique_ptr<Elements<T>> make_cuda_elements(const Stream& /*stream*/, std::int64_t /*m*/,
                                                std::int64_t /*n*/, std::int64_t /*k*/) {
  throw Error(ErrorCode::no_device, "abft was built without CUDA");
}

template <class T>
std::unique_ptr<VendorGemm<T>> make_vendor_gemm(const Stream& /*stream*/) {
  return nullptr;
}

template std::unique_ptr<Elements<double>> make_cuda_elements(const Stream&, std::int64_t,
                                                              std::int64_t, std::int64_t);
template std::unique_ptr<Elements<float>> make_cuda_elements(const Stream&, std::int64_t,
                                                             std::int64_t, std::int64_t);
template std::unique_ptr<VendorGemm<double>> make_vendor_gemm(const Stream&);
template std::unique_ptr<VendorGemm<float>> make_vendor_gemm(const Stream&);

}  // namespace lanky::examples::abft
