#include "dense/cuda/gram/launch.cuh"

namespace lanky::dense::cuda {

LANKY_INSTANTIATE_LAUNCH(GramLaunch, half, half)
LANKY_INSTANTIATE_LAUNCH(GramLaunch, half, float)
template std::size_t gram_shared_bytes<half>(const GramLaunch&, const Problem&, CodeTarget);

}  // namespace lanky::dense::cuda
