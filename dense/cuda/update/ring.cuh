// C[m, n] = alpha A[m, k] B[k, n] + beta C on CUDA cores, long m: tiles of A pass through a ring of
// slots in shared memory, filled by tensor maps (or element by element, where strides allow no
// other way) while warps hold large squares of sums. For what arithmetic binds, or latency.
#pragma once

#include "dense/cuda/update/arguments.cuh"
#include "device/matrix_copy.cuh"
#include "device/ring.cuh"
#include "device/warp_group.cuh"

namespace lanky::dense::cuda {

inline constexpr int kRingThreads = 32 * (kUpdateRingWarps + 1);  // at most

/// Which elements of a tile and a slot of A are a lane's. Lane (r, c) = (lane % 8, lane / 8) of a
/// warp holds kRows rows x kColumns columns of sums; V elements are 16 bytes.
///
///   by columns: slot [depth][rows of the tile]; sum x stands for row (r + 8 (x / V)) V + x % V
///   by rows:    slot [rows of the tile][128 bytes], unit u (16 bytes) of row i at u ^ i % 8;
///               sum x stands for row r + 8 x
///
/// Where A is copied element by element, rows of a slot by columns are permuted so that sum x
/// stands for row r + 8 x too: neighbouring lanes then have neighbouring elements of C.
template <int kVariant, class T>
struct RingShape {
  using Acc = device::DeviceAccumulator<T>;
  using Element = device::DeviceElement<T>;
  static constexpr UpdateRing kShape = kUpdateRing[kVariant];
  static constexpr bool kByColumns = kShape.by_columns;
  static constexpr int kRows = kShape.rows;
  static constexpr int kColumns = kShape.columns;
  static constexpr int V = kWide<Element>;
  static constexpr int kWarpRows = 8 * kRows;
  static constexpr int kWarpColumns = 4 * kColumns;
  /// From one warp's rows in a slot to the next one's.
  static constexpr int kWarpBytes =
      kWarpRows * (kByColumns ? static_cast<int>(sizeof(Element)) : 128);
  static constexpr int kWord =  // adjacent columns of a lane
      kColumns < kWide<Acc> ? kColumns : kWide<Acc>;
  static constexpr int kResident = kShape.resident(sizeof(Acc));

  static __device__ int row_lane() { return static_cast<int>(threadIdx.x) % 8; }
  static __device__ int column_lane() { return static_cast<int>(threadIdx.x) % 32 / 8; }

  /// The row of the warp's that sum x of lane r stands for.
  static __device__ int row(int x, bool mapped) {
    return kByColumns && mapped ? (row_lane() + x / V * 8) * V + x % V : row_lane() + 8 * x;
  }
  /// The column of the warp's that sum y of lane c stands for.
  static __device__ int column(int y, bool wide_c) {
    return wide_c ? (y / kWord * 4 + column_lane()) * kWord + y % kWord : 4 * y + column_lane();
  }
  /// The column of C that stands at place `slot` of a row of B in shared memory: lanes read words
  /// of kWord adjacent places.
  static __device__ int column_of_place(int slot, bool wide_c) {
    constexpr int kGroup = 4 * kWord;
    if (wide_c) return slot;
    return slot / kGroup * kGroup + slot % kWord * 4 + slot % kGroup / kWord;
  }

  /// Elements along k that a lane reads at once.
  static constexpr int kStep = V < 4 ? V : kByColumns && V > 4 ? 1 : 4;

