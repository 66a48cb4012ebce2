// Kernels of SparsePlan<half, ...>.
#include "sparse/cuda/multiply/launch_spmv.cuh"

LANKY_INSTANTIATE_SPMV(half, half)
LANKY_INSTANTIATE_SPMV(half, float)
