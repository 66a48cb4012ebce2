// Launches of the panel kernels; each element type lists its variants in panel_<type>.cu.
#pragma once

#include <span>

#include "core/text.hpp"
#include "dense/cuda/panel/class_sum.cuh"
#include "dense/cuda/panel/executor.hpp"
#include "dense/cuda/panel/ring.cuh"
#include "device/launch.cuh"

namespace lanky::dense::cuda {

/// A kernel, and what the host must know of it.
template <class T>
struct PanelVariant {
  PanelChunk chunk;
  Math math;
  bool along_k;  // A has adjacent k, else adjacent rows
  int line_bytes;
  int boxes;  // of a chunk
  bool swizzled;
  bool always_packed;
  bool maps_b;
  const char* name;
  void (*kernel)(PanelMaps<T>, PanelArguments<T>);
  void (*pack)(PanelArguments<T>);
};

template <class Product, class T>
constexpr PanelVariant<T> panel_variant(const char* name, Math math = Math::ieee) {
  using Acc = typename Product::Acc;
  return {.chunk = {.rows = Product::kRows,
                    .depth = Product::kDepth,
                    .columns = Product::kColumns,
                    .slice = Product::kSlice,
                    .bytes_b = Product::kBytesB,
                    .bytes_sum = sizeof(Acc),
                    .together = Product::kWarpsTogether,
                    .stages = Product::kStages},
          .math = math,
          .along_k = Product::kAlongK,
          .line_bytes = Product::kLineBytes,
          .boxes = Product::kBoxes,
          .swizzled = Product::kSwizzled,
          .always_packed = Product::kAlwaysPacked,
          .maps_b = Product::kMapsB,
          .name = name,
          .kernel = &panel_ring_kernel<Product, T>,
          .pack = &panel_pack_kernel<Product, T>};
}

/// All variants for elements T, narrow groups of columns before wide ones.
template <class T>
std::span<const PanelVariant<T>> panel_variants();

/// What a tensor map moves: complex elements as pairs of doubles, or as doubles.
template <class T>
struct MapElement {
  static constexpr CUtensorMapDataType kType = sizeof(T) >= 8   ? CU_TENSOR_MAP_DATA_TYPE_FLOAT64
                                               : sizeof(T) == 4 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                                                : CU_TENSOR_MAP_DATA_TYPE_UINT16;
  static constexpr int kPerElement = sizeof(T) > 8 ? 2 : 1;
  static constexpr int kBytes = sizeof(T) / kPerElement;
};

/// The variant for the layout of A and the arithmetic: the narrowest whose columns cover n, or else
/// the narrowest of which two groups do.
template <class T>
const PanelVariant<T>* find_panel_variant(const Problem& problem) {
  const bool along_k = problem.a.col == 1 && problem.a.row != 1;
  if (!along_k && problem.a.row != 1) return nullptr;
  const PanelVariant<T>* of_two = nullptr;
  for (const PanelVariant<T>& variant : panel_variants<T>()) {
    if (variant.along_k != along_k || variant.math != problem.math) continue;
    const int groups = panel_column_groups(problem.n, variant.chunk);
    if (groups == 1) return &variant;
    if (groups > 1 && of_two == nullptr) of_two = &variant;
  }
  return of_two;
}

/// The plans for an A at a multiple of 16 bytes, and elsewhere.
template <class T>
struct PanelPlans {
  PanelPlan aligned;
  PanelPlan off;

