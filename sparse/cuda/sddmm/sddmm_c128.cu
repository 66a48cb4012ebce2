// Kernels of SddmmPlan<std::complex<double>>.
#include "sparse/cuda/sddmm/launch_sddmm.cuh"

LANKY_INSTANTIATE_SDDMM(std::complex<double>)
