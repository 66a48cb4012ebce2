// Kernels of SddmmPlan<std::complex<float>>.
#include "sparse/cuda/sddmm/launch_sddmm.cuh"

LANKY_INSTANTIATE_SDDMM(std::complex<float>)
