#include <complex>

#include "dense/cuda/gram/launch.cuh"

namespace lanky::dense::cuda {

LANKY_INSTANTIATE_LAUNCH(GramLaunch, std::complex<double>, std::complex<double>)

}  // namespace lanky::dense::cuda
