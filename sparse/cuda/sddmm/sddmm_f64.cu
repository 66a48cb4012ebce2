// Kernels of SddmmPlan<double>.
#include "sparse/cuda/sddmm/launch_sddmm.cuh"

LANKY_INSTANTIATE_SDDMM(double)
