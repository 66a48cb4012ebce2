// Kernels of SparsePlan<std::complex<double>>.
#include "sparse/cuda/multiply/launch_spmv.cuh"

LANKY_INSTANTIATE_SPMV(std::complex<double>, std::complex<double>)
