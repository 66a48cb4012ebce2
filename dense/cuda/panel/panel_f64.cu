#include "dense/cuda/panel/fma.cuh"
#include "dense/cuda/panel/launch.cuh"
#include "dense/cuda/panel/mma.cuh"

namespace lanky::dense::cuda {

template <>
std::span<const PanelVariant<double>> panel_variants<double>() {
  static constexpr PanelVariant<double> kVariants[] = {
      panel_variant<FmaColumns<double, 1>, double>("fma, 1 column"),
      panel_variant<FmaColumns<double, 4>, double>("fma, 4 columns"),
      panel_variant<MmaProduct<Float64, 8, false>, double>("mma, 8 columns"),
      panel_variant<MmaProduct<Float64, 32, false>, double>("mma, 32 columns"),
      panel_variant<MmaProduct<Float64, 64, false>, double>("mma, 64 columns"),
      panel_variant<FmaRows<double, 1>, double>("fma along k, 1 column"),
      panel_variant<MmaProduct<Float64, 8, true>, double>("mma along k, 8 columns"),
      panel_variant<MmaProduct<Float64, 32, true>, double>("mma along k, 32 columns"),
      panel_variant<MmaProduct<Float64, 64, true>, double>("mma along k, 64 columns")};
  return kVariants;
}

LANKY_INSTANTIATE_LAUNCH(PanelLaunch, double, double)

}  // namespace lanky::dense::cuda
