// Which cuda executor computes a product.
#include "core/plan_types.hpp"
#include "dense/cuda/cublaslt.hpp"
#include "dense/cuda/gram.hpp"
#include "dense/cuda/panel.hpp"
#include "dense/cuda/tiled.hpp"
#include "dense/cuda/update.hpp"

namespace lanky::dense::cuda {

namespace {

/// The kernels of a family where it serves the problem, the tile kernel otherwise.
template <class T, class TOut>
std::unique_ptr<Executor<T, TOut>> own(const Stream& stream, const Problem& problem,
                                       GemmFamily family, std::string reason) {
  if (family == GemmFamily::update)
    return std::make_unique<UpdateExecutor<T, TOut>>(stream, problem);
  if (family == GemmFamily::panel && panel_serves<T>(stream, problem))
    return std::make_unique<PanelExecutor<T, TOut>>(stream, problem);
  if (family == GemmFamily::gram && GramExecutor<T, TOut>::serves(stream.device(), problem))
    return std::make_unique<GramExecutor<T, TOut>>(stream, problem);
  return std::make_unique<TiledExecutor<T, TOut>>(stream, problem, std::move(reason));
}

}  // namespace

template <class T, class TOut>
std::unique_ptr<Executor<T, TOut>> make(const Stream& stream, const Problem& problem,
                                        GemmFamily family, const GemmChoice* choice) {
  const bool vendor =
      choice != nullptr ? choice->vendor : prefers_vendor(problem, family, kDType<T>);
  if (!vendor) return own<T, TOut>(stream, problem, family, "");
  std::string reason = cublaslt_absence(problem, kDType<T>);
  if (!reason.empty()) return own<T, TOut>(stream, problem, family, std::move(reason));
  return std::make_unique<CublasltExecutor<T, TOut>>(
      stream, problem,
      own<T, TOut>(stream, problem, family, "used where cuBLASLt has no algorithm"),
      choice != nullptr ? choice->algorithm : "");
}

#define LANKY_INSTANTIATE(T, TOut)                                                         \
  template std::unique_ptr<Executor<T, TOut>> make<T, TOut>(const Stream&, const Problem&, \
                                                            GemmFamily, const GemmChoice*);
LANKY_FOR_EACH_GEMM_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::dense::cuda
