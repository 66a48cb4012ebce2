// GemmOptions::tune: the ways to compute a product, timed on operands of the plan's own.
#pragma once

#include <lanky/dense.hpp>
#include <lanky/stream.hpp>
#include <lanky/tuning.hpp>

namespace lanky::dense {

/// `options.tuning`, and what is measured of the product: plain runs and, where they are classes of
/// their own (gemm_class()), those that add to C and those whose B is A. C is not empty, leading
/// dimensions are given. Takes the memory of A, B and C. Throws Error as measure_choices() does.
template <class T, class TOut>
GemmTuning tuning_of(const Stream& stream, const GemmShape& shape, const GemmOptions& options);

}  // namespace lanky::dense
