#include "dense/cuda/gram/executor.cuh"

namespace lanky::dense::cuda {

template class GramExecutor<float, float>;

}  // namespace lanky::dense::cuda
