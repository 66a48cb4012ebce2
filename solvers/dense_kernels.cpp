#include "solvers/dense_kernels.hpp"

#include <lanky/error.hpp>

namespace lanky::solvers {

void refuse_no_convergence() {
  throw Error(ErrorCode::device, "the QR iteration of a small eigenproblem did not converge");
}

template <class W>
const DenseKernels<W>& dense_kernels() {
#if LANKY_X86_64
  static const bool is_wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (is_wide) return avx2::dense_kernels<W>();
#endif
  return baseline::dense_kernels<W>();
}

template const DenseKernels<double>& dense_kernels();
template const DenseKernels<std::complex<double>>& dense_kernels();

}  // namespace lanky::solvers
