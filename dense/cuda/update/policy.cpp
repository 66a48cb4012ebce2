#include "dense/cuda/update/policy.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "core/ceil_div.hpp"
#include "core/text.hpp"
#include "dense/word_lines.hpp"

namespace lanky::dense {

namespace {

using Launches = std::vector<UpdateLaunch>;

/// Every launch that can compute a problem.
class UpdateCandidates {
 public:
  UpdateCandidates(const Problem& problem, DType in, DType out, const Machine& machine)
      : p_(problem),
        type_(in),
        in_(static_cast<int>(size_of(in))),
        out_(static_cast<int>(size_of(out))),
        sum_(std::max(4, in_)),
        machine_(machine),
        shared_(static_cast<int>(machine.shared_bytes_per_block)) {}

  /// `off` as update_candidates() has it.
  Launches all(bool off) const {
    Launches all;
    const auto add = [&all](const Launches& more) {
      all.insert(all.end(), more.begin(), more.end());
    };
    if (!off) {
      if (columns_are_wide()) {
        for (const auto& launches : {direct(), tile(true), mma_columns()})
          add(launches);
      } else if (p_.a.col == 1 && p_.c.col == 1) {
        for (const auto& launches : {packed(), lanes(), tile(false), mma_rows()})
          add(launches);
      }
      add(mma_mixed());
      for (UpdateLaunch& launch : all)
        launch.alignment = 16;
      if (const auto launch = ring_mma()) all.push_back(*launch);
    }
    add(rings(!off));
    if (!kComplexes.has(type_)) {
      if (const auto launch = words()) all.push_back(*launch);
    }
    all.push_back(staged());
    const auto too_large = [this](const UpdateLaunch& launch) {
      return launch.shared_bytes > shared_ || launch.ring.stages < 0;
    };
    std::erase_if(all, too_large);
    return all;
  }

 private:
  /// Every column of A and C consists of aligned words of 16 bytes.
  bool columns_are_wide() const {
    const int rows = 16 / in_;
    return p_.a.row == 1 && p_.c.row == 1 && p_.m % rows == 0 &&
           (p_.k == 1 || p_.a.col % rows == 0) && (p_.n == 1 || p_.c.col * out_ % 16 == 0);
  }
  /// Rows of A are read `span` elements at a time, rows of C written `columns` at a time.
  bool rows_divide(int span, int columns) const {
    const int word = std::min(columns, 16 / out_);
    return p_.k % span == 0 && p_.n % columns == 0 && p_.a.row % span == 0 && p_.c.row % word == 0;
  }

  /// Several passes over the rows of a block pay for B, as long as enough blocks are left.
  int passes(std::int64_t rows, int most) const {
    constexpr std::int64_t kBlocksPerMultiprocessor = 12;
    const std::int64_t blocks = ceil_div(p_.m, rows);
    return static_cast<int>(std::clamp<std::int64_t>(
        blocks / (kBlocksPerMultiprocessor * machine_.multiprocessors), 1, most));
  }

  Launches direct() const {
    Launches all;
    for (int v = 0; v < std::ssize(kUpdateDirect); ++v) {
      const UpdateDirect& shape = kUpdateDirect[v];
      if (!shape.types.has(type_) || p_.n > shape.columns) continue;
      constexpr int kThreads = 128;
      // nvcc merges the loads of rows of B that may or may not be needed into one.
      const int rows_of_b = static_cast<int>(ceil_div(p_.k, shape.depth)) * shape.depth;
      all.push_back({.kernel = UpdateKernel::direct,
                     .variant = v,
                     .threads = kThreads,
                     .rows = kThreads * (16 / in_),
                     .shared_bytes = rows_of_b * shape.pitch() * sum_});
    }
    return all;
  }

  Launches packed() const {
    const int rows = 16 / in_;
    if (p_.k != p_.n || p_.a.row != p_.k || p_.c.row != p_.n || p_.m % rows != 0) return {};
    for (int v = 0; v < std::ssize(kUpdatePacked); ++v) {
      if (!kUpdatePacked[v].types.has(type_) || p_.k != kUpdatePacked[v].side) continue;
      return {{.kernel = UpdateKernel::packed, .variant = v, .threads = 128, .rows = 128 * rows}};
    }
    return {};
  }

