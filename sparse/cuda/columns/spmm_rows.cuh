// Y = alpha A X + beta Y of several columns on a RowsCopy: a group of lanes has a row and a strip
// of columns; all its lanes read each entry, whose lines stay in the first cache for those that
// follow, and a word or two of the row of X that it names. A block has a part of a long row. The
// sum of a row is that of one vector: entries are added up by the pieces of the packed form, and
// those as cells.cuh and strip_cells.cuh do.
//
// Few registers are what this takes: of the row-major kernels of one row a group in the literature
// (Yang, Buluc, Owens: Design Principles for Sparse Matrix Multiplication on the GPU, Euro-Par
// 2018), those with most warps were fastest, whichever way entries reached the lanes (docs/lab).
#pragma once

#include "device/grid_dependency.cuh"
#include "sparse/columns_copy.hpp"
#include "sparse/cuda/columns/arguments.cuh"
#include "sparse/cuda/columns/strip.hpp"
#include "sparse/cuda/columns/strip_cells.cuh"
#include "sparse/cuda/columns/strip_gather.cuh"
#include "sparse/cuda/columns/strip_writer.cuh"

namespace lanky::sparse::cuda {

inline constexpr int kRowsThreads = 256;
inline constexpr int kRowsAtOnce = 4;  // entries whose rows of X are in flight

/// A RowsCopy as an argument of kernels.
template <class E>
struct DeviceRows {
  const RowSpan* spans;
  const std::int32_t* columns;
  const E* values;
  std::uint32_t rows;
  std::int32_t piece_most;
  const LongPart* long_parts;
  const std::int64_t* split_starts;
  std::int32_t split_rows;
  std::int32_t long_pieces;
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
  const PieceEntries piece = piece_entries(length, piece_most, number);
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

template <class Strip, class T>
__device__ StripGather<device::DeviceElement<T>, Strip> gather_of(const DeviceColumns<T>& product,
                                                                  int column) {
  return {product.x + column * product.x_column, product.x_row_bytes, product.x_column,
          product.columns - column};
}

/// Blocks of (rows, strips).
template <class Strip, class T>
__global__ void __launch_bounds__(kRowsThreads)
    spmm_rows_kernel(const __grid_constant__ DeviceColumns<T> product,
                     const __grid_constant__ DeviceRows<device::DeviceElement<T>> a) {
  using E = device::DeviceElement<T>;
  device::let_next_kernel_start();
  const unsigned row = blockIdx.x * (kRowsThreads / Strip::kGroup) + threadIdx.x / Strip::kGroup;
  if (row >= a.rows) return;
  const RowSpan span = a.spans[row];
  device::wait_for_kernel_ahead();
  if ((span.length & kInParts) != 0) return;
  const int column = static_cast<int>(blockIdx.y) * Strip::kColumns;
  const auto gather = gather_of<Strip>(product, column);
  const auto length = static_cast<int>(span.length & kRowLengthMost);
  StripCells<E, Strip> sums;
  if (length <= a.piece_most) {
    sums = sum_of_piece(a, {span.first, 1, length}, gather);
  } else {
    sums = {};
    const int pieces = pieces_of(length, a.piece_most);
#pragma unroll 1
    for (int i = 0; i < pieces; ++i)
      sums = sums + sum_of_piece(a, entries_of(span.first, length, a.piece_most, i), gather);
  }
  if ((span.length & kZeroAdded) != 0) sums = sums + StripCells<E, Strip>{};
  StripWriter<T, Strip>(product, column).write(row, sums);
}

/// Blocks of (long parts, strips), with shared memory for [long_pieces + vector warps, kColumns]
/// cells.
template <class Strip, class T>
__global__ void __launch_bounds__(kRowsThreads)
    spmm_long_rows_kernel(const __grid_constant__ DeviceColumns<T> product,
                          const __grid_constant__ DeviceRows<device::DeviceElement<T>> a,
                          const __grid_constant__ DeviceWorkspace<T> workspace) {
  using E = device::DeviceElement<T>;
  extern __shared__ __align__(16) unsigned char shared[];
  auto* const cells = reinterpret_cast<Cell<E>*>(shared);
  device::let_next_kernel_start();
  const LongPart part = a.long_parts[blockIdx.x];
  const int column = static_cast<int>(blockIdx.y) * Strip::kColumns;
  const int pieces = pieces_of(part.length, a.piece_most);
  device::wait_for_kernel_ahead();
  const auto gather = gather_of<Strip>(product, column);
  for (int i = thread_of_block() / Strip::kGroup; i < pieces;
       i += threads_of_block() / Strip::kGroup) {
    store_cells(sum_of_piece(a, entries_of(part.first, part.length, a.piece_most, i), gather),
                cells, i);
  }
  __syncthreads();  // all cells are written before they are added up
  const StripWriter<T, Strip> writer(product, column);
  if (part.partial < 0) {
    if (warp_of_block() > 0) return;
    const auto sum = sum_by_lanes<E, Strip>(cells, 0, pieces, kLanes);
    if (lane_of_warp() < Strip::kGroup) writer.write(part.row, sum);
    return;
  }
  const StripParts<E> parts{
      workspace.partials + std::int64_t{blockIdx.y} * product.partials * Strip::kColumns,
      workspace.arrivals + std::int64_t{blockIdx.y} * a.split_rows, a.split_starts};
  Cell<E>* const warp_sums = cells + std::int64_t{a.long_pieces} * Strip::kColumns;
  StripCells<E, Strip> sum;
  const bool last = add_part<E, Strip>(parts, part.partial, part.split, cells, pieces,
                                       product.vector_threads, warp_sums, sum);
  if (last && thread_of_block() < Strip::kGroup) writer.write(part.row, sum);
}

}  // namespace lanky::sparse::cuda
