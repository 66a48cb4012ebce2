// Kernels of SparsePlan<bfloat16>, of a few columns.
#include "sparse/cuda/columns/launch_word.cuh"

LANKY_INSTANTIATE_WORD(bfloat16, bfloat16)
LANKY_INSTANTIATE_WORD(bfloat16, float)
