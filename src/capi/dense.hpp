// What plans of dense products and the tuning of them share.
#pragma once

#include <lanky/lanky.h>
#include <lanky/dense.hpp>

namespace lanky::capi {

/// Throws Error(invalid_argument) for null, and for what the struct must not hold.
GemmShape to_shape(const lanky_gemm_shape* shape);

}  // namespace lanky::capi
