// Kernels of SparsePlan<std::complex<float>>.
#include "sparse/cuda/multiply/launch_spmv.cuh"

LANKY_INSTANTIATE_SPMV(std::complex<float>, std::complex<float>)
