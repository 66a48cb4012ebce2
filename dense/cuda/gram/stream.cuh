// Gram products of halves and, as tf32, of floats whose lines may be off 16 bytes: C[i, j] = sum
// over k of A[i, k] B[k, j] on tensor cores. Lines pass through shared memory in the aligned words
// of 16 bytes that hold them (dense/word_lines.hpp), and lanes take fragments from there in words
// of 4 bytes: of halves, two such words hold what a register of the fragment wants, wherever lines
// begin.
#pragma once

#include "dense/cuda/gram/policy.hpp"
#include "dense/cuda/gram/sum.cuh"
#include "dense/cuda/stream_operand.cuh"
#include "dense/cuda/word_lines.cuh"
#include "device/warp_group.cuh"

namespace lanky::dense::cuda {

/// A warp's part of the work. A group of 2^g.group_log2 warps has slots of its own and takes chunks
/// of k in turn with the others; each of its warps has a tile of C and one of `parts` parts of a
/// chunk. Neighbouring parts deal tiles out to other schedulers.
template <class T, int kTile>
struct StreamShare {
  static constexpr StreamTile kShape = kStreamTiles[kTile];

  int tiles_m;
  int tiles;
  int group;
  int parts;
  int part;  // of the group
  int tile;

  __device__ explicit StreamShare(const GramArguments<T>& g)
      : tiles_m(g.m > kShape.m() ? 2 : 1), tiles(g.n > kShape.n() ? 2 * tiles_m : tiles_m) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int tiles_log2 = __ffs(tiles) - 1;
    group = warp >> g.group_log2;
    parts = 1 << (g.group_log2 - tiles_log2);
    part = (warp & ((1 << g.group_log2) - 1)) >> tiles_log2;
    tile = (warp + part) & (tiles - 1);
  }
  __device__ int i0() const { return (tile & (tiles_m - 1)) * kShape.m(); }
  __device__ int j0() const { return tile / tiles_m * kShape.n(); }
};

/// A group's threads.
struct StreamGroup {
  int number;
  int threads_log2;
  int thread;

  template <class T>
  __device__ explicit StreamGroup(const GramArguments<T>& g)
      : number(static_cast<int>(threadIdx.x) >> (5 + g.group_log2)),
        threads_log2(5 + g.group_log2),
        thread(static_cast<int>(threadIdx.x) & ((1 << threads_log2) - 1)) {}
  __device__ int threads() const { return 1 << threads_log2; }
  __device__ void sync() const {
    if (threads_log2 == 5) {
      __syncwarp();
    } else {
      device::warps_barrier(1 + number, threads());
    }
  }
};

/// What a group copies to its slots.
template <class T>
struct StreamSlot {
  using E = device::DeviceElement<T>;

  Strides a_strides;  // [k, m]
  WordLinesPlan a_plan;
  WordLinesPlan b_plan;
  int bytes;

  __device__ explicit StreamSlot(const GramArguments<T>& g)
      : a_strides{g.a_strides.col, g.a_strides.row},
        a_plan(a_strides, g.depth, g.m, sizeof(E), kGramStreamGap),
        b_plan(g.b_strides, g.depth, g.n, sizeof(E), kGramStreamGap),
        bytes(a_plan.bytes + (g.symmetric ? 0 : b_plan.bytes)) {}

  /// Starts the copies of `count` of k from `first` on. One code for both operands: what is fetched
  /// into the instruction cache counts where k is short.
  __device__ void fetch(const GramArguments<T>& g, std::int64_t first, int count, char* place,
                        const StreamGroup& group) const {
#pragma unroll 1
    for (int operand = g.symmetric ? 1 : 0; operand < 2; ++operand) {
      const bool is_a = g.symmetric || operand == 0;
      const Strides strides = is_a ? a_strides : g.b_strides;
      const E* const matrix = is_a ? g.a : g.b;
      const int width = is_a ? g.m : g.n;
      const WordLines<const E> lines(matrix + first * strides.row, strides, is_a ? a_plan : b_plan,
                                     count, width, place + (is_a ? 0 : a_plan.bytes));
      lines.fetch_by(group.thread, group.threads_log2, end_of(matrix, strides, g.k, width));
    }
  }
  /// Zeros for k from `count` on: a slot's last products are of as many k as any.
  __device__ void clear(const GramArguments<T>& g, int count, char* place,
                        const StreamGroup& group) const {
    clear_lines(a_plan, g.depth, count, g.m, place + past(g.a), group);
    if (!g.symmetric)
      clear_lines(b_plan, g.depth, count, g.n, place + a_plan.bytes + past(g.b), group);
  }
  static __device__ int past(const E* first) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(first) % 16);
  }

 private:
  static __device__ void clear_lines(const WordLinesPlan& plan, int depth, int count, int lines,
                                     char* first, const StreamGroup& group) {
    const int left = depth - count;
    const int of_line = plan.by_columns ? left : left * plan.row / int{sizeof(E)};
    const int all = plan.by_columns ? lines * of_line : of_line;
    for (int e = group.thread; e < all; e += group.threads())
      *reinterpret_cast<E*>(first + count * plan.row + e / of_line * plan.column +
                            e % of_line * int{sizeof(E)}) = E(0.F);
  }
};

