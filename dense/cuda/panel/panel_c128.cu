#include <complex>

#include "dense/cuda/panel/fma.cuh"
#include "dense/cuda/panel/launch.cuh"
#include "dense/cuda/panel/mma.cuh"

namespace lanky::dense::cuda {

template <>
std::span<const PanelVariant<std::complex<double>>> panel_variants<std::complex<double>>() {
  static constexpr PanelVariant<std::complex<double>> kVariants[] = {
      panel_variant<FmaColumns<device::Complex<double>, 1>, std::complex<double>>("fma, 1 column"),
      panel_variant<FmaColumns<device::Complex<double>, 4>, std::complex<double>>("fma, 4 columns"),
      panel_variant<ComplexMmaProduct<Float64, 16, false>, std::complex<double>>("mma, 16 columns"),
      panel_variant<ComplexMmaProduct<Float64, 32, false>, std::complex<double>>("mma, 32 columns"),
      panel_variant<FmaRows<device::Complex<double>, 1>, std::complex<double>>(
          "fma along k, 1 column"),
      panel_variant<FmaRows<device::Complex<double>, 4>, std::complex<double>>(
          "fma along k, 4 columns"),
      panel_variant<ComplexMmaProduct<Float64, 16, true>, std::complex<double>>(
          "mma along k, 16 columns"),
      panel_variant<ComplexMmaProduct<Float64, 32, true>, std::complex<double>>(
          "mma along k, 32 columns")};
  return kVariants;
}

LANKY_INSTANTIATE_LAUNCH(PanelLaunch, std::complex<double>, std::complex<double>)

}  // namespace lanky::dense::cuda
