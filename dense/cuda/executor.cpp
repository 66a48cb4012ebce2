// Which cuda executor computes a product.
#include <algorithm>

#include "core/plan_types.hpp"
#include "core/text.hpp"
#include "dense/cuda/cublaslt.hpp"
#include "dense/cuda/gram.hpp"
#include "dense/cuda/panel.hpp"
#include "dense/cuda/tiled.hpp"
#include "dense/cuda/update.hpp"

namespace lanky::dense::cuda {

namespace {

/// Grams whose kernel for A and B in the same memory, which only a run knows, is lanky's, while
/// another executor computes all others.
template <class T, class TOut>
class SymmetricExecutor final : public Executor<T, TOut> {
 public:
  SymmetricExecutor(const Stream& stream, const Problem& problem,
                    std::unique_ptr<Executor<T, TOut>> general)
      : same_(stream, problem), general_(std::move(general)) {}

  void run(const Stream& stream, const Operands<T, TOut>& operands) const override {
    if (same_.runs_as_same(operands)) return same_.run(stream, operands);
    general_->run(stream, operands);
  }
  std::int64_t workspace_bytes() const noexcept override {
    return std::max(same_.workspace_bytes(), general_->workspace_bytes());
  }
  std::string explain() const override {
    return concat(general_->explain(), "; where A is B ", same_.explain_same());
  }

 private:
  GramExecutor<T, TOut> same_;
  std::unique_ptr<Executor<T, TOut>> general_;
};

/// `general`, and lanky's kernel for A = B where there is one.
template <class T, class TOut>
std::unique_ptr<Executor<T, TOut>> with_symmetric(const Stream& stream, const Problem& problem,
                                                  GemmFamily family,
                                                  std::unique_ptr<Executor<T, TOut>> general) {
  if (family != GemmFamily::gram || !GramExecutor<T, TOut>::serves_same(stream.device(), problem))
    return general;
  return std::make_unique<SymmetricExecutor<T, TOut>>(stream, problem, std::move(general));
}

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
  return with_symmetric<T, TOut>(
      stream, problem, family,
      std::make_unique<TiledExecutor<T, TOut>>(stream, problem, std::move(reason)));
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
  auto by_vendor = std::make_unique<CublasltExecutor<T, TOut>>(
      stream, problem,
      own<T, TOut>(stream, problem, family, "used where cuBLASLt has no algorithm"),
      choice != nullptr ? choice->algorithm : "");
  if (vendor_beats_symmetric_gram(problem, kDType<T>)) return by_vendor;
  return with_symmetric<T, TOut>(stream, problem, family, std::move(by_vendor));
}

#define LANKY_INSTANTIATE(T, TOut)                                                         \
  template std::unique_ptr<Executor<T, TOut>> make<T, TOut>(const Stream&, const Problem&, \
                                                            GemmFamily, const GemmChoice*);
LANKY_FOR_EACH_GEMM_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::dense::cuda
