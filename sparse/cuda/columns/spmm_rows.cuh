// Y = alpha A X + beta Y of several columns on a RowsCopy: a group of lanes has a row and a strip
// of columns; all its lanes read each entry, whose lines stay in the first cache for those that
// follow, and a word or two of the row of X that it names. A longer row has a warp or some, and the
// longest have blocks, in a kernel of their own, as their sums need shared memory, which the others
// would wait for. The sum of a row is that of one vector: entries are added up by the pieces of the
// packed form, and those as cells.cuh and strip_cells.cuh do.
//
// A row for a group of lanes, X by rows, is from Yang, Buluc and Owens (Design Principles for
// Sparse Matrix Multiplication on the GPU, Euro-Par 2018). Of the ways in which entries may reach
// the lanes, those with few registers, hence many warps, were fastest (docs/lab/spmm.md).
#pragma once

#include "device/grid_dependency.cuh"
#include "sparse/columns_copy.hpp"
#include "sparse/cuda/columns/arguments.cuh"
#include "sparse/cuda/columns/strip.hpp"
#include "sparse/cuda/columns/strip_cells.cuh"
#include "sparse/cuda/columns/strip_gather.cuh"
#include "sparse/cuda/columns/strip_writer.cuh"

namespace lanky::sparse::cuda {

/// A RowsCopy as an argument of kernels.
template <class E>
struct DeviceRows {
  // Of groups:
  const RowSpan* spans;
  const std::int32_t* order;    // of `spans`; nullptr: rows stand in their own order
  std::uint32_t first;          // of them
  std::uint32_t of_group_most;  // entries of a row that a group has
  std::uint32_t team_bits;      // 2^team_bits groups share a row, a team; 0 where Y is staged
  bool staged;                  // Y is by columns: rows beside each other are written together
  // Of warps and blocks:
  const RowSpan* sorted;
  const std::int32_t* sorted_order;
  const std::int32_t* columns;
  const E* values;
  std::uint32_t rows;
  std::int32_t piece_most;
  const RowPart* of_blocks;
  std::int32_t pieces_most;  // of these
  std::uint32_t by_blocks;   // of the sorted rows, those that blocks have,
  std::uint32_t by_warps;    // and with those that warps have
  std::uint32_t warp_bits;   // 2^warp_bits warps share such a row
  // Blocks of each strip, where those with a part come first:
  std::uint32_t blocks_of_blocks;
  std::uint32_t blocks_of_warps;
  std::uint32_t blocks_of_rows;
  bool beside_parts;  // the kernel ahead has the parts of the same product
  const std::int64_t* split_starts;
  std::int32_t split_rows;
};

/// Entries of a row, from one to the next of a piece.
struct EntryRange {
  std::uint32_t first;
  std::uint32_t stride;
  int length;
};

/// The entries of piece `number` of `length` entries from `first` on.
__device__ inline EntryRange entries_of(std::uint32_t first, int length, int piece_most,
                                        int number) {
  const auto piece = piece_entries(length, piece_most, number);
  return {first + static_cast<std::uint32_t>(piece.first), static_cast<std::uint32_t>(piece.stride),
          piece.length};
}

/// Adds kRowsAtOnce entries from `first` on or, unless kWhole, the first `count` of them.
template <bool kWhole, class E, class Strip>
__device__ void add_few(const DeviceRows<E>& a, std::uint32_t first, std::uint32_t stride,
                        int count, const StripGather<E, Strip>& gather,
                        StripCells<E, Strip>& sums) {
  std::uint32_t rows[kRowsAtOnce];
  E values[kRowsAtOnce];
  E factors[kRowsAtOnce][Strip::kWords][Strip::kEach];
#pragma unroll
  for (int i = 0; i < kRowsAtOnce; ++i) {
    const std::uint32_t entry = first + (kWhole ? i : min(i, count - 1)) * stride;
    rows[i] = static_cast<std::uint32_t>(__ldg(a.columns + entry));
    E value[1];
    device::load_constant(value, a.values + entry);
    values[i] = value[0];
  }
#pragma unroll
  for (int i = 0; i < kRowsAtOnce; ++i)
    gather.load(factors[i], rows[i]);
#pragma unroll
  for (int i = 0; i < kRowsAtOnce; ++i) {
    if (!kWhole && i >= count) continue;
#pragma unroll
    for (int w = 0; w < Strip::kWords; ++w) {
#pragma unroll
      for (int e = 0; e < Strip::kEach; ++e)
        sums.of[w][e].add(values[i], factors[i][w][e]);
    }
  }
}

/// The sums of a piece.
template <class E, class Strip>
__device__ StripCells<E, Strip> sum_of_piece(const DeviceRows<E>& a, EntryRange piece,
                                             const StripGather<E, Strip>& gather) {
  StripCells<E, Strip> sums{};
#pragma unroll 1
  for (; piece.length >= kRowsAtOnce; piece.length -= kRowsAtOnce) {
    add_few<true>(a, piece.first, piece.stride, kRowsAtOnce, gather, sums);
    piece.first += kRowsAtOnce * piece.stride;
  }
  if (piece.length > 0) add_few<false>(a, piece.first, piece.stride, piece.length, gather, sums);
  return sums;
}

/// Cells of a block's rows from one column to the next, where they are staged: one more than there
/// are rows, so that fewer lanes of a group meet in a bank.
template <class Strip>
constexpr int staged_pitch() {
  return kRowsThreads / Strip::kGroup + 1;
}

/// How a strip that begins at `column` gathers from X.
template <class Strip, class T>
__device__ StripGather<device::DeviceElement<T>, Strip> gather_of(const DeviceColumns<T>& product,
                                                                  int column) {
  return {product.x + column * product.x_column, product.x_row_bytes, product.x_column,
          product.columns - column};
}

/// The rows that groups have, as one thread of their kernel sees them.
template <class T, class Strip>
class GroupedRows {
 public:
  using E = device::DeviceElement<T>;

