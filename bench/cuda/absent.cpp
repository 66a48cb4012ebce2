// A build without CUDA: no device is ever found, so that none of this is reached.
#include <lanky/error.hpp>

#include "bench/harness/gpu.hpp"

namespace lanky::bench::gpu {

namespace {

[[noreturn]] void absent() {
  throw Error(ErrorCode::no_device, "this lanky was built without CUDA");
}

}  // namespace

double sm_clock_mhz(const Stream& /*stream*/) {
  absent();
}
void stream_bytes(const Stream& /*stream*/, const Traffic& /*traffic*/, int /*unroll*/) {
  absent();
}
void fill(const Stream& /*stream*/, const StoredArray& /*array*/, Fill /*fill*/,
          std::uint64_t /*seed*/) {
  absent();
}
std::vector<double> gather(const Stream& /*stream*/, const StoredArray& /*array*/,
                           std::span<const std::int64_t> /*offsets*/) {
  absent();
}
std::int64_t count_nan(const Stream& /*stream*/, const StoredArray& /*array*/, bool /*lower*/) {
  absent();
}
std::vector<Reference> references(const Stream& /*stream*/, const DenseData& /*data*/,
                                  std::span<const Place> /*places*/) {
  absent();
}
void references(const Stream& /*stream*/, const SpmvData& /*data*/, const SpmvRows& /*a*/,
                std::int64_t /*columns*/, Reference* /*references*/) {
  absent();
}
void sampled_references(const Stream& /*stream*/, const SpmvData& /*data*/, const SpmvRows& /*a*/,
                        std::int64_t /*nnz*/, std::int64_t /*columns*/, Reference* /*references*/) {
  absent();
}
Findings judge(const Stream& /*stream*/, const SpmvData& /*data*/, const ErrorModel& /*model*/,
               const SpmvResult& /*result*/, const Reference* /*references*/) {
  absent();
}
Reference fetch(const Stream& /*stream*/, const Reference* /*reference*/) {
  absent();
}
void place_values(const Stream& /*stream*/, DType /*dtype*/, const void* /*values*/,
                  std::span<const std::int32_t> /*sources*/, void* /*target*/) {
  absent();
}
void zero(const Stream& /*stream*/, void* /*data*/, std::int64_t /*bytes*/) {
  absent();
}
void copy(const Stream& /*stream*/, void* /*target*/, const void* /*source*/,
          std::int64_t /*bytes*/) {
  absent();
}
double peak_flops(const Stream& /*stream*/, const GemmType& /*type*/) {
  absent();
}
double cuda_core_flops(const Stream& /*stream*/, DType /*dtype*/) {
  absent();
}
MemoryPeak memory_peak(Device /*device*/) {
  absent();
}
void watch_memory(const Stream& /*stream*/) {
  absent();
}
std::int64_t transient_bytes(const Stream& /*stream*/) {
  absent();
}
std::string runtime_version() {
  return "";
}
std::string driver_version() {
  return "";
}

}  // namespace lanky::bench::gpu
