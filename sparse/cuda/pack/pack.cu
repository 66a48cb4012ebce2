// Packing the pattern of a matrix: a block a window sorts its pieces, lays out its slices and
// chooses how their columns are stored; the windows' sizes are summed up; then a block a window
// fills the arrays.
#include "sparse/cuda/pack/pack.cuh"

#include <algorithm>
#include <utility>

#include "sparse/cuda/pack/grid.cuh"
#include "sparse/cuda/pack/pieces.cuh"
#include "sparse/cuda/pack/slice_steps.cuh"
#include "sparse/cuda/steps.hpp"

namespace lanky::sparse::cuda {

namespace {

/// What windows add to the header: extents of arrays, whose sums place the windows, and entries of
/// each kind of index.
enum Size : int { slots, index_units, bases, pieces_told, row_cells, kind_entries };
constexpr int kPlacedSizes = kind_entries;
constexpr int kSizes = kind_entries + kIndexKinds;

struct WindowSizes {
  std::uint32_t of[kSizes];
};

struct SizeTotals {
  std::int64_t of[kSizes];
  int slices_most;
  int cells_most;
  int columns_most;
  unsigned arrivals;
};

struct PackArguments {
  const WindowStart* starts;        // [windows + 1]
  const std::int64_t* row_offsets;  // [rows + 1]
  const std::int32_t* columns;      // [nnz]
  unsigned index_base;
  const std::int32_t* hot_places;  // [cols] place in hot_columns, or -1; nullptr: none is hot
  Shape shape;
  PieceTableSizes tables;
  std::int64_t split_rows;
  std::int64_t partials;
  Window* windows;  // [windows]
  Slice* laid_out;  // [windows, tables.slices] until it is known how many slices a window has
};

/// Cuts a window's sorted pieces into slices: puts their first_piece and width into the tables, and
/// returns their number.
template <int kWide>
__device__ int cut_slices(const PieceTables& tables, int pieces, const Shape& shape) {
  __shared__ int count;
  if (thread_of_block() < kLanes) {
    const auto length = [&](int piece) { return tables.lengths[tables.order[piece]]; };
    const int most = kLanes * kWide;
    const auto put = [&](int slice, int first, int width) {
      tables.slices[slice].first_piece = static_cast<std::uint16_t>(first);
      tables.slices[slice].width = static_cast<std::uint8_t>(width);
    };
    int slices = 0;
    for (int first = 0; first < pieces;) {
      // Whole slices of pieces of one length, one by each lane.
      const int own = first + lane_of_warp() * most;
      const bool alike = own + most <= pieces && length(own + most - 1) == length(first);
      const int whole = __popc(__ballot_sync(kAllLanes, alike));
      if (alike) put(slices + lane_of_warp(), own, most);
      slices += whole;
      first += whole * most;
      if (whole > 0) continue;
      NextPieces next{.left = pieces - first, .depth = length(first)};
      next.shortest = length(first + wide_width(next.left, shape) - 1);
#pragma unroll
      for (int r = 0; r < kWide; ++r) {
        const int i = first + r * kLanes + lane_of_warp();
        next.alike += __popc(__ballot_sync(kAllLanes, i < pieces && length(i) == next.depth));
      }
      const int width = slice_width(next, shape);
      if (lane_of_warp() == 0) put(slices, first, width);
      ++slices;
      first += width;
    }
    if (lane_of_warp() == 0) count = slices;
  }
  __syncthreads();  // the slices are cut
  return count;
}

/// A lane's pieces of a slice whose first_piece and width are known.
template <int kPieces>
__device__ LanePieces<kPieces> pieces_of_lane(const PieceTables& tables, const Slice& slice) {
  const std::uint16_t* const order = tables.order + slice.first_piece;
  return lane_pieces<kPieces>(tables, slice.width, tables.lengths[order[0]],
                              [&](int i) { return static_cast<int>(order[i]); });
}

/// visit(pieces) with the lane's pieces of a slice, one or kWide.
template <int kWide, class Visit>
__device__ void with_pieces(const PieceTables& tables, const Slice& slice, Visit visit) {
  if constexpr (kWide > 1) {
    if (is_wide(slice)) return visit(pieces_of_lane<kWide>(tables, slice));
  }
  visit(pieces_of_lane<1>(tables, slice));
}

/// What decides how columns are stored.
struct ColumnFacts {
  bool diagonal;       // piece i is piece 0, shifted by i and cut short
  bool shared;         // pieces are piece 0, shifted and cut short, by 16 bits at most
  IndexKind by_steps;  // the first kind with a base for each step that can hold them
  unsigned least;
  unsigned most;
};

template <int kPieces>
__device__ ColumnFacts examine_columns(const LanePieces<kPieces>& pieces,
                                       const std::int32_t* columns) {
  bool repeat = pieces.width > 1;  // this lane's pieces are piece 0, shifted
  bool follow = true;              // by their numbers
  unsigned shifts[kPieces] = {};   // of step 0
  unsigned spread_at_first = 0;
  unsigned spread = 0;  // greatest distance of two columns in a step
  ColumnFacts facts{.least = ~0U, .most = 0};
  for_each_step(pieces, columns, [&](int step, const std::int32_t(&step_columns)[kPieces]) {
    const auto front =
        static_cast<unsigned>(__shfl_sync(kAllLanes, step_columns[0], 0));  // it is the longest
    unsigned least = ~0U;
    unsigned most = 0;
#pragma unroll
    for (int r = 0; r < kPieces; ++r) {
      if (step >= pieces.lengths[r]) continue;
      const auto column = static_cast<unsigned>(step_columns[r]);
      least = min(least, column);
      most = max(most, column);
      if (step == 0) shifts[r] = column - front;
      follow = follow && shifts[r] == static_cast<unsigned>(r * kLanes + lane_of_warp());
      repeat = repeat && column - front == shifts[r];
    }
    least = __reduce_min_sync(kAllLanes, least);
    most = __reduce_max_sync(kAllLanes, most);
    if (step == 0) spread_at_first = most - least;
    spread = max(spread, most - least);
    facts.least = min(facts.least, least);
    facts.most = max(facts.most, most);
  });
  const bool all_repeat = __all_sync(kAllLanes, repeat);
  facts.diagonal = __all_sync(kAllLanes, follow) && all_repeat;
  facts.shared = all_repeat && pieces.depth > 1 && spread_at_first <= 0xffffU;
  facts.by_steps = offset_kind(spread);
  return facts;
}

/// Fields of a slice that its pieces decide.
template <int kPieces>
__device__ void describe_pieces(const LanePieces<kPieces>& pieces, const std::uint16_t* order,
                                Slice& slice) {
  bool follow = true;
  int shortest = pieces.depth;
#pragma unroll
  for (int r = 0; r < kPieces; ++r) {
    const int i = r * kLanes + lane_of_warp();
    follow = follow && (i >= pieces.width || order[i] == order[0] + i);
    if (i < pieces.width) shortest = min(shortest, pieces.lengths[r]);
  }
  slice.listed = __all_sync(kAllLanes, follow) ? 0 : 1;
  slice.first_cell = slice.listed == 1 ? std::uint16_t{0} : order[0];
  slice.depth = static_cast<std::uint8_t>(pieces.depth);
  slice.shortest =
      static_cast<std::uint8_t>(__reduce_min_sync(kAllLanes, static_cast<unsigned>(shortest)));
}

/// Sums and extremes over the slices of a window, in shared memory.
struct WindowFacts {
  WindowSizes sizes;
  unsigned unshared;  // entries of slices whose kind is not is_repeated()
  unsigned least_column;
  unsigned most_column;
  int breaks;  // pieces whose cell is not the next of the piece before
  int told;    // 1: lengths or cells of a slice are
};

/// Puts into the tables all of slice i but where it begins; its entries stand in first_index.
template <int kWide, int kPieces>
__device__ void measure_slice(const LanePieces<kPieces>& pieces, const std::int32_t* columns,
                              const PieceTables& tables, int i, bool any_hot, WindowFacts& window) {
  Slice slice = tables.slices[i];
  describe_pieces(pieces, tables.order + slice.first_piece, slice);
  const ColumnFacts facts = examine_columns(pieces, columns);
  const unsigned entries = pieces.entries_of_slice();
  __syncwarp();  // all lanes have read the slice
  if (lane_of_warp() != 0) return;
  const bool diagonal = facts.diagonal && may_be_diagonal(slice.width, slice.depth, kWide, any_hot);
  slice.kind = diagonal       ? IndexKind::diagonal
               : facts.shared ? IndexKind::shared
               : any_hot      ? IndexKind::absolute
                              : facts.by_steps;
  slice.first_index = static_cast<std::uint16_t>(entries);
  slice.first_slot = slice.first_base = 0;
  slice.unused = 0;
  tables.slices[i] = slice;
  if (!is_repeated(slice.kind)) atomicAdd(&window.unshared, entries);
  atomicMin(&window.least_column, facts.least);
  atomicMax(&window.most_column, facts.most);
  if (slice.listed == 1 || slice.depth != slice.shortest) atomicOr(&window.told, 1);
}

/// Counts the breaks of a window, by a block.
__device__ void count_breaks(const std::uint16_t* order, int pieces, WindowFacts& window) {
  int breaks = 0;
  for (int i = 1 + thread_of_block(); i < pieces; i += threads_of_block())
    breaks += order[i] != order[i - 1] + 1 ? 1 : 0;
  if (breaks > 0) atomicAdd(&window.breaks, breaks);
}

/// Where each of the measured slices begins, and the window's sizes, by one warp.
template <int kWide>
__device__ void place_slices(const Slice* measured, int count, bool staged, Slice* placed,
                             WindowSizes& sizes) {
  std::uint32_t slot = 0;  // in units, as the other two
  std::uint32_t index = 0;
  std::uint32_t base = 0;
  const auto place = [](std::uint32_t& sum, std::uint32_t size) {
    const std::uint32_t inclusive = device::warp_inclusive_sum(size);
    const std::uint32_t before = sum + inclusive - size;
    sum += __shfl_sync(kAllLanes, inclusive, kLanes - 1);
    return static_cast<std::uint16_t>(before);
  };
  for (int first = 0; first < count; first += kLanes) {
    const int i = first + lane_of_warp();
    const bool exists = i < count;
    Slice slice = exists ? measured[i] : Slice{};
    if (staged && !is_repeated(slice.kind)) slice.kind = IndexKind::staged;
    const std::uint32_t entries = slice.first_index;
    const auto own_slots =
        static_cast<std::uint32_t>(slots_of(slice, static_cast<int>(entries), kWide));
    const auto bytes = static_cast<std::uint32_t>(index_bytes(slice, static_cast<int>(own_slots)));
    const std::uint32_t steps = has_bases(slice.kind) ? slice.depth : 0;
    slice.first_slot = place(slot, device::ceil_div<std::uint32_t>(own_slots, kSlotUnit));
    slice.first_index = place(index, device::ceil_div<std::uint32_t>(bytes, kIndexUnit));
    slice.first_base = place(base, device::ceil_div<std::uint32_t>(steps, kBaseUnit));
    if (!exists) continue;
    placed[i] = slice;
    atomicAdd(&sizes.of[kind_entries + static_cast<int>(slice.kind)], entries);
  }
  if (lane_of_warp() != 0) return;
  sizes.of[slots] = static_cast<std::uint32_t>(round_up(slot * kSlotUnit, kWindowSlotAlign));
  sizes.of[index_units] = index;
  sizes.of[bases] = base * kBaseUnit;
}

/// The split row that the window is the first of, and the end of all of them.
__device__ void put_split_row(const PackArguments& a, const WindowStart* window,
                              std::int32_t* split_rows, std::int64_t* split_starts) {
  if (blockIdx.x == 0) split_starts[a.split_rows] = a.partials;
  if (window->split < 0 || (blockIdx.x > 0 && window[-1].split == window->split)) return;
  split_rows[window->split] = window->first_row;
  split_starts[window->split] = window->partial;
}

/// A block a window, a warp a slice. Shared memory: PieceTables.
template <int kWide>
__global__ void __launch_bounds__(kThreadsMost)
    layout_kernel(PackArguments a, WindowSizes* all_sizes, std::int32_t* split_rows,
                  std::int64_t* split_starts) {
  extern __shared__ uint4 shared[];
  __shared__ WindowFacts facts;
  const std::int64_t number = blockIdx.x;
  const WindowStart start = a.starts[number];
  const PieceTables tables(shared, a.tables, start);
  if (thread_of_block() == 0) {
    facts = WindowFacts{};
    facts.least_column = ~0U;
  }
  const std::int64_t end = a.starts[number + 1].first_entry;
  PieceSort(start, a.row_offsets, end, a.shape, tables).run();
  const int slices = cut_slices<kWide>(tables, start.pieces, a.shape);
  count_breaks(tables.order, start.pieces, facts);

  const int warp = warp_of_block();
  for (int i = warp; i < slices; i += warps_of_block()) {
    with_pieces<kWide>(tables, tables.slices[i], [&](const auto& pieces) {
      measure_slice<kWide>(pieces, a.columns + start.first_entry, tables, i,
                           a.hot_places != nullptr, facts);
    });
  }
  __syncthreads();  // all slices are measured
  if (warp > 0) return;

  const std::int64_t span = std::int64_t{facts.most_column} - facts.least_column + 1;
  const bool staged =
      slices > 0 && a.shape.stage_most > 0 &&
      stages(span, facts.unshared, end - start.first_entry, start.split >= 0, a.shape);
  place_slices<kWide>(tables.slices, slices, staged, a.laid_out + number * a.tables.slices,
                      facts.sizes);
  __syncwarp();  // entries of all kinds are there
  if (thread_of_block() != 0) return;
  const bool whole = start.cut == 0 && start.split < 0;  // all rows
  facts.sizes.of[pieces_told] =
      facts.told == 1 ? static_cast<std::uint32_t>(round_up(start.pieces, kPieceUnit)) : 0;
  facts.sizes.of[row_cells] = start.cut == 1 ? start.rows + 1 : 0;
  all_sizes[number] = facts.sizes;
  Window window{};
  window.first_entry = start.first_entry;
  window.first_row = start.first_row;
  window.rows = static_cast<std::uint16_t>(start.rows);
  window.pieces = static_cast<std::uint16_t>(start.pieces);
  window.partial = start.partial;
  window.split = start.split;
  window.first_column = staged ? static_cast<std::int32_t>(facts.least_column - a.index_base) : 0;
  window.columns = staged ? static_cast<std::int32_t>(span) : 0;
  window.slices = static_cast<std::uint16_t>(slices);
  window.direct = whole && start.empty == 0 && in_runs(start.pieces, facts.breaks) ? 1 : 0;
  window.gaps = whole && start.empty == 1 ? 1 : 0;
  a.windows[number] = window;
  put_split_row(a, a.starts + number, split_rows, split_starts);
}

/// Sizes of each tile of windows; the last block to end makes them sums over the tiles before, and
/// leaves the totals. `tile_sums`: [kSizes, tiles]
__global__ void __launch_bounds__(kThreads)
    sum_sizes_kernel(const WindowSizes* sizes, std::int64_t windows, std::int64_t* tile_sums,
                     SizeTotals* totals) {
  const std::int64_t tiles = gridDim.x;
  const std::int64_t number = thread_of_grid();
  for (int size = 0; size < kSizes; ++size) {
    const std::int64_t own = number < windows ? sizes[number].of[size] : 0;
    std::int64_t total;
    device::block_exclusive_sum(own, total);
    if (threadIdx.x == 0) tile_sums[size * tiles + blockIdx.x] = total;
  }
  if (!is_last_block(&totals->arrivals)) return;
  for (int size = 0; size < kSizes; ++size) {
    const std::int64_t total = device::scan_by_block(tile_sums + size * tiles, tiles);
    if (threadIdx.x == 0) totals->of[size] = total;
  }
}

/// `most` becomes the greatest of the warp's values if it is less.
__device__ void keep_most(int* most, int own) {
  const unsigned of_warp = __reduce_max_sync(kAllLanes, static_cast<unsigned>(own));
  if (lane_of_warp() == 0) atomicMax(most, static_cast<int>(of_warp));
}

/// Where the parts of each window begin, and the greatest windows.
__global__ void __launch_bounds__(kThreads)
    place_windows_kernel(const WindowSizes* sizes, const std::int64_t* tile_sums,
                         std::int64_t windows, Window* placed, SizeTotals* totals) {
  const std::int64_t number = thread_of_grid();
  std::int64_t first[kPlacedSizes];
  bool any[kPlacedSizes];
#pragma unroll
  for (int size = 0; size < kPlacedSizes; ++size) {
    const std::int64_t own = number < windows ? sizes[number].of[size] : 0;
    std::int64_t total;
    first[size] = tile_sums[size * std::int64_t{gridDim.x} + blockIdx.x] +
                  device::block_exclusive_sum(own, total);
    any[size] = own > 0;
  }
  int slices = 0;
  int cells = 0;
  int columns = 0;
  if (number < windows) {
    Window& window = placed[number];
    window.first_slot = first[slots];
    window.first_index = first[index_units];
    window.first_base = first[bases];
    window.first_piece = any[pieces_told] ? first[pieces_told] : -1;
    window.first_row_cell = any[row_cells] ? first[row_cells] : -1;
    slices = window.slices;
    cells = window.direct == 1 ? 0 : cells_of(window);
    columns = window.columns;
  }
  keep_most(&totals->slices_most, slices);
  keep_most(&totals->cells_most, cells);
  keep_most(&totals->columns_most, columns);
}

/// The arrays of indices that are filled.
struct FilledArrays {
  Slice* slices;
  int slices_most;
  int told_of_each;  // window, of lengths and cells; 0: they are where the window says
  std::uint8_t* indices;
  std::uint32_t* bases;
  std::uint8_t* lengths;
  std::uint16_t* cells;
  std::uint16_t* row_cells;
};

/// The columns of piece 0, less `shift`.
template <int kPieces>
__device__ void fill_bases(const LanePieces<kPieces>& pieces, const std::int32_t* columns,
                           unsigned shift, std::uint32_t* bases) {
  const std::int32_t* const front = columns + __shfl_sync(kAllLanes, pieces.entries[0], 0);
  const std::uint32_t stride = __shfl_sync(kAllLanes, pieces.strides[0], 0);
  for (int step = lane_of_warp(); step < pieces.depth; step += kLanes)
    bases[step] = static_cast<unsigned>(front[step * stride]) - shift;
}

/// A slice of kind `shared`: an offset a piece, and the columns of piece 0 less its own.
template <int kPieces>
__device__ void fill_shared(const LanePieces<kPieces>& pieces, const std::int32_t* columns,
                            unsigned index_base, std::uint16_t* offsets, std::uint32_t* bases) {
  const int lane = lane_of_warp();
  unsigned first[kPieces];
  unsigned least = ~0U;
#pragma unroll
  for (int r = 0; r < kPieces; ++r) {
    first[r] = pieces.lengths[r] > 0 ? static_cast<unsigned>(columns[pieces.entries[r]]) : ~0U;
    least = min(least, first[r]);
  }
  least = __reduce_min_sync(kAllLanes, least);
#pragma unroll
  for (int r = 0; r < kPieces; ++r) {
    if (pieces.lengths[r] > 0)
      offsets[r * kLanes + lane] = static_cast<std::uint16_t>(first[r] - least);
  }
  constexpr int kUnit = kIndexUnit / static_cast<int>(sizeof(std::uint16_t));
  for (int i = pieces.width + lane; i < round_up(pieces.width, kUnit); i += kLanes)
    offsets[i] = 0;
  fill_bases(pieces, columns, __shfl_sync(kAllLanes, first[0], 0) - least + index_base, bases);
}

/// Distances of the columns of each step from origin(step, columns of the lane's pieces).
template <class Distance, int kPieces, class Origin>
__device__ void fill_distances(const LanePieces<kPieces>& pieces, const std::int32_t* columns,
                               Distance* distances, Origin origin) {
  SlotWriter<kPieces, Distance> writer(pieces, distances);
  for_each_step(pieces, columns, [&](int step, const std::int32_t(&step_columns)[kPieces]) {
    const unsigned from = origin(step, step_columns);
    Distance own[kPieces];
#pragma unroll
    for (int r = 0; r < kPieces; ++r)
      own[r] = static_cast<Distance>(static_cast<unsigned>(step_columns[r]) - from);
    writer.store(step, own);
  });
  writer.pad(distances + round_up(pieces.slots_of_slice(), kIndexUnit / sizeof(Distance)));
}
template <class Distance, int kPieces>
__device__ void fill_distances(const LanePieces<kPieces>& pieces, const std::int32_t* columns,
                               Distance* distances, unsigned origin) {
  fill_distances(pieces, columns, distances,
                 [&](int /*step*/, const std::int32_t(&)[kPieces]) { return origin; });
}

/// Columns or, of hot ones, their places.
template <int kPieces>
__device__ void fill_hot(const LanePieces<kPieces>& pieces, const std::int32_t* columns,
                         unsigned index_base, const std::int32_t* hot_places,
                         std::uint32_t* indices) {
  SlotWriter<kPieces, std::uint32_t> writer(pieces, indices);
  for_each_step(pieces, columns, [&](int step, const std::int32_t(&step_columns)[kPieces]) {
    std::uint32_t own[kPieces] = {};
#pragma unroll
    for (int r = 0; r < kPieces; ++r) {
      if (step >= pieces.lengths[r]) continue;
      const std::uint32_t column = static_cast<unsigned>(step_columns[r]) - index_base;
      const std::int32_t place = __ldg(hot_places + column);
      own[r] = place < 0 ? column : kHotBit | static_cast<std::uint32_t>(place);
    }
    writer.store(step, own);
  });
  writer.pad(indices + round_up(pieces.slots_of_slice(), kIndexUnit / sizeof(std::uint32_t)));
}

/// Offsets from the least column of each step, its base.
template <class Offset, int kPieces>
__device__ void fill_offsets(const LanePieces<kPieces>& pieces, const std::int32_t* columns,
                             unsigned index_base, Offset* offsets, std::uint32_t* bases) {
  const auto base_of = [&](int step, const std::int32_t(&step_columns)[kPieces]) {
    unsigned least = ~0U;
#pragma unroll
    for (int r = 0; r < kPieces; ++r) {
      if (step < pieces.lengths[r]) least = min(least, static_cast<unsigned>(step_columns[r]));
    }
    least = __reduce_min_sync(kAllLanes, least);
    if (lane_of_warp() == 0) bases[step] = least - index_base;
    return least;
  };
  fill_distances(pieces, columns, offsets, base_of);
}

template <int kPieces>
__device__ void fill_columns(const PackArguments& a, const Window& window, const Slice& slice,
                             const LanePieces<kPieces>& pieces, const FilledArrays& arrays) {
  const std::int32_t* const columns = a.columns + window.first_entry;
  std::uint8_t* const bytes =
      arrays.indices + (window.first_index + slice.first_index) * kIndexUnit;
  auto* const halves = reinterpret_cast<std::uint16_t*>(bytes);
  auto* const words = reinterpret_cast<std::uint32_t*>(bytes);
  std::uint32_t* const bases = arrays.bases + window.first_base + slice.first_base * kBaseUnit;
  switch (slice.kind) {
    case IndexKind::diagonal:
      fill_bases(pieces, columns, a.index_base, bases);
      break;
    case IndexKind::shared:
      fill_shared(pieces, columns, a.index_base, halves, bases);
      break;
    case IndexKind::staged:
      fill_distances(pieces, columns, halves, a.index_base + window.first_column);
      break;
    case IndexKind::offset8:
      fill_offsets(pieces, columns, a.index_base, bytes, bases);
      break;
    case IndexKind::offset16:
      fill_offsets(pieces, columns, a.index_base, halves, bases);
      break;
    case IndexKind::absolute:
      if (a.hot_places != nullptr) {
        fill_hot(pieces, columns, a.index_base, a.hot_places, words);
      } else {
        fill_distances(pieces, columns, words, a.index_base);
      }
      break;
  }
  const int step = pieces.depth + lane_of_warp();
  if (has_bases(slice.kind) && step < round_up(pieces.depth, kBaseUnit)) bases[step] = 0;
}

/// Lengths and cells of a slice, where it needs them; by a warp.
__device__ void fill_pieces(const Slice& slice, const PieceTables& tables, std::uint8_t* lengths,
                            std::uint16_t* cells) {
  for (int i = lane_of_warp(); i < slice.width; i += kLanes) {
    const std::uint16_t cell = tables.order[slice.first_piece + i];
    if (slice.depth != slice.shortest) lengths[i] = tables.lengths[cell];
    if (slice.listed == 1) cells[i] = cell;
  }
}

/// A block a window, a warp a slice. Shared memory: PieceTables.
template <int kWide>
__global__ void __launch_bounds__(kThreadsMost) fill_kernel(PackArguments a, FilledArrays arrays) {
  extern __shared__ uint4 shared[];
  const std::int64_t number = blockIdx.x;
  const WindowStart start = a.starts[number];
  const PieceTables tables(shared, a.tables, start);
  Window window = a.windows[number];
  std::int64_t told = round_up(window.pieces, kPieceUnit);
  if (arrays.told_of_each > 0) {
    told = arrays.told_of_each;
    window.first_piece = number * told;
    if (thread_of_block() == 0) a.windows[number].first_piece = window.first_piece;
  }
  for (int i = thread_of_block(); window.first_piece >= 0 && i < told; i += threads_of_block()) {
    arrays.lengths[window.first_piece + i] = 0;
    arrays.cells[window.first_piece + i] = 0;
  }
  const Slice* const slices = a.laid_out + number * a.tables.slices;
  Slice* const own_slices = arrays.slices + number * arrays.slices_most;
  for (int i = thread_of_block(); i < arrays.slices_most; i += threads_of_block())
    own_slices[i] = i < window.slices ? slices[i] : Slice{};
  PieceSort(start, a.row_offsets, a.starts[number + 1].first_entry, a.shape, tables).run();

  if (window.first_row_cell >= 0) {
    for (int row = thread_of_block(); row <= start.rows; row += threads_of_block())
      arrays.row_cells[window.first_row_cell + row] = tables.row_cells[row];
  }
  for (int i = warp_of_block(); i < window.slices; i += warps_of_block()) {
    const Slice slice = slices[i];
    if (window.first_piece >= 0) {
      const std::int64_t first = window.first_piece + slice.first_piece;
      fill_pieces(slice, tables, arrays.lengths + first, arrays.cells + first);
    }
    with_pieces<kWide>(tables, slice,
                       [&](const auto& pieces) { fill_columns(a, window, slice, pieces, arrays); });
  }
}

__global__ void __launch_bounds__(kThreads)
    bands_kernel(PackedHeader header, const Window* windows, const std::int64_t* split_starts,
                 std::uint16_t* bands) {
  const std::int64_t number = thread_of_grid();
  if (number < header.windows) bands[number] = band_of(windows[number], header, split_starts);
}

/// A warp a band: it counts the windows of the bands before, then lists its own.
__global__ void __launch_bounds__(kThreads)
    order_kernel(const std::uint16_t* bands, std::uint32_t windows, std::uint32_t* order) {
  const unsigned own = (blockIdx.x * kThreads + threadIdx.x) / kLanes;
  const unsigned lane = lane_of_warp();
  unsigned before = 0;
  for (unsigned number = lane; number < windows; number += kLanes)
    before += bands[number] < own ? 1 : 0;
  before = __reduce_add_sync(kAllLanes, before);
  for (unsigned first = 0; first < windows; first += kLanes) {
    const unsigned number = first + lane;
    const bool mine = number < windows && bands[number] == own;
    const unsigned peers = __ballot_sync(kAllLanes, mine);
    if (mine) order[before + __popc(peers & ((1U << lane) - 1))] = number;
    before += __popc(peers);
  }
}

/// Lists the windows by bands, and those of a band in their order.
void order_windows(const Stream& stream, PackedPattern& packed) {
  const PackedHeader& header = packed.header;
  Buffer<std::uint16_t> bands(stream, header.windows);
  launch(stream, "bands_kernel", bands_kernel, blocks_of(header.windows), header,
         packed.windows.data(), packed.split_starts.data(), bands.data());
  launch(stream, "order_kernel", order_kernel, blocks_of(std::int64_t{header.shape.bands} * kLanes),
         bands.data(), static_cast<std::uint32_t>(header.windows), packed.order.data());
}

/// Launches a kernel of a block a window, called `what` in an error.
template <class... Parameters, class... Arguments>
void launch_windows(const Stream& stream, const char* what,
                    void (*kernel)(PackArguments, Parameters...), std::int64_t windows,
                    const PackArguments& a, const Arguments&... arguments) {
  const int bytes = a.tables.bytes();
  const device::LaunchScope scope(stream);
  device::allow_shared_memory(stream, kernel, bytes);
  kernel<<<static_cast<unsigned>(windows), a.tables.warps * kLanes, bytes, stream.native()>>>(
      a, arguments...);
  scope.check(what);
}

/// Windows and their slices, and the rows that are split; waits for the sums over the windows.
template <int kWide>
SizeTotals lay_out(const Stream& stream, const PackArguments& a, std::int64_t windows,
                   std::int32_t* split_rows, std::int64_t* split_starts) {
  const unsigned tiles = blocks_of(windows);
  Buffer<WindowSizes> sizes(stream, windows);
  Buffer<std::int64_t> tile_sums(stream, std::int64_t{kSizes} * tiles);
  Buffer<SizeTotals> totals(stream, 1);
  totals.fill_zero();
  launch_windows(stream, "layout_kernel", layout_kernel<kWide>, windows, a, sizes.data(),
                 split_rows, split_starts);
  launch(stream, "sum_sizes_kernel", sum_sizes_kernel, tiles, sizes.data(), windows,
         tile_sums.data(), totals.data());
  launch(stream, "place_windows_kernel", place_windows_kernel, tiles, sizes.data(),
         tile_sums.data(), windows, a.windows, totals.data());
  return totals.to_host().front();
}

template <int kWide>
PackedPattern pack_windows(const Stream& stream, const CsrPattern& a, const Shape& shape,
                           Allocator* allocator) {
  const Windows cut = cut_windows(stream, a, shape);
  const WindowTotals& totals = cut.totals;
  HotColumns hot = find_hot_columns(stream, a, shape, allocator);
  PackedHeader header{.rows = a.rows, .cols = a.cols, .nnz = a.nnz, .shape = shape};
  header.windows = totals.windows;
  header.split_rows = totals.split_rows;
  header.partials = totals.partials;
  header.hot = hot.columns.size();
  header.hot_sampled = hot.sampled;
  std::copy_n(totals.class_rows, kRowClasses, header.class_rows);
  std::copy_n(totals.class_entries, kRowClasses, header.class_entries);

  Buffer<Window> windows(stream, header.windows, allocator);
  Buffer<std::int32_t> split_rows(stream, header.split_rows, allocator);
  Buffer<std::int64_t> split_starts(stream, header.split_rows + 1, allocator);
  const int slices_most = device::ceil_div(totals.pieces_most, kLanes);  // if none is wide
  const bool row_cells_told = totals.cut_rows_most > 0;
  const bool any_cut = row_cells_told || header.split_rows > 0;
  Buffer<Slice> laid_out(stream, header.windows * slices_most);
  const PackArguments arguments{cut.starts.data(),
                                a.row_offsets,
                                a.columns,
                                static_cast<unsigned>(a.index_base),
                                hot.places.data(),
                                shape,
                                {.cells = totals.cells_most,
                                 .cut_cells = any_cut ? totals.cells_most : 0,
                                 .row_cells = row_cells_told ? totals.cut_rows_most + 1 : 0,
                                 .keys = std::max(shape.piece_most, kPieceGroups),
                                 .warps = threads_for(slices_most) / kLanes,
                                 .slices = slices_most},
                                totals.split_rows,
                                totals.partials,
                                windows.data(),
                                laid_out.data()};
  SizeTotals sums{};
  if (header.windows > 0) {
    sums =
        lay_out<kWide>(stream, arguments, header.windows, split_rows.data(), split_starts.data());
  } else {
    split_starts.fill_zero();
  }

  header.slices_most = sums.slices_most;
  header.cells_most = sums.cells_most;
  header.columns_most = sums.columns_most;
  header.slots = sums.of[slots];
  header.index_units = sums.of[index_units];
  header.bases = sums.of[bases];
  const bool each = one_slice_a_warp(header) && sums.of[pieces_told] > 0;
  const int told_of_each = each ? sums.slices_most * kLanes : 0;
  header.pieces_told = each ? header.windows * told_of_each : sums.of[pieces_told];
  header.row_cells = sums.of[row_cells];
  std::copy_n(sums.of + kind_entries, kIndexKinds, header.kind_entries);
  PackedPattern packed{header,
                       std::move(windows),
                       Buffer<Slice>(stream, header.windows * header.slices_most, allocator),
                       Buffer<std::uint8_t>(stream, header.index_units * kIndexUnit, allocator),
                       Buffer<std::uint32_t>(stream, header.bases, allocator),
                       Buffer<std::uint8_t>(stream, header.pieces_told, allocator),
                       Buffer<std::uint16_t>(stream, header.pieces_told, allocator),
                       Buffer<std::uint16_t>(stream, header.row_cells, allocator),
                       std::move(split_rows),
                       std::move(split_starts),
                       Buffer<std::uint32_t>(stream, ordered_windows(header), allocator),
                       std::move(hot.columns)};
  if (header.windows == 0) return packed;
  launch_windows(stream, "fill_kernel", fill_kernel<kWide>, header.windows, arguments,
                 FilledArrays{packed.slices.data(), header.slices_most, told_of_each,
                              packed.indices.data(), packed.bases.data(), packed.lengths.data(),
                              packed.cells.data(), packed.row_cells.data()});
  if (ordered_windows(header) > 0) order_windows(stream, packed);
  return packed;
}

}  // namespace

PackedPattern pack_pattern(const Stream& stream, const CsrPattern& a, const Shape& shape,
                           Allocator* allocator) {
  switch (shape.lane_pieces) {
    case 1:
      return pack_windows<1>(stream, a, shape, allocator);
    case 2:
      return pack_windows<2>(stream, a, shape, allocator);
    default:
      return pack_windows<4>(stream, a, shape, allocator);
  }
}

}  // namespace lanky::sparse::cuda
