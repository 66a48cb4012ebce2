#include <complex>

#include "dense/cuda/panel/fma.cuh"
#include "dense/cuda/panel/launch.cuh"
#include "dense/cuda/panel/mma.cuh"

namespace lanky::dense::cuda {

template <>
std::span<const PanelVariant<std::complex<float>>> panel_variants<std::complex<float>>() {
  static constexpr PanelVariant<std::complex<float>> kVariants[] = {
      panel_variant<FmaColumns<device::Complex<float>, 1>, std::complex<float>>("fma, 1 column"),
      panel_variant<FmaColumns<device::Complex<float>, 4>, std::complex<float>>("fma, 4 columns"),
      panel_variant<ComplexMmaProduct<FloatByDouble, 16, false>, std::complex<float>>(
          "mma of doubles, 16 columns"),
      panel_variant<ComplexMmaProduct<FloatByDouble, 32, false, 1>, std::complex<float>>(
          "mma of doubles, 32 columns"),
      panel_variant<FmaRows<device::Complex<float>, 1>, std::complex<float>>(
          "fma along k, 1 column"),
      panel_variant<FmaRows<device::Complex<float>, 4>, std::complex<float>>(
          "fma along k, 4 columns"),
      panel_variant<FmaRows<device::Complex<float>, 8>, std::complex<float>>(
          "fma along k, 8 columns"),
      panel_variant<ComplexMmaProduct<FloatByDouble, 16, true>, std::complex<float>>(
          "mma of doubles along k, 16 columns"),
      panel_variant<ComplexMmaProduct<FloatByDouble, 32, true>, std::complex<float>>(
          "mma of doubles along k, 32 columns")};
  return kVariants;
}

LANKY_INSTANTIATE_LAUNCH(PanelLaunch, std::complex<float>, std::complex<float>)

}  // namespace lanky::dense::cuda
