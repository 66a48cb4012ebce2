#include <complex>

#include "dense/cuda/gram/launch.cuh"

namespace lanky::dense::cuda {

LANKY_INSTANTIATE_LAUNCH(GramLaunch, std::complex<float>, std::complex<float>)

}  // namespace lanky::dense::cuda
