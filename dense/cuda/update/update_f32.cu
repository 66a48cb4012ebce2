#include "dense/cuda/update/executor.cuh"

namespace lanky::dense::cuda {

template class UpdateExecutor<float, float>;

}  // namespace lanky::dense::cuda
