// Kernels of SpmvPlan<float>.
#include "sparse/cuda/multiply/launch_spmv.cuh"

namespace lanky::sparse::cuda {

template void load<float, float>(const Stream&, SpmvPath, const PackedHeader&);
template void run(const Stream&, SpmvPath, const PackedView<float>&, const Product<float, float>&);

}  // namespace lanky::sparse::cuda