  __device__ GroupedRows(const DeviceColumns<T>& product, const DeviceRows<E>& a, Cell<E>* cells)
      : product_(product), a_(a), cells_(cells) {}

  /// What block `block` has of a strip.
  __device__ void run(unsigned block, unsigned strip) const {
    const unsigned first = a_.first + block * rows_of_block();
    const unsigned place = first + row_of_block();
    const bool exists = place < a_.rows;
    const RowSpan span = exists ? a_.spans[place] : RowSpan{};
    const std::int64_t row = exists && a_.order != nullptr ? a_.order[place] : std::int64_t{place};
    if (!a_.beside_parts) device::wait_for_kernel_ahead();
    const int column = static_cast<int>(strip) * Strip::kColumns;
    const bool grouped = exists && (span.length & kRowLengthMost) <= a_.of_group_most;
    StripCells<E, Strip> sums{};
    if (a_.team_bits > 0) {
      sums = sum_by_team(span, grouped, column);
    } else if (grouped) {
      sums = sum_of_row(span, column);
    }
    const bool own = grouped && member() == 0;
    if (a_.staged) return write_staged(sums, own, first, column);
    if (own) StripWriter<T, Strip>(product_, column).write(row, sums);
  }

 private:
  static constexpr unsigned kGroups = kRowsThreads / Strip::kGroup;

  __device__ unsigned rows_of_block() const { return kGroups >> a_.team_bits; }
  __device__ unsigned row_of_block() const { return threadIdx.x / Strip::kGroup >> a_.team_bits; }
  /// The group's number in its team.
  __device__ int member() const { return group_of_warp<Strip>() & ((1 << a_.team_bits) - 1); }

  __device__ StripCells<E, Strip> sum_of_row(const RowSpan& span, int column) const {
    const auto gather = gather_of<Strip>(product_, column);
    const auto length = static_cast<int>(span.length & kRowLengthMost);
    StripCells<E, Strip> sums;
    if (length <= a_.piece_most) {
      sums = sum_of_piece(a_, {span.first, 1, length}, gather);
    } else {
      sums = {};
      const int pieces = pieces_of(length, a_.piece_most);
#pragma unroll 1
      for (int i = 0; i < pieces; ++i)
        sums = sums + sum_of_piece(a_, entries_of(span.first, length, a_.piece_most, i), gather);
    }
    if ((span.length & kZeroAdded) != 0) sums = sums + StripCells<E, Strip>{};
    return sums;
  }

