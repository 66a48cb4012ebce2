#include "dense/cuda/tiled.cuh"

namespace lanky::dense::cuda {

template class TiledExecutor<double, double>;

}  // namespace lanky::dense::cuda
