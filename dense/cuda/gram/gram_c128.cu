#include <complex>

#include "dense/cuda/gram/launch.cuh"

namespace lanky::dense::cuda {

LANKY_INSTANTIATE_LAUNCH(GramLaunch, std::complex<double>, std::complex<double>)
template std::size_t gram_shared_bytes<std::complex<double>>(const GramLaunch&, const Problem&,
                                                             CodeTarget);

}  // namespace lanky::dense::cuda
