// The types that plans are made for, written once for explicit instantiation.
#pragma once

#include <complex>
#include <lanky/half.hpp>

/// apply(T, TOut) for every combination of operand and result type that an SpmvPlan can have.
#define LANKY_FOR_EACH_REAL_PLAN_TYPE(apply)                                     \
  apply(double, double) apply(float, float) apply(half, half) apply(half, float) \
      apply(bfloat16, bfloat16) apply(bfloat16, float)

/// The same for a GemmPlan.
#define LANKY_FOR_EACH_GEMM_TYPE(apply) \
  LANKY_FOR_EACH_REAL_PLAN_TYPE(apply)  \
  apply(std::complex<float>, std::complex<float>) apply(std::complex<double>, std::complex<double>)
