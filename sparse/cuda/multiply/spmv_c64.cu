// Kernels of SpmvPlan<std::complex<float>>.
#include "sparse/cuda/multiply/launch_spmv.cuh"

namespace lanky::sparse::cuda {

template Launches prepare<std::complex<float>, std::complex<float>>(const Stream&, SpmvPath,
                                                                    const PackedHeader&);
template void run(const Stream&, const Launches&, const PackedView<std::complex<float>>&,
                  const Product<std::complex<float>, std::complex<float>>&);

}  // namespace lanky::sparse::cuda
