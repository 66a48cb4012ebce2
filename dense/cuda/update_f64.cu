#include "dense/cuda/update.cuh"

namespace lanky::dense::cuda {

template class UpdateExecutor<double, double>;

}  // namespace lanky::dense::cuda
