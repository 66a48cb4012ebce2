// Kernels of SpmvPlan<half, ...>.
#include "sparse/cuda/multiply/launch_spmv.cuh"

namespace lanky::sparse::cuda {

template void load<half, half>(const Stream&, SpmvPath, const PackedHeader&);
template void load<half, float>(const Stream&, SpmvPath, const PackedHeader&);
template void run(const Stream&, SpmvPath, const PackedView<half>&, const Product<half, half>&);
template void run(const Stream&, SpmvPath, const PackedView<half>&, const Product<half, float>&);

}  // namespace lanky::sparse::cuda
