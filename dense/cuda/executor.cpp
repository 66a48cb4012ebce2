// Which cuda executor computes a product.
#include "core/plan_types.hpp"
#include "dense/cuda/cublaslt.hpp"
#include "dense/cuda/tiled.hpp"
#include "dense/cuda/update.hpp"

namespace lanky::dense::cuda {

template <class T, class TOut>
std::unique_ptr<Executor<T, TOut>> make(const Stream& stream, const Problem& problem,
                                        GemmFamily family) {
  using Tiled = TiledExecutor<T, TOut>;
  if constexpr (kDType<T> != DType::c64 && kDType<T> != DType::c128) {
    if (family == GemmFamily::update) {
      const auto config = choose_update(problem, kDType<T>, kDType<TOut>,
                                        stream.device().properties().multiprocessors);
      if (config) return std::make_unique<UpdateExecutor<T, TOut>>(stream, problem, *config);
    }
  }
  if (family != GemmFamily::regular) return std::make_unique<Tiled>(stream, problem, "");
  std::string reason = cublaslt_absence(problem, kDType<T>);
  if (!reason.empty()) return std::make_unique<Tiled>(stream, problem, std::move(reason));
  return std::make_unique<CublasltExecutor<T, TOut>>(
      stream, problem,
      std::make_unique<Tiled>(stream, problem, "used where cuBLASLt has no algorithm"));
}

#define LANKY_INSTANTIATE(T, TOut)                                                         \
  template std::unique_ptr<Executor<T, TOut>> make<T, TOut>(const Stream&, const Problem&, \
                                                            GemmFamily);
LANKY_FOR_EACH_GEMM_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::dense::cuda
