// Types, names and version.
#include <lanky/lanky.h>

#include <lanky/dense.hpp>
#include <lanky/dtype.hpp>
#include <lanky/half.hpp>
#include <lanky/operation.hpp>
#include <lanky/solver.hpp>
#include <lanky/version.hpp>
#include <lanky/visit_dtype.hpp>
#include <type_traits>

#include "capi/arguments.hpp"

namespace lanky::capi {

namespace {

/// to_string() of a constant that is known, as C has it: the texts are literals.
template <class Enum>
const char* name_of(std::int32_t value, Enum last) noexcept {
  if (value < 0 || value > static_cast<std::int32_t>(last)) return "unknown";
  return to_string(static_cast<Enum>(value)).data();
}

}  // namespace

}  // namespace lanky::capi

const char* lanky_dtype_to_string(lanky_dtype dtype) {
  return capi::name_of(dtype, lanky::DType::c128);
}

const char* lanky_math_to_string(lanky_math math) {
  return capi::name_of(math, lanky::Math::tf32x3);
}

const char* lanky_engine_to_string(lanky_engine engine) {
  return capi::name_of(engine, lanky::Engine::tensor_cores);
}

const char* lanky_gemm_family_to_string(lanky_gemm_family family) {
  return capi::name_of(family, lanky::GemmFamily::regular);
}

const char* lanky_solver_status_to_string(lanky_solver_status status) {
  return capi::name_of(status, lanky::SolverStatus::stopped);
}

int32_t lanky_version(void) {
  return lanky::version();
}

const char* lanky_build_description(void) {
  return lanky::build_description();
}

lanky_status lanky_dtype_parse(const char* text, lanky_dtype* dtype) {
  return capi::guarded([&] {
    capi::require(dtype, "dtype") = -1;
    *dtype = static_cast<lanky_dtype>(lanky::parse_dtype(capi::require_text(text, "text")));
  });
}

size_t lanky_dtype_size_of(lanky_dtype dtype) {
  size_t size = 0;
  capi::guarded([&] { size = size_of(capi::to_dtype(dtype, "dtype")); });
  return size;
}

lanky_dtype lanky_dtype_accumulator(lanky_dtype dtype) {
  lanky_dtype accumulator = -1;
  capi::guarded([&] {
    accumulator =
        lanky::visit_dtype(capi::to_dtype(dtype, "dtype"), []<class T>(std::type_identity<T>) {
          return static_cast<lanky_dtype>(lanky::kDType<lanky::Accumulator<T>>);
        });
  });
  return accumulator;
}

double lanky_dtype_unit_roundoff(lanky_dtype dtype) {
  double unit = -1;
  capi::guarded([&] { unit = unit_roundoff(capi::to_dtype(dtype, "dtype")); });
  return unit;
}

uint16_t lanky_f16_from_double(double value) {
  return lanky::half(value).bits;
}

float lanky_f16_to_float(uint16_t bits) {
  return lanky::detail::half_bits_to_float(bits);
}

uint16_t lanky_bf16_from_double(double value) {
  return lanky::bfloat16(value).bits;
}

float lanky_bf16_to_float(uint16_t bits) {
  lanky::bfloat16 number;
  number.bits = bits;
  return number;
}
