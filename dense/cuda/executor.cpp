// Which cuda executor computes a product.
#include <algorithm>
#include <lanky/tuning.hpp>

#include "core/plan_types.hpp"
#include "core/text.hpp"
#include "dense/cuda/gram/executor.hpp"
#include "dense/cuda/panel/executor.hpp"
#include "dense/cuda/tiled/executor.hpp"
#include "dense/cuda/update/executor.hpp"
#include "dense/cuda/vendor/cublaslt.hpp"

namespace lanky::dense::cuda {

namespace {

/// Grams that another executor computes where A and B are the same memory, which only a run knows.
template <class T, class TOut>
class SymmetricExecutor final : public Executor<T, TOut> {
 public:
  /// `needs_alignment`: of `same`, whose line of explain() `explanation` is.
  SymmetricExecutor(std::unique_ptr<Executor<T, TOut>> same, std::string explanation,
                    bool needs_alignment, std::unique_ptr<Executor<T, TOut>> general)
      : same_(std::move(same)),
        explanation_(std::move(explanation)),
        needs_alignment_(needs_alignment),
        general_(std::move(general)) {}

  void run(const Stream& stream, const Operands<T, TOut>& operands) const override {
    const bool aligned = reinterpret_cast<std::uintptr_t>(operands.a) % 16 == 0;
    const bool same = operands.a == operands.b && (aligned || !needs_alignment_);
    (same ? same_ : general_)->run(stream, operands);
  }
  std::int64_t workspace_bytes() const noexcept override {
    return std::max(same_->workspace_bytes(), general_->workspace_bytes());
  }
  std::string explain() const override {
    return concat(general_->explain(), "; where A is B ", explanation_);
  }

 private:
  std::unique_ptr<Executor<T, TOut>> same_;
  std::string explanation_;
  bool needs_alignment_;
  std::unique_ptr<Executor<T, TOut>> general_;
};

/// Products that another executor computes where beta may be other than 0.
template <class T, class TOut>
class AddingExecutor final : public Executor<T, TOut> {
 public:
  AddingExecutor(std::unique_ptr<Executor<T, TOut>> plain,
                 std::unique_ptr<Executor<T, TOut>> adding)
      : plain_(std::move(plain)), adding_(std::move(adding)) {}

  void run(const Stream& stream, const Operands<T, TOut>& operands) const override {
    (operands.may_add() ? adding_ : plain_)->run(stream, operands);
  }
  std::int64_t workspace_bytes() const noexcept override {
    return std::max(plain_->workspace_bytes(), adding_->workspace_bytes());
  }
  std::string explain() const override {
    return concat(plain_->explain(), "; where beta is not 0 ", adding_->explain());
  }

