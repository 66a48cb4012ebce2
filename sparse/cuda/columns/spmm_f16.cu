// Kernels of SparsePlan<half>, of several columns.
#include "sparse/cuda/columns/launch_spmm.cuh"

LANKY_INSTANTIATE_SPMM(half)
LANKY_INSTANTIATE_WIDENED_SPMM(half)