  Launches lanes() const {
    Launches all;
    for (int v = 0; v < std::ssize(kUpdateLanes); ++v) {
      const UpdateLanes& shape = kUpdateLanes[v];
      if (!shape.types.has(type_) || p_.k > shape.lanes * shape.span ||
          p_.n > shape.lanes * shape.columns || !rows_divide(shape.span, shape.columns)) {
        continue;
      }
      all.push_back({.kernel = UpdateKernel::lanes,
                     .variant = v,
                     .threads = 128,
                     .rows = 128 / shape.lanes * shape.unroll});
    }
    return all;
  }

  Launches tile(bool by_columns) const {
    Launches all;
    for (int v = 0; v < std::ssize(kUpdateTile); ++v) {
      const UpdateTile& shape = kUpdateTile[v];
      const int word = 16 / in_;
      const int columns = 4 * word * shape.parts;
      if (!shape.types.has(type_) || shape.by_columns != by_columns || p_.n > columns ||
          (!by_columns && !rows_divide(word, word))) {
        continue;
      }
      constexpr int kThreads = 128;
      const int deep = word * shape.words;  // k of a tile
      const int tile_words = by_columns ? 8 * deep : 32 * (shape.words | 1);
      all.push_back({.kernel = UpdateKernel::tile,
                     .variant = v,
                     .threads = kThreads,
                     .passes = passes(kThreads, shape.parts == 1 ? 2 : 4),
                     .rows = kThreads,
                     .shared_bytes = static_cast<int>(ceil_div(p_.k, deep)) * deep * columns * in_ +
                                     kThreads / 32 * tile_words * 16});
    }
    return all;
  }

  UpdateLaunch mma(UpdateKernel kernel, int variant, const UpdateMma& shape, int group) const {
    const int rows = shape.warps * group * shape.groups;
    const int tiles = static_cast<int>(ceil_div(p_.n, 8 * shape.tiles)) * shape.tiles;
    // A fragment of B takes 4 * span elements of each lane's 8 columns.
    const int fragment = in_ == 2 ? 2 * std::max(shape.span, 4) : 8 * std::max(shape.span, 2);
    return {.kernel = kernel,
            .variant = variant,
            .threads = 32 * shape.warps,
            .passes = passes(rows, shape.passes),
            .rows = rows,
            .shared_bytes = tiles * shape.steps * 32 * fragment};
  }

  Launches mma_columns() const {
    Launches all;
    for (int v = 0; v < std::ssize(kUpdateMmaColumns); ++v) {
      const UpdateMma& shape = kUpdateMmaColumns[v];
      if (shape.types.has(type_) && p_.k <= shape.depth())
        all.push_back(mma(UpdateKernel::mma_columns, v, shape, 8 * (16 / in_)));
    }
    return all;
  }

  Launches mma_rows() const {
    Launches all;
    for (int v = 0; v < std::ssize(kUpdateMmaRows); ++v) {
      const UpdateMma& shape = kUpdateMmaRows[v];
      const int columns = 2 * std::min(shape.tiles, 8 / out_);  // of a lane, adjacent
      if (shape.types.has(type_) && p_.k <= shape.depth() && rows_divide(shape.span, columns))
        all.push_back(mma(UpdateKernel::mma_rows, v, shape, 16));
    }
    return all;
  }

  /// A by rows and C by columns, or the other way round.
  Launches mma_mixed() const {
    Launches all;
    const int rows = 16 / in_;
    if (p_.m % rows != 0 || (type_ == DType::f64 && p_.k <= 2)) return all;
    if (p_.a.col == 1 && p_.c.row == 1 && p_.a.row != 1 && p_.c.col * out_ % 16 == 0) {
      for (int v = 0; v < std::ssize(kUpdateMmaToColumns); ++v) {
        const UpdateMma& shape = kUpdateMmaToColumns[v];
        if (shape.types.has(type_) && p_.k <= shape.depth() && rows_divide(shape.span, 1))
          all.push_back(mma(UpdateKernel::mma_to_columns, v, shape, 8 * rows));
      }
    }
    if (p_.a.row == 1 && p_.c.col == 1 && p_.c.row != 1 && p_.a.col % rows == 0) {
      for (int v = 0; v < std::ssize(kUpdateMmaToRows); ++v) {
        const UpdateMma& shape = kUpdateMmaToRows[v];
        const int columns = 2 * std::min(shape.tiles, 8 / out_);  // of a lane, adjacent
        if (shape.tiles > 2 && p_.n <= 16) continue;              // products of nothing
        if (shape.types.has(type_) && p_.k <= shape.depth() && rows_divide(1, columns))
          all.push_back(mma(UpdateKernel::mma_to_rows, v, shape, 8 * rows));
      }
    }
    return all;
  }

