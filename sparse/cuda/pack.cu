// Packing the pattern of a matrix: a block a window sorts its pieces, lays out its slices and
// chooses how their columns are stored; the windows' sizes are summed up; then a block a window
// fills the arrays.
#include "sparse/cuda/pack.cuh"

#include <algorithm>
#include <utility>

#include "device/arrival.cuh"
#include "device/launch.cuh"
#include "sparse/cuda/pieces.cuh"
#include "sparse/cuda/slice_steps.cuh"

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
  unsigned arrivals;
};

struct PackArguments {
  const WindowStart* starts;        // [windows + 1]
  const std::int64_t* row_offsets;  // [rows + 1]
  const std::int32_t* columns;      // [nnz]
  unsigned index_base;
  Shape shape;
  PieceTableSizes tables;
  std::int64_t split_rows;
  std::int64_t partials;
};

/// Slice `number` of a window of `pieces`.
template <int kPieces>
__device__ LanePieces<kPieces> pieces_of_lane(const PieceTables& tables, int number, int pieces,
                                              int piece_most) {
  const std::uint16_t* const order = tables.order + number * kLanes * kPieces;
  const auto length = [&](int cell) {
    return length_of_bucket(tables.cell_buckets[cell], piece_most);
  };
  LanePieces<kPieces> own;
  own.width = slice_width(number, pieces, kPieces);
#pragma unroll
  for (int r = 0; r < kPieces; ++r) {
    const int i = r * kLanes + lane_of_warp();
    const int cell = i < own.width ? order[i] : 0;
    own.entries[r] = tables.entries[cell];
    own.lengths[r] = i < own.width ? length(cell) : 0;
  }
  own.depth = length(order[0]);
  own.shortest = length(order[own.width - 1]);
  own.whole = whole_steps(own.width, own.shortest, kPieces);
  return own;
}

/// The first kind that can hold the columns of a slice.
template <int kPieces>
__device__ IndexKind choose_kind(const LanePieces<kPieces>& pieces, const std::int32_t* columns) {
  bool repeat = pieces.width > 1;  // this lane's pieces are piece 0, shifted
  unsigned shifts[kPieces] = {};   // of step 0
  unsigned spread_at_first = 0;
  unsigned spread = 0;  // greatest distance of two columns in a step
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
      repeat = repeat && column - front == shifts[r];
    }
    const unsigned own_spread =
        __reduce_max_sync(kAllLanes, most) - __reduce_min_sync(kAllLanes, least);
    if (step == 0) spread_at_first = own_spread;
    spread = max(spread, own_spread);
  });
  if (__all_sync(kAllLanes, repeat) && spread_at_first <= 0xffffU) return IndexKind::shared;
  if (spread <= 0xffU) return IndexKind::offset8;
  return spread <= 0xffffU ? IndexKind::offset16 : IndexKind::absolute;
}

/// A slice with its sizes in place of its beginnings.
template <int kPieces>
__device__ Slice measure_slice(const LanePieces<kPieces>& pieces, const std::uint16_t* order,
                               const std::int32_t* columns) {
  bool follow = true;
#pragma unroll
  for (int r = 0; r < kPieces; ++r) {
    const int i = r * kLanes + lane_of_warp();
    if (i < pieces.width) follow = follow && order[i] == order[0] + i;
  }
  const bool listed = !__all_sync(kAllLanes, follow);
  const IndexKind kind = choose_kind(pieces, columns);
  const unsigned entries = pieces.total();
  const unsigned bytes = kind == IndexKind::shared
                             ? pieces.width * static_cast<unsigned>(sizeof(std::uint16_t))
                             : entries * index_bytes(kind);
  Slice slice{};
  slice.first_slot = static_cast<std::uint32_t>(round_up(entries, kSlotAlign));
  slice.first_index = static_cast<std::uint32_t>(device::ceil_div<unsigned>(bytes, kIndexUnit));
  slice.first_base = static_cast<std::uint16_t>(
      kind == IndexKind::absolute ? 0 : device::ceil_div(pieces.depth, kBaseUnit));
  slice.first_cell = listed ? std::uint16_t{0} : order[0];
  slice.depth = static_cast<std::uint8_t>(pieces.depth);
  slice.shortest = static_cast<std::uint8_t>(pieces.shortest);
  slice.kind = kind;
  slice.listed = listed ? 1 : 0;
  return slice;
}

