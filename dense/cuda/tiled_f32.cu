#include "dense/cuda/tiled.cuh"

namespace lanky::dense::cuda {

template class TiledExecutor<float, float>;

}  // namespace lanky::dense::cuda
