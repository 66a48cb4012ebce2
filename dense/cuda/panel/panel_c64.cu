#include <complex>

#include "dense/cuda/panel/fma.cuh"
#include "dense/cuda/panel/launch.cuh"
#include "dense/cuda/panel/mma.cuh"

namespace lanky::dense::cuda {

template <>
std::span<const PanelVariant<std::complex<float>>> panel_variants<std::complex<float>>() {
  return variants_of<
      std::complex<float>, FmaColumns<device::Complex<float>, 1>,
      FmaColumns<device::Complex<float>, 4>, ComplexMmaProduct<FloatByDouble, 16, false>,
      ComplexMmaProduct<FloatByDouble, 32, false, 1>, FmaRows<device::Complex<float>, 1>,
      FmaRows<device::Complex<float>, 4>, FmaRows<device::Complex<float>, 8>,
      ComplexMmaProduct<FloatByDouble, 16, true>, ComplexMmaProduct<FloatByDouble, 32, true>>();
}

LANKY_INSTANTIATE_LAUNCH(PanelLaunch, std::complex<float>, std::complex<float>)

}  // namespace lanky::dense::cuda
