#include "dense/cuda/gram/executor.cuh"

namespace lanky::dense::cuda {

template class GramExecutor<bfloat16, bfloat16>;
template class GramExecutor<bfloat16, float>;

}  // namespace lanky::dense::cuda