/// Sizes of slices become beginnings, by one warp; the sums are those of the window.
__device__ void place_slices(const Slice* measured, int count, Slice* placed, WindowSizes& sums) {
  const int lane = lane_of_warp();
  std::uint32_t slot = 0;
  std::uint32_t index = 0;
  std::uint32_t base = 0;
  const auto next = [&](std::uint32_t size, std::uint32_t& sum) {
    const std::uint32_t inclusive = device::warp_inclusive_sum(size);
    const std::uint32_t place = sum + inclusive - size;
    sum += __shfl_sync(kAllLanes, inclusive, kLanes - 1);
    return place;
  };
  for (int first = 0; first < count; first += kLanes) {
    const int i = first + lane;
    Slice slice = i < count ? measured[i] : Slice{};
    slice.first_slot = next(slice.first_slot, slot);
    slice.first_index = next(slice.first_index, index);
    slice.first_base = static_cast<std::uint16_t>(next(slice.first_base, base));
    if (i < count) placed[i] = slice;
  }
  if (lane != 0) return;
  sums.of[slots] = static_cast<std::uint32_t>(round_up(slot, kWindowSlotAlign));
  sums.of[index_units] = index;
  sums.of[bases] = base * kBaseUnit;
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
template <int kPieces>
__global__ void __launch_bounds__(kThreadsMost)
    layout_kernel(PackArguments a, Window* windows, Slice* all_slices, WindowSizes* all_sizes,
                  std::int32_t* split_rows, std::int64_t* split_starts) {
  extern __shared__ uint4 shared[];
  __shared__ WindowSizes sizes;
  __shared__ int any_listed;
  __shared__ int any_told;
  const PieceTables tables(shared, a.tables);
  const std::int64_t number = blockIdx.x;
  const WindowStart start = a.starts[number];
  if (threadIdx.x < kSizes) sizes.of[threadIdx.x] = 0;
  if (threadIdx.x == 0) any_listed = any_told = 0;
  PieceSort(start, a.row_offsets, a.starts[number + 1].first_entry, a.shape, tables).run();

  const std::int32_t* const columns = a.columns + start.first_entry;
  const int warps = static_cast<int>(blockDim.x) / kLanes;
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  const int slices = device::ceil_div(start.pieces, kLanes * kPieces);
  for (int i = warp; i < slices; i += warps) {
    const auto pieces = pieces_of_lane<kPieces>(tables, i, start.pieces, a.shape.piece_most);
    const Slice slice = measure_slice(pieces, tables.order + i * kLanes * kPieces, columns);
    const unsigned entries = pieces.total();
    if (lane_of_warp() != 0) continue;
    tables.slices[i] = slice;
    atomicAdd(&sizes.of[kind_entries + static_cast<int>(slice.kind)], entries);
    if (slice.listed == 1) atomicOr(&any_listed, 1);
    if (slice.listed == 1 || slice.depth != slice.shortest) atomicOr(&any_told, 1);
  }
  __syncthreads();  // all slices are measured

  Slice* const own_slices = all_slices + number * a.tables.slices;
  if (warp == 0) place_slices(tables.slices, slices, own_slices, sizes);
  for (int i = slices + static_cast<int>(threadIdx.x); i < a.tables.slices;
       i += static_cast<int>(blockDim.x)) {
    own_slices[i] = Slice{};
  }
  if (threadIdx.x != 0) return;
  const bool whole = start.cut == 0 && start.split < 0;  // all rows
  sizes.of[pieces_told] = any_told == 1 ? start.pieces : 0;
  sizes.of[row_cells] = start.cut == 1 ? start.rows + 1 : 0;
  all_sizes[number] = sizes;
  Window window{};
  window.first_entry = start.first_entry;
  window.first_row = start.first_row;
  window.rows = static_cast<std::uint16_t>(start.rows);
  window.pieces = static_cast<std::uint16_t>(start.pieces);
  window.partial = start.partial;
  window.direct = whole && start.empty == 0 && any_listed == 0 ? 1 : 0;
  window.gaps = whole && start.empty == 1 ? 1 : 0;
  windows[number] = window;
  put_split_row(a, a.starts + number, split_rows, split_starts);
}

constexpr int kSumThreads = 256;  // windows of a tile

/// Sizes of each tile of windows; the last block to end makes them sums over the tiles before, and
/// leaves the totals. `tile_sums`: [kSizes, tiles]
__global__ void __launch_bounds__(kSumThreads)
    sum_sizes_kernel(const WindowSizes* sizes, std::int64_t windows, std::int64_t* tile_sums,
                     SizeTotals* totals) {
  __shared__ bool last;
  const std::int64_t tiles = gridDim.x;
  const std::int64_t window = std::int64_t{blockIdx.x} * kSumThreads + threadIdx.x;
  for (int size = 0; size < kSizes; ++size) {
    const std::int64_t own = window < windows ? sizes[window].of[size] : 0;
    std::int64_t total;
    device::block_exclusive_sum(own, total);
    if (threadIdx.x == 0) tile_sums[size * tiles + blockIdx.x] = total;
  }
  if (threadIdx.x == 0) last = device::arrive_at(&totals->arrivals, gridDim.x);
  __syncthreads();  // `last` is there
  if (!last) return;
  for (int size = 0; size < kSizes; ++size) {
    const std::int64_t total = device::scan_by_block(tile_sums + size * tiles, tiles);
    if (threadIdx.x == 0) totals->of[size] = total;
  }
}

/// Where the parts of each window begin.
__global__ void __launch_bounds__(kSumThreads)
    place_parts_kernel(const WindowSizes* sizes, std::int64_t windows,
                       const std::int64_t* tile_sums, Window* placed) {
  const std::int64_t window = std::int64_t{blockIdx.x} * kSumThreads + threadIdx.x;
  std::int64_t first[kPlacedSizes];
  bool any[kPlacedSizes];
#pragma unroll
  for (int size = 0; size < kPlacedSizes; ++size) {
    const std::int64_t own = window < windows ? sizes[window].of[size] : 0;
    std::int64_t total;
    first[size] = tile_sums[size * std::int64_t{gridDim.x} + blockIdx.x] +
                  device::block_exclusive_sum(own, total);
    any[size] = own > 0;
  }
  if (window >= windows) return;
  Window& target = placed[window];
  target.first_slot = first[slots];
  target.first_index = first[index_units];
  target.first_base = first[bases];
  target.first_piece = any[pieces_told] ? first[pieces_told] : -1;
  target.first_row_cell = any[row_cells] ? first[row_cells] : -1;
}

/// The arrays of indices that are filled.
struct FilledArrays {
  const Window* windows;
  const Slice* slices;
  std::uint8_t* indices;
  std::uint32_t* bases;
  std::uint8_t* lengths;
  std::uint16_t* cells;
  std::uint16_t* row_cells;
};

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
  const unsigned shift = __shfl_sync(kAllLanes, first[0], 0) - least + index_base;
  const std::int32_t* const front = columns + __shfl_sync(kAllLanes, pieces.entries[0], 0);
  for (int step = lane; step < pieces.depth; step += kLanes)
    bases[step] = static_cast<unsigned>(front[step]) - shift;
}

