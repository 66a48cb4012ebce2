// The types that plans are made for, written once for explicit instantiation.
#pragma once

#include <complex>
#include <lanky/half.hpp>

#include "core/widened.hpp"

/// apply(T) for every type of operands.
#define LANKY_FOR_EACH_ELEMENT(apply)                                               \
  apply(double) apply(float) apply(half) apply(bfloat16) apply(std::complex<float>) \
      apply(std::complex<double>)

/// apply(T, TOut) for every combination of operand and result type that sparse plans can have.
#define LANKY_FOR_EACH_PLAN_TYPE(apply)                                          \
  apply(double, double) apply(float, float) apply(half, half) apply(half, float) \
      apply(bfloat16, bfloat16) apply(bfloat16, float)                           \
          apply(std::complex<float>, std::complex<float>)                        \
              apply(std::complex<double>, std::complex<double>)

/// The same for dense plans, which may also sum in double.
#define LANKY_FOR_EACH_GEMM_TYPE(apply) \
  LANKY_FOR_EACH_PLAN_TYPE(apply) apply(float, double) apply(half, double) apply(bfloat16, double)

/// apply(Summed<T, TOut>, TOut) for every one of them.
#define LANKY_FOR_EACH_SUMMED_TYPE(apply) \
  LANKY_FOR_EACH_PLAN_TYPE(apply)         \
  apply(Widened<float>, double) apply(Widened<half>, double) apply(Widened<bfloat16>, double)
