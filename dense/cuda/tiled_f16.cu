#include "dense/cuda/tiled.cuh"

namespace lanky::dense::cuda {

template class TiledExecutor<half, half>;
template class TiledExecutor<half, float>;

}  // namespace lanky::dense::cuda
