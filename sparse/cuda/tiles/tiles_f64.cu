// Kernels of SparsePlan<double>, of several columns on tensor cores.
#include "sparse/cuda/tiles/launch_tiles.cuh"

LANKY_INSTANTIATE_TILES(double)
