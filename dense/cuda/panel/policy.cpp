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
  if (ring / slot < kPanelProducers) plan.blocks = 0;
  if (classes.room > 0 && plan.blocks > 0)
    plan.kept = static_cast<int>(ceil_div(plan.tiles * plan.steps, plan.blocks) / plan.steps) + 2;
  plan_sum(plan, problem, chunk, machine);
  return plan;
}

/// Bytes of an element of A.
int element_bytes(const PanelChunk& chunk) {
  return kPanelChunkBytes / (chunk.rows * chunk.depth);
}

/// Tiles of 128 rows are best for halves, but of the largest A (H200, f16 by columns, 512, 256 and
/// 128 rows: 10240 x 8 56.2, 55.8, 55.5 us, 10240 x 32 70.3, 65.4, 62.3, 20480 x 8 196.7, 196.5,
/// 194.4; 30720 x 8 433 (512 rows), 443 (128); 64 rows 4096 x 8 15.2, 128 14.5;
/// columns off 128 bytes, 20480 x 4 224 (512), 255 (128)).
bool suits_halves(const Problem& problem, const PanelChunk& chunk, const PanelPlan& plan) {
  const bool medium = problem.k > 2048 && problem.m * problem.k < 500'000'000;
  const bool whole_lines = problem.a.row != 1 || problem.a.col % 64 == 0;  // of the cache
  return element_bytes(chunk) == 2 && medium && whole_lines && plan.tile_rows == 128;
}

