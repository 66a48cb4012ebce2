#include <lanky/operation.hpp>

namespace lanky::inline v1 {

std::string_view to_string(Math math) noexcept {
  return math == Math::ieee ? "ieee" : math == Math::tf32 ? "tf32" : "tf32x3";
}

std::string_view to_string(Engine engine) noexcept {
  return engine == Engine::automatic    ? "automatic"
         : engine == Engine::cuda_cores ? "cuda_cores"
                                        : "tensor_cores";
}

}  // namespace lanky::inline v1
