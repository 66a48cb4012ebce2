#include "dense/cuda/gram/launch.cuh"

namespace lanky::dense::cuda {

LANKY_INSTANTIATE_LAUNCH(GramLaunch, half, half)
LANKY_INSTANTIATE_LAUNCH(GramLaunch, half, float)

}  // namespace lanky::dense::cuda