  /// Whether a tensor map can describe A.
  bool maps_a() const {
    const std::int64_t stride = p_.a.row == 1 ? p_.a.col : p_.a.row;
    constexpr std::int64_t kMost = std::int64_t{1} << 30;
    return stride * in_ % 16 == 0 && stride < kMost && p_.m < kMost;
  }
  bool writes_wide() const {
    if (p_.c.row == 1) return p_.c.col * out_ % 16 == 0;
    return p_.c.col == 1 && p_.c.row * out_ % 16 == 0 && p_.n * out_ % 16 == 0;
  }

  /// Not for complex elements; none where A's, B's and C's parts are too large.
  std::optional<UpdateLaunch> words() const {
    const int step = in_ == 2 ? 16 : 8;
    const auto b_bytes =
        static_cast<int>(ceil_div(p_.n, 8) * ceil_div(p_.k, step)) * 32 * (in_ == 2 ? 8 : 16);
    const auto bytes = [&](int passes) {
      const auto place = [&](Strides strides, std::int64_t columns, int element) {
        return WordLinesPlan(strides, kUpdateWordsThreads * passes, static_cast<int>(columns),
                             element)
            .bytes;
      };
      return b_bytes + place(p_.a, p_.k, in_) + place(p_.c, p_.n, out_);
    };
    // H200, 1e6 rows of halves: n = 8 24.6 us with up to 26 KiB a block, 26.6 with 52; n = 32 82.8,
    // 72.1. 1e5 rows: n = 8 6.0 with 391 blocks, 7.5 with 196; n = 32 11.0 with 782, 14.8 with 391.
    const bool much = p_.n * p_.k * in_ >= 256;
    const int most = much ? 52 << 10 : 26 << 10;
    const int blocks = (much ? 4 : 2) * machine_.multiprocessors;
    int passes = 16;
    while (passes > 1 &&
           (bytes(passes) > most || p_.m < std::int64_t{kUpdateWordsThreads} * passes * blocks))
      passes /= 2;
    if (bytes(passes) > shared_) return std::nullopt;
    return UpdateLaunch{.kernel = UpdateKernel::words,
                        .threads = kUpdateWordsThreads,
                        .passes = passes,
                        .rows = kUpdateWordsThreads,
                        .shared_bytes = bytes(passes)};
  }

  UpdateLaunch staged() const {
    return {.kernel = UpdateKernel::staged,
            .rows = kStagedBlockRows,
            .column_blocks = static_cast<int>(ceil_div(p_.n, kStagedColumns)),
            .shared_bytes = static_cast<int>(p_.k) * kStagedColumns * sum_};
  }

  /// Every ring of the table for the layout; of halves none without wide accesses.
  Launches rings(bool aligned) const {
    const bool by_columns = p_.a.row == 1;
    const bool lines = by_columns || p_.a.col == 1;
    const bool wide = aligned && maps_a() && writes_wide();
    if (!machine_.has_bulk_copies() || !lines || (kHalves.has(type_) && !wide)) return {};
    constexpr int kColumnsOfBlock = 64;
    const auto column_blocks = static_cast<int>(ceil_div(p_.n, kColumnsOfBlock));
    const auto columns = static_cast<int>(ceil_div(p_.n, column_blocks));
    Launches all;
    for (int v = 0; v < std::ssize(kUpdateRing); ++v) {
      const UpdateRing& shape = kUpdateRing[v];
      const auto warps = static_cast<int>(ceil_div(columns, 4 * shape.columns));
      if (shape.types.has(type_) && shape.by_columns == by_columns && warps <= kUpdateRingWarps)
        all.push_back(ring_of(v, aligned, column_blocks, columns));
    }
    return all;
  }

