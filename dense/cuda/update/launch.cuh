// Launches of the update kernels; instantiated type by type in update_<type>.cu.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/text.hpp"
#include "dense/cuda/run.hpp"
#include "dense/cuda/update/direct.cuh"
#include "dense/cuda/update/lanes.cuh"
#include "dense/cuda/update/mma.cuh"
#include "dense/cuda/update/packed.cuh"
#include "dense/cuda/update/ring.cuh"
#include "dense/cuda/update/ring_mma.cuh"
#include "dense/cuda/update/staged.cuh"
#include "dense/cuda/update/tile.cuh"
#include "dense/cuda/update/words.cuh"
#include "device/grid_dependency.cuh"
#include "device/launch.cuh"

namespace lanky::dense::cuda {

template <class T, class TOut>
using UpdateFunction = void (*)(UpdateArguments<T, TOut>);

/// The kernel `kKernel` of variant kIndex, for a beta of 0 alone unless kAdds; null where it is not
/// compiled for T.
template <UpdateKernel kKernel, int kIndex, bool kAdds, class T, class TOut>
constexpr UpdateFunction<T, TOut> update_variant() {
  if constexpr (kKernel == UpdateKernel::direct) {
    if constexpr (kUpdateDirect[kIndex].types.has(kDType<T>))
      return &update_direct_kernel<kIndex, kAdds, T, TOut>;
  } else if constexpr (kKernel == UpdateKernel::lanes) {
    if constexpr (kUpdateLanes[kIndex].types.has(kDType<T>))
      return &update_lanes_kernel<kIndex, kAdds, T, TOut>;
  } else if constexpr (kKernel == UpdateKernel::packed) {
    if constexpr (kUpdatePacked[kIndex].types.has(kDType<T>))
      return &update_packed_kernel<kIndex, T, TOut>;
  } else if constexpr (kKernel == UpdateKernel::tile) {
    if constexpr (kUpdateTile[kIndex].types.has(kDType<T>))
      return &update_tile_kernel<kIndex, kAdds, T, TOut>;
  } else {
    if constexpr (update_mma_table(kKernel)[kIndex].types.has(kDType<T>))
      return &update_mma_kernel<UpdateMmaShape<kKernel, kIndex, kAdds, T, TOut>>;
  }
  return nullptr;
}

template <UpdateKernel kKernel, bool kAdds, class T, class TOut, int... kIndices>
UpdateFunction<T, TOut> update_variant_of(int index,
                                          std::integer_sequence<int, kIndices...> /*all*/) {
  const UpdateFunction<T, TOut> kernels[] = {
      update_variant<kKernel, kIndices, kAdds, T, TOut>()...};
  return kernels[index];
}

/// `adds`: beta may be other than 0. Kernels that read C have more registers.
template <class T, class TOut>
UpdateFunction<T, TOut> update_kernel(const UpdateLaunch& launch, bool adds) {
  const auto pick = [&]<UpdateKernel kKernel, int kCount>() {
    const auto all = std::make_integer_sequence<int, kCount>();
    return adds ? update_variant_of<kKernel, true, T, TOut>(launch.variant, all)
                : update_variant_of<kKernel, false, T, TOut>(launch.variant, all);
  };
  switch (launch.kernel) {
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
    case UpdateKernel::mma_to_columns:
      return pick
          .template operator()<UpdateKernel::mma_to_columns, std::size(kUpdateMmaToColumns)>();
    case UpdateKernel::mma_to_rows:
      return pick.template operator()<UpdateKernel::mma_to_rows, std::size(kUpdateMmaToRows)>();
    case UpdateKernel::words:
      if constexpr (!kComplexes.has(kDType<T>)) return &update_words_kernel<T, TOut>;
      return nullptr;
    case UpdateKernel::staged:
      return &update_staged_kernel<T, TOut>;
    default:
      return pick.template operator()<UpdateKernel::mma_rows, std::size(kUpdateMmaRows)>();
  }
}

template <class T, class TOut>
using UpdateRingFunction = void (*)(CUtensorMap, UpdateArguments<T, TOut>, UpdateRingPlan);

/// The ring kernel of variant kIndex; null where it is not compiled for T.
template <int kIndex, class T, class TOut>
constexpr UpdateRingFunction<T, TOut> update_ring_variant() {
  if constexpr (kUpdateRing[kIndex].types.has(kDType<T>))
    return &update_ring_kernel<kIndex, T, TOut>;
  return nullptr;
}

template <class T, class TOut>
UpdateRingFunction<T, TOut> update_ring(const UpdateLaunch& launch) {
  if constexpr (!kHalves.has(kDType<T>)) {
    if (launch.kernel == UpdateKernel::ring_mma_columns) return &update_ring_mma_kernel<T, true>;
    if (launch.kernel == UpdateKernel::ring_mma_rows) return &update_ring_mma_kernel<T, false>;
  }
  return [&]<int... kIndices>(std::integer_sequence<int, kIndices...> /*all*/) {
    const UpdateRingFunction<T, TOut> kernels[] = {update_ring_variant<kIndices, T, TOut>()...};
    return kernels[launch.variant];
  }
  (std::make_integer_sequence<int, std::size(kUpdateRing)>());
}

/// The map of A, [k][m] by columns and [m][k] by rows, complex<double> as pairs of doubles.
template <class T>
CUtensorMap make_update_map(const Problem& problem, const UpdateLaunch& launch, const T* a) {
  constexpr int kPerElement = sizeof(T) > 8 ? 2 : 1;
  const bool by_columns = problem.a.row == 1;
  const std::int64_t stride = by_columns ? problem.a.col : problem.a.row;
  const device::MatrixLines lines{a,
                                  sizeof(T) == 2   ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                  : sizeof(T) == 4 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                                   : CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
                                  (by_columns ? problem.m : problem.k) * kPerElement,
                                  by_columns ? problem.k : problem.m,
                                  stride * static_cast<std::int64_t>(sizeof(T))};
  if (launch.kernel == UpdateKernel::ring_mma_columns ||
      launch.kernel == UpdateKernel::ring_mma_rows) {
    return device::make_line_map(
        lines, {.line_elements = 128 / std::min(sizeof(T), sizeof(double)),
                .lines = by_columns ? static_cast<unsigned>(
                                          std::min<std::int64_t>(launch.ring.depth, problem.k))
                                    : 32,
                .swizzled = true});
  }
  const int line = by_columns ? launch.rows : launch.ring.depth;
  const int count = by_columns ? launch.ring.depth : launch.rows;
  return device::make_line_map(lines, {.line_elements = static_cast<unsigned>(line * kPerElement),
                                       .lines = static_cast<unsigned>(count),
                                       .swizzled = !by_columns});
}

template <class T, class TOut>
void prepare(const Stream& stream, const Problem& /*problem*/, const UpdateLaunch& launch) {
  const auto load = [&](auto kernel) {
    device::load_kernels(stream, kernel);
    device::allow_shared_memory(stream, kernel, launch.shared_bytes);
  };
  if (launch.ring.stages > 0) {
    load(update_ring<T, TOut>(launch));
  } else {
    load(update_kernel<T, TOut>(launch, false));
    load(update_kernel<T, TOut>(launch, true));
  }
}

template <class T, class TOut>
void run(const Stream& stream, const Problem& problem, const UpdateLaunch& launch,
         const Operands<T, TOut>& operands) {
  const UpdateArguments<T, TOut> arguments{
      .m = problem.m,
      .n = static_cast<int>(problem.n),
      .k = static_cast<int>(problem.k),
      .passes = launch.passes,
      .a_strides = problem.a,
      .b_strides = problem.b,
      .c_strides = problem.c,
      .conj_a = problem.conj_a,
      .conj_b = problem.conj_b,
      .a = device::device_pointer(operands.a),
      .b = device::device_pointer(operands.b),
      .c = device::device_pointer(operands.c),
      .alpha = device::DeviceScalar<Accumulator<T>>(operands.alpha),
      .beta = device::DeviceScalar<Accumulator<T>>(operands.beta)};
  const device::LaunchScope scope(stream);
  device::LaunchSize size{
      .blocks = dim3(static_cast<unsigned>(launch.ring.row_tiles) * launch.column_blocks),
      .threads = dim3(launch.threads),
      .shared_bytes = static_cast<std::size_t>(launch.shared_bytes)};
  if (launch.ring.stages > 0) {
    const CUtensorMap map = launch.ring.mapped && problem.k > 0
                                ? make_update_map(problem, launch, operands.a)
                                : CUtensorMap{};
    device::launch_dependent(stream, update_ring<T, TOut>(launch), size, map, arguments,
                             launch.ring);
    return;
  }
  size.blocks = dim3(
      static_cast<unsigned>(device::ceil_div(problem.m, std::int64_t{launch.rows} * launch.passes) *
                            launch.column_blocks));
  device::launch_dependent(stream, update_kernel<T, TOut>(launch, operands.may_add()), size,
                           arguments);
}

}  // namespace lanky::dense::cuda
