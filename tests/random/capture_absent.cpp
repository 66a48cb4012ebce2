// In a build without CUDA there is nothing to capture.
#include <lanky/error.hpp>

#include "random/capture.hpp"

namespace lanky::random_cases {

Captured::Captured(const Stream& /*stream*/, const std::function<void()>& /*work*/) {
  throw Error(ErrorCode::unsupported, "built without CUDA: no graphs");
}
Captured::~Captured() = default;
void Captured::launch(const Stream& /*stream*/) const {}

}  // namespace lanky::random_cases