/// A slice of the other kinds: Offset is the index of a slot, absolute ones have no bases.
template <class Offset, int kPieces>
__device__ void fill_offsets(const LanePieces<kPieces>& pieces, const std::int32_t* columns,
                             unsigned index_base, Offset* offsets, std::uint32_t* bases) {
  constexpr bool kAbsolute = sizeof(Offset) == sizeof(std::uint32_t);
  SlotWriter<kPieces, Offset> writer(pieces, offsets);
  for_each_step(pieces, columns, [&](int step, const std::int32_t(&step_columns)[kPieces]) {
    unsigned origin = index_base;
    if constexpr (!kAbsolute) {
      unsigned least = ~0U;
#pragma unroll
      for (int r = 0; r < kPieces; ++r) {
        if (step < pieces.lengths[r]) least = min(least, static_cast<unsigned>(step_columns[r]));
      }
      origin = __reduce_min_sync(kAllLanes, least);
      if (lane_of_warp() == 0) bases[step] = origin - index_base;
    }
    Offset step_offsets[kPieces];
#pragma unroll
    for (int r = 0; r < kPieces; ++r)
      step_offsets[r] = static_cast<Offset>(static_cast<unsigned>(step_columns[r]) - origin);
    writer.store(step, step_offsets);
  });
  constexpr int kUnit = kIndexUnit / static_cast<int>(sizeof(Offset));
  writer.pad(offsets + round_up(pieces.total(), kUnit));
}