  /// RingChunk; floats where A and C are of one layout, both wide.
  std::optional<UpdateLaunch> ring_mma() const {
    const bool by_columns = p_.a.row == 1;
    const bool wide = writes_wide() && by_columns == (p_.c.row == 1);
    if ((!by_columns && p_.a.col != 1) || !machine_.has_bulk_copies() || kHalves.has(type_) ||
        !maps_a() || (type_ == DType::f32 && !wide))
      return std::nullopt;
    const int parts = kComplexes.has(type_) ? 2 : 1;
    const int real = in_ / parts;  // bytes
    const auto k = static_cast<int>(p_.k) * (by_columns ? 1 : parts);
    constexpr int kMostBytesOfB = 68 << 10;
    constexpr int kStep = 16;  // of reals along k
    constexpr int kSide = 32;  // of a warp, in reals: rows, and columns
    const int warp_rows = kSide / (by_columns ? parts : 1);
    const auto warps = static_cast<int>(ceil_div(p_.n * parts, kSide));
    const auto b_bytes = static_cast<int>(ceil_div(k, kStep)) * kStep * kSide * 8;  // of a warp
    UpdateRingPlan plan;
    const int most_warps = std::clamp(kMostBytesOfB / std::max(1, b_bytes), 1, kUpdateRingWarps);
    const auto column_blocks = static_cast<int>(ceil_div(warps, most_warps));
    plan.warps_n = static_cast<int>(ceil_div(warps, column_blocks));
    plan.warps_m = kUpdateRingWarps / plan.warps_n;
    plan.depth = by_columns && k <= kStep ? kStep : 128 / real;
    plan.slot_bytes = plan.warps_m * kSide * plan.depth * real;
    plan.mapped = true;
    plan.wide_c = wide;
    constexpr int kSlack = 2 << 10;
    // H200, 1e6 rows: c64 n = 16 80 us with 6 slots, 75.7 with 3, 121 with 2.
    constexpr int kStages = 3;
    int resident = 4;
    do {
      --resident;
      plan.stages = std::min(
          kStages, (shared_ / resident - kSlack - plan.warps_n * b_bytes) / plan.slot_bytes);
    } while (plan.stages < kStages && resident > 1);
    plan.ring_bytes = plan.stages * plan.slot_bytes;
    const int rows = plan.warps_m * warp_rows;
    const std::int64_t tiles = ceil_div(p_.m, rows);
    std::int64_t blocks = std::max(1, resident * machine_.multiprocessors / column_blocks);
    // Multiprocessors are not equally fast: of many tiles, those that are take more blocks. H200,
    // 1e6 rows: f32 n = 32 78 to 73 us, c64 by rows n = 16 79.9 to 75.5; c64 by columns 75.7
    // to 79.7.
    constexpr int kWaves = 4;
    const int most_b = (by_columns ? 16 : 32) << 10;
    if (!(by_columns && parts == 2) && tiles >= 3 * kWaves * blocks &&
        plan.warps_n * b_bytes <= most_b)
      blocks *= kWaves;
    plan.row_tiles = static_cast<int>(std::min(tiles, blocks));
    return UpdateLaunch{
        .kernel = by_columns ? UpdateKernel::ring_mma_columns : UpdateKernel::ring_mma_rows,
        .threads = 32 * (plan.warps_m * plan.warps_n + 1),
        .rows = rows,
        .column_blocks = column_blocks,
        .shared_bytes = plan.ring_bytes + plan.warps_n * b_bytes + kSlack,
        .alignment = 16,
        .ring = plan};
  }