/// Bytes that pass through the L2 cache beside A: each tile of rows reads all of B, and sums of
/// shared tiles are written and read.
double extra_bytes(const Problem& problem, const PanelChunk& chunk, const PanelPlan& plan) {
  const auto n = static_cast<double>(problem.n);
  const double element = element_bytes(chunk);
  const double small =
      static_cast<double>(plan.tiles) * static_cast<double>(problem.k) * n * element;
  const double left = plan.classes.room > 0 ? static_cast<double>(plan.blocks + plan.tiles)
                      : plan.shared_tiles() ? plan.blocks
                                            : 0.0;
  const double shared = 3.0 * left * plan.tile_rows * n * chunk.bytes_sum;
  // Boxes side by side along k: at 128 bytes a row, an H200 lost .045 of its bandwidth.
  const bool narrow = chunk.depth > chunk.rows / 8 && problem.a.col == 1 && plan.warps_k == 1;
  const double a = static_cast<double>(problem.m) * static_cast<double>(problem.k) * element;
  // Classes are short: rows beyond the last take their time.
  const double rows = static_cast<double>(plan.tiles >> plan.classes.log2) * plan.tile_rows;
  const double beyond =
      plan.classes.room > 0 ? rows / static_cast<double>(problem.m) - 1 : 0;  // share of A
  // Pieces of columns meet in sectors, of which each fetches its own.
  const double met =
      plan.classes.of_k && plan.classes.room > 0 ? 16 / (plan.tile_rows * element) : 0;
  return small + shared + (narrow ? 0.045 * a : 0) +
         (beyond + met) * (a * (1 << plan.classes.log2));
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

/// Where lines of A are off 16 bytes. H200, 10241 squared (n = 1, 2, 8, 32, 64), lanky's speed as a
/// multiple of cuBLASLt's best: halves 1.3, 1.9, 1.8, 1.4, 1.07, by rows 1.0, 1.9, 2.0, 1.4, .9;
/// f32 .92, 1.4, 1.4, 1.8, .99, by rows .87, 2.7, 2.5, 1.7, .98; tf32 n = 32 1.16; f64
/// .9, 1.2, 1.05, 1.25, 1.18, by rows .87, 1.2, 1.3, 1.1; c64 .9, 2.2, 2.1, 1.2. 1e6 x 1023 by
/// rows: halves n = 32 1.2, f32 n = 8 1.5, 32 .91, f64 n = 8 1.2.
bool vendor_beats_classes(const Problem& problem, DType in) {
  const std::int64_t n = problem.n;
  const bool columns = problem.a.row == 1;  // A's
  const bool deep = problem.k > 2048;
  if (n == 1) return !(is_half(in) && columns && problem.m * problem.k > 50'000'000);
  if (problem.m * problem.k <= 50'000'000) {
    const bool ieee = in == DType::f32 && problem.math == Math::ieee;
    return n > (ieee || (in == DType::c64 && columns) ? 8 : in == DType::f64 && columns ? 4 : 0);
  }
  // The sums of every class are left, and read again.
  const PanelClasses classes = panel_classes(problem, static_cast<int>(size_of(in)));
  if (columns && n << classes.log2 > problem.k / 8) return true;
  if (is_half(in)) return n > (columns && deep ? 64 : 32);
  if (in == DType::f64) return n > (!deep ? 8 : columns ? 64 : 32);
  return n > (deep ? 32 : 16);
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

PanelPlan plan_panel(const Problem& problem, const PanelChunk& chunk, const Machine& machine,
                     PanelClasses classes) {
  const Problem one = of_class(problem, classes);
  PanelPlan best;
  double best_bytes = std::numeric_limits<double>::infinity();
  for (const PanelPlan& plan : panel_plans(problem, chunk, machine, classes)) {
    if (classes.room == 0 && suits_halves(problem, chunk, plan)) return plan;
    const double bytes = extra_bytes(one, chunk, plan);
    if (bytes < best_bytes) {
      best = plan;
      best_bytes = bytes;
    }
  }
  return best;
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
  return {.name = kernel.name,
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

std::optional<PanelLaunch> choose_panel(const Problem& problem, DType in, const Machine& machine,
                                        bool a_off, bool b_off) {
  if (!machine.has_warp_groups()) return std::nullopt;
  const auto bytes = static_cast<int>(size_of(in));
  std::optional<PanelKernel> chosen;
  int variant = 0;
  int fewest = std::numeric_limits<int>::max();  // groups
  for_each_kernel(problem, in, [&](const PanelKernel& kernel, int index) {
    const int groups = panel_column_groups(problem.n, kernel.chunk);
    if (groups >= fewest) return;
    chosen = kernel;
    variant = index;
    fewest = groups;
  });
  if (!chosen) return std::nullopt;
  // An A off 16 bytes must be served too: a plan has both ways, or none.
  const bool always_off = bytes < 16;
  const PanelPlan off = plan_panel(problem, chosen->chunk, machine,
                                   always_off ? panel_classes(problem, bytes) : PanelClasses());
  if (off.blocks == 0) return std::nullopt;
  const PanelClasses classes = classes_of(problem, bytes, a_off);
  const PanelPlan plan = plan_panel(problem, chosen->chunk, machine, classes);
  return launch_of(problem, *chosen, variant, plan.blocks > 0 ? plan : off, bytes, b_off);
}

std::vector<PanelLaunch> panel_candidates(const Problem& problem, DType in, const Machine& machine,
                                          bool a_off, bool b_off) {
  std::vector<PanelLaunch> all;
  if (!machine.has_warp_groups()) return all;
  const auto bytes = static_cast<int>(size_of(in));
  const PanelClasses classes = classes_of(problem, bytes, a_off);
  for_each_kernel(problem, in, [&](const PanelKernel& kernel, int variant) {
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

bool vendor_beats_panel(const Problem& problem, DType in) noexcept {
  const std::int64_t n = problem.n;
  const bool large = problem.m * problem.k > 50'000'000;
  const bool deep = problem.k > 2048;
  const bool columns = problem.a.row == 1;  // A's
  const auto aligned = [in](Strides s) { return has_aligned_lines(s, size_of(in)); };
  const auto within = [n](std::int64_t above, std::int64_t most) { return n > above && n <= most; };
  if (n == 1 && is_complex(in) && (problem.conj_a || problem.conj_b)) return false;
  if (!aligned(problem.a)) return vendor_beats_classes(problem, in);
  if ((is_half(in) || n > 1) && !(aligned(problem.b) && aligned(problem.c)))
    return n > (in == DType::f32 && problem.math == Math::ieee ? 128 : 64);
  if (n == 1 && !large) return true;
  switch (in) {
    case DType::f32:
      if (problem.math == Math::tf32x3) return n > 64;
      if (problem.math == Math::tf32) return n > 64 || !deep || problem.m * problem.k < 300'000'000;
      return (!deep && n > 96) || (!large && (within(48, 64) || n > 96));
    case DType::f64:
      if (n <= 8) return !deep;
      return !large || !(within(32, 48) || within(64, columns ? 128 : 96));
    case DType::c64:
      return n > 64;
    case DType::c128:
      if (n <= 4) return !deep || !large;
      return !large || !within(16, !columns || problem.conj_a ? 24 : 48);
    default:  // the half types
      if ((columns ? problem.a.col : problem.a.row) % 64 != 0 && (columns || n > 4)) return true;
      return n > 8 || !deep || !large;
  }
}

}  // namespace lanky::dense