template <int kPieces>
__device__ void fill_columns(const Slice& slice, const LanePieces<kPieces>& pieces,
                             const std::int32_t* columns, unsigned index_base,
                             std::uint8_t* indices, std::uint32_t* bases) {
  switch (slice.kind) {
    case IndexKind::shared:
      fill_shared(pieces, columns, index_base, reinterpret_cast<std::uint16_t*>(indices), bases);
      break;
    case IndexKind::offset8:
      fill_offsets(pieces, columns, index_base, indices, bases);
      break;
    case IndexKind::offset16:
      fill_offsets(pieces, columns, index_base, reinterpret_cast<std::uint16_t*>(indices), bases);
      break;
    case IndexKind::absolute:
      fill_offsets(pieces, columns, index_base, reinterpret_cast<std::uint32_t*>(indices), bases);
      return;  // no bases
  }
  const int step = pieces.depth + lane_of_warp();
  if (step < round_up(pieces.depth, kBaseUnit)) bases[step] = 0;
}

/// A block a window, a warp a slice. Shared memory: PieceTables.
template <int kPieces>
__global__ void __launch_bounds__(kThreadsMost) fill_kernel(PackArguments a, FilledArrays arrays) {
  extern __shared__ uint4 shared[];
  const PieceTables tables(shared, a.tables);
  const std::int64_t number = blockIdx.x;
  const WindowStart start = a.starts[number];
  const Window window = arrays.windows[number];
  const Slice* const slices = arrays.slices + number * a.tables.slices;
  PieceSort(start, a.row_offsets, a.starts[number + 1].first_entry, a.shape, tables).run();

  const int threads = static_cast<int>(blockDim.x);
  const int thread = static_cast<int>(threadIdx.x);
  if (window.first_piece >= 0) {
    for (int i = thread; i < start.pieces; i += threads) {
      const Slice slice = slices[i / (kLanes * kPieces)];
      const std::uint16_t cell = tables.order[i];
      const int length = length_of_bucket(tables.cell_buckets[cell], a.shape.piece_most);
      arrays.lengths[window.first_piece + i] =
          static_cast<std::uint8_t>(slice.depth != slice.shortest ? length : 0);
      arrays.cells[window.first_piece + i] = slice.listed == 1 ? cell : std::uint16_t{0};
    }
  }
  if (window.first_row_cell >= 0) {
    for (int row = thread; row <= start.rows; row += threads)
      arrays.row_cells[window.first_row_cell + row] = tables.row_cells[row];
  }
  for (int i = thread / kLanes; i * kLanes * kPieces < start.pieces; i += threads / kLanes) {
    const Slice slice = slices[i];
    fill_columns(slice, pieces_of_lane<kPieces>(tables, i, start.pieces, a.shape.piece_most),
                 a.columns + start.first_entry, a.index_base,
                 arrays.indices + (window.first_index + slice.first_index) * kIndexUnit,
                 arrays.bases + window.first_base + slice.first_base * kBaseUnit);
  }
}

/// Launches a kernel of a block a window.
template <class... Parameters, class... Arguments>
void launch_windows(const Stream& stream, void (*kernel)(PackArguments, Parameters...),
                    std::int64_t windows, const PackArguments& a, const Arguments&... arguments) {
  const int bytes = a.tables.bytes();
  device::allow_shared_memory(stream, kernel, bytes);
  kernel<<<static_cast<unsigned>(windows), a.tables.warps * kLanes, bytes, stream.native()>>>(
      a, arguments...);
}

