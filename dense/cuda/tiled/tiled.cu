#include "dense/cuda/tiled/executor.cuh"

namespace lanky::dense::cuda {

template class TiledExecutor<double, double>;
template class TiledExecutor<float, float>;
template class TiledExecutor<half, half>;
template class TiledExecutor<half, float>;
template class TiledExecutor<bfloat16, bfloat16>;
template class TiledExecutor<bfloat16, float>;
template class TiledExecutor<std::complex<float>, std::complex<float>>;
template class TiledExecutor<std::complex<double>, std::complex<double>>;

}  // namespace lanky::dense::cuda