  /// a[x][e] = A(row of sum x, p + e) of the slot, p a multiple of kStep.
  static __device__ void read(Element (&a)[kRows][kStep], const char* slot, int p, int tile_rows) {
    if constexpr (kByColumns) {
      const auto* const column = reinterpret_cast<const Element*>(slot) + row_lane() * V;
#pragma unroll
      for (int e = 0; e < kStep; ++e) {
#pragma unroll
        for (int i = 0; i < kRows / V; ++i) {
          Element part[V];
          device::load_wide(part, column + (p + e) * tile_rows + i * 8 * V);
#pragma unroll
          for (int x = 0; x < V; ++x)
            a[i * V + x][e] = part[x];
        }
      }
    } else {
      const char* const line = slot + row_lane() * 128 + ((p / V ^ row_lane()) << 4) +
                               p % V * static_cast<int>(sizeof(Element));
#pragma unroll
      for (int x = 0; x < kRows; ++x)
        device::load_wide(a[x], reinterpret_cast<const Element*>(line + x * 1024));
    }
  }
};

/// The ring of an update kernel in shared memory: [slots][B, b_count of BWord][barriers].
template <class BWord>
struct UpdateSlots : device::Ring<UpdateRingPlan> {
  BWord* b;
};

/// From a multiple of 1024 bytes on.
template <class BWord>
__device__ UpdateSlots<BWord> update_slots(char* memory, const UpdateRingPlan& plan, int b_count) {
  auto* const b = reinterpret_cast<BWord*>(memory + plan.ring_bytes);
  auto* const full = reinterpret_cast<device::Mbarrier*>(b + b_count);
  return {{plan, memory, full, full + plan.stages}, b};
}

/// Copies columns k0 ... of the tile's rows from i0 on, element by element. Warp.
template <class Ring, class T, class TOut>
__device__ void copy_slot(char* slot, const UpdateArguments<T, TOut>& g, const UpdateRingPlan& plan,
                          std::int64_t i0, int k0) {
  using Element = typename Ring::Element;
  constexpr int kBytes = sizeof(Element);
  constexpr int V = Ring::V;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int tile_rows = plan.warps_m * Ring::kWarpRows;
  /// To target_of(x) for x < last from source + x step, zeros from valid_last on.
  const auto copy_line = [&](const Element* source, std::int64_t step, auto target_of, int last,
                             int valid_last) {
#pragma unroll 4
    for (int x = 0; x < last; ++x, source += step)
      device::copy_element<kBytes>(target_of(x), source, x < valid_last);
  };
  if constexpr (Ring::kByColumns) {
    const int depth = min(plan.depth, (g.k - k0 + V - 1) / V * V);
    for (int row = lane; row < tile_rows; row += 32) {
      const int place = row / (8 * V) * (8 * V) + row % 8 * V + row / 8 % V;
      const bool inside = i0 + row < g.m;
      copy_line(
          g.a + i0 + row + k0 * g.a_strides.col, g.a_strides.col,
          [&](int p) { return slot + (p * tile_rows + place) * kBytes; }, depth,
          inside ? g.k - k0 : 0);
    }
  } else {
    constexpr int kLine = 128 / kBytes;  // elements
    constexpr int kLanes = kLine < 32 ? kLine : 32;
    constexpr int kRows = 32 / kLanes;  // at once
    for (int p = lane % kLanes; p < kLine; p += kLanes) {
      const std::int64_t i = i0 + lane / kLanes;
      const std::int64_t left = (g.m - i + kRows - 1) / kRows;  // rows of the lane that exist
      copy_line(
          g.a + i * g.a_strides.row + k0 + p, g.a_strides.row * kRows,
          [&](int x) {
            const int row = lane / kLanes + x * kRows;
            return slot + row * 128 + ((p * kBytes / 16 ^ row % 8) << 4) + p * kBytes % 16;
          },
          tile_rows / kRows,
          k0 + p < g.k ? static_cast<int>(min(left, std::int64_t{tile_rows})) : 0);
    }
  }
}

/// What the copying warp does: all slots of all tiles of the block, one after the other. Where C is
/// read (its columns begin at j0), it has the L2 fetch a tile of C when that tile is being
/// multiplied, as many tiles behind A as the ring holds: in the time of a tile, what all blocks
/// read and write is more than the L2 keeps. The computing warps would do it sooner, but they need
/// the registers.
template <class Ring, class T, class TOut>
__device__ void fill_ring(const device::TensorMap* map, const UpdateArguments<T, TOut>& g,
                          const UpdateRingPlan& plan, const UpdateSlots<typename Ring::Acc>& ring,
                          const Factors<typename Ring::Acc>& factors, std::int64_t tile, int j0) {
  constexpr int kPerElement = sizeof(typename Ring::Element) > 8 ? 2 : 1;  // of the map
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int tile_rows = plan.warps_m * Ring::kWarpRows;
  const std::int64_t stride = std::int64_t{plan.row_tiles} * tile_rows;
  const int slots_of_tile = max(1, device::ceil_div(factors.k, plan.depth));
  const std::int64_t lag =
      factors.beta == typename Ring::Acc(0) ? 0 : plan.stages / slots_of_tile * stride;
  device::RingPlace turn;
  for (std::int64_t i0 = tile * tile_rows; i0 < g.m + lag; i0 += stride) {
    prefetch_c(g, factors, i0 - lag, tile_rows, j0, plan.warps_n * Ring::kWarpColumns);
    for (int k0 = 0; k0 < factors.k; k0 += plan.depth) {
      device::Mbarrier* const full = ring.wait_until_read(turn);
      char* const slot = ring.slot(turn);
      ring.advance(turn, 1);
      if (i0 >= g.m) continue;  // waits for the multiplication alone
      if (!plan.mapped) {
        // Elements of 16 bits always have a map: they are too small to be copied one by one.
        if constexpr (sizeof(typename Ring::Element) >= 4) copy_slot<Ring>(slot, g, plan, i0, k0);
        device::mbarrier_arrive_after_copies(full);
      } else if (device::copies_boxes(lane)) {
        device::announce_boxes(full, plan.slot_bytes);
        const int i = static_cast<int>(i0);
        if constexpr (Ring::kByColumns) {
          device::copy_box(slot, map, kPerElement * i, k0, full);
        } else {
          device::copy_box(slot, map, kPerElement * k0, i, full);
        }
        device::finish_boxes(full);
      }
    }
  }
  device::wait_for_copies();  // a warp does not end before what it has started
}

/// B as [k rounded up][b_pitch], zero from k and n on, conjugated where one of the factors is. By
/// `threads` threads, each of which has waited for its own copies at the end. Eight neighbouring
/// lanes read a sector of B; with the pitch, the lanes' elements stand in different banks.
template <class Ring, class T, class TOut>
__device__ void stage_ring_b(typename Ring::Acc* b, const UpdateArguments<T, TOut>& g,
                             const UpdateRingPlan& plan, int k, int j0, int threads) {
  using Acc = typename Ring::Acc;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int warps = threads / 32;
  const bool along_k = g.b_strides.row == 1;
  const int deep = (k + Ring::V - 1) / Ring::V * Ring::V;
  const int width = plan.warps_n * Ring::kWarpColumns;
  const int p_lane = along_k ? lane % 8 : lane / 8;
  const int j_lane = along_k ? lane / 8 : lane % 8;
  const int p_step = along_k ? 8 : 4;
  const int j_step = along_k ? 4 : 8;
  const std::int64_t source_step = p_step * g.b_strides.row;
  for (int j1 = warp * j_step; j1 < width; j1 += warps * j_step) {
    const int j = j0 + Ring::column_of_place(j1 + j_lane, plan.wide_c);
    const auto* source = g.b + p_lane * g.b_strides.row + j * g.b_strides.col;
    Acc* target = b + p_lane * plan.b_pitch + j1 + j_lane;
#pragma unroll 4
    for (int p = p_lane; p < deep; p += p_step) {
      const bool valid = p < k && j < g.n;
      if constexpr (sizeof(*source) < 4) {
        *target = valid ? device::widen(*source) : Acc(0);
      } else {
        device::copy_element<sizeof(Acc)>(target, source, valid);
      }
      source += source_step;
      target += p_step * plan.b_pitch;
    }
  }
  device::wait_for_copies();
  if constexpr (!std::is_arithmetic_v<Acc>) {
    if (g.conj_a == g.conj_b) return;
    for (int j1 = warp * j_step; j1 < width; j1 += warps * j_step) {
      for (int p = p_lane; p < deep; p += p_step) {
        Acc& value = b[p * plan.b_pitch + j1 + j_lane];
        value = device::conjugate_if(true, value);
      }
    }
  }
}

/// C(i, j) = alpha sum + beta C(i, j) for the sums of a lane, the first row and column being those
/// of its warp. In words of 16 bytes where all of the warp's rows exist.
template <class Ring, class T, class TOut>
__device__ void leave_sums(const typename Ring::Acc (&sums)[Ring::kRows][Ring::kColumns],
                           const UpdateArguments<T, TOut>& g, const UpdateRingPlan& plan,
                           const Factors<typename Ring::Acc>& factors, std::int64_t i0, int j0) {
  using Result = typename UpdateArguments<T, TOut>::Result;
  constexpr int V = Ring::V;
  constexpr int kWord = Ring::kWord;
  constexpr int kRows = Ring::kRows;
  constexpr int kColumns = Ring::kColumns;
  const std::int64_t row_stride = device::opaque(g.c_strides.row);
  const std::int64_t column_stride = device::opaque(g.c_strides.col);
  Result* const c = g.c + i0 * row_stride + j0 * column_stride;
  const bool whole = plan.wide_c && i0 + Ring::kWarpRows <= g.m;
  const int columns = g.n - j0;
  const auto sum = [&](int i, int j) { return device::conjugate_if(g.conj_a, sums[i][j]); };
  if (Ring::kByColumns && whole && row_stride == 1) {
    constexpr int kDown = kRows / V;  // words of a column
    const auto column = [&](int w) { return Ring::column(w / kDown, true); };
    leave_all_words<true, kColumns * kDown, V>(
        factors, [&](int w) { return column(w) < columns; },
        [&](int w) { return c + Ring::row(w % kDown * V, true) + column(w) * column_stride; },
        [&](int w, int e) { return sum(w % kDown * V + e, w / kDown); });
  } else if (whole && column_stride == 1) {
    constexpr int kAcross = kColumns / kWord;  // words of a row
    const auto column = [&](int w) { return Ring::column(w % kAcross * kWord, true); };
    leave_all_words<true, kRows * kAcross, kWord>(
        factors, [&](int w) { return column(w) < columns; },
        [&](int w) { return c + Ring::row(w / kAcross, plan.mapped) * row_stride + column(w); },
        [&](int w, int e) { return sum(w / kAcross, w % kAcross * kWord + e); });
  } else {
    const int rows = static_cast<int>(min(std::int64_t{Ring::kWarpRows}, g.m - i0));
    const auto row = [&](int w) { return Ring::row(w % kRows, plan.mapped); };
    const auto column = [&](int w) { return Ring::column(w / kRows, plan.wide_c); };
    leave_all_words<true, kRows * kColumns, 1>(
        factors, [&](int w) { return column(w) < columns && row(w) < rows; },
        [&](int w) { return c + row(w) * row_stride + column(w) * column_stride; },
        [&](int w, int /*e*/) { return sum(w % kRows, w / kRows); });
  }
}

/// sums += A B for `depth` columns of a slot, which begins with the warp's rows; b: their first
/// row, the lane's first column.
template <class Ring, class Acc>
__device__ void multiply_slot(Acc (&sums)[Ring::kRows][Ring::kColumns], const char* slot,
                              const Acc* b, int depth, int pitch, int tile_rows) {
#pragma unroll 1
  for (int p = 0; p < depth; p += Ring::kStep) {
    typename Ring::Element a[Ring::kRows][Ring::kStep];
    Ring::read(a, slot, p, tile_rows);
#pragma unroll
    for (int e = 0; e < Ring::kStep; ++e) {
      Acc row[Ring::kColumns];
#pragma unroll
      for (int h = 0; h < Ring::kColumns; h += Ring::kWord) {
        Acc word[Ring::kWord];
        device::load_wide(word, b + h * 4);
#pragma unroll
        for (int q = 0; q < Ring::kWord; ++q)
          row[h + q] = word[q];
      }
      b += pitch;
#pragma unroll
      for (int x = 0; x < Ring::kRows; ++x) {
#pragma unroll
        for (int y = 0; y < Ring::kColumns; ++y)
          sums[x][y] = fma(device::widen(a[x][e]), row[y], sums[x][y]);
      }
    }
  }
}

/// The warps that have shared out k: the sums of the first of them become those of all, in order.
/// Through the slots, which nobody fills any more: a block with such warps has one tile.
template <class Ring, class Acc>
__device__ void add_sums(Acc (&sums)[Ring::kRows][Ring::kColumns], Acc* memory,
                         const UpdateRingPlan& plan, int warp) {
  const int group = plan.warps_m * plan.warps_n;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  constexpr int kSums = Ring::kRows * Ring::kColumns * 32;  // of a warp
  device::warps_barrier(1, 32 * group * plan.warps_k);      // all slots have been read
  if (warp >= group) {
    Acc* const own = memory + (warp - group) * kSums + lane;
#pragma unroll
    for (int s = 0; s < Ring::kRows * Ring::kColumns; ++s)
      own[s * 32] = sums[s / Ring::kColumns][s % Ring::kColumns];
  }
  device::warps_barrier(1, 32 * group * plan.warps_k);  // the sums are there
  if (warp >= group) return;
  for (int other = 1; other < plan.warps_k; ++other) {
    const Acc* const part = memory + ((other - 1) * group + warp) * kSums + lane;
#pragma unroll
    for (int s = 0; s < Ring::kRows * Ring::kColumns; ++s)
      sums[s / Ring::kColumns][s % Ring::kColumns] += part[s * 32];
  }
}

/// Block: tiles of plan.warps_m warps' rows, every plan.row_tiles-th, x plan.warps_n warps'
/// columns; the blocks of the same rows are neighbours. Its last warp copies A. Computing warp: its
/// rows x its columns of each tile x every plan.warps_k-th slot.
template <int kVariant, class T, class TOut>
__global__ void __launch_bounds__(kRingThreads, RingShape<kVariant, T>::kResident)
    update_ring_kernel(const __grid_constant__ device::TensorMap map,
                       const __grid_constant__ UpdateArguments<T, TOut> g,
                       const __grid_constant__ UpdateRingPlan plan) {
  using Ring = RingShape<kVariant, T>;
  using Acc = typename Ring::Acc;
  constexpr int V = Ring::V;
  extern __shared__ __align__(16) char staged[];
  const auto ring = update_slots<Acc>(staged + device::bytes_to_box(staged), plan,
                                      (g.k + V - 1) / V * V * plan.b_pitch);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int consumers = plan.warps_m * plan.warps_n * plan.warps_k;
  const int column_blocks = static_cast<int>(gridDim.x) / plan.row_tiles;
  const int tile = static_cast<int>(blockIdx.x) / column_blocks;
  const int block_j0 =
      static_cast<int>(blockIdx.x) % column_blocks * plan.warps_n * Ring::kWarpColumns;
  device::let_next_kernel_start();
  if (threadIdx.x == 0)
    ring.init(plan.mapped ? device::kBoxArrivals : 32, plan.warps_m * plan.warps_n);
  __syncthreads();  // barriers are initialized
  device::wait_for_kernel_ahead();
  const Factors<Acc> factors(g);
  const int k = factors.k;
  if (warp == consumers) {
    fill_ring<Ring>(&map, g, plan, ring, factors, tile, block_j0);
    return;
  }
  stage_ring_b<Ring>(ring.b, g, plan, k, block_j0, 32 * consumers);
  device::warps_barrier(1, 32 * consumers);  // B is whole before it is read
  const int warp_m = warp % plan.warps_m;
  const int warp_n = warp / plan.warps_m % plan.warps_n;
  const int warp_k = warp / (plan.warps_m * plan.warps_n);
  const int tile_rows = plan.warps_m * Ring::kWarpRows;
  const Acc* const b_lane =
      ring.b + warp_n * Ring::kWarpColumns + Ring::column_lane() * Ring::kWord;
  device::RingPlace turn;
  turn.advance(warp_k, plan.stages);
  for (std::int64_t i0 = static_cast<std::int64_t>(tile) * tile_rows; i0 < g.m;
       i0 += std::int64_t{plan.row_tiles} * tile_rows) {
    Acc sums[Ring::kRows][Ring::kColumns] = {};
    for (int k0 = warp_k * plan.depth; k0 < k; k0 += plan.warps_k * plan.depth) {
      ring.wait_until_filled(turn);
      multiply_slot<Ring>(sums, ring.slot(turn) + warp_m * Ring::kWarpBytes,
                          b_lane + k0 * plan.b_pitch, min(plan.depth, k - k0), plan.b_pitch,
                          tile_rows);
      ring.give_back(turn.slot, lane);
      ring.advance(turn, plan.warps_k);
    }
    if (plan.warps_k > 1) add_sums<Ring>(sums, reinterpret_cast<Acc*>(ring.slots), plan, warp);
    if (warp_k == 0) {
      leave_sums<Ring>(sums, g, plan, factors, i0 + warp_m * Ring::kWarpRows,
                       block_j0 + warp_n * Ring::kWarpColumns);
    }
  }
}

}  // namespace lanky::dense::cuda
