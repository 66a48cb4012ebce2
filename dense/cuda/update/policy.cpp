#include "dense/cuda/update/policy.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "core/ceil_div.hpp"
#include "core/overloaded.hpp"
#include "core/text.hpp"
#include "dense/policy.hpp"
#include "dense/word_lines.hpp"

namespace lanky::dense {

namespace {

/// Every launch that can compute a problem.
class UpdateCandidates {
 public:
  UpdateCandidates(const Problem& problem, DType in, DType out, const Machine& machine)
      : p_(problem),
        type_(in),
        in_(static_cast<int>(size_of(in))),
        out_(static_cast<int>(size_of(out))),
        wide_(has_wide_sums(in, out)),
        sum_(wide_ ? 8 : std::max(4, in_)),
        machine_(machine),
        shared_(static_cast<int>(machine.shared_bytes_per_block)) {}

  /// `off` as update_candidates() has it.
  std::vector<UpdateLaunch> all(bool off) && {
    if (wide_) {  // floats have what multiplies them as doubles anyhow
      if (!off && type_ == DType::f32) add_mma();
    } else if (!off) {
      if (columns_are_wide()) {
        add_direct();
        add_tile(true);
      } else if (rows_are_adjacent()) {
        add_packed();
        add_lanes();
        add_tile(false);
      }
      add_mma();
    }
    if (!wide_) {
      if (all_.empty()) add_mma_any();
      if (!off) add_ring_mma();
      add_rings(!off);
      add_stream();
    }
    add_staged();
    std::erase_if(all_, [this](const UpdateLaunch& launch) {
      return launch.shared_bytes > shared_ || (launch.ring && launch.ring->stages <= 0);
    });
    return std::move(all_);
  }

 private:
  /// Every column of A and C consists of aligned words of 16 bytes.
  bool columns_are_wide() const {
    const int rows = 16 / in_;
    return p_.a.row == 1 && p_.c.row == 1 && p_.m % rows == 0 &&
           (p_.k == 1 || p_.a.col % rows == 0) && (p_.n == 1 || p_.c.col * out_ % 16 == 0);
  }
  bool rows_are_adjacent() const { return p_.a.col == 1 && p_.c.col == 1; }
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

  void add_direct() {
    constexpr int kThreads = 128;
    for (const UpdateDirect& shape : kUpdateDirect) {
      if (!shape.types.has(type_) || p_.n > shape.columns) continue;
      // nvcc merges the loads of rows of B that may or may not be needed into one.
      const int rows_of_b = static_cast<int>(ceil_div(p_.k, shape.depth)) * shape.depth;
      all_.push_back({.kernel = &shape,
                      .threads = kThreads,
                      .rows = kThreads * (16 / in_),
                      .shared_bytes = rows_of_b * shape.pitch() * sum_});
    }
  }

  void add_packed() {
    const int rows = 16 / in_;
    if (p_.k != p_.n || p_.a.row != p_.k || p_.c.row != p_.n || p_.m % rows != 0) return;
    for (const UpdatePacked& shape : kUpdatePacked)
      if (shape.types.has(type_) && p_.k == shape.side)
        all_.push_back({.kernel = &shape, .rows = 128 * rows});
  }

  void add_lanes() {
    for (const UpdateLanes& shape : kUpdateLanes) {
      if (shape.types.has(type_) && p_.k <= shape.lanes * shape.span &&
          p_.n <= shape.lanes * shape.columns && rows_divide(shape.span, shape.columns))
        all_.push_back({.kernel = &shape, .rows = 128 / shape.lanes * shape.unroll});
    }
  }

  void add_tile(bool by_columns) {
    constexpr int kThreads = 128;
    const int word = 16 / in_;
    for (const UpdateTile& shape : kUpdateTile) {
      const int columns = 4 * word * shape.parts;
      if (!shape.types.has(type_) || shape.by_columns != by_columns || p_.n > columns ||
          (!by_columns && !rows_divide(word, word))) {
        continue;
      }
      const int deep = word * shape.kWords;  // k of a tile
      const int tile_words = by_columns ? 8 * deep : 32 * (shape.kWords | 1);
      all_.push_back(
          {.kernel = &shape,
           .threads = kThreads,
           .passes = passes(kThreads, shape.parts == 1 ? 2 : 4),
           .rows = kThreads,
           .shared_bytes = static_cast<int>(ceil_div(p_.k, deep)) * deep * columns * in_ +
                           kThreads / 32 * tile_words * 16});
    }
  }

