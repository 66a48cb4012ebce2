// Which cpu executor computes a product.
#include <lanky/tuning.hpp>
#include <type_traits>

#include "core/plan_types.hpp"
#include "dense/cpu/openblas.hpp"
#include "dense/cpu/tiled.hpp"

namespace lanky::dense::cpu {

namespace {

template <class T>
constexpr bool kInOpenblas = std::is_same_v<T, double> || std::is_same_v<T, float>;

}  // namespace

template <class T, class TOut>
std::unique_ptr<Executor<T, TOut>> make(const Problem& problem, GemmFamily family,
                                        MeasuredChoices measured) {
  const GemmChoice* const choice = measured.general;  // no way of its own for A = B
  std::string reason;
  if (choice != nullptr ? choice->vendor : family == GemmFamily::regular) {
    if constexpr (kInOpenblas<T>) {
      reason = choice != nullptr ? openblas_absence(problem) : openblas_drawback(problem);
      if (reason.empty()) return std::make_unique<OpenblasExecutor<T>>(problem);
    } else {
      reason = kIsWidened<T> ? "OpenBLAS has no sums wider than its operands"
                             : "OpenBLAS serves f64 and f32 only";
    }
  }
  return std::make_unique<TiledExecutor<T, TOut>>(problem, std::move(reason));
}

std::vector<GemmChoice> choices(const Problem& problem, GemmFamily family, DType in, DType out) {
  const bool known = in == out && (in == DType::f64 || in == DType::f32);
  if (!known || !openblas_absence(problem).empty()) return {{}};
  const GemmChoice own;
  const GemmChoice vendor{.vendor = true};
  return family == GemmFamily::regular ? std::vector{vendor, own} : std::vector{own, vendor};
}

#define LANKY_INSTANTIATE(T, TOut)                                                      \
  template std::unique_ptr<Executor<T, TOut>> make<T, TOut>(const Problem&, GemmFamily, \
                                                            MeasuredChoices);
LANKY_FOR_EACH_SUMMED_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::dense::cpu
