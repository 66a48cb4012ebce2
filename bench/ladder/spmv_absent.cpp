// A build without CUDA: no device is ever found, so that none of this is reached.
#include <lanky/error.hpp>

#include "bench/ladder/spmv.hpp"

namespace lanky::ladder {

namespace {

[[noreturn]] void no_rung() {
  throw Error(ErrorCode::no_device, "this lanky was built without CUDA");
}

}  // namespace

std::unique_ptr<SpmvRung> make_csr_scalar(const Stream& /*stream*/, const DeviceCsr& /*a*/) {
  no_rung();
}
std::unique_ptr<SpmvRung> make_csr_warp(const Stream& /*stream*/, const DeviceCsr& /*a*/) {
  no_rung();
}
std::unique_ptr<SpmvRung> make_dasp(const Stream& /*stream*/, const DaspPattern& /*dasp*/,
                                    DType /*dtype*/, const void* /*values*/) {
  no_rung();
}

}  // namespace lanky::ladder
