// Launches of the panel kernels; each element type lists its variants in panel_<type>.cu.
#pragma once

#include <algorithm>
#include <span>

#include "core/text.hpp"
#include "dense/cuda/panel/class_sum.cuh"
#include "dense/cuda/panel/ring.cuh"
#include "dense/cuda/run.hpp"
#include "device/launch.cuh"

namespace lanky::dense::cuda {

/// A kernel, with what the host must know of it.
template <class T>
struct PanelVariant {
  PanelKernel host;
  void (*kernel)(PanelMaps<T>, PanelArguments<T>);
  void (*pack)(PanelArguments<T>);
};

template <class T, class Product>
constexpr PanelVariant<T> panel_variant() {
  using Acc = typename Product::Acc;
  return {.host = {.way = Product::kName,
                   .math = Product::kMath,
                   .along_k = Product::kAlongK,
                   .chunk = {.rows = Product::kRows,
                             .depth = Product::kDepth,
                             .columns = Product::kColumns,
                             .slice = Product::kSlice,
                             .bytes_b = Product::kBytesB,
                             .bytes_sum = sizeof(Acc),
                             .together = Product::kWarpsTogether,
                             .stages = Product::kStages},
                   .line_bytes = Product::kLineBytes,
                   .boxes = Product::kBoxes,
                   .swizzled = Product::kSwizzled,
                   .always_packed = Product::kAlwaysPacked,
                   .maps_b = Product::kMapsB,
                   .warp_groups = Product::kWarpGroups},
          .kernel = &panel_ring_kernel<Product, T>,
          .pack = &panel_pack_kernel<Product, T>};
}

/// All variants for elements T, narrow groups of columns before wide ones.
template <class T>
std::span<const PanelVariant<T>> panel_variants();
template <class T, class... Products>
std::span<const PanelVariant<T>> variants_of() {
  static constexpr PanelVariant<T> kVariants[] = {panel_variant<T, Products>()...};
  return kVariants;
}

/// What a tensor map moves: complex elements as pairs of doubles, or as doubles.
template <class T>
struct MapElement {
  static constexpr CUtensorMapDataType kType = sizeof(T) >= 8   ? CU_TENSOR_MAP_DATA_TYPE_FLOAT64
                                               : sizeof(T) == 4 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                                                : CU_TENSOR_MAP_DATA_TYPE_UINT16;
  static constexpr int kPerElement = sizeof(T) > 8 ? 2 : 1;
  static constexpr int kBytes = sizeof(T) / kPerElement;
};

/// The map of one class of A's lines, from a multiple of 16 bytes on.
template <class T>
device::TensorMap make_panel_map(const PanelArguments<T>& g, const PanelKernel& kernel, int c,
                                 bool bulk) {
  using Map = MapElement<T>;
  const Problem& problem = g.problem;
  const std::int64_t stride = kernel.along_k ? problem.a.row : problem.a.col;
  const std::int64_t lines = kernel.along_k ? problem.m : problem.k;
  const std::int64_t length = kernel.along_k ? problem.k : problem.m;
  const int shift = g.plan.classes.of_k ? -g.past_multiple(c) : g.left_out(c);
  const int log2 = g.plan.classes.log2;
  const device::MatrixLines of_class{
      g.a + c * stride + shift, Map::kType, (length - shift) * Map::kPerElement,
      ((lines - 1 - c) >> log2) + 1, (stride << log2) * static_cast<std::int64_t>(sizeof(T))};
  const device::MatrixBox box{
      static_cast<unsigned>(kernel.line_bytes / Map::kBytes),
      static_cast<unsigned>(kPanelChunkBytes / kernel.boxes / kernel.line_bytes), kernel.swizzled};
  // Boxes side by side along k meet in lines of the L2 (H200, by rows: f64 10241 squared 236 to 217
  // us, f16 20481 squared 258 to 238; along the rows of a column nothing).
  return device::make_line_map(of_class, box, bulk,
                               kernel.along_k && of_class.stride_bytes % 128 != 0);
}

/// Boxes of a chunk's k times a group of columns.
template <class T>
device::TensorMap make_panel_b_map(const Problem& problem, const PanelKernel& kernel, const T* b,
                                   bool bulk) {
  constexpr std::int64_t kUnit = 16 / sizeof(T);
  const auto depth = static_cast<unsigned>(kernel.chunk.depth);
  const auto columns = static_cast<unsigned>(kernel.chunk.columns);
  if (problem.b.row != 1) {
    return device::make_line_map({b, MapElement<T>::kType, problem.n, problem.k,
                                  problem.b.row * static_cast<std::int64_t>(sizeof(T))},
                                 {columns, depth, true}, bulk);
  }
  // The stride of a single line does not matter, but must be a multiple of 16 bytes.
  const std::int64_t stride =
      problem.n == 1 ? device::ceil_div(problem.k, kUnit) * kUnit : problem.b.col;
  return device::make_line_map({b, MapElement<T>::kType, problem.k, problem.n,
                                stride * static_cast<std::int64_t>(sizeof(T))},
                               {depth, columns, true}, bulk);
}

template <class T, class TOut>
void prepare(const Stream& stream, const Problem& /*problem*/, const PanelLaunch& launch) {
  const PanelVariant<T>& variant = panel_variants<T>()[static_cast<std::size_t>(launch.variant)];
  device::load_kernels(stream, variant.kernel, variant.pack, &panel_sum_kernel<T>,
                       &panel_class_sum_kernel<T>);
  device::allow_shared_memory(stream, variant.kernel, launch.plan.shared_bytes);
}

template <class T, class TOut>
void run(const Stream& stream, const Problem& problem, const PanelLaunch& launch,
         const Operands<T, TOut>& operands) {
  const PanelVariant<T>& variant = panel_variants<T>()[static_cast<std::size_t>(launch.variant)];
  const PanelPlan& plan = launch.plan;
  const bool packs = launch.packs;
  const Accumulator<T> zero(0);
  const bool surely_product =
      operands.alpha.pointer() == nullptr && operands.alpha.value() != zero && problem.k > 0;
  const PanelArguments<T> arguments{
      .problem = problem,
      .plan = plan,
      .a = device::device_pointer(operands.a),
      .b = device::device_pointer(operands.b),
      .c = operands.c,
      .partials = static_cast<device::DeviceAccumulator<T>*>(operands.workspace),
      .packed = packs ? static_cast<char*>(operands.workspace) +
                            packed_at(launch, problem, sizeof(Accumulator<T>))
                      : nullptr,
      .wide_c = !std::is_same_v<T, TOut>,
      .b_mapped = launch.maps_b,
      .ahead = surely_product && !packs,
      .alpha = device::DeviceScalar<Accumulator<T>>(operands.alpha),
      .beta = device::DeviceScalar<Accumulator<T>>(operands.beta)};
  PanelMaps<T> maps{};
  const bool bulk = machine_of(stream.device()).has_bulk_copies();
  if (problem.k > 0) {
    for (int c = 0; c < 1 << plan.classes.log2; ++c)
      maps.a[c] = make_panel_map(arguments, variant.host, c, bulk);
  }
  if (launch.maps_b) maps.b = make_panel_b_map(problem, variant.host, operands.b, bulk);
  const device::LaunchScope scope(stream);
  const device::LaunchSize ring{dim3(static_cast<unsigned>(plan.blocks)), dim3(kPanelThreads),
                                static_cast<std::size_t>(plan.shared_bytes)};
  if (packs) {
    const unsigned classes = 1U << plan.classes.log2;
    const int parts = plan.small_bytes / variant.host.chunk.bytes_b;  // of a step
    constexpr int kOfThread = 4;                                      // elements, at least
    const int threads = variant.host.chunk.depth * plan.group_columns / kOfThread / 32 * 32;
    const device::LaunchSize pack{dim3(static_cast<unsigned>(plan.steps * parts), classes),
                                  dim3(std::clamp(threads, 32, kPanelPackThreads))};
    device::launch_dependent(stream, variant.pack, pack, arguments);
  }
  device::launch_dependent(stream, variant.kernel, ring, maps, arguments);
  if (plan.classes.room > 0) {
    constexpr int kRows = 32;
    const device::LaunchSize sum{
        dim3(static_cast<unsigned>(device::ceil_div(problem.m, std::int64_t{kRows}))),
        dim3(32 * kPanelClassSumWarps)};
    device::launch_dependent(stream, &panel_class_sum_kernel<T>, sum, arguments);
    return;
  }
  if (surely_product && !plan.shared_tiles()) return;  // else C = beta C is the other's to do
  const device::LaunchSize sum{dim3(static_cast<unsigned>(plan.tiles * plan.sum_pieces)),
                               dim3(kPanelSumThreads)};
  device::launch_dependent(stream, &panel_sum_kernel<T>, sum, arguments);
}

}  // namespace lanky::dense::cuda
