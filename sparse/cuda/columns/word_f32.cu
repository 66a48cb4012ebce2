// Kernels of SparsePlan<float>, of a few columns.
#include "sparse/cuda/columns/launch_word.cuh"

LANKY_INSTANTIATE_WORD(float, float)
