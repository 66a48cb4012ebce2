// Kernels of SpmvPlan<double>.
#include "sparse/cuda/multiply/launch_spmv.cuh"

namespace lanky::sparse::cuda {

template void load<double, double>(const Stream&, SpmvPath, const PackedHeader&);
template void run(const Stream&, SpmvPath, const PackedView<double>&,
                  const Product<double, double>&);

}  // namespace lanky::sparse::cuda
