// Runs a plan's launches: a table tells which of them a run takes.
#include <algorithm>
#include <lanky/tuning.hpp>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/machine.hpp"
#include "core/plan_types.hpp"
#include "core/text.hpp"
#include "dense/cuda/cost.hpp"
#include "dense/cuda/routes.hpp"
#include "dense/cuda/run.hpp"
#include "dense/cuda/vendor/cublaslt.hpp"

namespace lanky::dense::cuda {

namespace {

bool is_off(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 != 0;
}

/// Not the vendor's, and of a family that has kernels for sums wider than T's, if T is Widened.
template <class T, class AnyLaunch>
constexpr bool kIsOwn = !std::is_same_v<AnyLaunch, VendorLaunch> &&
                        !(kIsWidened<T> && std::is_same_v<AnyLaunch, PanelLaunch>);

template <class T, class TOut>
class RoutedExecutor final : public Executor<T, TOut> {
 public:
  RoutedExecutor(const Stream& stream, const Request& request, Routes routes)
      : request_(request), routes_(std::move(routes)) {
    for (const Launch& launch : routes_.launches) {
      std::visit(
          [&]<class Each>(const Each& each) {
            if constexpr (kIsOwn<T, Each>) prepare<T, TOut>(stream, request_.problem, each);
          },
          launch);
      const auto* const vendor = std::get_if<VendorLaunch>(&launch);
      matmuls_.push_back(vendor == nullptr
                             ? nullptr
                             : std::make_unique<CublasltMatmul>(
                                   stream.device(), request_.problem, request_.types.in,
                                   request_.types.out, vendor->algorithm));
    }
  }

  void run(const Stream& stream, const Operands<T, TOut>& operands) const override {
    const Routes::Route& route = routes_.of[kind_of(operands).index()];
    const CublasltMatmul* const matmul = matmuls_[route.launch].get();
    if (matmul != nullptr && vendor_takes(*matmul, operands))
      return run_vendor(stream, *matmul, operands);
    std::visit(
        [&]<class Own>(const Own& launch) {
          if constexpr (kIsOwn<T, Own>)
            dense::cuda::run<T, TOut>(stream, request_.problem, launch, operands);
        },
        routes_.launches[route.own]);
  }

  std::int64_t workspace_bytes() const noexcept override {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < matmuls_.size(); ++i) {
      const std::int64_t each =
          matmuls_[i] != nullptr
              ? matmuls_[i]->workspace_bytes()
              : dense::workspace_bytes(routes_.launches[i], request_.problem, request_.types);
      bytes = std::max(bytes, each);
    }
    return bytes;
  }

  bool counts() const noexcept override {
    return std::any_of(routes_.launches.begin(), routes_.launches.end(), [](const Launch& launch) {
      const auto* const gram = std::get_if<GramLaunch>(&launch);
      return gram != nullptr && gram->one_launch;
    });
  }

  void describe(GemmInfo& info) const override {
    for (std::size_t i = 0; i < matmuls_.size(); ++i) {
      const Launch& launch = routes_.launches[i];
      const bool vendor = matmuls_[i] != nullptr;
      info.routes.push_back({.when = describe_kinds(routes_, i),
                             .kernel = kernel_name(launch),
                             .algorithm = algorithm_name(launch, request_.types),
                             .configuration = vendor ? matmuls_[i]->describe()
                                                     : dense::describe(launch, request_.types),
                             .vendor = vendor});
    }
    info.predicted_us =
        predict_us(routes_.launches[routes_.of[RunKind().index()].launch], request_, RunKind());
    for (const bool same : {false, true}) {
      for (const bool adds : {false, true}) {
        const RunKind kind{.same = same, .adds = adds};
        info.of_aligned[same][adds] = routes_.of[kind.index()].launch;
      }
    }
  }

 private:
  RunKind kind_of(const Operands<T, TOut>& operands) const {
    return {.same = request_.can_be_same() && operands.a == operands.b,
            .adds = operands.may_add(),
            .a_off = is_off(operands.a),
            .b_off = is_off(operands.b),
            .c_off = is_off(operands.c)};
  }

  /// cuBLASLt has both scalars on one side, and does not promise to leave A and B alone where alpha
  /// is known to be 0.
  static bool vendor_takes(const CublasltMatmul& matmul, const Operands<T, TOut>& operands) {
    const bool on_device = operands.alpha.pointer() != nullptr;
    const bool known_zero = !on_device && operands.alpha.value() == Accumulator<T>(0);
    const bool one_side = on_device == (operands.beta.pointer() != nullptr);
    return one_side && !known_zero && matmul.available(on_device);
  }
  static void run_vendor(const Stream& stream, const CublasltMatmul& matmul,
                         const Operands<T, TOut>& g) {
    const bool on_device = g.alpha.pointer() != nullptr;
    const Accumulator<T> values[] = {g.alpha.value(), g.beta.value()};
    const void* const alpha = on_device ? g.alpha.pointer() : &values[0];
    const void* const beta = on_device ? g.beta.pointer() : &values[1];
    matmul.run(stream, on_device, alpha, g.a, g.b, beta, g.c, g.workspace);
  }

  Request request_;
  Routes routes_;
  std::vector<std::unique_ptr<CublasltMatmul>> matmuls_;  // of each launch; null for lanky's own
};

}  // namespace

template <class T, class TOut>
std::unique_ptr<Executor<T, TOut>> make(const Stream& stream, const Problem& problem,
                                        GemmFamily family, MeasuredChoices measured) {
  const Request request{problem, family, {kDType<T>, kDType<TOut>}, machine_of(stream.device())};
  const bool vendor = cublaslt_absence(problem, kDType<T>, kDType<TOut>).empty();
  return std::make_unique<RoutedExecutor<T, TOut>>(stream, request,
                                                   choose_routes(request, measured, vendor));
}

std::vector<GemmChoice> choices(const GemmQuery& query, const Problem& problem, GemmFamily family,
                                int most) {
  const Request request{problem, family, {query.in, query.out}, machine_of(query.device)};
  const RunKind kind{.same = query.same_operands && request.can_be_same(), .adds = query.adds};
  const std::vector<std::string> algorithms =
      vendor_algorithms(query.device, problem, query.in, query.out, most);
  std::vector<GemmChoice> all = {{}};
  const std::vector<Candidate> ordered = candidates(request, kind, !algorithms.empty());
  for (const auto& [us, launch] : ordered)
    if (!is_vendor(launch)) all.push_back({false, algorithm_name(launch, request.types)});
  for (const std::string& algorithm : algorithms) {
    // The heuristic offers some twice, with attributes that their names do not tell.
    const GemmChoice choice{true, algorithm};
    if (std::find(all.begin(), all.end(), choice) == all.end()) all.push_back(choice);
  }
  if (is_vendor(ordered.front().launch))
    std::stable_partition(all.begin(), all.end(), [](const GemmChoice& c) { return c.vendor; });
  return all;
}

#define LANKY_INSTANTIATE(T, TOut)                                                         \
  template std::unique_ptr<Executor<T, TOut>> make<T, TOut>(const Stream&, const Problem&, \
                                                            GemmFamily, MeasuredChoices);
LANKY_FOR_EACH_SUMMED_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::dense::cuda