  UpdateLaunch ring_of(int variant, bool aligned, int column_blocks, int columns) const {
    constexpr int kSlotBytes = 16 << 10;
    constexpr int kSlack = 2 << 10;  // of a block: that KiB, alignment and barriers
    const UpdateRing& shape = kUpdateRing[variant];
    const int word = 16 / in_;
    const auto k = static_cast<int>(ceil_div(p_.k, word)) * word;
    UpdateRingPlan plan;
    plan.mapped = aligned && maps_a();
    plan.wide_c = aligned && writes_wide();
    if (shape.by_columns) plan.mapped = plan.wide_c = plan.mapped && plan.wide_c;
    plan.warps_n = static_cast<int>(ceil_div(columns, 4 * shape.columns));
    plan.b_pitch = plan.warps_n * 4 * shape.columns + 16 / sum_;
    const auto tile_rows = [&] { return 8 * shape.rows * plan.warps_m; };
    const auto tiles = [&] { return ceil_div(p_.m, tile_rows()); };
    plan.warps_m = kUpdateRingWarps / plan.warps_n;
    const int line = shape.by_columns ? std::min(k, word) * in_ : 128;  // least bytes of a row
    while (plan.warps_m > 1 && (tile_rows() * line > kSlotBytes ||
                                tiles() * column_blocks < 2 * machine_.multiprocessors)) {
      --plan.warps_m;
    }
    plan.depth = 128 / in_;
    if (shape.by_columns) {
      const int deepest = kSlotBytes / (tile_rows() * in_) / word * word;
      plan.depth = std::clamp(deepest, word, std::max(word, k));
    }
    // Few rows: warps share out k.
    const int idle = kUpdateRingWarps / (plan.warps_m * plan.warps_n);
    if (tiles() * column_blocks < 4 * machine_.multiprocessors && idle > 1 && k > word * 2) {
      if (shape.by_columns)
        plan.depth = std::min(plan.depth, static_cast<int>(ceil_div(k, word * idle)) * word);
      plan.warps_k = std::min(idle, static_cast<int>(ceil_div(k, plan.depth)));
    }
    plan.slot_bytes = tile_rows() * plan.depth * in_;
    const auto threads = [&] { return 32 * (plan.warps_m * plan.warps_n * plan.warps_k + 1); };
    const int b_bytes = k * plan.b_pitch * sum_;
    int resident = shape.resident(sum_) * 32 * (kUpdateRingWarps + 1) / threads() + 1;
    do {
      --resident;
      plan.stages = std::min(8, (shared_ / resident - kSlack - b_bytes) / plan.slot_bytes);
    } while (plan.stages < std::max(3, plan.warps_k) && resident > 1);
    const int sums = 32 * shape.rows * shape.columns * sum_ * plan.warps_m * plan.warps_n;
    plan.ring_bytes =
        std::max(plan.stages * plan.slot_bytes, (plan.warps_k - 1) * sums + 15) / 16 * 16;
    const std::int64_t most = std::max(1, resident * machine_.multiprocessors / column_blocks);
    plan.row_tiles = static_cast<int>(std::min(tiles(), most));
    if (plan.row_tiles < tiles()) plan.warps_k = 1;
    return {.kernel = shape.by_columns ? UpdateKernel::ring_columns : UpdateKernel::ring_rows,
            .variant = variant,
            .threads = threads(),
            .rows = tile_rows(),
            .column_blocks = column_blocks,
            .shared_bytes = plan.ring_bytes + b_bytes + kSlack,
            .alignment = plan.mapped || plan.wide_c ? 16 : 1,
            .ring = plan};
  }

