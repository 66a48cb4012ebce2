// The kernels of panel_<type>.cu as the host sees them.
#include "dense/cuda/panel/launch.cuh"

namespace lanky::dense {

namespace {

template <class T>
std::vector<PanelKernel> kernels_of() {
  std::vector<PanelKernel> kernels;
  for (const cuda::PanelVariant<T>& variant : cuda::panel_variants<T>())
    kernels.push_back(variant.host);
  return kernels;
}

}  // namespace

std::vector<PanelKernel> panel_kernels(DType in) {
  switch (in) {
    case DType::f64:
      return kernels_of<double>();
    case DType::f32:
      return kernels_of<float>();
    case DType::f16:
      return kernels_of<half>();
    case DType::bf16:
      return kernels_of<bfloat16>();
    case DType::c64:
      return kernels_of<std::complex<float>>();
    case DType::c128:
      return kernels_of<std::complex<double>>();
  }
  return {};
}

}  // namespace lanky::dense
