#include "dense/cuda/gram.cuh"

namespace lanky::dense::cuda {

template class GramExecutor<half, half>;
template class GramExecutor<half, float>;

}  // namespace lanky::dense::cuda
