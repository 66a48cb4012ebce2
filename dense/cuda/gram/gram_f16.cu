#include "dense/cuda/gram/executor.cuh"

namespace lanky::dense::cuda {

template class GramExecutor<half, half>;
template class GramExecutor<half, float>;

}  // namespace lanky::dense::cuda
