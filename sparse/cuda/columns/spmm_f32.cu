// Kernels of SparsePlan<float>, of several columns.
#include "sparse/cuda/columns/launch_spmm.cuh"

LANKY_INSTANTIATE_SPMM(float)
