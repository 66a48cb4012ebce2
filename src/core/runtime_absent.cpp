// The GPU runtime of a build without CUDA: there is no device.
#include <lanky/error.hpp>

#include "core/forked.hpp"
#include "core/graph.hpp"
#include "core/pinned.hpp"
#include "core/runtime.hpp"

namespace lanky::runtime {

namespace {
[[noreturn]] void absent() {
  throw Error(ErrorCode::no_device, "this lanky was built without CUDA; use the cpu device");
}
}  // namespace

const DeviceCount& device_count() noexcept {
  static const DeviceCount count{0, "built without CUDA"};
  return count;
}
void check_not_forked() {}
DeviceProperties properties(int /*device*/) {
  absent();
}
CodeTarget code_target(int /*device*/) {
  absent();
}

CUstream_st* create_stream(int /*device*/) {
  absent();
}
void destroy_stream(CUstream_st* /*stream*/) noexcept {}
void synchronize(CUstream_st* /*stream*/, int /*device*/) {
  absent();
}

bool is_capturing(CUstream_st* /*stream*/) {
  absent();
}

CUevent_st* create_event(int /*device*/) {
  absent();
}
void destroy_event(CUevent_st* /*event*/) noexcept {}
void record(CUevent_st* /*event*/, CUstream_st* /*stream*/, int /*device*/) {
  absent();
}
void wait(CUstream_st* /*stream*/, CUevent_st* /*event*/, int /*device*/) {
  absent();
}
void synchronize(CUevent_st* /*event*/) {
  absent();
}
bool done(CUevent_st* /*event*/) {
  absent();
}
double elapsed_ms(CUevent_st* /*start*/, CUevent_st* /*end*/) {
  absent();
}

void* allocate_pinned(std::size_t /*bytes*/, int /*device*/) {
  absent();
}
void deallocate_pinned(void* /*data*/) noexcept {}
void* allocate(std::size_t /*bytes*/, CUstream_st* /*stream*/, int /*device*/) {
  absent();
}
void deallocate(void* /*data*/, CUstream_st* /*stream*/, int /*device*/) noexcept {}
void copy(void* /*target*/, const void* /*source*/, std::size_t /*bytes*/, CUstream_st* /*stream*/,
          int /*device*/) {
  absent();
}
void zero(void* /*target*/, std::size_t /*bytes*/, CUstream_st* /*stream*/, int /*device*/) {
  absent();
}

PointerSide where(const void* /*pointer*/) {
  return {};
}

Graph::Graph(const Stream& /*stream*/, const std::function<void()>& /*work*/)
    : executable_(nullptr, nullptr) {
  absent();
}
void Graph::launch(const Stream& /*stream*/) const {
  absent();
}

}  // namespace lanky::runtime
