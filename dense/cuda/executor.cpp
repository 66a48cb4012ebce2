// Which cuda executor computes a product.
#include "core/plan_types.hpp"
#include "dense/cuda/cublaslt.hpp"
#include "dense/cuda/gram.hpp"
#include "dense/cuda/tiled.hpp"

namespace lanky::dense::cuda {

template <class T, class TOut>
std::unique_ptr<Executor<T, TOut>> make(const Stream& stream, const Problem& problem,
                                        GemmFamily family) {
  if constexpr (!std::is_same_v<Accumulator<T>, T> || std::is_floating_point_v<T>) {
    using Gram = GramExecutor<T, TOut>;
    if (family == GemmFamily::gram && Gram::serves(stream.device(), problem))
      return std::make_unique<Gram>(stream, problem);
  }
  using Tiled = TiledExecutor<T, TOut>;
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
