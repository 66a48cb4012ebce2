// In a build without CUDA there is nothing to capture, and the device is the host.
#include <cstring>
#include <lanky/error.hpp>

#include "random/device_work.hpp"

namespace lanky::random_cases {

void upload(const Stream& /*stream*/, void* device, const void* host, std::size_t bytes) {
  if (bytes > 0) std::memcpy(device, host, bytes);
}
void download(const Stream& /*stream*/, void* host, const void* device, std::size_t bytes) {
  if (bytes > 0) std::memcpy(host, device, bytes);
}

Captured::Captured(const Stream& /*stream*/, const std::function<void()>& /*work*/) {
  throw Error(ErrorCode::unsupported, "built without CUDA: no graphs");
}
Captured::~Captured() = default;
void Captured::launch(const Stream& /*stream*/) const {}

}  // namespace lanky::random_cases
