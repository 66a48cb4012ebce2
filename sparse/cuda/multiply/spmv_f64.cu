// Kernels of SpmvPlan<double>.
#include "sparse/cuda/multiply/launch_spmv.cuh"

LANKY_INSTANTIATE_SPMV(double, double)
