// Update products of floats and of the half types whose sums are doubles.
#include "dense/cuda/update/launch.cuh"

namespace lanky::dense::cuda {

LANKY_INSTANTIATE_LAUNCH(UpdateLaunch, Widened<float>, double)
LANKY_INSTANTIATE_LAUNCH(UpdateLaunch, Widened<half>, double)
LANKY_INSTANTIATE_LAUNCH(UpdateLaunch, Widened<bfloat16>, double)

}  // namespace lanky::dense::cuda
