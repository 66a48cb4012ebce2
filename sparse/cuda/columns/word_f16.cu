// Kernels of SparsePlan<half>, of a few columns.
#include "sparse/cuda/columns/launch_word.cuh"

LANKY_INSTANTIATE_WORD(half, half)
LANKY_INSTANTIATE_WORD(half, float)
