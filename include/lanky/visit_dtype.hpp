// From a DType known at run time to code for its C++ type.
#pragma once

#include <lanky/dtype.hpp>
#include <lanky/error.hpp>
#include <string>
#include <type_traits>
#include <utility>

namespace lanky::inline v1 {

/// f(std::type_identity<T>{}) for the real T that `dtype` names; Error(unsupported) for complex.
template <class F>
decltype(auto) visit_real_dtype(DType dtype, F&& f) {
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
  throw Error(ErrorCode::unsupported, "type " + std::string(to_string(dtype)) +
                                          " is not supported here; use f64, f32, f16, bf16");
}

/// f(std::type_identity<T>{}) for the T that `dtype` names, real or complex.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  if (dtype == DType::c64) return std::forward<F>(f)(std::type_identity<std::complex<float>>{});
  if (dtype == DType::c128) return std::forward<F>(f)(std::type_identity<std::complex<double>>{});
  return visit_real_dtype(dtype, std::forward<F>(f));
}

}  // namespace lanky::inline v1
