#include "dense/cuda/tiled/launch.cuh"

namespace lanky::dense::cuda {

LANKY_INSTANTIATE_LAUNCH(TiledLaunch, double, double)
LANKY_INSTANTIATE_LAUNCH(TiledLaunch, float, float)
LANKY_INSTANTIATE_LAUNCH(TiledLaunch, half, half)
LANKY_INSTANTIATE_LAUNCH(TiledLaunch, half, float)
LANKY_INSTANTIATE_LAUNCH(TiledLaunch, bfloat16, bfloat16)
LANKY_INSTANTIATE_LAUNCH(TiledLaunch, bfloat16, float)
LANKY_INSTANTIATE_LAUNCH(TiledLaunch, Widened<float>, double)
LANKY_INSTANTIATE_LAUNCH(TiledLaunch, Widened<half>, double)
LANKY_INSTANTIATE_LAUNCH(TiledLaunch, Widened<bfloat16>, double)
LANKY_INSTANTIATE_LAUNCH(TiledLaunch, std::complex<float>, std::complex<float>)
LANKY_INSTANTIATE_LAUNCH(TiledLaunch, std::complex<double>, std::complex<double>)

}  // namespace lanky::dense::cuda
