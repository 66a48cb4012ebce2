// In place of tall_work.cu and cusolver.cpp, in builds without CUDA.
#include <lanky/error.hpp>

#include "examples/cholqr/tall_work.hpp"
#include "examples/cholqr/vendor_qr.hpp"

namespace lanky::examples::cholqr {

template <class T>
std::unique_ptr<TallWork<T>> make_cuda_tall_work(const Stream& /*stream*/) {
  throw Error(ErrorCode::no_device, "cholqr was built without CUDA");
}

std::function<void()> cuda_replay(const Stream& /*stream*/, const std::function<void()>& /*work*/) {
  throw Error(ErrorCode::no_device, "cholqr was built without CUDA");
}

template <class T>
std::unique_ptr<VendorQr<T>> make_vendor_qr(const Stream& /*stream*/, std::int64_t /*m*/,
                                            std::int64_t /*n*/) {
  return nullptr;
}

template std::unique_ptr<TallWork<double>> make_cuda_tall_work(const Stream&);
template std::unique_ptr<TallWork<float>> make_cuda_tall_work(const Stream&);
template std::unique_ptr<VendorQr<double>> make_vendor_qr(const Stream&, std::int64_t,
                                                          std::int64_t);
template std::unique_ptr<VendorQr<float>> make_vendor_qr(const Stream&, std::int64_t, std::int64_t);

}  // namespace lanky::examples::cholqr
