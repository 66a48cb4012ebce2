// Values to the slots of a packed matrix, by the size of an element: when it is packed, and later
// when values change.
#include <algorithm>
#include <utility>

#include "core/plan_types.hpp"
#include "device/block_scan.cuh"
#include "device/grid_dependency.cuh"
#include "device/launch.cuh"
#include "device/matrix_copy.cuh"
#include "sparse/cuda/pack/pack.cuh"
#include "sparse/cuda/pack/pieces.cuh"
#include "sparse/cuda/pack/slice_steps.cuh"
#include "sparse/cuda/steps.hpp"

namespace lanky::sparse::cuda {

namespace {

/// The bits of an element.
template <int kBytes>
using Bits = typename device::detail::WordOf<kBytes>::Type;

/// Cells of any window, at most. Those that are direct have as many as pieces.
__host__ __device__ int cells_most(const PackedHeader& header) {
  const int pieces = header.slices_most * kLanes * header.shape.lane_pieces;
  const int direct = pieces < kCellsLimit ? pieces : kCellsLimit;
  return direct > header.cells_most ? direct : header.cells_most;
}
/// Of windows that have cut rows.
__host__ __device__ int cut_cells_most(const PackedHeader& header) {
  return header.row_cells > 0 || header.split_rows > 0 ? header.cells_most : 0;
}

/// Which entries each cell of a window has, in shared memory.
struct CellTables {
  std::uint32_t* entries;  // [cells] the first, from the window's
  std::uint16_t* strides;  // [cells] from entry to entry, where rows are cut
  std::uint8_t* lengths;   // [cells]
  bool cut;                // rows are

