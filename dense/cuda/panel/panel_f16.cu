#include "dense/cuda/panel/launch.cuh"
#include "dense/cuda/panel/mma.cuh"

namespace lanky::dense::cuda {

template <>
std::span<const PanelVariant<half>> panel_variants<half>() {
  static constexpr PanelVariant<half> kVariants[] = {
      panel_variant<HalfProduct<__half, 8, false>, half>("mma, 8 columns"),
      panel_variant<HalfProduct<__half, 32, false>, half>("mma, 32 columns"),
      panel_variant<HalfProduct<__half, 8, true>, half>("mma along k, 8 columns"),
      panel_variant<HalfProduct<__half, 32, true>, half>("mma along k, 32 columns")};
  return kVariants;
}

LANKY_INSTANTIATE_LAUNCH(PanelLaunch, half, half)
LANKY_INSTANTIATE_LAUNCH(PanelLaunch, half, float)

}  // namespace lanky::dense::cuda
