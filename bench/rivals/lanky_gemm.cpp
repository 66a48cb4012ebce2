#include "bench/rivals/lanky_gemm.hpp"

#include <lanky/error.hpp>
#include <memory>

#include "core/plan_types.hpp"

namespace lanky::bench {

namespace {

/// [rows, cols] of an operand as stored, whose op() is [rows, cols] or, transposed, [cols, rows].
template <class T>
MatrixView<T> view(T* data, std::int64_t rows, std::int64_t cols, Op op, std::int64_t ld,
                   Layout layout) {
  if (op != Op::none) std::swap(rows, cols);
  return {data, rows, cols, ld, layout};
}

/// A factor of the cases, which are real.
template <class Scale>
Scale factor(double value) {
  if constexpr (requires { typename Scale::value_type; }) {
    return static_cast<typename Scale::value_type>(value);
  } else {
    return static_cast<Scale>(value);
  }
}

template <class T, class TOut>
LankyGemm make(const Stream& stream, const GemmCall& gemm, const GemmTuning* tuning) {
  const GemmOptions options{.math = gemm.type.math, .tuning = tuning};
  const auto plan = std::make_shared<const GemmPlan<T, TOut>>(stream, gemm.shape, options);
  const auto run = [plan, gemm](const Stream& on, const GemmOperands& operands) {
    const GemmShape& s = gemm.shape;
    const auto a = view(static_cast<const T*>(operands.a), s.m, s.k, s.op_a, s.lda, s.layout);
    const auto b = view(static_cast<const T*>(operands.b), s.k, s.n, s.op_b, s.ldb, s.layout);
    const auto c = view(static_cast<TOut*>(operands.c), s.m, s.n, Op::none, s.ldc, s.layout);
    using Scale = GemmAccumulator<T, TOut>;
    plan->run(on, factor<Scale>(gemm.alpha), a, b, factor<Scale>(gemm.beta), c);
  };
  return {run, plan->workspace_bytes(), plan->explain(), plan->info()};
}

}  // namespace

LankyGemm make_lanky_gemm(const Stream& stream, const GemmCall& gemm, const GemmTuning* tuning) {
#define LANKY_TRY(T, TOut)                                          \
  if (gemm.type.in == kDType<T> && gemm.type.out == kDType<TOut>) { \
    return make<T, TOut>(stream, gemm, tuning);                     \
  }
  LANKY_FOR_EACH_GEMM_TYPE(LANKY_TRY)
#undef LANKY_TRY
  throw Error(ErrorCode::unsupported,
              "lanky has no products of type " + std::string(to_string(gemm.type)) +
                  " with results of type " + std::string(to_string(gemm.type.out)));
}

}  // namespace lanky::bench
