// Kernels of SparsePlan<bfloat16>, of several columns on tensor cores.
#include "sparse/cuda/tiles/launch_tiles.cuh"

LANKY_INSTANTIATE_TILES(bfloat16)
LANKY_INSTANTIATE_WIDENED_TILES(bfloat16)
