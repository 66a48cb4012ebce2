// Kernels of SpmvPlan<float>.
#include "sparse/cuda/multiply/launch_spmv.cuh"

namespace lanky::sparse::cuda {

template Launches prepare<float, float>(const Stream&, SpmvPath, const PackedHeader&);
template void run(const Stream&, const Launches&, const PackedView<float>&,
                  const Product<float, float>&);

}  // namespace lanky::sparse::cuda
