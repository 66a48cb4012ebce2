// Kernels of SpmvPlan<std::complex<double>>.
#include "sparse/cuda/multiply/launch_spmv.cuh"

namespace lanky::sparse::cuda {

template Launches prepare<std::complex<double>, std::complex<double>>(const Stream&, SpmvPath,
                                                                      const PackedHeader&);
template void run(const Stream&, const Launches&, const PackedView<std::complex<double>>&,
                  const Product<std::complex<double>, std::complex<double>>&);

}  // namespace lanky::sparse::cuda
