// Kernels of SparsePlan<bfloat16, ...>.
#include "sparse/cuda/multiply/launch_spmv.cuh"

LANKY_INSTANTIATE_SPMV(bfloat16, bfloat16)
LANKY_INSTANTIATE_SPMV(bfloat16, float)