  PanelPlans(const Problem& problem, const PanelVariant<T>& variant, const Machine& machine) {
    constexpr int kBytes = static_cast<int>(sizeof(T));
    const PanelClasses classes = panel_classes(problem, kBytes);
    if (classes.log2 == 0) aligned = plan_panel(problem, variant.chunk, machine);
    if (kBytes < 16) off = plan_panel(problem, variant.chunk, machine, classes);
  }
  bool exist() const { return (sizeof(T) < 16 ? off : aligned).blocks > 0; }
};

template <class T>
bool panel_serves(const Stream& stream, const Problem& problem) {
  const Machine& machine = machine_of(stream.device());
  if (!machine.has_warp_groups()) return false;
  const PanelVariant<T>* const variant = find_panel_variant<T>(problem);
  return variant != nullptr && PanelPlans<T>(problem, *variant, machine).exist();
}

template <class T, class TOut>
PanelExecutor<T, TOut>::PanelExecutor(const Stream& stream, const Problem& problem)
    : problem_(problem), variant_(find_panel_variant<T>(problem)) {
  const PanelPlans<T> plans(problem, *variant_, machine_of(stream.device()));
  aligned_ = plans.aligned;
  off_ = plans.off;
  device::load_kernels(stream, variant_->kernel, variant_->pack, &panel_sum_kernel<T>,
                       &panel_class_sum_kernel<T>);
  device::allow_shared_memory(stream, variant_->kernel,
                              std::max(aligned_.shared_bytes, off_.shared_bytes));
}

template <class T, class TOut>
std::int64_t PanelExecutor<T, TOut>::packed_at(const PanelPlan& plan) const noexcept {
  constexpr std::int64_t kAlignment = 256;
  if (!plan.shared_tiles() && plan.classes.room == 0) return 0;
  return device::ceil_div(std::int64_t{plan.kept} * plan.blocks * problem_.n * plan.tile_rows *
                              variant_->chunk.bytes_sum,
                          kAlignment) *
         kAlignment;
}

/// The producers copy few columns of B themselves, which saves a launch: for 8 columns of a large A
/// that is level, for 16 row-major ones .74 of the floor against .85 (H200, float, 20480 squared).
/// B of 16-bit elements comes by boxes where its strides and its pointer allow a tensor map: f16,
/// n = 32 of 4096 and 10240 columns 24.4 to 20.0 and 78.9 to 70.2 us.
template <class T, class TOut>
bool PanelExecutor<T, TOut>::must_pack(const PanelPlan& plan) const noexcept {
  constexpr std::int64_t kFewColumns = 8;
  if (plan.classes.room > 0) return true;
  if (variant_->maps_b) {
    const bool one_line = problem_.n == 1 && problem_.b.row == 1;
    return !one_line && !has_aligned_lines(problem_.b, sizeof(T));
  }
  return variant_->always_packed || problem_.n > kFewColumns;
}

template <class T, class TOut>
std::int64_t PanelExecutor<T, TOut>::workspace_bytes(const PanelPlan& plan) const noexcept {
  if (plan.blocks == 0) return 0;
  const std::int64_t steps = std::int64_t{plan.steps} << plan.classes.log2;
  return packed_at(plan) + (must_pack(plan) || sizeof(T) == 2 ? steps * plan.small_bytes : 0);
}

template <class T, class TOut>
std::int64_t PanelExecutor<T, TOut>::workspace_bytes() const noexcept {
  return std::max(workspace_bytes(aligned_), workspace_bytes(off_));
}

template <class T, class TOut>
std::string PanelExecutor<T, TOut>::describe(const PanelPlan& plan) const {
  return concat("panel_ring_kernel<", variant_->name, ">, ", plan.blocks, " blocks, tiles of ",
                plan.tile_rows, " rows, slots of ", plan.step, " k, warps ", plan.warps_m, " x ",
                plan.warps_k, " x ", plan.warps_n, ", ", plan.stages, " stages",
                plan.classes.log2 > 0 ? concat(", ", 1 << plan.classes.log2,
                                               plan.classes.of_k ? " classes of k" : " of rows")
                                      : "",
                must_pack(plan) ? "; panel_pack_kernel" : "",
                plan.classes.room > 0 ? "; panel_class_sum_kernel"
                : plan.shared_tiles() ? "; panel_sum_kernel"
                                      : "");
}

template <class T, class TOut>
std::string PanelExecutor<T, TOut>::explain() const {
  if (aligned_.blocks == 0) return describe(off_);
  if (off_.blocks == 0) return describe(aligned_);
  return concat(describe(aligned_), "; for an A off 16 bytes ", describe(off_));
}

/// The map of one class of A's lines, from a multiple of 16 bytes on.
template <class T>
CUtensorMap make_panel_map(const PanelArguments<T>& g, const PanelVariant<T>& variant, int c) {
  using Map = MapElement<T>;
  const Problem& problem = g.problem;
  const std::int64_t stride = variant.along_k ? problem.a.row : problem.a.col;
  const std::int64_t lines = variant.along_k ? problem.m : problem.k;
  const std::int64_t length = variant.along_k ? problem.k : problem.m;
  const int shift = g.plan.classes.of_k ? -g.past_multiple(c) : g.left_out(c);
  const int log2 = g.plan.classes.log2;
  const device::MatrixLines of_class{
      g.a + c * stride + shift, Map::kType, (length - shift) * Map::kPerElement,
      ((lines - 1 - c) >> log2) + 1, (stride << log2) * static_cast<std::int64_t>(sizeof(T))};
  const device::MatrixBox box{
      static_cast<unsigned>(variant.line_bytes / Map::kBytes),
      static_cast<unsigned>(kPanelChunkBytes / variant.boxes / variant.line_bytes),
      variant.swizzled};
  // Boxes side by side along k meet in lines of the L2 (H200, by rows: f64 10241 squared 236 to 217
  // us, f16 20481 squared 258 to 238; along the rows of a column nothing).
  return device::make_line_map(of_class, box, variant.along_k && of_class.stride_bytes % 128 != 0);
}

/// Boxes of a chunk's k times a group of columns.
template <class T>
CUtensorMap make_panel_b_map(const Problem& problem, const PanelVariant<T>& variant, const T* b) {
  constexpr std::int64_t kUnit = 16 / sizeof(T);
  const auto depth = static_cast<unsigned>(variant.chunk.depth);
  const auto columns = static_cast<unsigned>(variant.chunk.columns);
  if (problem.b.row != 1) {
    return device::make_line_map({b, MapElement<T>::kType, problem.n, problem.k,
                                  problem.b.row * static_cast<std::int64_t>(sizeof(T))},
                                 {columns, depth, true});
  }
  // The stride of a single line does not matter, but must be a multiple of 16 bytes.
  const std::int64_t stride =
      problem.n == 1 ? device::ceil_div(problem.k, kUnit) * kUnit : problem.b.col;
  return device::make_line_map({b, MapElement<T>::kType, problem.k, problem.n,
                                stride * static_cast<std::int64_t>(sizeof(T))},
                               {depth, columns, true});
}

template <class T, class TOut>
void PanelExecutor<T, TOut>::run(const Stream& stream, const Operands<T, TOut>& operands) const {
  const bool off = aligned_.blocks == 0 || reinterpret_cast<std::uintptr_t>(operands.a) % 16 != 0;
  const PanelPlan& plan = off ? off_ : aligned_;
  const bool packs = must_pack(plan) ||
                     (variant_->maps_b && reinterpret_cast<std::uintptr_t>(operands.b) % 16 != 0);
  const bool b_mapped = variant_->maps_b && !packs && problem_.k > 0;
  const Accumulator<T> zero(0);
  const bool surely_product =
      operands.alpha.pointer() == nullptr && operands.alpha.value() != zero && problem_.k > 0;
  const PanelArguments<T> arguments{
      .problem = problem_,
      .plan = plan,
      .a = device::device_pointer(operands.a),
      .b = device::device_pointer(operands.b),
      .c = operands.c,
      .partials = static_cast<device::DeviceAccumulator<T>*>(operands.workspace),
      .packed = packs ? static_cast<char*>(operands.workspace) + packed_at(plan) : nullptr,
      .wide_c = !std::is_same_v<T, TOut>,
      .b_mapped = b_mapped,
      .ahead = surely_product && !packs,
      .alpha = device::DeviceScalar<Accumulator<T>>(operands.alpha),
      .beta = device::DeviceScalar<Accumulator<T>>(operands.beta)};
  PanelMaps<T> maps{};
  if (problem_.k > 0) {
    for (int c = 0; c < 1 << plan.classes.log2; ++c)
      maps.a[c] = make_panel_map(arguments, *variant_, c);
  }
  if (b_mapped) maps.b = make_panel_b_map(problem_, *variant_, operands.b);
  const device::LaunchScope scope(stream);
  const device::LaunchSize ring{dim3(static_cast<unsigned>(plan.blocks)), dim3(kPanelThreads),
                                static_cast<std::size_t>(plan.shared_bytes)};
  if (packs) {
    const unsigned classes = 1U << plan.classes.log2;
    const device::LaunchSize pack{dim3(kPanelPackBlocks / classes, classes),
                                  dim3(kPanelPackThreads)};
    device::launch_dependent(stream, variant_->pack, pack, arguments);
  }
  device::launch_dependent(stream, variant_->kernel, ring, maps, arguments);
  if (plan.classes.room > 0) {
    constexpr int kRows = 32;
    const device::LaunchSize sum{
        dim3(static_cast<unsigned>(device::ceil_div(problem_.m, std::int64_t{kRows}))),
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
