// Kernels of SddmmPlan<half>.
#include "sparse/cuda/sddmm/launch_sddmm.cuh"

LANKY_INSTANTIATE_SDDMM(half)
LANKY_INSTANTIATE_WIDENED_SDDMM(half)
