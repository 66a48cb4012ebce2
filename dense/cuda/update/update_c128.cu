#include "dense/cuda/update/executor.cuh"

namespace lanky::dense::cuda {

template class UpdateExecutor<std::complex<double>, std::complex<double>>;

}  // namespace lanky::dense::cuda
