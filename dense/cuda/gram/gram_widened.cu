// Gram products of floats and of the half types whose sums are doubles.
#include "dense/cuda/gram/launch.cuh"

namespace lanky::dense::cuda {

LANKY_INSTANTIATE_LAUNCH(GramLaunch, Widened<float>, double)
template std::size_t gram_shared_bytes<Widened<float>>(const GramLaunch&, const Problem&,
                                                       CodeTarget);
LANKY_INSTANTIATE_LAUNCH(GramLaunch, Widened<half>, double)
template std::size_t gram_shared_bytes<Widened<half>>(const GramLaunch&, const Problem&,
                                                      CodeTarget);
LANKY_INSTANTIATE_LAUNCH(GramLaunch, Widened<bfloat16>, double)
template std::size_t gram_shared_bytes<Widened<bfloat16>>(const GramLaunch&, const Problem&,
                                                          CodeTarget);

}  // namespace lanky::dense::cuda
