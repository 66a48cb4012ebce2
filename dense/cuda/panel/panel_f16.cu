#include "dense/cuda/panel/launch.cuh"
#include "dense/cuda/panel/mma.cuh"

namespace lanky::dense::cuda {

template <>
std::span<const PanelVariant<half>> panel_variants<half>() {
  return variants_of<half, HalfProduct<__half, 8, false>, HalfProduct<__half, 32, false>,
                     HalfProduct<__half, 8, true>, HalfProduct<__half, 32, true>>();
}

LANKY_INSTANTIATE_LAUNCH(PanelLaunch, half, half)
LANKY_INSTANTIATE_LAUNCH(PanelLaunch, half, float)

}  // namespace lanky::dense::cuda
