#include "dense/cuda/update.cuh"

namespace lanky::dense::cuda {

template class UpdateExecutor<float, float>;

}  // namespace lanky::dense::cuda
