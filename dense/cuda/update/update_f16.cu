#include "dense/cuda/update/executor.cuh"

namespace lanky::dense::cuda {

template class UpdateExecutor<half, half>;
template class UpdateExecutor<half, float>;

}  // namespace lanky::dense::cuda
