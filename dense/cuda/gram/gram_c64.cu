#include <complex>

#include "dense/cuda/gram/launch.cuh"

namespace lanky::dense::cuda {

LANKY_INSTANTIATE_LAUNCH(GramLaunch, std::complex<float>, std::complex<float>)
template std::size_t gram_shared_bytes<std::complex<float>>(const GramLaunch&, const Problem&,
                                                            CodeTarget);

}  // namespace lanky::dense::cuda
