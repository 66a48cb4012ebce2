#include "dense/cuda/update/executor.cuh"

namespace lanky::dense::cuda {

template class UpdateExecutor<bfloat16, bfloat16>;
template class UpdateExecutor<bfloat16, float>;

}  // namespace lanky::dense::cuda