  /// The same sum, if the row is `grouped`: pieces are dealt to the groups of the team, each of
  /// which adds up all of them in their order. All lanes of the warp take part.
  __device__ StripCells<E, Strip> sum_by_team(const RowSpan& span, bool grouped, int column) const {
    const auto gather = gather_of<Strip>(product_, column);
    const auto length = grouped ? static_cast<int>(span.length & kRowLengthMost) : 0;
    const int pieces = pieces_of(length, a_.piece_most);
    const int pieces_most = __reduce_max_sync(kAllLanes, pieces);  // of the warp's rows
    const int team = 1 << a_.team_bits;
    StripCells<E, Strip> sums{};
#pragma unroll 1
    for (int turn = 0; turn < pieces_most; turn += team) {
      StripCells<E, Strip> own{};
      const int piece = turn + member();
      if (piece < pieces)
        own = sum_of_piece(a_, entries_of(span.first, length, a_.piece_most, piece), gather);
#pragma unroll 1
      for (int j = 0; j < team && turn + j < pieces_most; ++j) {
        const int lane = lane_of_warp() + (j - member()) * Strip::kGroup;
        StripCells<E, Strip> part = own;
        for_each_cell<Strip>(part, [&](Cell<E>& cell, int /*i*/) {
          cell = {device::shuffle_from(cell.sum, lane, kLanes)};
        });
        // The only piece of a row is its sum as it is: with 0 added, -0 would be 0.
        if (turn + j < pieces) sums = pieces == 1 ? part : sums + part;
      }
    }
    if ((span.length & kZeroAdded) != 0) sums = sums + StripCells<E, Strip>{};
    return sums;
  }

  /// The sums of a block's rows, from `first` on, to columns of Y, by way of shared memory. `own`:
  /// whether the thread has such sums. There are no teams.
  __device__ void write_staged(const StripCells<E, Strip>& sums, bool own, unsigned first,
                               int column) const {
    constexpr int kRows = kGroups;
    constexpr int kPitch = staged_pitch<Strip>();
    __shared__ bool written[kRows];
    const int of_block = static_cast<int>(threadIdx.x) / Strip::kGroup;
    if (lane_of_group<Strip>() == 0) written[of_block] = own;
    for_each_cell<Strip>(sums,
                         [&](const Cell<E>& cell, int i) { cells_[i * kPitch + of_block] = cell; });
    __syncthreads();  // all sums are there
    const ColumnsWriter<T> writer(product_);
#pragma unroll 4
    for (int i = thread_of_block(); i < Strip::kColumns * kRows; i += kRowsThreads) {
      const int row = i % kRows;
      const int of_strip = i / kRows;
      const Cell<E> cell[1] = {cells_[of_strip * kPitch + row]};
      if (written[row]) writer.write(std::int64_t{first} + row, column + of_strip, cell);
    }
  }

  const DeviceColumns<T>& product_;
  const DeviceRows<E>& a_;
  Cell<E>* cells_;  // in shared memory, where Y is staged
};

/// The rows in parts, likewise. `cells`: in shared memory.
template <class T, class Strip>
class RowParts {
 public:
  using E = device::DeviceElement<T>;

  __device__ RowParts(const DeviceColumns<T>& product, const DeviceRows<E>& a,
                      const DeviceWorkspace<T>& workspace, Cell<E>* cells)
      : product_(product), a_(a), workspace_(workspace), cells_(cells) {}

  __device__ void run(unsigned block, unsigned strip) const {
    if (block < a_.blocks_of_blocks) return run_block(block, strip);
    run_warps(block - a_.blocks_of_blocks, strip);
  }

 private:
  /// The sums of the pieces first, first + stride, ... of so many entries to their cells, each by a
  /// group.
  __device__ void add_pieces(std::uint32_t entry, int length, int pieces, int first, int stride,
                             int column, Cell<E>* cells) const {
    const auto gather = gather_of<Strip>(product_, column);
#pragma unroll 1
    for (int i = first; i < pieces; i += stride) {
      const EntryRange piece = entries_of(entry, length, a_.piece_most, i);
      store_cells(sum_of_piece(a_, piece, gather), cells, i);
    }
  }

  /// Warps beside each other have a row.
  __device__ void run_warps(unsigned block, unsigned strip) const {
    const unsigned sharing = warp_of_block() & ((1U << a_.warp_bits) - 1);
    const unsigned of_block = static_cast<unsigned>(warp_of_block()) >> a_.warp_bits;
    const unsigned place =
        a_.by_blocks + block * (static_cast<unsigned>(warps_of_block()) >> a_.warp_bits) + of_block;
    const bool exists = place < a_.by_warps;
    const RowSpan span = exists ? a_.sorted[place] : RowSpan{};
    const auto length = static_cast<int>(span.length & kRowLengthMost);
    const int column = static_cast<int>(strip) * Strip::kColumns;
    const int pieces = pieces_of(length, a_.piece_most);
    Cell<E>* const cells = cells_ + of_block * kWarpPieces * Strip::kColumns;
    add_pieces(span.first, length, pieces,
               static_cast<int>(sharing) * Strip::kPieces + group_of_warp<Strip>(),
               Strip::kPieces << a_.warp_bits, column, cells);
    // All cells are written before they are added up.
    if (a_.warp_bits == 0) {
      __syncwarp();
    } else {
      __syncthreads();
    }
    if (exists && sharing == 0) write_sum(a_.sorted_order[place], pieces, column, cells);
  }

