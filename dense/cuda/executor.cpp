// Which cuda executor computes a product.
#include "core/plan_types.hpp"
#include "dense/cuda/cublaslt.hpp"
#include "dense/cuda/tiled.hpp"

namespace lanky::dense::cuda {

template <class T, class TOut>
std::unique_ptr<Executor<T, TOut>> make(const Stream& stream, const Problem& problem,
                                        GemmFamily family) {
  std::string reason;
  if (family == GemmFamily::regular && problem.k > 0) {
    reason = cublaslt_absence();
    if (reason.empty()) return std::make_unique<CublasltExecutor<T, TOut>>(stream, problem);
  }
  return std::make_unique<TiledExecutor<T, TOut>>(stream, problem, std::move(reason));
}

#define LANKY_INSTANTIATE(T, TOut)                                                         \
  template std::unique_ptr<Executor<T, TOut>> make<T, TOut>(const Stream&, const Problem&, \
                                                            GemmFamily);
LANKY_FOR_EACH_PLAN_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::dense::cuda
