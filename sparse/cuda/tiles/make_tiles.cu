// Tiles made of CSR: eight lanes merge the rows of a block into column vectors, once to count them,
// and once more to leave their columns and masks; values follow from CSR and the masks alone, so
// that they are replaced in the same way.
#include <bit>
#include <optional>
#include <utility>

#include "core/runtime.hpp"
#include "device/block_scan.cuh"
#include "device/memory.cuh"
#include "sparse/cuda/columns/block_lengths.cuh"
#include "sparse/cuda/columns/row_sharing.hpp"
#include "sparse/cuda/pack/grid.cuh"
#include "sparse/cuda/pack/power_counts.cuh"
#include "sparse/cuda/tiles/cost.hpp"
#include "sparse/cuda/tiles/policy.hpp"
#include "sparse/cuda/tiles/steps.hpp"
#include "sparse/cuda/tiles/strip.hpp"
#include "sparse/cuda/warp.cuh"

namespace lanky::sparse::cuda {

namespace {

constexpr std::uint32_t kNoColumn = ~std::uint32_t{0};

/// Columns of a row that are left, from the index base on, in their order.
class RowColumns {
 public:
  /// Of a row that need not exist.
  __device__ RowColumns(const CsrPattern& a, std::int64_t row) {
    if (row >= a.rows) return;
    next_ = a.columns + a.row_offsets[row];
    end_ = a.columns + a.row_offsets[row + 1];
    column_ = load();
    following_ = load();
  }

  __device__ std::uint32_t column() const { return column_; }
  /// Columns that are left.
  __device__ unsigned left() const {
    return static_cast<unsigned>(end_ - next_) + (column_ != kNoColumn ? 1 : 0) +
           (following_ != kNoColumn ? 1 : 0);
  }
  __device__ void advance() {
    column_ = following_;
    following_ = load();
  }

 private:
  __device__ std::uint32_t load() {
    return next_ < end_ ? static_cast<std::uint32_t>(__ldg(next_++)) : kNoColumn;
  }