  /// By a warp, of the cells of a row that is not split.
  __device__ void write_sum(std::int64_t row, int pieces, int column, const Cell<E>* cells) const {
    const auto sum = pieces > kCellsOfThread ? sum_by_lanes<E, Strip>(cells, 0, pieces, kLanes)
                                             : sum_of_lanes<1, E, Strip>(cells, 0, pieces, 1);
    if (group_of_warp<Strip>() == 0) StripWriter<T, Strip>(product_, column).write(row, sum);
  }

  /// A block has a part.
  __device__ void run_block(unsigned number, unsigned strip) const {
    const RowPart part = a_.of_blocks[number];
    const int column = static_cast<int>(strip) * Strip::kColumns;
    const int pieces = pieces_of(part.length, a_.piece_most);
    add_pieces(part.first, part.length, pieces, thread_of_block() / Strip::kGroup,
               threads_of_block() / Strip::kGroup, column, cells_);
    __syncthreads();  // all cells are written before they are added up
    if (part.partial < 0) {
      if (warp_of_block() == 0) write_sum(part.row, pieces, column, cells_);
      return;
    }
    const StripParts<E> parts{workspace_.partials + strip * product_.partials * Strip::kColumns,
                              workspace_.arrivals + strip * a_.split_rows, a_.split_starts};
    Cell<E>* const warp_sums = cells_ + std::int64_t{a_.pieces_most} * Strip::kColumns;
    StripCells<E, Strip> sum;
    const bool last = add_part<E, Strip>(parts, part.partial, part.split, cells_, pieces,
                                         product_.vector_threads, warp_sums, sum);
    if (last && thread_of_block() < Strip::kGroup)
      StripWriter<T, Strip>(product_, column).write(part.row, sum);
  }

  const DeviceColumns<T>& product_;
  const DeviceRows<E>& a_;
  const DeviceWorkspace<T>& workspace_;
  Cell<E>* cells_;
};

/// Blocks of a multiprocessor that registers are shared out for: with fewer registers ptxas puts
/// the gathers one behind the other.
template <class Strip, class E>
inline constexpr int kRowsBlocks = 5 - (Strip::kWords > 1 ? 1 : 0) -
                                   (Strip::kEach * sizeof(Cell<E>) > kWordBytes ? 1 : 0);

template <class Strip, class T>
__global__ void __launch_bounds__(kRowsThreads, kRowsBlocks<Strip, device::DeviceElement<T>>)
    spmm_rows_kernel(const __grid_constant__ DeviceColumns<T> product,
                     const __grid_constant__ DeviceRows<device::DeviceElement<T>> a) {
  extern __shared__ __align__(16) unsigned char shared[];
  device::let_next_kernel_start();
  GroupedRows<T, Strip>(product, a, reinterpret_cast<Cell<device::DeviceElement<T>>*>(shared))
      .run(blockIdx.x % a.blocks_of_rows, blockIdx.x / a.blocks_of_rows);
  // The next kernel waits for this one alone, which therefore must not end before that of the
  // parts.
  if (a.beside_parts && blockIdx.x == gridDim.x - 1) device::wait_for_kernel_ahead();
}

/// The rows in parts. Those of groups may be multiplied as soon as every block of this kernel has
/// seen that the kernel ahead has ended.
template <class Strip, class T>
__global__ void __launch_bounds__(kPartsThreadsMost)
    spmm_parts_kernel(const __grid_constant__ DeviceColumns<T> product,
                      const __grid_constant__ DeviceRows<device::DeviceElement<T>> a,
                      const __grid_constant__ DeviceWorkspace<T> workspace) {
  extern __shared__ __align__(16) unsigned char shared[];
  device::wait_for_kernel_ahead();
  device::let_next_kernel_start();
  const unsigned blocks = a.blocks_of_blocks + a.blocks_of_warps;
  RowParts<T, Strip>(product, a, workspace,
                     reinterpret_cast<Cell<device::DeviceElement<T>>*>(shared))
      .run(blockIdx.x % blocks, blockIdx.x / blocks);
}

}  // namespace lanky::sparse::cuda
