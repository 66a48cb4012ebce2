#include "dense/cuda/update/executor.cuh"

namespace lanky::dense::cuda {

template class UpdateExecutor<double, double>;

}  // namespace lanky::dense::cuda
