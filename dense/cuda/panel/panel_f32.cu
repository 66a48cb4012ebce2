#include "dense/cuda/panel/fma.cuh"
#include "dense/cuda/panel/launch.cuh"
#include "dense/cuda/panel/mma.cuh"

namespace lanky::dense::cuda {

template <>
std::span<const PanelVariant<float>> panel_variants<float>() {
  return variants_of<
      float, FmaColumns<float, 4>, FmaColumns<float, 8>, MmaProduct<FloatByDouble, 32, false>,
      MmaProduct<FloatByDouble, 64, false, 1>, FmaRows<float, 1>, FmaRows<float, 4>,
      FmaRows<float, 8>, MmaProduct<FloatByDouble, 32, true>, MmaProduct<FloatByDouble, 64, true>,
      MmaProduct<Tf32x3, 16, false>, WgmmaProduct<32, false, 3>, WgmmaProduct<64, false, 3>,
      MmaProduct<Tf32x3, 16, true>, WgmmaProduct<32, true, 3>, WgmmaProduct<64, true, 3>,
      MmaProduct<Tf32, 16, false>, WgmmaProduct<32, false, 1>, WgmmaProduct<64, false, 1>,
      MmaProduct<Tf32, 16, true>, WgmmaProduct<32, true, 1>, WgmmaProduct<64, true, 1>>();
}

LANKY_INSTANTIATE_LAUNCH(PanelLaunch, float, float)

}  // namespace lanky::dense::cuda
