#include <complex>

#include "dense/cuda/gram/executor.cuh"

namespace lanky::dense::cuda {

template class GramExecutor<std::complex<float>, std::complex<float>>;

}  // namespace lanky::dense::cuda
