#include "dense/cuda/update/executor.cuh"

namespace lanky::dense::cuda {

template class UpdateExecutor<std::complex<float>, std::complex<float>>;

}  // namespace lanky::dense::cuda
