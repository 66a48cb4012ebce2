#include "dense/cuda/update/launch.cuh"

namespace lanky::dense::cuda {

LANKY_INSTANTIATE_LAUNCH(UpdateLaunch, half, half)
LANKY_INSTANTIATE_LAUNCH(UpdateLaunch, half, float)

}  // namespace lanky::dense::cuda
