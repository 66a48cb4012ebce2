#include "dense/cuda/panel/fma.cuh"
#include "dense/cuda/panel/launch.cuh"
#include "dense/cuda/panel/mma.cuh"

namespace lanky::dense::cuda {

template <>
std::span<const PanelVariant<float>> panel_variants<float>() {
  static constexpr PanelVariant<float> kVariants[] = {
      panel_variant<FmaColumns<float, 4>, float>("fma, 4 columns"),
      panel_variant<FmaColumns<float, 8>, float>("fma, 8 columns"),
      panel_variant<MmaProduct<FloatByDouble, 32, false>, float>("mma of doubles, 32 columns"),
      panel_variant<MmaProduct<FloatByDouble, 64, false, 1>, float>("mma of doubles, 64 columns"),
      panel_variant<FmaRows<float, 1>, float>("fma along k, 1 column"),
      panel_variant<FmaRows<float, 4>, float>("fma along k, 4 columns"),
      panel_variant<FmaRows<float, 8>, float>("fma along k, 8 columns"),
      panel_variant<MmaProduct<FloatByDouble, 32, true>, float>(
          "mma of doubles along k, 32 columns"),
      panel_variant<MmaProduct<FloatByDouble, 64, true>, float>(
          "mma of doubles along k, 64 columns"),
      panel_variant<MmaProduct<Tf32x3, 16, false>, float>("mma, 16 columns", Math::tf32x3),
      panel_variant<WgmmaProduct<32, false, 3>, float>("wgmma, 32 columns", Math::tf32x3),
      panel_variant<WgmmaProduct<64, false, 3>, float>("wgmma, 64 columns", Math::tf32x3),
      panel_variant<MmaProduct<Tf32x3, 16, true>, float>("mma along k, 16 columns", Math::tf32x3),
      panel_variant<WgmmaProduct<32, true, 3>, float>("wgmma along k, 32 columns", Math::tf32x3),
      panel_variant<WgmmaProduct<64, true, 3>, float>("wgmma along k, 64 columns", Math::tf32x3),
      panel_variant<MmaProduct<Tf32, 16, false>, float>("mma, 16 columns", Math::tf32),
      panel_variant<WgmmaProduct<32, false, 1>, float>("wgmma, 32 columns", Math::tf32),
      panel_variant<WgmmaProduct<64, false, 1>, float>("wgmma, 64 columns", Math::tf32),
      panel_variant<MmaProduct<Tf32, 16, true>, float>("mma along k, 16 columns", Math::tf32),
      panel_variant<WgmmaProduct<32, true, 1>, float>("wgmma along k, 32 columns", Math::tf32),
      panel_variant<WgmmaProduct<64, true, 1>, float>("wgmma along k, 64 columns", Math::tf32)};
  return kVariants;
}

LANKY_INSTANTIATE_LAUNCH(PanelLaunch, float, float)

}  // namespace lanky::dense::cuda
