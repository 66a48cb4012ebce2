// The arithmetic peak of the CPU's cores.
#pragma once

#include <lanky/dtype.hpp>

namespace lanky::ladder {

/// Multiply-adds per second, times two, of all threads on registers alone, in f32 or f64, with the
/// widest vectors that the processor has; the best of a few trials.
double cpu_peak_flops(DType dtype);

}  // namespace lanky::ladder
