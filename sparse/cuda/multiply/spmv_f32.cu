// Kernels of SparsePlan<float>.
#include "sparse/cuda/multiply/launch_spmv.cuh"

LANKY_INSTANTIATE_SPMV(float, float)
