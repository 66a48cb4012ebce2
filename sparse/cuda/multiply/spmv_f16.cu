// Kernels of SpmvPlan<half, ...>.
#include "sparse/cuda/multiply/launch_spmv.cuh"

namespace lanky::sparse::cuda {

template Launches prepare<half, half>(const Stream&, SpmvPath, const PackedHeader&);
template Launches prepare<half, float>(const Stream&, SpmvPath, const PackedHeader&);
template void run(const Stream&, const Launches&, const PackedView<half>&,
                  const Product<half, half>&);
template void run(const Stream&, const Launches&, const PackedView<half>&,
                  const Product<half, float>&);

}  // namespace lanky::sparse::cuda
