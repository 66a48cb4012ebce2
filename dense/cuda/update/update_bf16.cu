#include "dense/cuda/update/launch.cuh"

namespace lanky::dense::cuda {

LANKY_INSTANTIATE_LAUNCH(UpdateLaunch, bfloat16, bfloat16)
LANKY_INSTANTIATE_LAUNCH(UpdateLaunch, bfloat16, float)

}  // namespace lanky::dense::cuda