  const std::int32_t* next_ = nullptr;  // of those that are not loaded
  const std::int32_t* end_ = nullptr;
  std::uint32_t column_ = kNoColumn;
  std::uint32_t following_ = kNoColumn;
};

/// What the lanes of a block have of a step, each of its row.
struct Step {
  int vectors = 0;
  int sectors = 0;                // in which none of the vectors before is
  std::uint32_t taken = 0;        // bit i: the row has an entry in vector i
  std::uint32_t columns[2] = {};  // of vectors r and r + 8, r being the row; behind the last: its
};

__device__ int row_of_block() {
  return lane_of_warp() % kBlockRows;
}

/// The next step of each of the warp's blocks: of all rows' next entries the least column, time and
/// again. `last`: the one before, or kNoColumn. Sectors have 1 << `sector_shift` columns. All lanes
/// take part.
__device__ Step next_step(RowColumns& row, std::uint32_t& last, int sector_shift) {
  Step step;
#pragma unroll
  for (int i = 0; i < kStepVectors; ++i) {
    std::uint32_t least = row.column();
#pragma unroll
    for (int mask = 1; mask < kBlockRows; mask *= 2)
      least = min(least, __shfl_xor_sync(kAllLanes, least, mask));
    if (__all_sync(kAllLanes, least == kNoColumn)) break;
    if (least == kNoColumn) continue;
    ++step.vectors;
    step.sectors += last == kNoColumn || least >> sector_shift != last >> sector_shift ? 1 : 0;
    last = least;
    if (row_of_block() == i % kBlockRows) step.columns[i / kBlockRows] = least;
    if (row.column() != least) continue;
    step.taken |= 1U << i;
    row.advance();
  }
#pragma unroll
  for (int k = 0; k < 2; ++k)
    step.columns[k] = row_of_block() + k * kBlockRows < step.vectors ? step.columns[k] : last;
  return step;
}

/// Units that a row has of a step.
template <bool kUnits>
__device__ int units_of(std::uint32_t taken) {
  if constexpr (!kUnits) return __popc(taken);
  const std::uint32_t pairs = taken | taken >> 1;
  return __popc((pairs | pairs >> 2) & 0x1111U);
}

/// The bits of t = 0 .. 3 that a row has in mask j.
template <bool kUnits>
__device__ std::uint32_t bits_of(std::uint32_t taken, int j) {
  if constexpr (!kUnits) return taken >> (4 * j) & 0xfU;
  const std::uint32_t spread = taken >> j & 0x1111U;
  const std::uint32_t pairs = (spread | spread >> 3) & 0x0303U;
  return (pairs | pairs >> 6) & 0xfU;
}

static_assert(kStepClasses == kPowerClasses);

struct TileTotals {
  std::int64_t steps;
  std::int64_t units;
  std::int64_t vectors;
  std::int64_t sectors;
  int steps_most;
  StepCounts by_steps;
  RowLengths lengths;
  unsigned arrivals;
};

/// Steps and units of each block. A thread a row.
template <bool kUnits>
__global__ void __launch_bounds__(kThreads)
    count_tiles_kernel(CsrPattern a, std::int64_t blocks, int sector_shift, GroupLimits limits,
                       TileStart* counts, TileTotals* totals) {
  __shared__ BlockLengths lengths;
  __shared__ PowerCounts by_steps;
  lengths.clear();
  by_steps.clear();
  __syncthreads();  // they are zero
  const std::int64_t block = thread_of_grid() / kBlockRows;
  RowColumns row(a, thread_of_grid());
  lengths.add(thread_of_grid() < a.rows, row.left(), limits);
  std::uint32_t last = kNoColumn;
  int steps = 0;
  int units = 0;
  int vectors = 0;
  int sectors = 0;
  for (;;) {
    const Step step = next_step(row, last, sector_shift);
    if (!__any_sync(kAllLanes, step.vectors > 0)) break;
    steps += step.vectors > 0 ? 1 : 0;
    units += units_of<kUnits>(step.taken);
    vectors += step.vectors;
    sectors += step.sectors;
  }
#pragma unroll
  for (int mask = 1; mask < kBlockRows; mask *= 2)
    units += __shfl_xor_sync(kAllLanes, units, mask);
  const bool first = row_of_block() == 0;
  if (first && block < blocks)
    counts[block] = {static_cast<std::uint32_t>(steps), static_cast<std::uint32_t>(units)};
  const int most = __reduce_max_sync(kAllLanes, steps);
  if (lane_of_warp() == 0) atomicMax(&totals->steps_most, most);
  if (first && steps > 0) by_steps.add(static_cast<unsigned>(steps));
  __syncthreads();  // all are counted
  by_steps.add_to(totals->by_steps.blocks, totals->by_steps.steps);
  lengths.add_to(totals->lengths);
  add_of_block(totals->vectors, first ? vectors : 0);
  add_of_block(totals->sectors, first ? sectors : 0);
}

/// Sums over each tile of blocks; the last block of threads makes them sums over those before.
/// `tile_sums`: [2, tiles], of steps and of units.
__global__ void __launch_bounds__(kThreads)
    sum_tiles_kernel(const TileStart* counts, std::int64_t blocks, std::int64_t* tile_sums,
                     TileTotals* totals) {
  const std::int64_t tiles = gridDim.x;
  const std::int64_t number = thread_of_grid();
  const TileStart own = number < blocks ? counts[number] : TileStart{};
  std::int64_t steps;
  std::int64_t units;
  device::block_exclusive_sum<std::int64_t>(own.step, steps);
  device::block_exclusive_sum<std::int64_t>(own.unit, units);
  if (threadIdx.x == 0) {
    tile_sums[blockIdx.x] = steps;
    tile_sums[tiles + blockIdx.x] = units;
  }
  if (!is_last_block(&totals->arrivals)) return;
  steps = device::scan_by_block(tile_sums, tiles);
  units = device::scan_by_block(tile_sums + tiles, tiles);
  if (threadIdx.x == 0) {
    totals->steps = steps;
    totals->units = units;
  }
}

/// From counts to where blocks begin, and the end of all.
__global__ void __launch_bounds__(kThreads)
    place_tiles_kernel(TileStart* counts, std::int64_t blocks, const std::int64_t* tile_sums) {
  const std::int64_t number = thread_of_grid();
  const TileStart own = number < blocks ? counts[number] : TileStart{};
  std::int64_t total;
  std::int64_t step = device::block_exclusive_sum<std::int64_t>(own.step, total);
  std::int64_t unit = device::block_exclusive_sum<std::int64_t>(own.unit, total);
  step += tile_sums[blockIdx.x];
  unit += tile_sums[gridDim.x + blockIdx.x];
  if (number <= blocks)
    counts[number] = {static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(unit)};
}

/// What is made of the pattern.
struct TilePattern {
  const TileStart* starts;
  std::uint32_t* entries;
  std::int32_t* columns;
  std::uint32_t* masks;
};

/// As count_tiles_kernel().
template <bool kUnits>
__global__ void __launch_bounds__(kThreads)
    fill_tiles_kernel(CsrPattern a, std::int64_t blocks, TilePattern tiles) {
  const std::int64_t block = thread_of_grid() / kBlockRows;
  const int r = row_of_block();
  RowColumns row(a, thread_of_grid());
  std::int64_t number = 0;
  if (block < blocks) {
    number = tiles.starts[block].step;
    if (r == 0)
      tiles.entries[block] = static_cast<std::uint32_t>(a.row_offsets[block * kBlockRows]);
  }
  std::uint32_t last = kNoColumn;
  for (;; ++number) {
    const Step step = next_step(row, last, 0);
    if (!__any_sync(kAllLanes, step.vectors > 0)) break;
    std::uint32_t mask = 0;
#pragma unroll
    for (int i = 0; i < kBlockRows; ++i) {
      const std::uint32_t taken = __shfl_sync(kAllLanes, step.taken, i, kBlockRows);
      mask |= bits_of<kUnits>(taken, r % kLaneVectors) << (4 * i);
    }
    if (step.vectors == 0) continue;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const int place = place_of_vector(r + k * kBlockRows, kUnits);
      tiles.columns[number * kStepVectors + place] =
          static_cast<std::int32_t>(step.columns[k] - static_cast<std::uint32_t>(a.index_base));
    }
    if (r < kLaneVectors) tiles.masks[number * kLaneVectors + r] = mask;
  }
}

/// Units of the steps from `first` to `end` - 1. All lanes of a warp take part.
template <bool kUnits>
__device__ std::uint32_t units_between(const std::uint32_t* masks, std::uint32_t first,
                                       std::uint32_t end) {
  std::uint32_t units = 0;
#pragma unroll 4
  for (std::int64_t step = std::int64_t{first} + lane_of_warp(); step < end; step += kLanes) {
    std::uint32_t mask[kLaneVectors];
    device::load_constant(mask, masks + step * kLaneVectors);
    units += kUnits ? __popc(mask[0] | mask[1] | mask[2] | mask[3])
                    : __popc(mask[0]) + __popc(mask[1]) + __popc(mask[2]) + __popc(mask[3]);
  }
  return __reduce_add_sync(kAllLanes, units);
}

/// Of each class of StepCounts, the place of its first block among the shared ones.
struct SharedPlaces {
  std::uint32_t first[kStepClasses];
};

/// The parts of shared blocks, by the classes of their steps. `taken`: [kStepClasses], zeros. A
/// warp a block.
template <bool kUnits>
__global__ void __launch_bounds__(kThreads)
    share_blocks_kernel(TilePattern tiles, std::int64_t blocks, std::uint32_t share_above,
                        SharedPlaces places, std::uint32_t* taken, TilePart* parts) {
  const std::int64_t block = thread_of_grid() / kLanes;
  if (block >= blocks) return;
  const TileStart start = tiles.starts[block];
  const std::uint32_t steps = tiles.starts[block + 1].step - start.step;
  if (steps <= share_above) return;
  const int lane = lane_of_warp();
  std::int64_t place = 0;
  if (lane == 0) {
    const int i = power_class(steps);
    place = places.first[i] + atomicAdd(taken + i, 1U);
  }
  TilePart part{static_cast<std::uint32_t>(block), start.step, start.step, start.unit};
  for (std::uint32_t warp = 0; warp < kTileWarps; ++warp) {
    part.end = start.step + steps * (warp + 1) / kTileWarps;  // a block has 2^27 steps at most
    if (lane == 0) parts[place * kTileWarps + warp] = part;
    part.unit += units_between<kUnits>(tiles.masks, part.step, part.end);
    part.step = part.end;
  }
}

/// Values of each block, by a warp, whose lane l has row l / 4 and vectors [l % 4][0 .. 3].
template <bool kUnits>
class BlockValues {
 public:
  __device__ BlockValues(const TilePattern& tiles, std::int64_t block)
      : masks_(tiles.masks),
        step_(tiles.starts[block].step),
        end_(tiles.starts[block + 1].step),
        unit_(tiles.starts[block].unit),
        entry_(tiles.entries[block] + entries_before()) {}

