#include <complex>

#include "dense/cuda/gram/executor.cuh"

namespace lanky::dense::cuda {

template class GramExecutor<std::complex<double>, std::complex<double>>;

}  // namespace lanky::dense::cuda
