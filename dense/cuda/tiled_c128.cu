#include "dense/cuda/tiled.cuh"

namespace lanky::dense::cuda {

template class TiledExecutor<std::complex<double>, std::complex<double>>;

}  // namespace lanky::dense::cuda