  template <class E>
  __device__ void copy(const E* source, E* values) {
#pragma unroll 2
    for (std::int64_t step = step_; step < end_; ++step) {
      std::uint32_t masks[kLaneVectors];
      device::load_constant(masks, masks_ + step * kLaneVectors);
      if constexpr (kUnits) {
        copy_units(masks, source, values);
      } else {
#pragma unroll
        for (int j = 0; j < kLaneVectors; ++j)
          copy_single(masks[j], source, values);
      }
    }
  }

 private:
  static constexpr int kRowLanes = 4;

  __device__ static int lane_of_row() {
    return lane_of_warp() % kRowLanes;
  }
  /// The lane's bit of a mask, and those of lanes before.
  __device__ static std::uint32_t own_bit() {
    return 1U << lane_of_warp();
  }
  __device__ static std::uint32_t bits_before() {
    return own_bit() - 1;
  }
  /// Those of the row in a mask.
  __device__ static std::uint32_t bits_of_row(std::uint32_t mask) {
    return mask >> (lane_of_warp() - lane_of_row()) & 0xfU;
  }

  /// Of the block's rows before the lane's.
  __device__ std::uint32_t entries_before() const {
    std::uint32_t own = 0;
#pragma unroll 4
    for (std::int64_t step = step_; step < end_; ++step)
      own += __popc(bits_of_row(__ldg(masks_ + step * kLaneVectors + lane_of_row())));
    own += __shfl_xor_sync(kAllLanes, own, 1);
    own += __shfl_xor_sync(kAllLanes, own, 2);
    std::uint32_t sum = own;
#pragma unroll
    for (int distance = kRowLanes; distance < kLanes; distance *= 2) {
      const std::uint32_t before = __shfl_up_sync(kAllLanes, sum, distance);
      if (lane_of_warp() >= distance) sum += before;
    }
    return sum - own;
  }

