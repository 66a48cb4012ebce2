// A build without CUDA: no device is ever found, so that none of this is reached but by mistake.
#include <lanky/error.hpp>

#include "bench/ladder/ladder.hpp"
#include "bench/ladder/spmm.hpp"
#include "bench/ladder/spmv.hpp"

namespace lanky::ladder {

namespace {

[[noreturn]] void no_cuda() {
  throw Error(ErrorCode::no_device, "this lanky was built without CUDA");
}

}  // namespace

std::vector<GemmRung> gemm_gpu_rungs(const bench::GemmCase& /*gemm*/,
                                     const Settings& /*settings*/) {
  no_cuda();
}
std::vector<GemmRung> tsm2_rungs(const bench::GemmCase& /*gemm*/, const Settings& /*settings*/) {
  no_cuda();
}
std::unique_ptr<SpmvRung> make_csr_scalar(const Stream& /*stream*/, const DeviceCsr& /*a*/) {
  no_cuda();
}
std::unique_ptr<SpmvRung> make_csr_warp(const Stream& /*stream*/, const DeviceCsr& /*a*/) {
  no_cuda();
}
std::unique_ptr<SpmvRung> make_dasp(const Stream& /*stream*/, const DaspPattern& /*dasp*/,
                                    DType /*dtype*/, const void* /*values*/) {
  no_cuda();
}
std::vector<SparseRung> spmm_rungs() {
  no_cuda();
}
Tsm2Card measure_card(bench::Session& /*session*/, DType /*dtype*/) {
  no_cuda();
}

}  // namespace lanky::ladder
