// Launches of the update kernels; instantiated type by type in update_<type>.cu.
#pragma once

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/overloaded.hpp"
#include "dense/cuda/run.hpp"
#include "dense/cuda/update/direct.cuh"
#include "dense/cuda/update/lanes.cuh"
#include "dense/cuda/update/mma_any.cuh"
#include "dense/cuda/update/packed.cuh"
#include "dense/cuda/update/ring.cuh"
#include "dense/cuda/update/ring_mma.cuh"
#include "dense/cuda/update/staged.cuh"
#include "dense/cuda/update/stream.cuh"
#include "dense/cuda/update/tile.cuh"
#include "device/grid_dependency.cuh"
#include "device/launch.cuh"

namespace lanky::dense::cuda {

template <class T, class TOut>
using UpdateFunction = void (*)(UpdateArguments<T, TOut>);
template <class T, class TOut>
using UpdateRingFunction = void (*)(device::TensorMap, UpdateArguments<T, TOut>, UpdateRingPlan);

/// The kernel of a row of a table, for a beta of 0 alone unless kAdds; null where it is not
/// compiled for T.
template <const auto& kTable, int kIndex, bool kAdds, class T, class TOut>
constexpr auto update_variant() {
  using Shape = std::remove_cvref_t<decltype(*kTable)>;
  if constexpr (!kTable[kIndex].types.has(kDType<T>)) {
    return nullptr;
  } else if constexpr (std::is_same_v<Shape, UpdateDirect>) {
    return &update_direct_kernel<kIndex, kAdds, T, TOut>;
  } else if constexpr (std::is_same_v<Shape, UpdateLanes>) {
    return &update_lanes_kernel<kIndex, kAdds, T, TOut>;
  } else if constexpr (std::is_same_v<Shape, UpdatePacked>) {
    return &update_packed_kernel<kIndex, T, TOut>;
  } else if constexpr (std::is_same_v<Shape, UpdateTile>) {
    return &update_tile_kernel<kIndex, kAdds, T, TOut>;
  } else if constexpr (std::is_same_v<Shape, UpdateMma>) {
    return &update_mma_kernel<UpdateMmaShape<kIndex, kAdds, T, TOut>>;
  } else {
    return &update_ring_kernel<kIndex, T, TOut>;
  }
}

/// That of a row of kUpdateMma for lines of any alignment.
template <int kIndex, class T, class TOut>
constexpr UpdateFunction<T, TOut> update_any_variant() {
  if constexpr (kUpdateMma[kIndex].any.has(kDType<T>))
    return &update_mma_kernel<UpdateMmaAnyShape<kIndex, T, TOut>>;
  return nullptr;
}
template <class T, class TOut>
UpdateFunction<T, TOut> update_any_variant_of(const UpdateMma* shape) {
  return [&]<int... kIndices>(std::integer_sequence<int, kIndices...> /*all*/) {
    const UpdateFunction<T, TOut> kernels[] = {update_any_variant<kIndices, T, TOut>()...};
    return kernels[shape - kUpdateMma];
  }
  (std::make_integer_sequence<int, std::size(kUpdateMma)>());
}

/// That of the row `shape`. (CUDA 12.4 writes a parameter `const auto*` beside template parameters
/// wrongly.)
template <class Function, const auto& kTable, bool kAdds, class T, class TOut, class Row>
Function update_variant_of(const Row* shape) {
  return [&]<int... kIndices>(std::integer_sequence<int, kIndices...> /*all*/) {
    const Function kernels[] = {update_variant<kTable, kIndices, kAdds, T, TOut>()...};
    return kernels[shape - kTable];
  }
  (std::make_integer_sequence<int, std::size(kTable)>());
}

template <class T, class TOut, int kTiles>
UpdateFunction<T, TOut> update_stream_of_words(bool columns_of_a) {
  return columns_of_a ? &update_stream_kernel<StreamOfWords<T, kTiles, true>, T, TOut>
                      : &update_stream_kernel<StreamOfWords<T, kTiles, false>, T, TOut>;
}
template <class T, class TOut>
UpdateFunction<T, TOut> update_stream_of(int tiles, const Problem& problem) {
  const bool columns_of_a = has_line_columns(problem.a);
  if constexpr (kComplexes.has(kDType<T>)) {
    return nullptr;
  } else if constexpr (std::is_same_v<T, double>) {
    return &update_stream_kernel<StreamOfDoubles<T>, T, TOut>;
  } else {
    if constexpr (std::is_same_v<T, float>) {
      if (problem.math != Math::tf32) return &update_stream_kernel<StreamOfDoubles<T>, T, TOut>;
    }
    return tiles == 4   ? update_stream_of_words<T, TOut, 4>(columns_of_a)
           : tiles == 8 ? update_stream_of_words<T, TOut, 8>(columns_of_a)
                        : update_stream_of_words<T, TOut, 16>(columns_of_a);
  }
}

/// `adds`: beta may be other than 0. Kernels that read C have more registers. Null for rings.
template <class T, class TOut>
UpdateFunction<T, TOut> update_kernel(const UpdateLaunch& launch, const Problem& problem,
                                      bool adds) {
  using Function = UpdateFunction<T, TOut>;
  if constexpr (kIsWidened<T>) {
    if constexpr (kDType<T> == DType::f32) {
      if (const auto* const mma = std::get_if<const UpdateMma*>(&launch.kernel))
        return adds ? update_variant_of<Function, kUpdateMma, true, T, TOut>(*mma)
                    : update_variant_of<Function, kUpdateMma, false, T, TOut>(*mma);
    }
    return &update_staged_kernel<T, TOut>;
  } else {
    const auto of = [adds]<const auto & kTable, class Row>(const Row* shape) {
      return adds ? update_variant_of<Function, kTable, true, T, TOut>(shape)
                  : update_variant_of<Function, kTable, false, T, TOut>(shape);
    };
    const auto kernel = Overloaded{
        [](UpdateStaged) -> Function { return &update_staged_kernel<T, TOut>; },
        [&](const UpdateStream& s) { return update_stream_of<T, TOut>(s.tiles, problem); },
        [&](const UpdateDirect* s) { return of.template operator()<kUpdateDirect>(s); },
        [&](const UpdateLanes* s) { return of.template operator()<kUpdateLanes>(s); },
        [&](const UpdatePacked* s) { return of.template operator()<kUpdatePacked>(s); },
        [&](const UpdateTile* s) { return of.template operator()<kUpdateTile>(s); },
        [&](const UpdateMma* s) { return of.template operator()<kUpdateMma>(s); },
        [](UpdateMmaAny any) { return update_any_variant_of<T, TOut>(any.shape); },
        [](const auto& /*ring*/) -> Function { return nullptr; }};
    return std::visit(kernel, launch.kernel);
  }
}

template <class T, class TOut>
UpdateRingFunction<T, TOut> update_ring(const UpdateLaunch& launch) {
  using Function = UpdateRingFunction<T, TOut>;
  if constexpr (!kHalves.has(kDType<T>)) {
    if (const auto* const mma = std::get_if<UpdateRingMma>(&launch.kernel))
      return mma->by_columns ? &update_ring_mma_kernel<T, true> : &update_ring_mma_kernel<T, false>;
  }
  return update_variant_of<Function, kUpdateRing, false, T, TOut>(
      std::get<const UpdateRing*>(launch.kernel));
}

/// The map of A, [k][m] by columns and [m][k] by rows, complex<double> as pairs of doubles.
template <class T>
device::TensorMap make_update_map(const Problem& problem, const UpdateLaunch& launch, const T* a,
                                  bool bulk) {
  const int depth = launch.ring->depth;
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
  if (std::holds_alternative<UpdateRingMma>(launch.kernel)) {
    return device::make_line_map(
        lines,
        {.line_elements = 128 / std::min(sizeof(T), sizeof(double)),
         .lines = by_columns ? static_cast<unsigned>(std::min<std::int64_t>(depth, problem.k)) : 32,
         .swizzled = true},
        bulk);
  }
  const int line = by_columns ? launch.rows : depth;
  const int count = by_columns ? depth : launch.rows;
  return device::make_line_map(lines,
                               {.line_elements = static_cast<unsigned>(line * kPerElement),
                                .lines = static_cast<unsigned>(count),
                                .swizzled = !by_columns},
                               bulk);
}

template <class T, class TOut>
void prepare(const Stream& stream, const Problem& problem, const UpdateLaunch& launch) {
  const auto load = [&](auto kernel) {
    device::load_kernels(stream, kernel);
    device::allow_shared_memory(stream, kernel, launch.shared_bytes);
  };
  if constexpr (!kIsWidened<T>) {  // which have no rings
    if (launch.ring) return load(update_ring<T, TOut>(launch));
  }
  load(update_kernel<T, TOut>(launch, problem, false));
  load(update_kernel<T, TOut>(launch, problem, true));
}

template <class T, class TOut>
void run(const Stream& stream, const Problem& problem, const UpdateLaunch& launch,
         const Operands<T, TOut>& operands) {
  const auto* const in_words = std::get_if<UpdateStream>(&launch.kernel);
  const UpdateStreamPlan stream_plan = in_words ? in_words->plan : UpdateStreamPlan();
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
      .beta = device::DeviceScalar<Accumulator<T>>(operands.beta),
      .stream = stream_plan};
  const device::LaunchScope scope(stream);
  const auto launch_with = [&](auto kernel, std::int64_t row_blocks, const auto&... more) {
    const device::LaunchSize size{
        .blocks = dim3(static_cast<unsigned>(row_blocks * launch.column_blocks)),
        .threads = dim3(launch.threads),
        .shared_bytes = static_cast<std::size_t>(launch.shared_bytes)};
    device::launch_dependent(stream, kernel, size, more...);
  };
  if constexpr (!kIsWidened<T>) {
    if (const auto& ring = launch.ring) {
      const device::TensorMap map =
          ring->mapped && problem.k > 0
              ? make_update_map(problem, launch, operands.a,
                                machine_of(stream.device()).has_bulk_copies())
              : device::TensorMap{};
      return launch_with(update_ring<T, TOut>(launch), ring->row_tiles, map, arguments, *ring);
    }
  }
  const std::int64_t rows = std::int64_t{launch.rows} * launch.passes;
  launch_with(update_kernel<T, TOut>(launch, problem, operands.may_add()),
              device::ceil_div(problem.m, rows), arguments);
}

}  // namespace lanky::dense::cuda
