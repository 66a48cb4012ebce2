#include "dense/cuda/update/launch.cuh"

namespace lanky::dense::cuda {

LANKY_INSTANTIATE_LAUNCH(UpdateLaunch, double, double)

}  // namespace lanky::dense::cuda
