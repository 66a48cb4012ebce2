// Launches of the gram kernels; instantiated type by type in gram_<type>.cu.
#pragma once

#include <algorithm>

#include "core/text.hpp"
#include "dense/cuda/gram.hpp"
#include "dense/cuda/gram_direct.cuh"
#include "dense/cuda/gram_row_vector.cuh"
#include "dense/cuda/gram_rows.cuh"
#include "dense/cuda/gram_staged.cuh"
#include "dense/cuda/gram_vector.cuh"

namespace lanky::dense::cuda {

template <class T>
using GramVectorKernel = void (*)(GramArguments<T>);

template <class T>
using GramStagedKernel = void (*)(GramMaps, GramArguments<T>);

/// In the order of kGramVectorM and kGramVectorN; loads in flight: 8 to 16 a lane.
template <class T>
GramVectorKernel<T> gram_vector(int tile) {
  static constexpr GramVectorKernel<T> kKernels[] = {
      &gram_vector_kernel<T, 1, 1, 8>, &gram_vector_kernel<T, 2, 2, 4>,
      &gram_vector_kernel<T, 4, 4, 2>, &gram_vector_kernel < T,
      sizeof(T) == 2 ? 4 : 8,          sizeof(T) == 2 ? 4 : 8,
      sizeof(T) == 2 ? 2 : 1 >,        &gram_vector_kernel<T, 8, 1, 2>};
  return kKernels[tile];
}

template <class T>
GramVectorKernel<T> gram_rows(int tile) {
  if constexpr (std::is_same_v<T, float>) {
    return nullptr;
  } else if constexpr (std::is_same_v<T, double>) {
    return tile == 0 ? &gram_rows_kernel<T, 1, 4> : &gram_rows_kernel<T, 2, 2>;
  } else {
    return tile == 0 ? &gram_rows_kernel<T, 1, 2> : &gram_rows_kernel<T, 2, 1>;
  }
}

/// Tile 0 for sides up to 8, 1 for 16.
template <class T>
GramVectorKernel<T> gram_direct(int tile) {
  if constexpr (std::is_same_v<T, float>) {
    return nullptr;
  } else {
    return tile == 0 ? &gram_direct_kernel<T, 8, 4> : &gram_direct_kernel<T, 16, 2>;
    return tile == 0 ? &gram_direct_kernel<T, 8, 8> : &gram_direct_kernel<T, 16, 4>;
  }
}

/// For m = n = `columns`, 2 to 8.
template <class T>
GramVectorKernel<T> gram_row_vector(int columns) {
  static constexpr GramVectorKernel<T> kKernels[] = {
      &gram_row_vector_kernel<T, 2>, &gram_row_vector_kernel<T, 3>, &gram_row_vector_kernel<T, 4>,
      &gram_row_vector_kernel<T, 5>, &gram_row_vector_kernel<T, 6>, &gram_row_vector_kernel<T, 7>,
      &gram_row_vector_kernel<T, 8>};
  return kKernels[columns - 2];
}

struct GramStaged {
  GramTile tile;
  const void* kernel;
  std::size_t sum_bytes;
};

template <class T, Math kMath, int kIndex>
GramStaged staged_of() {
  const GramStagedKernel<T> kernel = &gram_staged_kernel<T, kMath, kIndex>;
  constexpr GramTile kTile = kGramTile<T, kIndex>;
  return {kTile, reinterpret_cast<const void*>(kernel),
          static_cast<std::size_t>(kTile.groups * kTile.m * kTile.n) * sizeof(Accumulator<T>)};
}

/// In the order of kGramStaged.
template <class T>
GramStaged gram_staged(int tile) {
  if (tile == 0) return staged_of<T, Math::ieee, 0>();
  if constexpr (!std::is_same_v<T, float>) {
    if (tile == 2) return staged_of<T, Math::ieee, 2>();
  }
  return staged_of<T, Math::ieee, 1>();
}

template <class T>
constexpr CUtensorMapDataType tensor_type() {
  if constexpr (std::is_same_v<T, double>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  if constexpr (std::is_same_v<T, float>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  if constexpr (std::is_same_v<T, half>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
}

/// The wide sums of all warps.
template <class T>
std::size_t rows_shared_bytes(const GramConfiguration& configuration) {
  const std::size_t wide = (configuration.tile + 1) * 8 *
                           sizeof(typename RowFragment<device::DeviceElement<T>>::Unit) / sizeof(T);
  return kGramRowsWarps * wide * wide * sizeof(Accumulator<T>);
}

/// Dynamic shared memory: the ring, or the groups' sums, from a multiple of 1024 bytes on.
template <class T>
std::size_t shared_bytes(const GramConfiguration& configuration) {
  const GramStaged staged = gram_staged<T>(configuration.tile);
  return std::max(static_cast<std::size_t>(configuration.slots * staged.tile.slot_bytes()),
                  staged.sum_bytes) +
         1024;
}

template <class T, class TOut>
GramExecutor<T, TOut>::GramExecutor(const Stream& stream, const Problem& problem)
    : problem_(problem),
      configuration_(configuration(stream.device(), problem)),
      arrivals_(stream, configuration_.one_launch ? 1 : 0),
      misaligned_(stream, problem, "") {
  arrivals_.fill_zero();
  device::load_kernels(stream, &gram_sum_kernel<T>);
  if (configuration_.kernel == GramKernel::vector) {
    device::load_kernels(stream, gram_vector<T>(configuration_.tile));
    return;
  }
  if (configuration_.kernel == GramKernel::direct) {
    device::load_kernels(stream, gram_direct<T>(configuration_.tile));
    return;
  }
  if (configuration_.kernel == GramKernel::row_vector) {
    device::load_kernels(stream, gram_row_vector<T>(configuration_.tile));
    return;
  }
  if (configuration_.kernel == GramKernel::rows) {
    const DeviceGuard guard(stream.device().index());
    check_cuda(cudaFuncSetAttribute(gram_rows<T>(configuration_.tile),
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(rows_shared_bytes<T>(configuration_))),
               "cudaFuncSetAttribute");
    return;
  }
  const DeviceGuard guard(stream.device().index());
  check_cuda(cudaFuncSetAttribute(gram_staged<T>(configuration_.tile).kernel,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(shared_bytes<T>(configuration_))),
             "cudaFuncSetAttribute");
}

/// The counter of arriving blocks belongs to the first workspace that the plan sees, which serves
/// one run at a time; runs in other workspaces may overlap with it and leave the sum to
/// gram_sum_kernel.
template <class T, class TOut>
unsigned* GramExecutor<T, TOut>::arrivals_of(void* workspace) const noexcept {
  if (arrivals_.size() == 0) return nullptr;
  void* owner = nullptr;
  if (owner_.compare_exchange_strong(owner, workspace)) owner = workspace;
  return owner == workspace ? arrivals_.data() : nullptr;
}

template <class T, class TOut>
std::int64_t GramExecutor<T, TOut>::workspace_bytes() const noexcept {
  return std::max<std::int64_t>(misaligned_.workspace_bytes(),
                                configuration_.blocks * problem_.m * problem_.n *
                                    static_cast<std::int64_t>(sizeof(Accumulator<T>)));
}

template <class T, class TOut>
std::string GramExecutor<T, TOut>::explain() const {
  return concat(configuration_.kernel == GramKernel::vector ? "gram_vector_kernel, tile "
                                                            : "gram_staged_kernel, tile ",
                configuration_.tile, ", k in chunks of ", configuration_.blocks, " blocks x ",
                configuration_.strips, ", slots ", configuration_.slots);
}

template <class T, class TOut>
void GramExecutor<T, TOut>::run(const Stream& stream, const Operands<T, TOut>& operands) const {
  using Acc = Accumulator<T>;
  const bool row_major =
      configuration_.kernel == GramKernel::rows || configuration_.kernel == GramKernel::row_vector;
  const bool packed = problem_.a.col == problem_.m && problem_.b.row == problem_.n;
  const bool symmetric = static_cast<const void*>(operands.a) == operands.b &&
                         problem_.m == problem_.n && problem_.a.row == problem_.b.col &&
                         problem_.a.col == problem_.b.row;
  const auto aligned = [](const void* pointer, std::int64_t stride) {
    return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0 &&
           stride * static_cast<std::int64_t>(sizeof(T)) % 16 == 0;
  };
  const GramArguments<T> arguments{
      .m = static_cast<int>(problem_.m),
      .n = static_cast<int>(problem_.n),
      .k = problem_.k,
      .a = device::device_pointer(operands.a),
      .b = device::device_pointer(operands.b),
      .a_stride = row_major ? problem_.a.col : problem_.a.row,
      .b_stride = row_major ? problem_.b.row : problem_.b.col,
      .symmetric = symmetric,
      .vectors = row_major
                     ? aligned(operands.a, 0) && aligned(operands.b, 0) &&
                           (packed || configuration_.kernel == GramKernel::rows)
                     : aligned(operands.a, problem_.a.row) && aligned(operands.b, problem_.b.col),
      .strips = configuration_.strips,
      .packed = configuration_.packed,
      .walkers = configuration_.blocks,
      .run_log2 = configuration_.run_log2,
      .slots = configuration_.slots,
      .partials = static_cast<Acc*>(operands.workspace),
      .arrivals = arrivals_of(operands.workspace),
      .c = operands.c,
      .c_strides = problem_.c,
      .c_is_wide = std::is_same_v<TOut, Acc>,
      .alpha = device::DeviceScalar<Acc>(operands.alpha),
      .beta = device::DeviceScalar<Acc>(operands.beta)};
  if (configuration_.kernel == GramKernel::staged && !arguments.vectors)
    return misaligned_.run(stream, operands);
  const device::LaunchScope scope(stream);
  if (configuration_.kernel == GramKernel::vector) {
    device::launch_dependent(stream, gram_vector<T>(configuration_.tile),
                             {static_cast<unsigned>(configuration_.blocks * configuration_.strips),
                              kGramVectorWarps * 32},
                             arguments);
  } else if (configuration_.kernel == GramKernel::direct) {
    device::launch_dependent(stream, gram_direct<T>(configuration_.tile),
                             {static_cast<unsigned>(configuration_.blocks), kGramDirectWarps * 32},
                             arguments);
  } else if (configuration_.kernel == GramKernel::row_vector) {
    device::launch_dependent(stream, gram_row_vector<T>(configuration_.tile),
                             {static_cast<unsigned>(configuration_.blocks), kGramVectorWarps * 32},
                             arguments);
  } else if (configuration_.kernel == GramKernel::rows) {
    device::launch_dependent(stream, gram_rows<T>(configuration_.tile),
                             {static_cast<unsigned>(configuration_.blocks), kGramRowsWarps * 32,
                              rows_shared_bytes<T>(configuration_)},
                             arguments);
  } else {
    const GramStaged staged = gram_staged<T>(configuration_.tile);
    constexpr std::int64_t kSegmentK = kSegmentBytes / sizeof(T);
    const std::int64_t whole = problem_.k / kSegmentK;
    const auto map = [&](const T* data, std::int64_t rows, std::int64_t stride, bool tail) {
      return device::make_tensor_map(
          {data + (tail ? whole * kSegmentK : 0), tensor_type<T>(),
           tail && problem_.k % kSegmentK != 0 ? problem_.k % kSegmentK : kSegmentK, rows,
           stride * static_cast<std::int64_t>(sizeof(T)), tail ? 1 : whole},
          {kSegmentK, static_cast<unsigned>(box_rows(static_cast<int>(rows))),
           tail ? 1U : static_cast<unsigned>(staged.tile.segments)});
    };
    const GramMaps maps{map(operands.a, problem_.m, problem_.a.row, false),
                        map(operands.b, problem_.n, problem_.b.col, false),
                        map(operands.a, problem_.m, problem_.a.row, true),
                        map(operands.b, problem_.n, problem_.b.col, true)};
    device::launch_dependent(
        stream, reinterpret_cast<GramStagedKernel<T>>(const_cast<void*>(staged.kernel)),
        {static_cast<unsigned>(configuration_.blocks), static_cast<unsigned>(staged.tile.threads()),
         shared_bytes<T>(configuration_)},
        maps, arguments);
  }
  if (arguments.arrivals != nullptr) return;
  constexpr int kElements = 8;  // of C, per block
  device::launch_dependent(
      stream, &gram_sum_kernel<T>,
      {static_cast<unsigned>(device::ceil_div(arguments.m * arguments.n, kElements)),
       kGramSumThreads},
      arguments);
}

}  // namespace lanky::dense::cuda
