// The kernels of gram_<type>.cu as the host sees them.
#include <lanky/visit_dtype.hpp>

#include "dense/cuda/gram/policy.hpp"

namespace lanky::dense {

namespace cuda {

template <class T>
std::size_t gram_shared_bytes(const GramLaunch& launch, const Problem& problem, CodeTarget code);

}  // namespace cuda

std::int64_t gram_shared_bytes(const GramLaunch& launch, const Problem& problem, DType type,
                               CodeTarget code) {
  return visit_dtype(type, [&](auto element) {
    using T = typename decltype(element)::type;
    return static_cast<std::int64_t>(cuda::gram_shared_bytes<T>(launch, problem, code));
  });
}

}  // namespace lanky::dense
