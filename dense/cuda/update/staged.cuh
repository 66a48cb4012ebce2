// C[m, n] = alpha A[m, k] B[k, n] + beta C on CUDA cores, any strides, alignment and element type,
// long m: what allows no wide accesses. A warp brings its rows of A through shared memory, and its
// rows of C back, one element a lane, neighbours by neighbours.
#pragma once

#include "dense/cuda/small_division.cuh"
#include "dense/cuda/update/arguments.cuh"
#include "dense/cuda/update/direct.cuh"

namespace lanky::dense::cuda {

/// Rows of a lane, 32 apart; columns of A in shared memory at once; warps of a block.
inline constexpr int kStagedRows = 2;
template <class Element>
inline constexpr int kStagedDepth = sizeof(Element) > 8 ? 8 : 16;
inline constexpr int kStagedWarps = 4;
static_assert(kStagedBlockRows == 32 * kStagedRows * kStagedWarps);

/// visit(row, column) for all of a warp's rows x columns; neighbouring lanes are neighbours along
/// the columns (by_rows) or the rows. kBatch visits of a lane are loaded before the first is
/// stored; what waits for a load is left to `store`, so that they are in flight together.
template <int kBatch, class E, class Load, class Store>
__device__ void for_each_element(bool by_rows, int rows, int columns, Load load, Store store) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const SmallDivision division(static_cast<unsigned>(max(1, by_rows ? columns : rows)));
  const int count = rows * columns;
  for (int first = lane; first < count; first += 32 * kBatch) {
    E values[kBatch];
#pragma unroll
    for (int s = 0; s < kBatch; ++s) {
      const int slot = first + s * 32;
      const int q = division.quotient(slot);
      const int rest = division.remainder(slot);
      if (slot < count) values[s] = load(by_rows ? q : rest, by_rows ? rest : q);
    }
#pragma unroll
    for (int s = 0; s < kBatch; ++s) {
      const int slot = first + s * 32;
      const int q = division.quotient(slot);
      const int rest = division.remainder(slot);
      if (slot >= count) break;
      store(by_rows ? q : rest, by_rows ? rest : q, values[s]);
    }
  }
}

/// Block: kStagedBlockRows rows x kStagedColumns columns of C; the blocks of the same rows are
/// neighbours. Thread: kStagedRows rows x kStagedColumns sums. Shared memory: B
/// [k][kStagedColumns], and for each warp a tile of A [64][kDepth + 1], later of C
/// [64][kStagedColumns + 1].
template <class T, class TOut>
__global__ void __launch_bounds__(32 * kStagedWarps)
    update_staged_kernel(UpdateArguments<T, TOut> g) {
  using Acc = device::DeviceAccumulator<T>;
  using Element = device::DeviceElement<T>;
  using Result = device::DeviceElement<TOut>;
  constexpr int kRows = kStagedRows;
  constexpr int kColumns = kStagedColumns;
  constexpr int kDepth = kStagedDepth<Element>;
  constexpr int kPitchA = kDepth + 1;
  constexpr int kPitchC = kColumns + 1;
  constexpr int kTileBytes =
      32 * kRows *
      (kPitchA * sizeof(Element) > kPitchC * sizeof(Acc) ? kPitchA * sizeof(Element)
                                                         : kPitchC * sizeof(Acc));
  extern __shared__ __align__(16) char staged[];
  __shared__ __align__(16) char tiles[kStagedWarps][kTileBytes];
  device::let_next_kernel_start();
  auto* const b_rows = reinterpret_cast<Acc*>(staged);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  auto* const a_tile = reinterpret_cast<Element*>(tiles[warp]);
  auto* const c_tile = reinterpret_cast<Acc*>(tiles[warp]);
  const unsigned parts = (static_cast<unsigned>(g.n) + kColumns - 1) / kColumns;
  const int j0 = static_cast<int>(blockIdx.x % parts) * kColumns;
  const std::int64_t first =
      (static_cast<std::int64_t>(blockIdx.x / parts) * kStagedWarps + warp) * (32 * kRows);
  const int rows =
      static_cast<int>(max(std::int64_t{0}, min(std::int64_t{32 * kRows}, g.m - first)));
  const int columns = min(kColumns, g.n - j0);
  device::wait_for_kernel_ahead();
  const Factors<Acc> factors(g);
  const int k = factors.k;

  stage_b<kColumns>(b_rows, g, k, k, j0);
  __syncthreads();  // B is written before it is read
  Acc sums[kRows][kColumns] = {};
  const Element* const a = g.a + first * g.a_strides.row;
  for (int k0 = 0; k0 < k; k0 += kDepth) {
    const int depth = min(kDepth, k - k0);
    __syncwarp();  // the last tile is read before this one overwrites it
    for_each_element<8, Element>(
        g.a_strides.col == 1, rows, depth,
        [&](int r, int p) { return a[r * g.a_strides.row + (k0 + p) * g.a_strides.col]; },
        [&](int r, int p, Element value) { a_tile[r * kPitchA + p] = value; });
    __syncwarp();  // the tile is written before it is read
#pragma unroll 4
    for (int p = 0; p < depth; ++p) {
      Acc column[kColumns];
      device::load_words(column, b_rows + (k0 + p) * kColumns);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const Acc value = device::conjugate_if(
            g.conj_a, device::factor<Acc>(a_tile[(lane + 32 * r) * kPitchA + p]));
#pragma unroll
        for (int j = 0; j < kColumns; ++j)
          sums[r][j] = fma(value, column[j], sums[r][j]);
      }
    }
  }
  __syncwarp();  // A's tile is read before C's overwrites it
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
      c_tile[(lane + 32 * r) * kPitchC + j] = sums[r][j];
  }
  __syncwarp();  // C's tile is whole before it leaves
  const auto place = [&](int r, int j) {
    return g.c + (first + r) * g.c_strides.row + (j0 + j) * g.c_strides.col;
  };
  for_each_element<4, Result>(
      g.c_strides.col == 1, rows, columns,
      [&](int r, int j) {
        Result old{};
        if (factors.adds()) old = *place(r, j);
        return old;
      },
      [&](int r, int j, Result old) {
        *place(r, j) = factors.of(c_tile[r * kPitchC + j], old, factors.adds());
      });
}

}  // namespace lanky::dense::cuda
