#include "dense/cuda/panel/launch.cuh"
#include "dense/cuda/panel/mma.cuh"

namespace lanky::dense::cuda {

template <>
std::span<const PanelVariant<bfloat16>> panel_variants<bfloat16>() {
  static constexpr PanelVariant<bfloat16> kVariants[] = {
      panel_variant<HalfProduct<__nv_bfloat16, 8, false>, bfloat16>("mma, 8 columns"),
      panel_variant<HalfProduct<__nv_bfloat16, 32, false>, bfloat16>("mma, 32 columns"),
      panel_variant<HalfProduct<__nv_bfloat16, 8, true>, bfloat16>("mma along k, 8 columns"),
      panel_variant<HalfProduct<__nv_bfloat16, 32, true>, bfloat16>("mma along k, 32 columns")};
  return kVariants;
}

LANKY_INSTANTIATE_LAUNCH(PanelLaunch, bfloat16, bfloat16)
LANKY_INSTANTIATE_LAUNCH(PanelLaunch, bfloat16, float)

}  // namespace lanky::dense::cuda