 private:
  std::unique_ptr<Executor<T, TOut>> plain_;
  std::unique_ptr<Executor<T, TOut>> adding_;
};

/// `general`, and lanky's kernel for A = B where there is one.
template <class T, class TOut>
std::unique_ptr<Executor<T, TOut>> with_symmetric(const Stream& stream, const Problem& problem,
                                                  GemmFamily family,
                                                  std::unique_ptr<Executor<T, TOut>> general) {
  if (!has_symmetric_kernel(problem, family, kDType<T>, machine_of(stream.device())))
    return general;
  auto same = std::make_unique<GramExecutor<T, TOut>>(stream, problem);
  std::string explanation = same->explain_same();
  return std::make_unique<SymmetricExecutor<T, TOut>>(std::move(same), std::move(explanation), true,
                                                      std::move(general));
}

/// The kernels of a family where it serves the problem, the tile kernel otherwise. `symmetric`:
/// with the kernel for A = B where there is one.
template <class T, class TOut>
std::unique_ptr<Executor<T, TOut>> own(const Stream& stream, const Problem& problem,
                                       GemmFamily family, std::string reason,
                                       bool symmetric = true) {
  if (family == GemmFamily::update)
    return std::make_unique<UpdateExecutor<T, TOut>>(stream, problem);
  if (family == GemmFamily::panel && panel_serves<T>(stream, problem))
    return std::make_unique<PanelExecutor<T, TOut>>(stream, problem);
  if (family == GemmFamily::gram && GramExecutor<T, TOut>::serves(stream.device(), problem))
    return std::make_unique<GramExecutor<T, TOut>>(stream, problem, symmetric);
  auto tiled = std::make_unique<TiledExecutor<T, TOut>>(stream, problem, std::move(reason));
  if (!symmetric) return tiled;
  return with_symmetric<T, TOut>(stream, problem, family, std::move(tiled));
}

/// cuBLASLt's, which exists (cublaslt_absence).
template <class T, class TOut>
std::unique_ptr<Executor<T, TOut>> by_vendor(const Stream& stream, const Problem& problem,
                                             GemmFamily family, const GemmChoice* choice) {
  return std::make_unique<CublasltExecutor<T, TOut>>(
      stream, problem,
      own<T, TOut>(stream, problem, family, "used where cuBLASLt has no algorithm"),
      choice != nullptr ? choice->algorithm : "");
}

/// All runs by what `choice` asks for, or by the rules. `symmetric`: with lanky's kernel for A = B.
template <class T, class TOut>
std::unique_ptr<Executor<T, TOut>> general(const Stream& stream, const Problem& problem,
                                           GemmFamily family, const GemmChoice* choice,
                                           bool symmetric) {
  if (choice != nullptr ? !choice->vendor
                        : !prefers_vendor(problem, family, kDType<T>, machine_of(stream.device())))
    return own<T, TOut>(stream, problem, family, "", symmetric);
  std::string reason = cublaslt_absence(problem, kDType<T>);
  if (!reason.empty()) return own<T, TOut>(stream, problem, family, std::move(reason), symmetric);
  auto executor = by_vendor<T, TOut>(stream, problem, family, choice);
  if (!symmetric) return executor;
  return with_symmetric<T, TOut>(stream, problem, family, std::move(executor));
}

/// As general(), but for runs whose B is A where the vendor was measured to be fastest at them.
template <class T, class TOut>
std::unique_ptr<Executor<T, TOut>> chosen(const Stream& stream, const Problem& problem,
                                          GemmFamily family, const GemmChoice* choice,
                                          const GemmChoice* same) {
  const bool can_be_same = problem.a == problem.b.transposed();
  const bool same_by_vendor = same != nullptr && same->vendor && can_be_same &&
                              cublaslt_absence(problem, kDType<T>).empty();
  auto executor = general<T, TOut>(stream, problem, family, choice, !same_by_vendor);
  if (!same_by_vendor) return executor;
  auto symmetric = by_vendor<T, TOut>(stream, problem, family, same);
  std::string explanation = symmetric->explain();
  return std::make_unique<SymmetricExecutor<T, TOut>>(std::move(symmetric), std::move(explanation),
                                                      false, std::move(executor));
}

}  // namespace

template <class T, class TOut>
std::unique_ptr<Executor<T, TOut>> make(const Stream& stream, const Problem& problem,
                                        GemmFamily family, MeasuredChoices measured) {
  auto executor = chosen<T, TOut>(stream, problem, family, measured.general, measured.same);
  if (measured.adds == measured.general) return executor;
  auto adding = chosen<T, TOut>(stream, problem, family, measured.adds, measured.same);
  if (adding->explain() == executor->explain()) return executor;
  return std::make_unique<AddingExecutor<T, TOut>>(std::move(executor), std::move(adding));
}

#define LANKY_INSTANTIATE(T, TOut)                                                         \
  template std::unique_ptr<Executor<T, TOut>> make<T, TOut>(const Stream&, const Problem&, \
                                                            GemmFamily, MeasuredChoices);
LANKY_FOR_EACH_PLAN_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::dense::cuda
