#include <complex>

#include "dense/cuda/panel/fma.cuh"
#include "dense/cuda/panel/launch.cuh"
#include "dense/cuda/panel/mma.cuh"

namespace lanky::dense::cuda {

template <>
std::span<const PanelVariant<std::complex<double>>> panel_variants<std::complex<double>>() {
  return variants_of<std::complex<double>, FmaColumns<device::Complex<double>, 1>,
                     FmaColumns<device::Complex<double>, 4>, ComplexMmaProduct<Float64, 16, false>,
                     ComplexMmaProduct<Float64, 32, false>, FmaRows<device::Complex<double>, 1>,
                     FmaRows<device::Complex<double>, 4>, ComplexMmaProduct<Float64, 16, true>,
                     ComplexMmaProduct<Float64, 32, true>>();
}

LANKY_INSTANTIATE_LAUNCH(PanelLaunch, std::complex<double>, std::complex<double>)

}  // namespace lanky::dense::cuda
