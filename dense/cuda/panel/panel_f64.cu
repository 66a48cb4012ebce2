#include "dense/cuda/panel/fma.cuh"
#include "dense/cuda/panel/launch.cuh"
#include "dense/cuda/panel/mma.cuh"

namespace lanky::dense::cuda {

template <>
std::span<const PanelVariant<double>> panel_variants<double>() {
  return variants_of<
      double, FmaColumns<double, 1>, FmaColumns<double, 4>, MmaProduct<Float64, 8, false>,
      MmaProduct<Float64, 32, false>, MmaProduct<Float64, 64, false>, FmaRows<double, 1>,
      MmaProduct<Float64, 8, true>, MmaProduct<Float64, 32, true>, MmaProduct<Float64, 64, true>>();
}

LANKY_INSTANTIATE_LAUNCH(PanelLaunch, double, double)

}  // namespace lanky::dense::cuda