  template <class E>
  __device__ void copy_single(std::uint32_t mask, const E* source, E* values) {
    const std::uint32_t row = bits_of_row(mask);
    if ((mask & own_bit()) != 0) {
      const std::uint32_t entry = entry_ + __popc(row & ((1U << lane_of_row()) - 1));
      values[unit_ + __popc(mask & bits_before())] = source[entry];
    }
    entry_ += __popc(row);
    unit_ += __popc(mask);
  }

  template <class E>
  __device__ void copy_units(const std::uint32_t (&masks)[kLaneVectors], const E* source,
                             E* values) {
    const std::uint32_t any = masks[0] | masks[1] | masks[2] | masks[3];
    std::uint32_t own = 0;
    std::uint32_t before = 0;  // of the row's lanes before
    std::uint32_t all = 0;
#pragma unroll
    for (const std::uint32_t mask : masks) {
      const std::uint32_t row = bits_of_row(mask);
      own += row >> lane_of_row() & 1U;
      before += __popc(row & ((1U << lane_of_row()) - 1));
      all += __popc(row);
    }
    if (own > 0) {
      E unit[kLaneVectors];
      std::uint32_t entry = entry_ + before;
#pragma unroll
      for (int j = 0; j < kLaneVectors; ++j)
        unit[j] = (masks[j] & own_bit()) != 0 ? source[entry++] : E{};
      device::store_wide(values + std::int64_t{unit_ + __popc(any & bits_before())} * kLaneVectors,
                         unit);
    }
    entry_ += all;
    unit_ += __popc(any);
  }

  const std::uint32_t* masks_;
  std::int64_t step_;
  std::int64_t end_;
  std::uint32_t unit_;
  std::uint32_t entry_;  // of the lane's row, the next
};

template <bool kUnits, class E>
__global__ void __launch_bounds__(kThreads)
    tile_values_kernel(TilePattern tiles, std::int64_t blocks, const E* source, E* values) {
  const std::int64_t block = thread_of_grid() / kLanes;
  if (block < blocks) BlockValues<kUnits>(tiles, block).copy(source, values);
}

template <class T>
inline constexpr bool kInUnits = unit_values(sizeof(T)) > 1;

/// Where blocks begin, to `starts`, and what was counted. Waits for the stream.
template <bool kUnits>
TileTotals place_blocks(const Stream& stream, const CsrPattern& a, const Shape& shape,
                        int sector_shift, Buffer<TileStart>& starts) {
  const std::int64_t blocks = starts.size() - 1;
  const unsigned tiles = blocks_of(blocks + 1);
  Buffer<std::int64_t> tile_sums(stream, std::int64_t{2} * tiles);
  Buffer<TileTotals> totals(stream, 1);
  totals.fill_zero();
  launch(stream, "count_tiles_kernel", count_tiles_kernel<kUnits>, blocks_of(blocks * kBlockRows),
         a, blocks, sector_shift, group_limits(shape), starts.data(), totals.data());
  launch(stream, "sum_tiles_kernel", sum_tiles_kernel, tiles, starts.data(), blocks,
         tile_sums.data(), totals.data());
  launch(stream, "place_tiles_kernel", place_tiles_kernel, tiles, starts.data(), blocks,
         tile_sums.data());
  return to_host(stream, totals.data());
}

template <class T>
TilePattern pattern_of(Tiles<T>& tiles) {
  return {tiles.starts.data(), tiles.entries.data(), tiles.columns.data(), tiles.masks.data()};
}

/// Fills `parts`, longest blocks first, by the masks.
template <class T>
void share_blocks(const Stream& stream, Tiles<T>& tiles) {
  const TileHeader& header = tiles.header;
  if (header.shared_blocks == 0) return;
  SharedPlaces places{};
  std::uint32_t place = 0;
  for (int i = kStepClasses - 1; i >= 0; --i) {
    places.first[i] = place;
    place += header.facts.by_steps.blocks[i];
  }
  Buffer<std::uint32_t> taken(stream, kStepClasses);
  taken.fill_zero();
  launch(stream, "share_blocks_kernel", share_blocks_kernel<kInUnits<T>>,
         blocks_of(header.blocks * kLanes), pattern_of(tiles), header.blocks, header.share_above,
         places, taken.data(), tiles.parts.data());
}

}  // namespace

