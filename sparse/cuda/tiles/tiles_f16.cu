// Kernels of SparsePlan<half>, of several columns on tensor cores.
#include "sparse/cuda/tiles/launch_tiles.cuh"

LANKY_INSTANTIATE_TILES(half)
LANKY_INSTANTIATE_WIDENED_TILES(half)