  const Problem& p_;
  DType type_;  // of A and B
  int in_;      // bytes of an element of A and B, of C, and of a sum
  int out_;
  int sum_;
  const Machine& machine_;
  int shared_;  // bytes that the blocks of a multiprocessor have, but for the system's
};

}  // namespace

std::string kernel_name(UpdateKernel kernel) {
  switch (kernel) {
    case UpdateKernel::direct:
      return "update_direct_kernel";
    case UpdateKernel::lanes:
      return "update_lanes_kernel";
    case UpdateKernel::packed:
      return "update_packed_kernel";
    case UpdateKernel::tile:
      return "update_tile_kernel";
    case UpdateKernel::mma_columns:
      return "update_mma_kernel by columns";
    case UpdateKernel::mma_rows:
      return "update_mma_kernel by rows";
    case UpdateKernel::mma_to_columns:
      return "update_mma_kernel from rows to columns";
    case UpdateKernel::mma_to_rows:
      return "update_mma_kernel from columns to rows";
    case UpdateKernel::ring_columns:
      return "update_ring_kernel by columns";
    case UpdateKernel::ring_rows:
      return "update_ring_kernel by rows";
    case UpdateKernel::ring_mma_columns:
      return "update_ring_mma_kernel by columns";
    case UpdateKernel::ring_mma_rows:
      return "update_ring_mma_kernel by rows";
    case UpdateKernel::words:
      return "update_words_kernel";
    case UpdateKernel::staged:
      return "update_staged_kernel";
  }
  return "unknown";
}

std::vector<UpdateLaunch> update_candidates(const Problem& problem, DType in, DType out,
                                            const Machine& machine, bool off) {
  return UpdateCandidates(problem, in, out, machine).all(off);
}

UpdateGranules granules(const UpdateLaunch& launch, const Problem& problem, DType in) {
  const auto bytes = size_of(in);
  const auto word = static_cast<std::int64_t>(16 / bytes);
  const std::int64_t all = std::max<std::int64_t>(problem.k, 1);  // k, loaded at once
  const std::int64_t ring_step = std::int64_t{launch.ring.depth} * launch.ring.warps_k;
  const int v = launch.variant;
  switch (launch.kernel) {
    case UpdateKernel::direct:
      return {kUpdateDirect[v].columns, 1, kUpdateDirect[v].depth};
    case UpdateKernel::lanes:
      return {std::int64_t{kUpdateLanes[v].lanes} * kUpdateLanes[v].columns,
              std::int64_t{kUpdateLanes[v].lanes} * kUpdateLanes[v].span, all};
    case UpdateKernel::packed:
      return {1, 1, all};
    case UpdateKernel::tile:
      return {4 * word * kUpdateTile[v].parts, kUpdateTile[v].words * word,
              kUpdateTile[v].words * word};
    case UpdateKernel::mma_columns:
    case UpdateKernel::mma_rows:
    case UpdateKernel::mma_to_columns:
    case UpdateKernel::mma_to_rows: {
      const UpdateMma& shape = update_mma_table(launch.kernel)[v];
      return {8 * shape.tiles, shape.depth(), all};
    }
    case UpdateKernel::ring_columns:
    case UpdateKernel::ring_rows:
      return {std::int64_t{4} * kUpdateRing[v].columns * launch.ring.warps_n, word, ring_step};
    case UpdateKernel::ring_mma_columns:
    case UpdateKernel::ring_mma_rows:
      return {std::int64_t{32} * launch.ring.warps_n / (is_complex(in) ? 2 : 1), 16, ring_step};
    case UpdateKernel::words:
      return {8, bytes == 2 ? 16 : 8, all};
    case UpdateKernel::staged:
      return {kStagedColumns, 1, all};
  }
  return {};
}

namespace {

/// The parameters that tell a variant from its kernel's others of a type.
std::string parameters(const UpdateLaunch& launch) {
  const int v = launch.variant;
  switch (launch.kernel) {
    case UpdateKernel::direct:
      return concat(", ", kUpdateDirect[v].columns, " columns, ", kUpdateDirect[v].depth, " deep");
    case UpdateKernel::lanes: {
      const UpdateLanes& shape = kUpdateLanes[v];
      return concat(", lanes x ", shape.lanes, ", ", shape.columns, " columns, ", shape.span,
                    " deep, rows x ", shape.unroll);
    }
    case UpdateKernel::packed:
      return concat(", ", kUpdatePacked[v].side, " x ", kUpdatePacked[v].side);
    case UpdateKernel::tile: {
      const UpdateTile& shape = kUpdateTile[v];
      return concat(shape.by_columns ? ", by columns, " : ", by rows, ", 4 * shape.parts,
                    " words wide, ", shape.words, " deep");
    }
    case UpdateKernel::mma_columns:
    case UpdateKernel::mma_rows:
    case UpdateKernel::mma_to_columns:
    case UpdateKernel::mma_to_rows: {
      const UpdateMma& shape = update_mma_table(launch.kernel)[v];
      return concat(", ", 8 * shape.tiles, " columns, ", shape.depth(), " deep by ", 4 * shape.span,
                    ", rows x ", shape.groups);
    }
    case UpdateKernel::ring_columns:
    case UpdateKernel::ring_rows:
      return concat(", ", kUpdateRing[v].rows, " x ", kUpdateRing[v].columns, " sums");
    default:
      return "";
  }
}

}  // namespace

std::string algorithm_name(const UpdateLaunch& launch) {
  const bool ring = launch.ring.stages > 0;
  return concat(kernel_name(launch.kernel), parameters(launch),
                ring && !launch.ring.mapped ? ", A by elements" : "",
                ring && !launch.ring.wide_c ? ", C by elements" : "");
}

std::string describe(const UpdateLaunch& launch) {
  if (const UpdateRingPlan& ring = launch.ring; ring.stages > 0) {
    return concat(algorithm_name(launch), ", ", ring.row_tiles * launch.column_blocks,
                  " blocks of ", ring.warps_m, " x ", ring.warps_n, " x ", ring.warps_k,
                  " warps, tiles of ", launch.rows, " rows, ", ring.stages, " slots of ",
                  ring.depth, " k");
  }
  return concat(algorithm_name(launch), ", ", launch.threads, " threads for ", launch.rows,
                " rows, ", launch.passes, launch.passes == 1 ? " pass" : " passes");
}

}  // namespace lanky::dense
