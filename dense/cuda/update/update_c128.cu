#include "dense/cuda/update/launch.cuh"

namespace lanky::dense::cuda {

LANKY_INSTANTIATE_LAUNCH(UpdateLaunch, std::complex<double>, std::complex<double>)

}  // namespace lanky::dense::cuda
