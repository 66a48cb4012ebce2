// Singular values of small matrices on the host.
#pragma once

#include <vector>

#include "solvers/small_matrix.hpp"

namespace lanky::solvers {

/// A [n, n] = left diag(values) right^H, values descending.
template <class W>
struct SmallSvd {
  std::vector<double> values;
  SmallMatrix<W> left;
  SmallMatrix<W> right;
};

/// Throws Error(invalid_argument) where A has NaN or Inf.
template <class W>
SmallSvd<W> small_svd(const SmallMatrix<W>& a);

}  // namespace lanky::solvers
