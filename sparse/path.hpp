// Which kernels multiply one vector on a GPU.
#pragma once

#include <cstdint>
#include <lanky/operation.hpp>
#include <string_view>

namespace lanky::sparse {

/// Those of tensor cores in IEEE arithmetic (mma), of CUDA cores (cuda), and those of tensor cores
/// for float that Math::tf32 and Math::tf32x3 allow.
enum class Path : std::uint8_t { mma, cuda, tf32, tf32x3 };

/// "mma", "cuda", "tf32" or "tf32x3".
std::string_view to_string(Path path) noexcept;

constexpr Engine engine_of(Path path) noexcept {
  return path == Path::cuda ? Engine::cuda_cores : Engine::tensor_cores;
}
constexpr Math math_of(Path path) noexcept {
  return path == Path::tf32 ? Math::tf32 : path == Path::tf32x3 ? Math::tf32x3 : Math::ieee;
}

}  // namespace lanky::sparse
