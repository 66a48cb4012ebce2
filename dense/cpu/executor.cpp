// Which cpu executor computes a product.
#include <type_traits>

#include "core/plan_types.hpp"
#include "dense/cpu/openblas.hpp"
#include "dense/cpu/tiled.hpp"

namespace lanky::dense::cpu {

template <class T, class TOut>
std::unique_ptr<Executor<T, TOut>> make(const Problem& problem, GemmFamily family) {
  std::string reason;
  if (family == GemmFamily::regular) {
    if constexpr (std::is_same_v<T, double> || std::is_same_v<T, float>) {
      reason = openblas_absence(problem);
      if (reason.empty()) return std::make_unique<OpenblasExecutor<T>>(problem);
    } else {
      reason = "OpenBLAS serves f64 and f32 only";
    }
  }
  return std::make_unique<TiledExecutor<T, TOut>>(problem, std::move(reason));
}

#define LANKY_INSTANTIATE(T, TOut) \
  template std::unique_ptr<Executor<T, TOut>> make<T, TOut>(const Problem&, GemmFamily);
LANKY_FOR_EACH_GEMM_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::dense::cpu