  bool fits(const UpdateMma& shape) const {
    const int word = 16 / in_;
    const int columns = 2 * std::min(shape.tiles, 8 / out_);  // of a lane, adjacent
    const bool mixed = p_.m % word == 0 && (type_ != DType::f64 || p_.k > 2);
    switch (shape.layout) {
      case UpdateLayout::columns:
        return columns_are_wide();
      case UpdateLayout::rows:
        return !columns_are_wide() && rows_are_adjacent() && rows_divide(shape.span, columns);
      case UpdateLayout::rows_to_columns:
        return mixed && p_.a.col == 1 && p_.c.row == 1 && p_.a.row != 1 &&
               p_.c.col * out_ % 16 == 0 && rows_divide(shape.span, 1);
      case UpdateLayout::columns_to_rows:
        if (shape.tiles > 2 && p_.n <= 16) return false;  // products of nothing
        return mixed && p_.a.row == 1 && p_.c.col == 1 && p_.c.row != 1 && p_.a.col % word == 0 &&
               rows_divide(1, columns);
    }
    return false;
  }

  void add_mma() {
    for (const UpdateMma& shape : kUpdateMma)
      if (shape.types.has(type_) && p_.k <= shape.depth() && fits(shape))
        push_mma(&shape, shape, shape.pass_rows(in_), 0);
  }
  /// Where nothing reads whole words: the same with lines of any alignment.
  void add_mma_any() {
    if (!has_lines(p_.a) || !has_lines(p_.c)) return;
    const auto n = static_cast<int>(p_.n);
    for (const UpdateMma& shape : kUpdateMma) {
      if (!shape.any.has(type_) || p_.k > shape.depth() ||
          shape.columns_of_a() != (p_.a.row == 1) || shape.columns_of_c() != (p_.c.row == 1))
        continue;
      const WordLinesPlan c(p_.c, shape.pass_rows(in_), n, out_);
      push_mma(UpdateMmaAny{&shape}, shape, shape.owned_rows(in_, out_, n, c.tight),
               shape.columns_of_c() ? 0 : shape.warps * c.bytes);
    }
  }
  /// A warp computes `rows` in a pass, and has so much shared memory beside B.
  void push_mma(UpdateKernel kernel, const UpdateMma& shape, int rows, int bytes) {
    const int tiles = static_cast<int>(ceil_div(p_.n, 8 * shape.tiles)) * shape.tiles;
    // A fragment of B takes 4 * span elements of each lane's 8 columns.
    const int fragment = in_ == 2 ? 2 * std::max(shape.span, 4) : 8 * std::max(shape.span, 2);
    all_.push_back({.kernel = kernel,
                    .threads = 32 * shape.warps,
                    .passes = passes(shape.warps * rows, shape.passes),
                    .rows = shape.warps * rows,
                    .shared_bytes = tiles * shape.steps * 32 * fragment + bytes});
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

  /// Reals. Blocks have several passes, so that few of them stage B,
  /// but all multiprocessors have as many blocks.
  void add_stream() {
    if (kComplexes.has(type_) || !has_lines(p_.a) || !has_lines(p_.c) || p_.n > kSkinny ||
        p_.k > kSkinny)
      return;
    const bool doubles = type_ == DType::f64 || (type_ == DType::f32 && p_.math != Math::tf32);
    const auto n = static_cast<int>(p_.n);
    const auto k = static_cast<int>(p_.k);
    const auto tiles = static_cast<int>(ceil_div(n, 8));
    UpdateStream stream{kUpdateStreamTilesOfDoubles};
    if (!doubles) {
      stream.tiles = *std::find_if(std::begin(kUpdateStreamTiles), std::end(kUpdateStreamTiles),
                                   [tiles](int each) { return tiles <= each; });
    }
    const int depth = in_ == 2 ? 16 : 8;
    const int b_bytes = update_stream_b_bytes(n, k, depth, doubles ? 16 : 8);
    const int warp_rows = 16 * update_stream_fragments(stream.tiles);
    UpdateStreamPlan& plan = stream.plan;
    const auto rows = [&] { return plan.turns * plan.row_warps * warp_rows; };
    const auto slot_bytes = [&] {
      const WordLinesPlan a(p_.a, rows(), k, in_, kUpdateStreamGap);
      return update_stream_slot_bytes(a, k, doubles ? 1 : depth);
    };
    const auto bytes = [&] {
      return b_bytes + plan.slots * slot_bytes() + WordLinesPlan(p_.c, rows(), n, out_).bytes;
    };
    const auto resident = [&] {
      return std::clamp<std::int64_t>(
          machine_.shared_bytes_per_multiprocessor / (bytes() + kSharedBytesOfSystem), 0, 2);
    };
    const auto groups = [&] { return ceil_div(p_.m, std::int64_t{rows()}); };
    while (plan.row_warps > 1 && (resident() < 2 || groups() < machine_.multiprocessors))
      plan.row_warps /= 2;
    constexpr int kLeastBytes = 8 << 10;  // of A in flight, which lines of zeros are not
    const auto keep_if_it_pays = [&](int& what, int before) {
      if (resident() < 2 || groups() < 2 * machine_.multiprocessors) what = before;
      return what != before;
    };
    while (rows() * k * in_ < kLeastBytes) {
      plan.turns *= 2;
      if (!keep_if_it_pays(plan.turns, plan.turns / 2)) break;
    }
    plan.slots = 2;
    keep_if_it_pays(plan.slots, 1);
    const std::int64_t places = machine_.multiprocessors * std::max<std::int64_t>(1, resident());
    constexpr std::int64_t kMostPasses = 16;  // B is staged once for them
    const std::int64_t rounds = ceil_div(groups(), places * kMostPasses);
    all_.push_back(
        {.kernel = stream,
         .threads = kUpdateStreamThreads,
         .passes = static_cast<int>(std::max<std::int64_t>(1, ceil_div(groups(), places * rounds))),
         .rows = rows(),
         .shared_bytes = bytes()});
  }

  void add_staged() {
    all_.push_back({.kernel = UpdateStaged{},
                    .rows = kStagedBlockRows,
                    .column_blocks = static_cast<int>(ceil_div(p_.n, kStagedColumns)),
                    .shared_bytes = static_cast<int>(p_.k) * kStagedColumns * sum_});
  }

  /// Every ring of the table for the layout; of halves none without wide accesses.
  void add_rings(bool aligned) {
    const bool by_columns = p_.a.row == 1;
    const bool lines = by_columns || p_.a.col == 1;
    const bool wide = aligned && maps_a() && writes_wide();
    if (!lines || (kHalves.has(type_) && !wide)) return;
    constexpr int kColumnsOfBlock = 64;
    const auto column_blocks = static_cast<int>(ceil_div(p_.n, kColumnsOfBlock));
    const auto columns = static_cast<int>(ceil_div(p_.n, column_blocks));
    for (const UpdateRing& shape : kUpdateRing) {
      const auto warps = static_cast<int>(ceil_div(columns, 4 * shape.columns));
      if (shape.types.has(type_) && shape.by_columns == by_columns && warps <= kUpdateRingWarps)
        add_ring(shape, aligned, column_blocks, columns);
    }
  }

  /// RingChunk; floats where A and C are of one layout, both wide.
  void add_ring_mma() {
    const bool by_columns = p_.a.row == 1;
    const bool wide = writes_wide() && by_columns == (p_.c.row == 1);
    if ((!by_columns && p_.a.col != 1) || kHalves.has(type_) || !maps_a() ||
        (type_ == DType::f32 && !wide))
      return;
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
    const int resident = set_stages(plan, 3, 3, plan.warps_n * b_bytes, 3);
    plan.ring_bytes = plan.stages * plan.slot_bytes;
    const int rows = plan.warps_m * warp_rows;
    const std::int64_t tiles = ceil_div(p_.m, rows);
    std::int64_t blocks = std::max(1, resident * machine_.multiprocessors / column_blocks);
    // Multiprocessors are not equally fast: of many tiles, those that are take more blocks. Complex
    // elements by columns lose by it.
    constexpr int kWaves = 4;
    const int most_b = (by_columns ? 16 : 32) << 10;
    if (!(by_columns && parts == 2) && tiles >= 3 * kWaves * blocks &&
        plan.warps_n * b_bytes <= most_b)
      blocks *= kWaves;
    plan.row_tiles = static_cast<int>(std::min(tiles, blocks));
    push_ring(UpdateRingMma{by_columns}, plan, rows, column_blocks, plan.warps_n * b_bytes);
  }

  void add_ring(const UpdateRing& shape, bool aligned, int column_blocks, int columns) {
    constexpr int kSlotBytes = 16 << 10;
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
    const int b_bytes = k * plan.b_pitch * sum_;
    const int resident =
        set_stages(plan, std::max(3, plan.warps_k), 8, b_bytes,
                   shape.resident(sum_) * 32 * (kUpdateRingWarps + 1) / threads_of(plan));
    const int sums = 32 * shape.rows * shape.columns * sum_ * plan.warps_m * plan.warps_n;
    plan.ring_bytes =
        std::max(plan.stages * plan.slot_bytes, (plan.warps_k - 1) * sums + 15) / 16 * 16;
    const std::int64_t most = std::max(1, resident * machine_.multiprocessors / column_blocks);
    plan.row_tiles = static_cast<int>(std::min(tiles(), most));
    if (plan.row_tiles < tiles()) plan.warps_k = 1;
    push_ring(&shape, plan, tile_rows(), column_blocks, b_bytes);
  }

  static int threads_of(const UpdateRingPlan& plan) {
    return 32 * (plan.warps_m * plan.warps_n * plan.warps_k + 1);
  }
  /// Up to `most` slots, by as many blocks on a multiprocessor (at most `resident`: returned) as
  /// have `least` slots each.
  int set_stages(UpdateRingPlan& plan, int least, int most, int b_bytes, int resident) const {
    for (;; --resident) {
      const int bytes = shared_ / resident - kRingSlack - b_bytes;
      plan.stages = std::min(most, bytes / plan.slot_bytes);
      if (plan.stages >= least || resident == 1) return resident;
    }
  }
  void push_ring(UpdateKernel kernel, const UpdateRingPlan& plan, int rows, int column_blocks,
                 int b_bytes) {
    all_.push_back({.kernel = kernel,
                    .threads = threads_of(plan),
                    .rows = rows,
                    .column_blocks = column_blocks,
                    .shared_bytes = plan.ring_bytes + b_bytes + kRingSlack,
                    .ring = plan});
  }

  /// Bytes of a block of the ring kernels: the KiB of the system, alignment and barriers.
  static constexpr int kRingSlack = 2 << 10;

  const Problem& p_;
  DType type_;  // of A and B
  int in_;      // bytes of an element of A and B, of C, and of a sum
  int out_;
  bool wide_;  // sums are doubles although those of the operands' type are floats
  int sum_;
  const Machine& machine_;
  int shared_;  // bytes that the blocks of a multiprocessor have, but for the system's
  std::vector<UpdateLaunch> all_;
};

}  // namespace

std::vector<UpdateLaunch> update_candidates(const Problem& problem, DType in, DType out,
                                            const Machine& machine, bool off) {
  return UpdateCandidates(problem, in, out, machine).all(off);
}

UpdateGranules granules(const UpdateLaunch& launch, const Problem& problem, DType in) {
  using Granules = UpdateGranules;
  const auto bytes = static_cast<int>(size_of(in));
  const int word = 16 / bytes;
  const std::int64_t all = std::max<std::int64_t>(problem.k, 1);  // k, loaded at once
  const std::int64_t ring_step = launch.ring ? launch.ring->depth * launch.ring->warps_k : 0;
  const auto visitor = Overloaded{
      [&](UpdateStaged) {
        return Granules{kStagedColumns, 1, all};
      },
      [&](const UpdateStream&) {
        return Granules{8, bytes == 2 ? 16 : 8, all};
      },
      [](const UpdateDirect* s) {
        return Granules{s->columns, 1, s->depth};
      },
      [&](const UpdateLanes* s) {
        return Granules{s->lanes * s->columns, s->lanes * s->span, all};
      },
      [&](const UpdatePacked*) {
        return Granules{1, 1, all};
      },
      [&](const UpdateTile* s) {
        return Granules{4 * word * s->parts, s->kWords * word, s->kWords * word};
      },
      [&](const UpdateMma* s) {
        return Granules{8 * s->tiles, s->depth(), all};
      },
      [&](UpdateMmaAny s) {
        return Granules{8 * s.shape->tiles, s.shape->depth(), all};
      },
      [&](const UpdateRing* s) {
        return Granules{4 * s->columns * launch.ring->warps_n, word, ring_step};
      },
      [&](UpdateRingMma) {
        return Granules{32 * launch.ring->warps_n / (is_complex(in) ? 2 : 1), 16, ring_step};
      }};
  return std::visit(visitor, launch.kernel);
}

std::string kernel_name(const UpdateKernel& kernel) {
  constexpr const char* kNames[] = {"staged", "direct",  "lanes", "packed",   "tile",
                                    "mma",    "mma_any", "ring",  "ring_mma", "stream"};
  static_assert(std::size(kNames) == std::variant_size_v<UpdateKernel>);
  constexpr const char* kLayouts[] = {" by columns", " by rows", " from rows to columns",
                                      " from columns to rows"};
  const auto layout =
      Overloaded{[&](const UpdateMma* s) { return kLayouts[static_cast<int>(s->layout)]; },
                 [&](UpdateMmaAny s) { return kLayouts[static_cast<int>(s.shape->layout)]; },
                 [&](const UpdateRing* s) { return kLayouts[s->by_columns ? 0 : 1]; },
                 [&](UpdateRingMma l) { return kLayouts[l.by_columns ? 0 : 1]; },
                 [](const auto&) { return ""; }};
  return concat("update_", kNames[kernel.index()], "_kernel", std::visit(layout, kernel));
}

std::string algorithm_name(const UpdateLaunch& launch) {
  // The parameters that tell a variant from its kernel's others of a type.
  const auto mma = [](const UpdateMma& s) {
    return concat(", ", 8 * s.tiles, " columns, ", s.depth(), " deep by ", 4 * s.span, ", rows x ",
                  s.groups);
  };
  const auto parameters = Overloaded{
      [](const UpdateDirect* s) {
        return concat(", ", s->columns, " columns, ", s->depth, " deep");
      },
      [](const UpdateLanes* s) {
        return concat(", lanes x ", s->lanes, ", ", s->columns, " columns, ", s->span,
                      " deep, rows x ", s->unroll);
      },
      [](const UpdateStream& s) { return concat(", ", 8 * s.tiles, " columns"); },
      [](const UpdatePacked* s) { return concat(", ", s->side, " x ", s->side); },
      [](const UpdateTile* s) {
        return concat(s->by_columns ? ", by columns, " : ", by rows, ", 4 * s->parts,
                      " words wide, ", s->kWords, " deep");
      },
      [&](const UpdateMma* s) { return mma(*s); },
      [&](UpdateMmaAny s) { return mma(*s.shape); },
      [](const UpdateRing* s) { return concat(", ", s->rows, " x ", s->columns, " sums"); },
      [](const auto&) { return std::string(); }};
  const auto& ring = launch.ring;
  return concat(kernel_name(launch.kernel), std::visit(parameters, launch.kernel),
                ring && !ring->mapped ? ", A by elements" : "",
                ring && !ring->wide_c ? ", C by elements" : "");
}

std::string describe(const UpdateLaunch& launch) {
  if (const auto& ring = launch.ring) {
    return concat(algorithm_name(launch), ", ", ring->row_tiles * launch.column_blocks,
                  " blocks of ", ring->warps_m, " x ", ring->warps_n, " x ", ring->warps_k,
                  " warps, tiles of ", launch.rows, " rows, ", ring->stages, " slots of ",
                  ring->depth, " k");
  }
  const auto* const stream = std::get_if<UpdateStream>(&launch.kernel);
  return concat(algorithm_name(launch), ", ", launch.threads, " threads for ", launch.rows,
                " rows, ", launch.passes, launch.passes == 1 ? " pass" : " passes",
                stream && stream->plan.slots > 1 ? ", 2 slots" : "");
}

}  // namespace lanky::dense
