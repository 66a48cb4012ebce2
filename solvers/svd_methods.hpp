// Methods for singular values. Each fills the history of its problem.
#pragma once

#include <cstdint>
#include <lanky/solver.hpp>

#include "solvers/svd_work.hpp"

namespace lanky::solvers {

template <class T>
struct SvdOutcome {
  Triplets<T> triplets;
  std::vector<double> residuals;
  SolverStatus status;
  int iterations;
};

/// Needs k < cols.
template <class T>
SvdOutcome<T> randomized_svd(SvdWork<T>& work);

/// Columns that the bases of Golub-Kahan need A to have; smaller problems are solved whole.
std::int64_t golub_kahan_columns(const SvdOptions& options);
template <class T>
SvdOutcome<T> golub_kahan_svd(SvdWork<T>& work);

}  // namespace lanky::solvers