template <int kPieces>
PackedPattern pack_windows(const Stream& stream, const CsrPattern& a, const Shape& shape,
                           Allocator* allocator) {
  const Windows cut = cut_windows(stream, a, shape);
  const WindowTotals& totals = cut.totals;
  const std::int64_t windows = totals.windows;
  PackedHeader header{.rows = a.rows, .cols = a.cols, .nnz = a.nnz, .shape = shape};
  header.slices_most = totals.slices_most;
  header.cells_most = totals.cells_most;
  header.windows = windows;
  header.split_rows = totals.split_rows;
  header.partials = totals.partials;
  std::copy_n(totals.class_rows, kRowClasses, header.class_rows);
  std::copy_n(totals.class_entries, kRowClasses, header.class_entries);
  const PackArguments arguments{
      cut.starts.data(),
      a.row_offsets,
      a.columns,
      static_cast<unsigned>(a.index_base),
      shape,
      {.cells = totals.cells_most,
       .row_cells = totals.cut_rows_most == 0 ? 0 : totals.cut_rows_most + 1,
       .buckets = buckets(shape.piece_most),
       .warps = threads_for(totals.slices_most) / kLanes,
       .slices = totals.slices_most},
      totals.split_rows,
      totals.partials};

  Buffer<Window> placed(stream, windows, allocator);
  Buffer<Slice> slices_of(stream, windows * header.slices_most, allocator);
  Buffer<std::int32_t> split_rows(stream, header.split_rows, allocator);
  Buffer<std::int64_t> split_starts(stream, header.split_rows + 1, allocator);
  Buffer<WindowSizes> sizes(stream, windows);
  const std::int64_t tiles = device::ceil_div<std::int64_t>(windows, kSumThreads);
  Buffer<std::int64_t> tile_sums(stream, kSizes * tiles);
  Buffer<SizeTotals> size_totals(stream, 1);
  const device::LaunchScope scope(stream);
  SizeTotals sums{};
  if (windows == 0) {
    split_starts.fill_zero();
  } else {
    size_totals.fill_zero();
    launch_windows(stream, layout_kernel<kPieces>, windows, arguments, placed.data(),
                   slices_of.data(), sizes.data(), split_rows.data(), split_starts.data());
    sum_sizes_kernel<<<static_cast<unsigned>(tiles), kSumThreads, 0, stream.native()>>>(
        sizes.data(), windows, tile_sums.data(), size_totals.data());
    place_parts_kernel<<<static_cast<unsigned>(tiles), kSumThreads, 0, stream.native()>>>(
        sizes.data(), windows, tile_sums.data(), placed.data());
    scope.check("kernels that lay out windows");
    sums = size_totals.to_host().front();
  }
  header.slots = sums.of[slots];
  header.index_units = sums.of[index_units];
  header.bases = sums.of[bases];
  header.pieces_told = sums.of[pieces_told];
  header.row_cells = sums.of[row_cells];
  std::copy_n(sums.of + kind_entries, kIndexKinds, header.kind_entries);

  PackedPattern packed{header,
                       std::move(placed),
                       std::move(slices_of),
                       Buffer<std::byte>(stream, 0),
                       Buffer<std::uint8_t>(stream, header.index_units * kIndexUnit, allocator),
                       Buffer<std::uint32_t>(stream, header.bases, allocator),
                       Buffer<std::uint8_t>(stream, header.pieces_told, allocator),
                       Buffer<std::uint16_t>(stream, header.pieces_told, allocator),
                       Buffer<std::uint16_t>(stream, header.row_cells, allocator),
                       std::move(split_rows),
                       std::move(split_starts)};
  if (windows == 0) return packed;
  launch_windows(stream, fill_kernel<kPieces>, windows, arguments,
                 FilledArrays{packed.windows.data(), packed.slices.data(), packed.indices.data(),
                              packed.bases.data(), packed.lengths.data(), packed.cells.data(),
                              packed.row_cells.data()});
  scope.check("fill_kernel");
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
