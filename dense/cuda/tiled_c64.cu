#include "dense/cuda/tiled.cuh"

namespace lanky::dense::cuda {

template class TiledExecutor<std::complex<float>, std::complex<float>>;

}  // namespace lanky::dense::cuda