  __device__ CellTables(void* shared, const PackedHeader& header, const Window& window)
      : entries(static_cast<std::uint32_t*>(shared)),
        strides(reinterpret_cast<std::uint16_t*>(entries + cells_most(header))),
        lengths(reinterpret_cast<std::uint8_t*>(strides + cut_cells_most(header))),
        cut(window.partial >= 0 || window.first_row_cell >= 0) {}
  static int bytes(const PackedHeader& header) {
    return cells_most(header) * static_cast<int>(sizeof(std::uint32_t) + sizeof(std::uint8_t)) +
           cut_cells_most(header) * static_cast<int>(sizeof(std::uint16_t));
  }
  __device__ int stride(int cell) const { return cut ? static_cast<int>(strides[cell]) : 1; }
};

/// Entries of rows follow each other in the order of cells: sums of lengths lead back to them. By a
/// block.
__device__ void sum_lengths(const CellTables& tables, int cells) {
  const int of_thread = device::ceil_div(cells, threads_of_block());
  const int first = min(thread_of_block() * of_thread, cells);
  const int end = min(first + of_thread, cells);
  std::uint32_t own = 0;
  for (int cell = first; cell < end; ++cell)
    own += tables.lengths[cell];
  std::uint32_t total;
  std::uint32_t entry = device::block_exclusive_sum(own, total);
  for (int cell = first; cell < end; ++cell) {
    tables.entries[cell] = entry;
    entry += tables.lengths[cell];
  }
}

/// From the sums of lengths, of which those at the first cells of rows stay, to the entries that
/// are dealt to the others. `row_cells`: nullptr where all cells are of one row. By a block.
__device__ void deal_entries(const CellTables& tables, const std::uint16_t* row_cells, int rows,
                             int cells, int piece_most) {
  for (int cell = thread_of_block(); cell < cells; cell += threads_of_block()) {
    int first = 0;
    int end = cells;
    if (row_cells != nullptr) {
      const int row = row_of(row_cells, 0, rows, cell);
      first = row_cells[row];
      end = row_cells[row + 1];
    }
    const int length = (end - 1 - first) * piece_most + tables.lengths[end - 1];
    const PieceEntries own = piece_entries(length, piece_most, cell - first);
    if (cell > first) tables.entries[cell] = tables.entries[first] + own.first;
    tables.strides[cell] = static_cast<std::uint16_t>(own.stride);
  }
}

/// Where the entries of all cells are, once their lengths are there. By a block.
__device__ void find_entries(const CellTables& tables, const PatternView& a, const Window& window) {
  const int cells = cells_of(window);
  sum_lengths(tables, cells);
  if (!tables.cut) return;
  __syncthreads();  // all sums are there
  const std::uint16_t* const row_cells =
      window.partial < 0 ? a.row_cells + window.first_row_cell : nullptr;
  deal_entries(tables, row_cells, window.rows, cells, a.header.shape.piece_most);
}

/// The pieces that the lane has of a slice.
template <int kPieces>
__device__ LanePieces<kPieces> pieces_of_lane(const PatternView& a, const Window& window,
                                              const Slice& slice, const CellTables& tables) {
  return lane_pieces<kPieces>(tables, slice.width, slice.depth,
                              [&](int i) { return a.cell_of(window, slice, i); });
}

/// The values of one slice, by a warp to `slots`, its first.
template <int kPieces, class E>
__device__ void copy_slice(const PatternView& a, const Window& window, const Slice& slice,
                           const CellTables& tables, const E* source, E* slots) {
  const auto pieces = pieces_of_lane<kPieces>(a, window, slice, tables);
  SlotWriter<kPieces, E> writer(pieces, slots);
  for_each_step(pieces, source,
                [&](int step, const E(&entries)[kPieces]) { writer.store(step, entries); });
  const bool last = slice.first_piece + slice.width == window.pieces;
  const std::int64_t end = slice.first_slot * kSlotUnit + pieces.slots_of_slice();
  const std::int64_t aligned = round_up(end, last ? kWindowSlotAlign : kSlotUnit);
  writer.pad(slots + (aligned - slice.first_slot * kSlotUnit));
}

/// Shared memory through which a warp copies a wide slice of whole rows, so many steps at once.
template <class E>
struct Tile {
  static constexpr int kSteps = 29;  // odd: rows begin in different banks
  static constexpr int kRows = kLanePiecesMost<E> * kLanes;
  E values[kRows][kSteps];
  std::uint32_t rows[kRows];  // first entry, from the window's, and length in the last 8 bits
};
/// Whether elements have wide slices, and asynchronous copies one by one.
template <class E>
inline constexpr bool kHasTiles = sizeof(E) == 4 || sizeof(E) == 8;
constexpr int kTileWarps = 5;  // of a block, of which two share what a multiprocessor has
// Entries of a matrix, which are more than stay in the L2, and of its rows on average.
constexpr std::int64_t kTiledLeast = 12'000'000;
constexpr std::int64_t kTiledRow = 12;

/// As copy_slice(), of a wide slice of whole rows: lanes read side by side along a row, and all
/// that the tile has room for is on its way at once. Lanes that read along their own rows have more
/// lines of the first cache in use than it has.
template <int kPieces, class E>
__device__ void copy_rows(const LanePieces<kPieces>& own, const E* source, Tile<E>& tile,
                          E* slots) {
  constexpr int kBatch = 8;     // copies of a lane, one after the other
  constexpr int kLogLeast = 2;  // no more rows than there are
  static_assert(kBatch * (kLanes >> kLogLeast) <= Tile<E>::kRows);
  static_assert(kSlotUnit * 65536 < 1 << 23);  // entries take 24 bits: slots are as many
  const int lane = lane_of_warp();
  const int steps = device::ceil_div(own.depth, device::ceil_div(own.depth, Tile<E>::kSteps));
  const int log = max(32 - __clz(steps - 1), kLogLeast);  // of the lanes that read a row
  const int at_once = kLanes >> log;                      // rows
  const int step = lane & ((1 << log) - 1);
#pragma unroll
  for (int r = 0; r < kPieces; ++r) {
    tile.rows[r * kLanes + lane] = own.entries[r] << 8 | static_cast<std::uint32_t>(own.lengths[r]);
  }
  for (int first = 0; first < own.depth; first += steps) {
    __syncwarp();  // the rows are there, and the values before these are read
    if (step < steps) {
      for (int i = lane >> log; i < Tile<E>::kRows; i += kBatch * at_once) {
        std::uint32_t rows[kBatch];
#pragma unroll
        for (int b = 0; b < kBatch; ++b)
          rows[b] = tile.rows[i + b * at_once];
#pragma unroll
        for (int b = 0; b < kBatch; ++b) {
          const int length = static_cast<int>(rows[b] & 0xffU);
          device::copy_element<sizeof(E)>(&tile.values[i + b * at_once][step],
                                          source + ((rows[b] >> 8) + first + step),
                                          first + step < length);
        }
      }
    }
    device::group_copies();
    device::wait_for_copy_groups<0>();
    __syncwarp();  // the copies of all lanes have come
    const int end = min(steps, own.depth - first);
    for (int k = 0; k < end; ++k) {
      E word[kPieces];
#pragma unroll
      for (int r = 0; r < kPieces; ++r)
        word[r] = tile.values[r * kLanes + lane][k];
      device::store_streaming(slots + ((first + k) * kLanes + lane) * kPieces, word);
    }
  }
}

/// A block a window, a warp a slice. Shared memory: CellTables and, at `tiles`, the warps' Tiles.
template <int kWide, bool kTiled, class E>
__global__ void __launch_bounds__(kTiled ? kTileWarps* kLanes : kThreadsMost)
    values_kernel(PatternView a, int tiles, const E* values, E* slots) {
  extern __shared__ std::uint32_t shared[];
  device::let_next_kernel_start();  // order_kernel
  device::wait_for_kernel_ahead();
  const std::int64_t number = blockIdx.x;
  const Window window = a.windows[number];
  const CellTables tables(shared, a.header, window);
  const Slice* const slices = a.slices + number * a.header.slices_most;
  const int warp = warp_of_block();
  const int warps = warps_of_block();

  if (window.gaps == 1) {
    for (int row = thread_of_block(); row < window.rows; row += threads_of_block())
      tables.lengths[row] = 0;
    __syncthreads();  // empty rows have their lengths
  }
  for (int i = warp; i < window.slices; i += warps) {
    const Slice slice = slices[i];
    for (int piece = lane_of_warp(); piece < slice.width; piece += kLanes) {
      tables.lengths[a.cell_of(window, slice, piece)] =
          static_cast<std::uint8_t>(a.length_of(window, slice, piece));
    }
  }
  __syncthreads();  // all lengths are there
  find_entries(tables, a, window);
  __syncthreads();  // all entries are there

  const E* const source = values + window.first_entry;
  for (int i = warp; i < window.slices; i += warps) {
    const Slice slice = slices[i];
    E* const target = slots + window.first_slot + slice.first_slot * kSlotUnit;
    if (kWide == 1 || !is_wide(slice)) {
      copy_slice<1>(a, window, slice, tables, source, target);
    } else if constexpr (kTiled) {
      auto* const tile =
          reinterpret_cast<Tile<E>*>(reinterpret_cast<unsigned char*>(shared) + tiles) + warp;
      copy_rows(pieces_of_lane<kWide>(a, window, slice, tables), source, *tile, target);
    } else {
      copy_slice<kWide>(a, window, slice, tables, source, target);
    }
  }
}

/// Products read values ahead of their wait for the kernel before them. That is this one, which
/// ends when the one that writes them has ended.
__global__ void order_kernel() {
  device::wait_for_kernel_ahead();
}

template <int kWide, bool kTiled, class E>
void launch_values(const Stream& stream, const PatternView& a, int threads, const E* values,
                   E* slots) {
  const auto tiles = static_cast<int>(round_up(CellTables::bytes(a.header), sizeof(E)));
  const int bytes = tiles + (kTiled ? threads / kLanes * static_cast<int>(sizeof(Tile<E>)) : 0);
  const device::LaunchScope scope(stream);
  device::allow_shared_memory(stream, values_kernel<kWide, kTiled, E>, bytes);
  device::launch_dependent(stream, values_kernel<kWide, kTiled, E>,
                           {dim3(static_cast<unsigned>(a.header.windows)), dim3(threads),
                            static_cast<std::size_t>(bytes)},
                           a, tiles, values, slots);
  device::launch_dependent(stream, order_kernel, {dim3(1), dim3(kLanes)});
}

bool prefers_tiles(const PackedHeader& header) {
  return header.row_cells == 0 && header.split_rows == 0 && header.nnz >= kTiledLeast &&
         header.nnz > kTiledRow * header.rows;
}

}  // namespace

template <class T>
void update_values(const Stream& stream, const PatternView& a, const T* values, T* slots) {
  using E = Bits<sizeof(T)>;
  if (a.header.slots == 0) return;
  const auto* const source = reinterpret_cast<const E*>(values);
  auto* const target = reinterpret_cast<E*>(slots);
  // Fewer blocks leave more of the first cache to the entries of windows that were joined.
  const bool joined = a.header.shape.warps > Shape{}.warps;
  const int threads = joined ? kThreadsMost : threads_for(a.header.slices_most);
  if (a.header.shape.lane_pieces == 1)
    return launch_values<1, false>(stream, a, threads, source, target);
  constexpr int kWide = kLanePiecesMost<T>;
  if constexpr (kHasTiles<E>) {
    if (prefers_tiles(a.header))
      return launch_values<kWide, true>(stream, a, kTileWarps * kLanes, source, target);
  }
  launch_values<kWide, false>(stream, a, threads, source, target);
}

template <class T>
PackedMatrix<T> pack(const Stream& stream, const Csr<T>& a, const Shape& shape,
                     Allocator* allocator) {
  PackedPattern pattern = pack_pattern(stream, a.pattern(), shape, allocator);
  const std::int64_t slots = pattern.header.slots;
  PackedMatrix<T> packed{std::move(pattern), Buffer<T>(stream, slots, allocator)};
  update_values(stream, packed.view(), a.values, packed.values.data());
  return packed;
}

#define LANKY_INSTANTIATE(T)                                                    \
  template void update_values(const Stream&, const PatternView&, const T*, T*); \
  template PackedMatrix<T> pack(const Stream&, const Csr<T>&, const Shape&, Allocator*);
LANKY_FOR_EACH_ELEMENT(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cuda
