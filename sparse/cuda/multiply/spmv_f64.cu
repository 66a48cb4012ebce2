// Kernels of SparsePlan<double>.
#include "sparse/cuda/multiply/launch_spmv.cuh"

LANKY_INSTANTIATE_SPMV(double, double)
