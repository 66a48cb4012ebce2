// Kernels of SddmmPlan<float>.
#include "sparse/cuda/sddmm/launch_sddmm.cuh"

LANKY_INSTANTIATE_SDDMM(float)
