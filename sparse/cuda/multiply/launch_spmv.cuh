// Launches a product on its kernels. Included by one .cu file for each element type.
#pragma once

#include <type_traits>

#include "device/grid_dependency.cuh"
#include "device/launch.cuh"
#include "sparse/cuda/multiply/device_matrix.cuh"
#include "sparse/cuda/multiply/policy.hpp"
#include "sparse/cuda/multiply/spmv_window.cuh"
#include "sparse/cuda/steps.hpp"
#include "sparse/launch.hpp"

namespace lanky::sparse::cuda {

/// Tensor cores have no IEEE product of floats, and none of complex numbers.
template <class T>
inline constexpr bool kHasMma = std::is_same_v<T, double> || sizeof(T) == 2;

template <class T, class TOut>
using ProductKernel = void (*)(DeviceProduct<T, TOut>, DeviceMatrix<device::DeviceElement<T>>,
                               DeviceWorkspace<T>);

template <Path kPath, class T, class TOut>
ProductKernel<T, TOut> mma_kernel(bool wide) {
  return wide ? &spmv_mma_kernel<kPath, kLanePiecesMost<T>, T, TOut>
              : &spmv_mma_kernel<kPath, 1, T, TOut>;
}

/// The kernel that a launch tells.
template <class T, class TOut>
ProductKernel<T, TOut> product_kernel(const Launch& launch) {
  constexpr int kWide = kLanePiecesMost<T>;
  if constexpr (kHasMma<T>) {
    if (launch.path == Path::mma) return mma_kernel<Path::mma, T, TOut>(launch.wide);
  }
  if constexpr (std::is_same_v<T, float>) {
    if (launch.path == Path::tf32) return mma_kernel<Path::tf32, T, TOut>(launch.wide);
    if (launch.path == Path::tf32x3) return mma_kernel<Path::tf32x3, T, TOut>(launch.wide);
  }
  if (launch.hot) return &spmv_hot_kernel<kWide, T, TOut>;
  switch (launch.slices) {
    case Slices::single:
      return &spmv_cuda_kernel<1, Slices::single, T, TOut>;
    case Slices::few:
      if constexpr (sizeof(T) <= 8) return &spmv_cuda_kernel<1, Slices::few, T, TOut>;
      break;
    case Slices::deep:
      return &spmv_cuda_kernel<1, Slices::deep, T, TOut>;
    case Slices::shallow:
      if constexpr (kWide > 1) return &spmv_cuda_kernel<kWide, Slices::shallow, T, TOut>;
      break;
    case Slices::straight:
      if constexpr (kWide > 1) return &spmv_cuda_kernel<kWide, Slices::straight, T, TOut>;
      break;
    case Slices::any:
      break;
  }
  return launch.wide ? &spmv_cuda_kernel<kWide, Slices::any, T, TOut>
                     : &spmv_cuda_kernel<1, Slices::any, T, TOut>;
}

template <class T, class TOut>
Launches prepare(const Stream& stream, Path path, const PackedHeader& a) {
  const Launches launches = choose_launches(a, kDType<T>, path, machine_of(stream.device()));
  const auto load_kernel_of = [&](const Launch& launch) {
    const auto kernel = product_kernel<T, TOut>(launch);
    device::load_kernels(stream, kernel);
    device::allow_shared_memory(stream, kernel, launch.shared_bytes);
  };
  load_kernel_of(launches.adds);
  if (launches.overwrites != launches.adds) load_kernel_of(launches.overwrites);
  return launches;
}

template <class T, class TOut>
void run(const Stream& stream, const Launches& launches, const PackedView<T>& packed,
         const Product<T, TOut>& product) {
  const bool overwrites = !may_add(product.beta);
  const Launch& launch = launches.of(overwrites);
  if (launch.blocks == 0) return;
  const DeviceProduct<T, TOut> arguments{
      device::device_pointer(product.x), device::device_pointer(product.y),
      device::DeviceScalar<Accumulator<T>>(product.alpha),
      device::DeviceScalar<Accumulator<T>>(product.beta),
      overwrites && product.alpha.pointer() == nullptr ? 0U : 1U};
  using Partial = Cell<device::DeviceElement<T>>;
  const DeviceWorkspace<T> workspace{reinterpret_cast<Partial*>(product.partials),
                                     product.arrivals};
  const device::LaunchSize size{dim3(static_cast<unsigned>(launch.blocks)),
                                dim3(static_cast<unsigned>(launch.threads)),
                                static_cast<std::size_t>(launch.shared_bytes)};
  const device::LaunchScope scope(stream);
  device::launch_dependent(stream, product_kernel<T, TOut>(launch), size, arguments,
                           device_matrix(packed, launch), workspace);
}

}  // namespace lanky::sparse::cuda

/// The kernels of one kind of plan.
#define LANKY_INSTANTIATE_SPMV(T, TOut)                                         \
  namespace lanky::sparse::cuda {                                               \
  template Launches prepare<T, TOut>(const Stream&, Path, const PackedHeader&); \
  template void run(const Stream&, const Launches&, const PackedView<T>&,       \
                    const Product<T, TOut>&);                                   \
  }
