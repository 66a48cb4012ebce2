#include "dense/cuda/gram.cuh"

namespace lanky::dense::cuda {

template class GramExecutor<double, double>;

}  // namespace lanky::dense::cuda
