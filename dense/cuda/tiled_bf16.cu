#include "dense/cuda/tiled.cuh"

namespace lanky::dense::cuda {

template class TiledExecutor<bfloat16, bfloat16>;
template class TiledExecutor<bfloat16, float>;

}  // namespace lanky::dense::cuda
