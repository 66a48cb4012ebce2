#include "bench/cases/sparse_path.hpp"

#include <lanky/error.hpp>

#include "core/text.hpp"

namespace lanky::bench {

std::string_view to_string(const SparsePath& path) noexcept {
  if (path.engine == Engine::automatic) return "auto";
  if (path.engine == Engine::cuda_cores) return "cuda";
  return path.math == Math::ieee ? "mma" : to_string(path.math);
}

SparsePath parse_sparse_path(std::string_view text) {
  for (const SparsePath path :
       {SparsePath{}, SparsePath{Engine::tensor_cores, Math::ieee},
        SparsePath{Engine::cuda_cores, Math::ieee}, SparsePath{Engine::tensor_cores, Math::tf32},
        SparsePath{Engine::tensor_cores, Math::tf32x3}}) {
    if (text == to_string(path)) return path;
  }
  throw Error(ErrorCode::invalid_argument,
              concat("\"", text, "\" is not auto, mma, cuda, tf32 or tf32x3"));
}

}  // namespace lanky::bench
