#include "dense/cuda/gram/launch.cuh"

namespace lanky::dense::cuda {

LANKY_INSTANTIATE_LAUNCH(GramLaunch, bfloat16, bfloat16)
LANKY_INSTANTIATE_LAUNCH(GramLaunch, bfloat16, float)
template std::size_t gram_shared_bytes<bfloat16>(const GramLaunch&, const Problem&, CodeTarget);

}  // namespace lanky::dense::cuda