/// A warp's products of one slot. Lines that do not exist are multiplied with the others, whatever
/// stands there: nobody reads their sums.
template <class T, int kTile, bool kRowsA, bool kRowsB>
struct StreamProducts {
  using E = device::DeviceElement<T>;
  using A = StreamOperand<E, kRowsA>;
  using B = StreamOperand<E, kRowsB>;
  static constexpr int kTurn = A::kTurn;
  static constexpr int kM = kStreamTiles[kTile].fragments_m;
  static constexpr int kN = kStreamTiles[kTile].fragments_n;

  A a;
  B b;
  int depth;   // k of the warp's part of a slot
  int within;  // turn / kTurn - 1: products that pass before k moves on by 4 turns

  __device__ StreamProducts(const GramArguments<T>& g, const StreamSlot<T>& slot,
                            const StreamShare<T, kTile>& share, int lane)
      : a(slot.a_plan.row, slot.a_plan.column, StreamSlot<T>::past(g.a), share.i0(), g.m, g.turn,
          lane),
        b(slot.b_plan.row, slot.b_plan.column,
          StreamSlot<T>::past(g.b) + (g.symmetric ? 0 : slot.a_plan.bytes), share.j0(), g.n, g.turn,
          lane),
        depth(g.depth / share.parts),
        within(g.turn / kTurn - 1) {}

  /// From k = `begin` of the slot on. kOne: B's lines are A's, and C's fragments above its diagonal
  /// are left out.
  template <bool kOne>
  __device__ void multiply(float (&sums)[kM][2 * kN][4], const char* slot, int begin) const {
#pragma unroll(kM* kN > 4 ? 1 : 2)
    for (int s = 0; s < depth / (4 * kTurn); ++s) {
      const int first =
          begin + (s & ~within) * 4 * kTurn + (s & within) * kTurn;  // k of lanes t = 0
      StreamFragment rows[kM];
#pragma unroll
      for (int i = 0; i < kM; ++i)
        a.load(rows[i], slot + first * a.pitch_k(), i);
#pragma unroll
      for (int j = 0; j < kN; ++j) {
        StreamFragment columns;
        if constexpr (kOne) {
          memcpy(columns, rows[j], sizeof(columns));
        } else {
          b.load(columns, slot + first * b.pitch_k(), j);
        }
#pragma unroll
        for (int i = kOne ? j : 0; i < kM; ++i) {
          multiply_stream<E>(sums[i][2 * j], rows[i], columns[0][0], columns[0][1]);
          multiply_stream<E>(sums[i][2 * j + 1], rows[i], columns[1][0], columns[1][1]);
        }
      }
    }
  }
};

/// Sums of a block in shared memory: [group][part][tile][line of B][line of A].
template <class T, int kTile, bool kRowsA, bool kRowsB>
struct StreamSums {
  using E = device::DeviceElement<T>;
  static constexpr StreamTile kShape = kStreamTiles[kTile];
  static constexpr int kM = kShape.fragments_m;
  static constexpr int kN = kShape.fragments_n;

  float* all;

  __device__ void leave(const float (&sums)[kM][2 * kN][4], const StreamShare<T, kTile>& share,
                        int lane) const {
    float* const own =
        all + ((share.group * share.parts + share.part) * share.tiles + share.tile) * kShape.sums();
#pragma unroll
    for (int i = 0; i < kM; ++i) {
#pragma unroll
      for (int j = 0; j < 2 * kN; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int row = 16 * i + StreamOperand<E, kRowsA>::line(lane / 4, e / 2);
          const int column =
              16 * (j / 2) + StreamOperand<E, kRowsB>::line(lane % 4 * 2 + e % 2, j % 2);
          own[column * kShape.pitch() + row] = sums[i][j][e];
        }
      }
    }
  }
  /// The warps' sums, added, are the block's.
  __device__ void add(const GramArguments<T>& g, const StreamShare<T, kTile>& share) const {
    constexpr int kWarps = kShape.threads / 32;
    const int stride = share.tiles * kShape.sums();
    const int last = kWarps * kShape.sums();
    float* target = g.partials + std::int64_t{blockIdx.x} * g.m * g.n;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    int j = static_cast<int>(threadIdx.x) / 32;
    target += j * g.m;
#pragma unroll 1
    for (; j < g.n; j += kWarps, target += kWarps * g.m) {
      const float* const column = all + place(0, j, share.tiles_m);
#pragma unroll 2
      for (int i = lane; i < g.m; i += 32) {
        // Of one operand, fragments above the diagonal are those below it.
        const float* const source = g.symmetric && i / 16 < j / 16
                                        ? all + place(j, i, share.tiles_m)
                                        : column + place(i, 0, 0);
        float sum = 0;
        for (int at = 0; at < last; at += 2 * stride)
          sum += source[at] + source[at + stride];
        target[i] = sum;
      }
    }
  }

 private:
  static __device__ int place(int i, int j, int tiles_m) {
    return (i / kShape.m() + j / kShape.n() * tiles_m) * kShape.sums() +
           j % kShape.n() * kShape.pitch() + i % kShape.m();
  }
};

