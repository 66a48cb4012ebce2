// A build without CUDA: no scene of a GPU, and no call to fail.
#include "faults/injection.hpp"
#include "faults/scene.hpp"

namespace lanky::faults {

std::vector<Scene> cuda_scenes() {
  return {};
}

std::vector<Scene> cuda_parts() {
  return {};
}

Held held() noexcept {
  return {};
}

}  // namespace lanky::faults
