// Launches of the update kernels; instantiated type by type in update_<type>.cu.
#pragma once

#include <iterator>
#include <utility>

#include "core/text.hpp"
#include "dense/cuda/update.hpp"
#include "dense/cuda/update_direct.cuh"
#include "dense/cuda/update_lanes.cuh"
#include "dense/cuda/update_mma.cuh"
#include "dense/cuda/update_packed.cuh"
#include "dense/cuda/update_tile.cuh"
#include "device/launch.cuh"

namespace lanky::dense::cuda {

template <class T, class TOut>
using UpdateFunction = void (*)(UpdateArguments<T, TOut>);

template <class T>
constexpr bool compiled_for(ElementSizes sizes) {
  return (sizes & sizeof(T)) != 0;
}

/// The kernel `kKernel` of variant kIndex; null where it is not compiled for T.
template <UpdateKernel kKernel, int kIndex, class T, class TOut>
constexpr UpdateFunction<T, TOut> update_variant() {
  if constexpr (kKernel == UpdateKernel::direct) {
    if constexpr (compiled_for<T>(kUpdateDirect[kIndex].sizes))
      return &update_direct_kernel<kIndex, T, TOut>;
  } else if constexpr (kKernel == UpdateKernel::lanes) {
    if constexpr (compiled_for<T>(kUpdateLanes[kIndex].sizes))
      return &update_lanes_kernel<kIndex, T, TOut>;
  } else if constexpr (kKernel == UpdateKernel::packed) {
    if constexpr (compiled_for<T>(kUpdatePacked[kIndex].sizes))
      return &update_packed_kernel<kIndex, T, TOut>;
  } else if constexpr (kKernel == UpdateKernel::tile) {
    if constexpr (compiled_for<T>(kUpdateTile[kIndex].sizes))
      return &update_tile_kernel<kIndex, T, TOut>;
  } else if constexpr (kKernel == UpdateKernel::mma_columns) {
    if constexpr (compiled_for<T>(kUpdateMmaColumns[kIndex].sizes))
      return &update_mma_kernel<UpdateColumns<kIndex, T, TOut>>;
  } else {
    if constexpr (compiled_for<T>(kUpdateMmaRows[kIndex].sizes))
      return &update_mma_kernel<UpdateRows<kIndex, T, TOut>>;
  }
  return nullptr;
}

template <UpdateKernel kKernel, class T, class TOut, int... kIndices>
UpdateFunction<T, TOut> update_variant_of(int index,
                                          std::integer_sequence<int, kIndices...> /*all*/) {
  const UpdateFunction<T, TOut> kernels[] = {update_variant<kKernel, kIndices, T, TOut>()...};
  return kernels[index];
}

template <class T, class TOut>
UpdateFunction<T, TOut> update_kernel(const UpdateConfig& config) {
  const auto pick = [&]<UpdateKernel kKernel, int kCount>() {
    return update_variant_of<kKernel, T, TOut>(config.variant,
                                               std::make_integer_sequence<int, kCount>());
  };
  switch (config.kernel) {
    case UpdateKernel::direct:
      return pick.template operator()<UpdateKernel::direct, std::size(kUpdateDirect)>();
    case UpdateKernel::lanes:
      return pick.template operator()<UpdateKernel::lanes, std::size(kUpdateLanes)>();
    case UpdateKernel::packed:
      return pick.template operator()<UpdateKernel::packed, std::size(kUpdatePacked)>();
    case UpdateKernel::tile:
      return pick.template operator()<UpdateKernel::tile, std::size(kUpdateTile)>();
    case UpdateKernel::mma_columns:
      return pick.template operator()<UpdateKernel::mma_columns, std::size(kUpdateMmaColumns)>();
    default:
      return pick.template operator()<UpdateKernel::mma_rows, std::size(kUpdateMmaRows)>();
  }
}

template <class T, class TOut>
UpdateExecutor<T, TOut>::UpdateExecutor(const Stream& stream, const Problem& problem,
                                        const UpdateConfig& config)
    : problem_(problem), config_(config), unaligned_(stream, problem, "") {
  const auto kernel = update_kernel<T, TOut>(config_);
  device::load_kernels(stream, kernel);
  device::allow_shared_memory(stream, kernel, config_.shared_bytes);
}

template <class T, class TOut>
std::int64_t UpdateExecutor<T, TOut>::workspace_bytes() const noexcept {
  return unaligned_.workspace_bytes();
}

template <class T, class TOut>
std::string UpdateExecutor<T, TOut>::explain() const {
  return concat(describe(config_), "; for pointers not aligned to ", config_.alignment,
                " bytes: ", unaligned_.explain());
}

template <class T, class TOut>
void UpdateExecutor<T, TOut>::run(const Stream& stream, const Operands<T, TOut>& operands) const {
  const auto alignment = static_cast<std::uintptr_t>(config_.alignment);
  if ((reinterpret_cast<std::uintptr_t>(operands.a) |
       reinterpret_cast<std::uintptr_t>(operands.c)) %
          alignment !=
      0) {
    unaligned_.run(stream, operands);
    return;
  }
  const UpdateArguments<T, TOut> arguments{
      .m = problem_.m,
      .n = static_cast<int>(problem_.n),
      .k = static_cast<int>(problem_.k),
      .a_strides = problem_.a,
      .b_strides = problem_.b,
      .c_strides = problem_.c,
      .passes = config_.passes,
      .a = device::device_pointer(operands.a),
      .b = device::device_pointer(operands.b),
      .c = device::device_pointer(operands.c),
      .alpha = device::DeviceScalar<Accumulator<T>>(operands.alpha),
      .beta = device::DeviceScalar<Accumulator<T>>(operands.beta)};
  const device::LaunchScope scope(stream);
  const std::int64_t block_rows = std::int64_t{config_.rows} * config_.passes;
  device::launch_dependent(
      stream, update_kernel<T, TOut>(config_),
      {.blocks = dim3(static_cast<unsigned>(device::ceil_div(problem_.m, block_rows))),
       .threads = dim3(config_.threads, config_.parts),
       .shared_bytes = static_cast<std::size_t>(config_.shared_bytes)},
      arguments);
  scope.check("update kernel");
}

}  // namespace lanky::dense::cuda
