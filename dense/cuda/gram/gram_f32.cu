#include "dense/cuda/gram/launch.cuh"

namespace lanky::dense::cuda {

LANKY_INSTANTIATE_LAUNCH(GramLaunch, float, float)
template std::size_t gram_shared_bytes<float>(const GramLaunch&, const Problem&, CodeTarget);

}  // namespace lanky::dense::cuda
