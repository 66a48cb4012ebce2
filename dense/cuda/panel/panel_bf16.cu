#include "dense/cuda/panel/launch.cuh"
#include "dense/cuda/panel/mma.cuh"

namespace lanky::dense::cuda {

template <>
std::span<const PanelVariant<bfloat16>> panel_variants<bfloat16>() {
  return variants_of<bfloat16, HalfProduct<__nv_bfloat16, 8, false>,
                     HalfProduct<__nv_bfloat16, 32, false>, HalfProduct<__nv_bfloat16, 8, true>,
                     HalfProduct<__nv_bfloat16, 32, true>>();
}

LANKY_INSTANTIATE_LAUNCH(PanelLaunch, bfloat16, bfloat16)
LANKY_INSTANTIATE_LAUNCH(PanelLaunch, bfloat16, float)

}  // namespace lanky::dense::cuda
