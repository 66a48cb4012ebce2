// A build without CUDA: no device is ever found, so that none of this is reached.
#include <lanky/error.hpp>

#include "bench/gpu.hpp"

namespace lanky::bench::gpu {

namespace {

[[noreturn]] void absent() {
  throw Error(ErrorCode::no_device, "this lanky was built without CUDA");
}

}  // namespace

Graph::Graph(const Stream& /*stream*/, const std::function<void()>& /*work*/) {
  absent();
}
Graph::Graph(Graph&& /*other*/) noexcept = default;
Graph& Graph::operator=(Graph&& /*other*/) noexcept = default;
Graph::~Graph() = default;
void Graph::launch(const Stream& /*stream*/) const {
  absent();
}
double sm_clock_mhz(const Stream& /*stream*/) {
  absent();
}
void stream_bytes(const Stream& /*stream*/, const Traffic& /*traffic*/, int /*unroll*/) {
  absent();
}
void fill(const Stream& /*stream*/, DType /*dtype*/, void* /*data*/, const FillExtent& /*extent*/,
          Fill /*fill*/, std::uint64_t /*seed*/) {
  absent();
}
std::string runtime_version() {
  return "";
}
std::string driver_version() {
  return "";
}

}  // namespace lanky::bench::gpu
