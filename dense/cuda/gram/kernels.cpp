// The kernels of gram_<type>.cu as the host sees them.
#include <lanky/visit_dtype.hpp>

#include "core/widened.hpp"
#include "dense/cuda/gram/policy.hpp"

namespace lanky::dense {

namespace cuda {

template <class T>
std::size_t gram_shared_bytes(const GramLaunch& launch, const Problem& problem, CodeTarget code);

}  // namespace cuda

std::int64_t gram_shared_bytes(const GramLaunch& launch, const Problem& problem, Types types,
                               CodeTarget code) {
  return visit_dtype(types.in, [&](auto element) {
    using T = typename decltype(element)::type;
    if constexpr (has_wide_sums(kDType<T>, DType::f64)) {
      if (types.wide())
        return static_cast<std::int64_t>(
            cuda::gram_shared_bytes<Widened<T>>(launch, problem, code));
    }
    return static_cast<std::int64_t>(cuda::gram_shared_bytes<T>(launch, problem, code));
  });
}

}  // namespace lanky::dense
