#include "dense/cuda/panel/policy.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/ceil_div.hpp"
#include "core/text.hpp"

namespace lanky::dense {

namespace {

constexpr int kAlignment = 1024;      // of the ring in shared memory
constexpr int kBarrierBytes = 16;     // of a slot
constexpr int kMostColumnGroups = 2;  // more would read A's slot as often

/// As many threads for 16 bytes of C as one wave of blocks has, but no more than there are partial
/// sums.
void plan_sum(PanelPlan& plan, const Problem& problem, const PanelChunk& chunk,
              const Machine& machine) {
  constexpr int kThreads = 1024;  // of a multiprocessor
  constexpr int kMostParts = 8;
  const std::int64_t of_tile = problem.n * plan.tile_rows * chunk.bytes_sum / 16;
  const std::int64_t vectors = plan.tiles * of_tile;
  while (plan.sum_parts < kMostParts && plan.sum_parts * plan.tiles < plan.blocks &&
         2 * plan.sum_parts * vectors <= std::int64_t{kThreads} * machine.multiprocessors)
    plan.sum_parts *= 2;
  plan.sum_pieces = static_cast<int>(ceil_div(of_tile * plan.sum_parts, kPanelSumThreads));
}

/// `problem`: of a class.
PanelPlan plan_with(const Problem& problem, const PanelChunk& chunk, int warps_m, int groups,
                    PanelClasses classes, const Machine& machine) {
  PanelPlan plan;
  plan.classes = classes;
  plan.warps_n = groups;
  // Equal groups of whole tiles of 8 columns.
  plan.group_columns = static_cast<int>(
      std::min<std::int64_t>(chunk.columns, ceil_div(ceil_div(problem.n, groups), 8) * 8));
  plan.warps_m = warps_m;
  plan.warps_k = kPanelConsumerWarps / groups / warps_m;
  plan.tile_rows = warps_m * chunk.rows;
  plan.step = plan.warps_k * chunk.depth;
  plan.tiles = ceil_div(problem.m, plan.tile_rows) << classes.log2;
  plan.steps = static_cast<int>(std::max<std::int64_t>(1, ceil_div(problem.k, plan.step)));
  plan.blocks =
      static_cast<int>(std::min<std::int64_t>(machine.multiprocessors, plan.tiles * plan.steps));
  plan.slot_bytes = warps_m * plan.warps_k * kPanelChunkBytes;
  plan.small_bytes = plan.warps_k * groups * chunk.bytes_b;
  plan.small_width = static_cast<int>(std::bit_ceil(static_cast<unsigned>(problem.n)));
  plan.sum_bytes = plan.warps_k * groups * chunk.slice * (plan.tile_rows * chunk.bytes_sum + 16);
  const int slot = plan.slot_bytes + plan.small_bytes + kBarrierBytes;
  const int ring = static_cast<int>(machine.shared_bytes_per_block) - kAlignment - plan.sum_bytes;
  // Fewer slots pay where k is long alone (H200, tf32x3 of 32 columns, 1e6 x 1024: 1245 us for
  // 1178).
  constexpr int kMostStages = 16;
  plan.stages = std::min(problem.k > 2048 ? chunk.stages : kMostStages, ring / slot);
  plan.shared_bytes = kAlignment + plan.sum_bytes + plan.stages * slot;
  if (ring / slot < panel_least_slots(machine.code.capability)) plan.blocks = 0;
  if (classes.room > 0 && plan.blocks > 0)
    plan.kept = static_cast<int>(ceil_div(plan.tiles * plan.steps, plan.blocks) / plan.steps) + 2;
  plan_sum(plan, problem, chunk, machine);
  return plan;
}

/// One class of A's lines as a product of its own, the longest of all.
Problem of_class(const Problem& problem, PanelClasses classes) {
  Problem one = problem;
  if (classes.of_k) {
    one.m += classes.room;
    one.k = ceil_div(one.k, std::int64_t{1} << classes.log2);
  } else {
    one.m = ceil_div(one.m, std::int64_t{1} << classes.log2);
  }
  return one;
}

}  // namespace

int panel_column_groups(std::int64_t n, const PanelChunk& chunk) noexcept {
  const int most = chunk.together > 1 ? 1 : kMostColumnGroups;
  for (int groups = 1; groups <= most; groups *= 2) {
    if (n <= std::int64_t{groups} * chunk.columns) return groups;
  }
  return 0;
}

PanelClasses panel_classes(const Problem& problem, int bytes) noexcept {
  const bool along_k = problem.a.col == 1 && problem.a.row != 1;
  const std::int64_t stride = (along_k ? problem.a.row : problem.a.col) * bytes;
  PanelClasses classes{.of_k = !along_k, .room = 16 / bytes - 1};
  while ((stride << classes.log2) % 16 != 0)
    ++classes.log2;
  return classes;
}

std::vector<PanelPlan> panel_plans(const Problem& problem, const PanelChunk& chunk,
                                   const Machine& machine, PanelClasses classes) {
  constexpr std::int64_t kMostExtent = std::int64_t{1} << 30;  // tensor maps count in 32 bits
  std::vector<PanelPlan> plans;
  const int groups = panel_column_groups(problem.n, chunk);
  if (groups == 0 || problem.m > kMostExtent || problem.k > kMostExtent) return plans;
  // Each class has a B of its own, where it does not have a part of it.
  if (classes.log2 > 0 && !classes.of_k && problem.n << classes.log2 > problem.m) return plans;
  const Problem one = of_class(problem, classes);
  for (int warps_m = kPanelConsumerWarps / groups; warps_m >= chunk.together; warps_m /= 2) {
    const PanelPlan plan = plan_with(one, chunk, warps_m, groups, classes, machine);
    if (plan.blocks > 0) plans.push_back(plan);
  }
  return plans;
}

namespace {

/// The classes of A's lines for an A at a multiple of 16 bytes or elsewhere. Nothing where lines
/// are off wherever A begins, and A is asked to begin at a multiple.
PanelClasses classes_of(const Problem& problem, int bytes, bool a_off) {
  const PanelClasses classes = panel_classes(problem, bytes);
  return classes.log2 == 0 && !a_off ? PanelClasses() : classes;
}

/// The producers copy few columns of B themselves, which saves a launch: for 8 columns of a large A
/// that is level, for 16 row-major ones .74 of the floor against .85 (H200, float, 20480 squared).
/// B of 16-bit elements comes by boxes where its strides and its pointer allow a tensor map: f16,
/// n = 32 of 4096 and 10240 columns 24.4 to 20.0 and 78.9 to 70.2 us.
bool must_pack(const Problem& problem, const PanelKernel& kernel, const PanelPlan& plan, int bytes,
               bool b_off) {
  constexpr std::int64_t kFewColumns = 8;
  if (plan.classes.room > 0) return true;
  if (!kernel.maps_b) return kernel.always_packed || problem.n > kFewColumns;
  const bool one_line = problem.n == 1 && problem.b.row == 1;
  return b_off || (!one_line && !has_aligned_lines(problem.b, static_cast<std::size_t>(bytes)));
}

/// A kernel with a plan for its chunks.
PanelLaunch launch_of(const Problem& problem, const PanelKernel& kernel, int variant,
                      const PanelPlan& plan, int bytes, bool b_off) {
  const bool packs = must_pack(problem, kernel, plan, bytes, b_off);
  const int columns = kernel.chunk.columns;
  return {.name = concat(kernel.way, kernel.along_k ? " along k, " : ", ", columns,
                         columns == 1 ? " column" : " columns"),
          .variant = variant,
          .plan = plan,
          .packs = packs,
          .maps_b = kernel.maps_b && !packs && problem.k > 0};
}

/// Calls f(kernel, variant) for the kernels of A's layout and of the arithmetic that cover n.
template <class F>
void for_each_kernel(const Problem& problem, DType in, F&& f) {
  const bool along_k = problem.a.col == 1 && problem.a.row != 1;
  if (!along_k && problem.a.row != 1) return;
  const std::vector<PanelKernel> kernels = panel_kernels(in);
  for (std::size_t variant = 0; variant < kernels.size(); ++variant) {
    const PanelKernel& kernel = kernels[variant];
    if (kernel.along_k != along_k || kernel.math != problem.math) continue;
    if (panel_column_groups(problem.n, kernel.chunk) > 0) f(kernel, static_cast<int>(variant));
  }
}

}  // namespace

std::vector<PanelLaunch> panel_candidates(const Problem& problem, DType in, const Machine& machine,
                                          bool a_off, bool b_off) {
  std::vector<PanelLaunch> all;
  const auto bytes = static_cast<int>(size_of(in));
  const PanelClasses classes = classes_of(problem, bytes, a_off);
  for_each_kernel(problem, in, [&](const PanelKernel& kernel, int variant) {
    if (kernel.warp_groups && !machine.has_warp_groups()) return;
    for (const PanelPlan& plan : panel_plans(problem, kernel.chunk, machine, classes))
      all.push_back(launch_of(problem, kernel, variant, plan, bytes, b_off));
  });
  return all;
}

std::int64_t packed_at(const PanelLaunch& launch, const Problem& problem,
                       std::int64_t sum_bytes) noexcept {
  constexpr std::int64_t kPackedAlignment = 256;
  const PanelPlan& plan = launch.plan;
  if (!plan.shared_tiles() && plan.classes.room == 0) return 0;
  const std::int64_t sums = std::int64_t{plan.kept} * plan.blocks * problem.n * plan.tile_rows;
  return ceil_div(sums * sum_bytes, kPackedAlignment) * kPackedAlignment;
}

std::int64_t workspace_bytes(const PanelLaunch& launch, const Problem& problem,
                             std::int64_t sum_bytes) noexcept {
  const std::int64_t steps = std::int64_t{launch.plan.steps} << launch.plan.classes.log2;
  return packed_at(launch, problem, sum_bytes) +
         (launch.packs ? steps * launch.plan.small_bytes : 0);
}

std::string kernel_name(const PanelLaunch& launch) {
  return concat("panel_ring_kernel<", launch.name.substr(0, launch.name.find(',')));
}

std::string algorithm_name(const PanelLaunch& launch) {
  const PanelPlan& plan = launch.plan;
  return concat("panel_ring_kernel<", launch.name, ">, warps ", plan.warps_m, " x ", plan.warps_k,
                " x ", plan.warps_n);
}

std::string describe(const PanelLaunch& launch) {
  const PanelPlan& plan = launch.plan;
  return concat(algorithm_name(launch), ", ", plan.blocks, " blocks, tiles of ", plan.tile_rows,
                " rows, slots of ", plan.step, " k, ", plan.stages, " stages",
                plan.classes.log2 > 0 ? concat(", ", 1 << plan.classes.log2,
                                               plan.classes.of_k ? " classes of k" : " of rows")
                                      : "",
                launch.packs ? "; panel_pack_kernel" : "",
                plan.classes.room > 0 ? "; panel_class_sum_kernel"
                : plan.shared_tiles() ? "; panel_sum_kernel"
                                      : "");
}

}  // namespace lanky::dense
