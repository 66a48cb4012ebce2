// The word by which --path and records name the kernels of a sparse product.
#pragma once

#include <lanky/operation.hpp>
#include <string_view>

namespace lanky::bench {

/// "auto", "mma" (tensor cores), "cuda" (CUDA cores), "tf32" and "tf32x3" (tensor cores of float).
struct SparsePath {
  Engine engine = Engine::automatic;
  Math math = Math::ieee;

  friend bool operator==(const SparsePath&, const SparsePath&) = default;
};

std::string_view to_string(const SparsePath& path) noexcept;
/// Throws Error(invalid_argument) that lists the words.
SparsePath parse_sparse_path(std::string_view text);

}  // namespace lanky::bench
