// The result of an eigensolver: residuals computed anew, and bounds that follow from them.
#pragma once

#include <lanky/eigensolver.hpp>
#include <vector>

#include "solvers/block_work.hpp"
#include "solvers/constraints.hpp"

namespace lanky::solvers {

/// From 0 to the default of the type.
template <class T>
double tolerance_of(const EigenOptions& options);

/// `values` begin with those of `vectors` [n, k].
template <class T>
EigenResult<T> make_result(const Stream& stream, const EigenProblem<T>& problem,
                           const EigenOptions& options, BlockWork<T>& work,
                           Constraints<T>& constraints, const std::vector<double>& values,
                           MatrixView<const T> vectors, double norm);

/// Roundings of A x, in units of |A| |x|, that a residual is allowed.
inline constexpr double kRoundings = 16;

}  // namespace lanky::solvers
