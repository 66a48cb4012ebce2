#include "dense/cuda/gram/executor.cuh"

namespace lanky::dense::cuda {

template class GramExecutor<double, double>;

}  // namespace lanky::dense::cuda
