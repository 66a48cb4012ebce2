// Kernels of SpmvPlan<bfloat16, ...>.
#include "sparse/cuda/multiply/launch_spmv.cuh"

namespace lanky::sparse::cuda {

template Launches prepare<bfloat16, bfloat16>(const Stream&, SpmvPath, const PackedHeader&);
template Launches prepare<bfloat16, float>(const Stream&, SpmvPath, const PackedHeader&);
template void run(const Stream&, const Launches&, const PackedView<bfloat16>&,
                  const Product<bfloat16, bfloat16>&);
template void run(const Stream&, const Launches&, const PackedView<bfloat16>&,
                  const Product<bfloat16, float>&);

}  // namespace lanky::sparse::cuda
