#include "solvers/dense_svd.hpp"

#include <cmath>
#include <complex>
#include <cstdint>
#include <lanky/error.hpp>

#include "solvers/dense_kernels.hpp"

namespace lanky::solvers {

template <class W>
SmallSvd<W> small_svd(const SmallMatrix<W>& a) {
  const std::int64_t n = a.rows();
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      if (!std::isfinite(std::abs(a(i, j)))) {
        throw Error(ErrorCode::invalid_argument,
                    "products with A or its adjoint have elements that are NaN or Inf");
      }
    }
  }
  SmallSvd<W> svd{std::vector<double>(static_cast<std::size_t>(n)), {n, n}, {n, n}};
  if (!dense_kernels<W>().svd(n, a.data(), svd.values.data(), svd.left.data(), svd.right.data()))
    refuse_no_convergence();
  return svd;
}

template SmallSvd<double> small_svd(const SmallMatrix<double>&);
template SmallSvd<std::complex<double>> small_svd(const SmallMatrix<std::complex<double>>&);

}  // namespace lanky::solvers
