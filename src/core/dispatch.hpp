// From a DType known at run time to code for its C++ type, and the types that plans are made for.
#pragma once

#include <lanky/dtype.hpp>
#include <lanky/error.hpp>
#include <string>
#include <type_traits>
#include <utility>

namespace lanky {

/// f(std::type_identity<T>{}) for the real T that `dtype` names; Error(unsupported) for complex.
template <class F>
decltype(auto) dispatch_real(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f64:
      return std::forward<F>(f)(std::type_identity<double>{});
    case DType::f32:
      return std::forward<F>(f)(std::type_identity<float>{});
    case DType::f16:
      return std::forward<F>(f)(std::type_identity<half>{});
    case DType::bf16:
      return std::forward<F>(f)(std::type_identity<bfloat16>{});
    case DType::c64:
    case DType::c128:
      break;
  }
  throw Error(ErrorCode::unsupported, "type " + std::string(name(dtype)) +
                                          " is not supported here; use f64, f32, f16, bf16");
}

}  // namespace lanky

/// apply(T, TOut) for every combination of operand and result type that a plan can have.
#define LANKY_FOR_EACH_PLAN_TYPE(apply)                                          \
  apply(double, double) apply(float, float) apply(half, half) apply(half, float) \
      apply(bfloat16, bfloat16) apply(bfloat16, float)
