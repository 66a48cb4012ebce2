// Kernels of SpmvPlan<double>.
#include "sparse/cuda/multiply/launch_spmv.cuh"

namespace lanky::sparse::cuda {

template Launches prepare<double, double>(const Stream&, SpmvPath, const PackedHeader&);
template void run(const Stream&, const Launches&, const PackedView<double>&,
                  const Product<double, double>&);

}  // namespace lanky::sparse::cuda
