// Kernels of SparsePlan<double>, of a few columns.
#include "sparse/cuda/columns/launch_word.cuh"

LANKY_INSTANTIATE_WORD(double, double)
