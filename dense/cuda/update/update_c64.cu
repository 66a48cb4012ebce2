#include "dense/cuda/update/launch.cuh"

namespace lanky::dense::cuda {

LANKY_INSTANTIATE_LAUNCH(UpdateLaunch, std::complex<float>, std::complex<float>)

}  // namespace lanky::dense::cuda