/// Block: every gridDim.x-th run of chunks of g.depth of k, one for each group (StreamShare).
/// Shared memory: kGramStreamSlots slots of each group, with A's and B's parts of a chunk; at the
/// end StreamSums.
template <class T, int kTile, bool kRowsA, bool kRowsB>
__global__ __launch_bounds__(kStreamTiles[kTile].threads,
                             1) void gram_stream_kernel(GramArguments<T> g) {
  using Acc = device::DeviceAccumulator<T>;
  extern __shared__ __align__(16) char slots[];
  device::let_next_kernel_start();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const StreamShare<T, kTile> share(g);
  const StreamGroup group(g);
  const StreamSlot<T> lines(g);
  const StreamProducts<T, kTile, kRowsA, kRowsB> products(g, lines, share, lane);
  char* const own = slots + group.number * kGramStreamSlots * lines.bytes;
  device::wait_for_kernel_ahead();
  const std::int64_t k = g.alpha.load() == Acc(0) ? 0 : g.k;
  const int chunks = static_cast<int>((k + g.depth - 1) / g.depth);
  const auto fetch = [&](int chunk, int slot) {
    if (chunk < chunks) {
      const std::int64_t first = std::int64_t{chunk} * g.depth;
      lines.fetch(g, first, static_cast<int>(min(std::int64_t{g.depth}, k - first)),
                  own + slot * lines.bytes, group);
    }
    device::group_copies();
  };
  // Of one operand, tiles above the diagonal are another warp's.
  const bool idle = g.symmetric && share.i0() < share.j0();
  const auto next = [](int slot) { return slot + 1 == kGramStreamSlots ? 0 : slot + 1; };
  float sums[kStreamTiles[kTile].fragments_m][2 * kStreamTiles[kTile].fragments_n][4] = {};
  const int groups = (kStreamTiles[kTile].threads / 32) >> g.group_log2;
  const int stride = static_cast<int>(gridDim.x) * groups;
  int chunk = static_cast<int>(blockIdx.x) * groups + group.number;  // to copy
  int filled = 0;                                                    // slot for it
  int slot = 0;                                                      // to multiply
#pragma unroll 1
  for (int turn = 1 - kGramStreamSlots;; ++turn, chunk += stride, filled = next(filled)) {
    const int own_chunk = chunk - (kGramStreamSlots - 1) * stride;  // to multiply
    char* const place = own + slot * lines.bytes;
    if (turn >= 0) {
      if (own_chunk >= chunks) break;
      device::wait_for_copy_groups<kGramStreamSlots - 2>();
      group.sync();  // the chunk is there, and the one before has been read
      if (own_chunk + 1 == chunks && k % g.depth != 0) {
        lines.clear(g, static_cast<int>(k % g.depth), place, group);
        group.sync();
      }
    }
    fetch(chunk, filled);
    if (turn < 0) continue;
    slot = next(slot);
    if (idle) continue;
    const int begin = share.part * products.depth;
    if (kRowsA == kRowsB && g.symmetric && share.i0() == share.j0()) {
      products.template multiply<kRowsA == kRowsB>(sums, place, begin);
    } else {
      products.template multiply<false>(sums, place, begin);
    }
  }
  device::wait_for_copy_groups<0>();
  __syncthreads();  // slots have been read before sums take their place
  const StreamSums<T, kTile, kRowsA, kRowsB> all{reinterpret_cast<float*>(slots)};
  all.leave(sums, share, lane);
  __syncthreads();  // all sums are there
  __syncthreads();  // racecheck may miss the one above (docs/lab/gram.md)
  all.add(g, share);
}

}  // namespace lanky::dense::cuda
