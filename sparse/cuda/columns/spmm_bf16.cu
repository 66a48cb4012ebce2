// Kernels of SparsePlan<bfloat16>, of several columns.
#include "sparse/cuda/columns/launch_spmm.cuh"

LANKY_INSTANTIATE_SPMM(bfloat16)
LANKY_INSTANTIATE_WIDENED_SPMM(bfloat16)
