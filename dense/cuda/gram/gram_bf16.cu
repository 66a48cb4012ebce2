#include "dense/cuda/gram/launch.cuh"

namespace lanky::dense::cuda {

LANKY_INSTANTIATE_LAUNCH(GramLaunch, bfloat16, bfloat16)
LANKY_INSTANTIATE_LAUNCH(GramLaunch, bfloat16, float)

}  // namespace lanky::dense::cuda
