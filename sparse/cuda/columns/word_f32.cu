// Kernels of SpmvPlan<float>, of a few columns.
#include "sparse/cuda/columns/launch_word.cuh"

LANKY_INSTANTIATE_WORD(float, float)
