// Kernels of SddmmPlan<bfloat16>.
#include "sparse/cuda/sddmm/launch_sddmm.cuh"

LANKY_INSTANTIATE_SDDMM(bfloat16)
LANKY_INSTANTIATE_WIDENED_SDDMM(bfloat16)
