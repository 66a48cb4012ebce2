// Operators near the ends of the range of numbers, where squares of their products would leave it:
// solvers work on a multiple of them.
#pragma once

#include <lanky/linear_operator.hpp>
#include <lanky/stream.hpp>

#include "solvers/block_work.hpp"

namespace lanky::solvers {

/// |A x| / |x| of a random vector, 0 of a zero matrix. Waits. Throws Error(invalid_argument) where
/// A x has elements that are NaN or Inf.
template <class T>
double norm_seen(const Stream& stream, const LinearOperator<T>& a, std::uint64_t seed,
                 Allocator* allocator);

/// The power of two by which an operator of this norm is multiplied: 1 where there is no need.
template <class T>
double scale_for(double norm);

/// `scale` A, or A itself where `scale` is 1 or there is no A.
template <class T>
LinearOperator<T> scaled(const Stream& stream, const LinearOperator<T>& a, double scale);

}  // namespace lanky::solvers