template <class T>
void update_tiles(const Stream& stream, Tiles<T>& tiles, const T* values) {
  using E = typename device::detail::WordOf<sizeof(T)>::Type;
  launch(stream, "tile_values_kernel", tile_values_kernel<kInUnits<T>, E>,
         blocks_of(tiles.header.blocks * kLanes), pattern_of(tiles), tiles.header.blocks,
         reinterpret_cast<const E*>(values), reinterpret_cast<E*>(tiles.values.data()));
}

template <class T>
std::optional<Tiles<T>> make_tiles(const Stream& stream, const Csr<T>& a, const RowFacts& rows,
                                   const Shape& shape, const SparseOptions& options) {
  Allocator* const allocator = options.allocator;
  constexpr bool kUnits = kInUnits<T>;
  const bool wanted = options.engine == Engine::tensor_cores;
  if (!wanted && rows.longest > kMergedMost) return std::nullopt;
  const std::int64_t blocks = device::ceil_div<std::int64_t>(a.rows, kBlockRows);
  Buffer<TileStart> starts(stream, blocks + 1, allocator);
  constexpr int kSectorColumns = 32 / static_cast<int>(sizeof(T));
  TileTotals found = place_blocks<kUnits>(stream, a.pattern(), shape,
                                          std::countr_zero(unsigned{kSectorColumns}), starts);
  const TileFacts facts{found.steps,   found.units,      found.vectors,
                        found.sectors, found.steps_most, found.by_steps};
  found.lengths.longest = static_cast<unsigned>(rows.longest);
  TileHeader header{a.rows, a.cols, a.nnz, blocks, facts};
  const Machine& machine = machine_of(stream.device());
  choose_sharing(header, options.expected_columns, kDType<T>, machine);
  const CopyCosts costs(header, {rows, found.lengths, shape}, kDType<T>, machine);
  if (!wanted && !costs.tiles_pay(options)) return std::nullopt;
  header.direct_columns = costs.direct_columns();
  Tiles<T> tiles{header,
                 std::move(starts),
                 Buffer<std::uint32_t>(stream, blocks, allocator),
                 Buffer<std::int32_t>(stream, (facts.steps + 1) * kStepVectors, allocator),
                 Buffer<std::uint32_t>(stream, (facts.steps + 1) * kLaneVectors, allocator),
                 Buffer<T>(stream, facts.units * unit_values(sizeof(T)), allocator),
                 Buffer<TilePart>(stream, header.shared_blocks * kTileWarps, allocator)};
  const auto zero_last = [&](auto& words, int of_step) {
    runtime::zero(words.data() + facts.steps * of_step, of_step * sizeof(*words.data()),
                  stream.native(), stream.device().index());
  };
  zero_last(tiles.columns, kStepVectors);
  zero_last(tiles.masks, kLaneVectors);
  launch(stream, "fill_tiles_kernel", fill_tiles_kernel<kUnits>, blocks_of(blocks * kBlockRows),
         a.pattern(), blocks, pattern_of(tiles));
  share_blocks(stream, tiles);
  update_tiles(stream, tiles, a.values);
  return tiles;
}

#define LANKY_INSTANTIATE(T)                                                                 \
  template std::optional<Tiles<T>> make_tiles(const Stream&, const Csr<T>&, const RowFacts&, \
                                              const Shape&, const SparseOptions&);           \
  template void update_tiles(const Stream&, Tiles<T>&, const T*);
LANKY_INSTANTIATE(double)
LANKY_INSTANTIATE(float)
LANKY_INSTANTIATE(half)
LANKY_INSTANTIATE(bfloat16)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cuda
