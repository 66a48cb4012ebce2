// Kernels of SparsePlan<std::complex<float>>, of several columns.
#include "sparse/cuda/columns/launch_spmm.cuh"

LANKY_INSTANTIATE_SPMM(std::complex<float>)
