// Gram products on CUDA cores, where arithmetic binds: IEEE float beyond 16 columns, complex ones.
// All rows of A and columns of B that a block computes with pass in segments of k (128 bytes of
// each) through a ring in shared memory, filled by tensor copies; a lane holds a square of sums.
#pragma once

#include <cstring>

#include "dense/cuda/gram/fma_tile.cuh"
#include "dense/cuda/gram/wide.cuh"
#include "device/memory.cuh"
#include "device/warp_group.cuh"

namespace lanky::dense::cuda {

/// Where a lane stands in the tile of its warp, and which k of a segment it takes.
struct LanePlace {
  int m;
  int n;
  int k;
};

/// Bits of the lane's number go to n, m, n, m, ... and what is left to k: of the 16 lanes that one
/// cycle serves, neighbours read the same unit of A, and those two apart the same unit of B, so
/// that the loads of a half warp take one cycle each.
template <FmaTile kTile>
__device__ constexpr LanePlace lane_place(int lane) {
  LanePlace place{};
  int m = 1;
  int n = 1;
  int k = 1;
  for (int bit = 0; bit < 5; ++bit) {
    const int set = lane >> bit & 1;
    if (n < kTile.lanes_n && (n <= m || m == kTile.lanes_m)) {
      place.n += set * n;
      n *= 2;
    } else if (m < kTile.lanes_m) {
      place.m += set * m;
      m *= 2;
    } else {
      place.k += set * k;
      k *= 2;
    }
  }
  return place;
}

/// The lane that stands there.
template <FmaTile kTile>
__device__ constexpr int lane_at(LanePlace place) {
  int lane = 0;
  int m = 1;
  int n = 1;
  int k = 1;
  for (int bit = 0; bit < 5; ++bit) {
    if (n < kTile.lanes_n && (n <= m || m == kTile.lanes_m)) {
      lane += (place.n / n & 1) << bit;
      n *= 2;
    } else if (m < kTile.lanes_m) {
      lane += (place.m / m & 1) << bit;
      m *= 2;
    } else {
      lane += (place.k / k & 1) << bit;
      k *= 2;
    }
  }
  return lane;
}

template <class E>
inline constexpr bool kIsComplexElement = sizeof(E) != sizeof(device::RealPart<E>);

/// Row-major operands (columns have WideSquare). The sums of a lane: rows (i / kRun lanes_m +
/// place.m) kRun + i % kRun of its warp's tile, columns likewise: kRun neighbours come from one
/// 16-byte unit.
template <class T, int kIndex>
class FmaSquare {
 public:
  using E = device::DeviceElement<T>;
  using Acc = device::DeviceAccumulator<T>;
  static constexpr FmaTile kTile = kFmaTile<T, kIndex>;
  static constexpr int kRun = 16 / sizeof(E);

  /// `totals`: this thread's first, of one for each sum, kTile.workers() apart. `columns`: of C,
  /// from the first of the warp on.
  using Sum = Acc;

  __device__ FmaSquare(Acc* totals, FmaWarp warp, bool conjugate_b)
      : totals_(totals + threadIdx.x), warp_(warp), conjugate_b_(conjugate_b) {
    const LanePlace place = lane_place<kTile>(static_cast<int>(threadIdx.x) % 32);
    a_place_ = place.k * kSegmentBytes + (place.k ^ place.m) * 16;
    b_place_ = place.k * kSegmentBytes + (place.k ^ place.n) * 16;
#pragma unroll
    for (int s = 0; s < kTile.sums(); ++s)
      totals_[s * kTile.workers()] = Acc(0);
  }

  /// Adds the product of one segment: `a` and `b` are where the rows and columns of the warp begin,
  /// multiples of 1024 bytes. Where A and B are the same, what lies above the diagonal is left out;
  __device__ void add(std::uint32_t a, std::uint32_t b) {
    a += a_place_;
    b += b_place_;
    if (warp_.ahead >= kTile.warp_n()) {
      add_ahead<kTile.warp_n()>(a, b);
    } else if constexpr (kTile.m == kTile.n) {
      if (warp_.ahead == 0) {
        add_ahead<0>(a, b);
      } else if constexpr (kTile.warp_m() < kTile.warp_n()) {
        add_ahead<kTile.warp_m()>(a, b);
      }
    }
    if (kShortChains && ++segments_ == kSegmentsPerFlush) finish();
  }

  /// Adds the sums to the totals: at the end, and before chains of floats get long.
  __device__ void finish() {
#pragma unroll
    for (int i = 0; i < kTile.thread_m; ++i) {
#pragma unroll
      for (int j = 0; j < kTile.thread_n; ++j) {
        totals_[(j * kTile.thread_m + i) * kTile.workers()] += sums_[i][j];
        sums_[i][j] = Acc(0);
      }
    }
    segments_ = 0;
  }

  /// Of the block: what its threads added to element (i, j) of the tile.
  __device__ static Acc total(const Acc* totals, int i, int j) {
    const int in_group = j / kTile.warp_n() * kTile.warps_m() + i / kTile.warp_m();
    const int row = i % kTile.warp_m() / kRun;
    const int column = j % kTile.warp_n() / kRun;
    const int own = (column / kTile.lanes_n * kRun + j % kRun) * kTile.thread_m +
                    row / kTile.lanes_m * kRun + i % kRun;
    Acc sum = 0;
#pragma unroll
    for (int group = 0; group < kTile.groups; ++group) {
      const int nth = group < kTile.groups / 2 ? in_group : kTile.group_warps() - 1 - in_group;
#pragma unroll
      for (int lane_k = 0; lane_k < kTile.lanes_k(); ++lane_k) {
        const int lane = lane_at<kTile>({row % kTile.lanes_m, column % kTile.lanes_n, lane_k});
        const int thread = (group * kTile.group_warps() + nth) * 32 + lane;
        sum += totals[own * kTile.workers() + thread];
      }
    }
    return sum;
  }

 private:
  /// Long sums of floats lose accuracy: after 64 terms a chain is added to a total.
  static constexpr bool kShortChains =
      std::is_same_v<T, float> || std::is_same_v<T, std::complex<float>>;
  static constexpr int kSegmentsPerFlush =
      64 * static_cast<int>(sizeof(E)) * kTile.lanes_k() / kSegmentBytes;

  template <int kAhead>
  __device__ static constexpr bool needed(int i, int j) {
    const int last_row = (i / kRun * kTile.lanes_m + kTile.lanes_m - 1) * kRun + i % kRun;
    const int first_column = j / kRun * kTile.lanes_n * kRun + j % kRun;
    return last_row + kAhead >= first_column;
  }

  /// Eight rows of k, which the swizzle tells apart, at a time.
  template <int kAhead>
  __device__ void add_ahead(std::uint32_t a, std::uint32_t b) {
    constexpr int kSteps = kSegmentBytes / sizeof(E) / kTile.lanes_k();
    constexpr int kOctet = 8 / kTile.lanes_k();  // steps of 8 rows
#pragma unroll 1
    for (int first = 0; first < kSteps; first += kOctet) {
#pragma unroll
      for (int q = 0; q < kOctet; ++q) {
        E left[kTile.thread_m / kRun][kRun];
#pragma unroll
        for (int i = 0; i < kTile.thread_m / kRun; ++i)
          load(left[i], panel(a, q, i, kTile.lanes_m));
#pragma unroll
        for (int unit = 0; unit < kTile.thread_n / kRun; ++unit) {
          E right[kRun];
          load(right, panel(b, q, unit, kTile.lanes_n));
#pragma unroll
          for (int j = 0; j < kRun; ++j) {
            add_column<kAhead>(
                unit * kRun + j, [&](int i) { return left[i / kRun][i % kRun]; },
                device::conjugate_if(conjugate_b_, right[j]), j % 2 != 0);
          }
        }
      }
      a += 8 * kSegmentBytes;
      b += 8 * kSegmentBytes;
    }
  }

  /// sums(i, j) += left(i) right. Neighbours in the order of the products share a factor: reading
  /// three registers, of two banks, for one FMA takes two cycles.
  template <int kAhead, class Left>
  __device__ void add_column(int j, Left left, E right, bool backwards) {
    const auto run = [&](bool back, auto add) {
#pragma unroll
      for (int s = 0; s < kTile.thread_m; ++s) {
        const int i = back ? kTile.thread_m - 1 - s : s;
        if (needed<kAhead>(i, j)) add(sums_[i][j], left(i));
      }
    };
    if constexpr (kIsComplexElement<E>) {
      run(false, [&](E& sum, E x) { sum.re = ::fma(x.re, right.re, sum.re); });
      run(true, [&](E& sum, E x) { sum.im = ::fma(x.im, right.re, sum.im); });
      run(false, [&](E& sum, E x) { sum.re = ::fma(-x.im, right.im, sum.re); });
      run(true, [&](E& sum, E x) { sum.im = ::fma(x.re, right.im, sum.im); });
    } else {
      run(backwards, [&](E& sum, E x) { sum = ::fma(x, right, sum); });
    }
  }

  /// Address of the lane's i-th unit in its q-th row of k, as tensor copies swizzle; `first` is
  /// that of its first unit in its first row.
  __device__ static std::uint32_t panel(std::uint32_t first, int q, int i, int lanes) {
    const int k = q * kTile.lanes_k();
    constexpr int kPanelBytes = kTile.segments * kSegmentBytes / sizeof(E) * kSegmentBytes;
    const int unit = k % 8 ^ i * lanes % 8;
    return (first ^ static_cast<std::uint32_t>(unit * 16)) + k * kSegmentBytes +
           i * lanes / 8 * kPanelBytes;
  }
  __device__ static void load(E (&elements)[kRun], std::uint32_t address) {
    const uint4 word = device::load_shared(address);
    memcpy(elements, &word, sizeof(word));
  }

  Acc sums_[kTile.thread_m][kTile.thread_n] = {};
  Acc* totals_;
  FmaWarp warp_;
  bool conjugate_b_;
  int a_place_;
  int b_place_;
  int segments_ = 0;
};

/// The part of C that a block computes, and of the slots' worth of k which: runs of 2^run_log2
/// neighbours, interleaved over the walkers; the last of all is what remains of k beyond whole
/// segments.
struct FmaShare {
  int i0;
  int j0;
  int walker;
  int walkers;
  int run_log2;
  int whole;  // slots' worth of whole segments
  int count;  // of all

  __device__ int at(int index) const {
    const int run = index >> run_log2;
    const int within = index & ((1 << run_log2) - 1);
    return ((run * walkers + walker) << run_log2) + within;
  }
  __device__ bool has(int index) const { return at(index) < count; }
};

template <FmaTile kTile, bool kRowMajor, class T>
__device__ FmaShare fma_share(const GramArguments<T>& g) {
  constexpr int kSegmentK = kSegmentBytes / sizeof(T);
  const std::int64_t k = g.alpha.load() == device::DeviceElement<Accumulator<T>>(0) ? 0 : g.k;
  const std::int64_t segments = kRowMajor ? (k + kSegmentK - 1) / kSegmentK : k / kSegmentK;
  const int whole = static_cast<int>((segments + kTile.segments - 1) / kTile.segments);
  const bool has_rest = !kRowMajor && k % kSegmentK != 0;
  FmaShare share{.run_log2 = g.run_log2, .whole = whole, .count = whole + (has_rest ? 1 : 0)};
  const int block = static_cast<int>(blockIdx.x);
  if (g.diagonal_walkers == 0) {
    const int strips_m = (g.m + kTile.m - 1) / kTile.m;
    share.i0 = block % g.strips % strips_m * kTile.m;
    share.j0 = block % g.strips / strips_m * kTile.n;
    share.walker = block / g.strips;
    share.walkers = g.walkers;
  } else if (block < g.walkers) {
    share.i0 = kTile.m;
    share.walker = block;
    share.walkers = g.walkers;
  } else {
    share.i0 = share.j0 = (block - g.walkers) / g.diagonal_walkers * kTile.m;
    share.walker = (block - g.walkers) % g.diagonal_walkers;
    share.walkers = g.diagonal_walkers;
  }
  return share;
}

/// What the copying warp brings of one operand: rows of C from `first` on, at `place` in a slot.
struct FmaOperand {
  const CUtensorMap* map;
  const CUtensorMap* rest;
  int first;
  int rows;
  int place;
};

/// One lane: bytes of an operand in a slot.
template <FmaTile kTile, bool kRowMajor, class E>
__device__ int fma_operand_bytes(const FmaOperand& operand, bool rest) {
  constexpr int kPanel = kSegmentBytes / sizeof(E);
  if constexpr (kRowMajor) {
    return (operand.rows + kPanel - 1) / kPanel * kPanel * kTile.segments * kSegmentBytes;
  } else {
    return box_rows(operand.rows) * kSegmentBytes * (rest ? 1 : kTile.segments);
  }
}

/// One lane: starts the copies of an operand's part of slot `s` of k. Row-major, a panel each.
template <FmaTile kTile, bool kRowMajor, class E>
__device__ void copy_operand(const FmaOperand& operand, unsigned char* slot, int s, bool rest,
                             device::Mbarrier* arrived) {
  unsigned char* const target = slot + operand.place;
  if constexpr (kRowMajor) {
    constexpr int kPanel = kSegmentBytes / sizeof(E);
    constexpr int kSlotK = kTile.segments * kPanel;
    constexpr int kReals = sizeof(E) / sizeof(device::RealPart<E>);
    for (int i = 0; i < operand.rows; i += kPanel) {
      device::copy_box(target + i * static_cast<int>(sizeof(E)) * kSlotK, operand.map,
                       {(operand.first + i) * kReals, s * kSlotK, 0}, arrived);
    }
  } else {
    device::copy_box(target, rest ? operand.rest : operand.map,
                     {0, operand.first, rest ? 0 : s * kTile.segments}, arrived);
  }
}

/// Of each thread of a wide tile, after those of the four warps that copy were handed on.
inline constexpr int kWideCopyRegisters = 40;
inline constexpr int kWideRegisters = 232;

/// Block: writes [n][m] sums of its tile of C. One lane copies; group g multiplies segments g,
/// g + groups, ... of the block's. Shared memory: ring of slots [A, B][segment][row][128 bytes] or,
/// row-major, [A, B][panel][k][128 bytes], swizzled (device/tensor_map.cuh); totals [sum of a
/// lane][thread].
template <class T, int kIndex, bool kRowMajor>
__global__ __launch_bounds__(kFmaTile<T, kIndex>.threads(),
                             1) void gram_fma_kernel(const __grid_constant__ GramMaps maps,
                                                     GramArguments<T> g) {
#if __CUDA_ARCH__ >= 900
  constexpr FmaTile kTile = kFmaTile<T, kIndex>;
  // A group that skipped a phase of a barrier would take the one before for the one after.
  static_assert(kTile.slots * kTile.segments % kTile.groups == 0);
  using E = device::DeviceElement<T>;
  using Acc = device::DeviceAccumulator<T>;
  using Square = std::conditional_t<kTile.wide, WideSquare<T, kIndex>, FmaSquare<T, kIndex>>;
  using Sum = typename Square::Sum;
  constexpr int kOperandB = kTile.m * kTile.segments * kSegmentBytes;  // its place in a slot
  constexpr int kSlotBytes = kTile.slot_bytes<E>(kRowMajor);
  constexpr int kSegmentK = kSegmentBytes / sizeof(E);
  extern __shared__ unsigned char dynamic_shared[];
  __shared__ device::Mbarrier full[kTile.slots];
  __shared__ device::Mbarrier empty[kTile.slots];
  unsigned char* const ring = device::swizzle_aligned(dynamic_shared);
  Sum* const totals = reinterpret_cast<Sum*>(ring + kTile.slots * kSlotBytes);
  const int warp = static_cast<int>(threadIdx.x) / 32;

  device::let_next_kernel_start();
  if (threadIdx.x == 0) {
    device::init_ring(full, empty, kTile.slots, 1, kTile.segments * kTile.group_warps());
    device::prefetch_tensor_map(&maps.a);
    device::prefetch_tensor_map(&maps.b);
  }
  __syncthreads();  // barriers are initialized before anyone waits at them
  device::wait_for_kernel_ahead();
  const FmaShare share = fma_share<kTile, kRowMajor>(g);
  const bool diagonal = g.symmetric && share.i0 == share.j0;  // one operand serves as both
  const int group = warp / kTile.group_warps();

  if (group >= kTile.groups) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL  // setmaxnreg exists on no other architecture
    if constexpr (kTile.wide) device::keep_registers<kWideCopyRegisters>();
#endif
    if (warp * 32 != kTile.workers()) return;
    // Column-major boxes are equally large in every strip, row-major panels end with the matrix.
    const FmaOperand a{&maps.a, &maps.a_rest, share.i0,
                       min(kRowMajor ? g.m - share.i0 : g.m, kTile.m), 0};
    const FmaOperand b{&maps.b, &maps.b_rest, share.j0,
                       min(kRowMajor ? g.n - share.j0 : g.n, kTile.n), kOperandB};
    device::RingPlace place{0, 1};  // the first wait at each slot finds it empty
    for (int index = 0; threadIdx.x % 32 == 0 && share.has(index); ++index) {
      const int s = share.at(index);
      const bool rest = s == share.whole;
      unsigned char* const slot = ring + place.slot * kSlotBytes;
      device::Mbarrier* const arrived = &full[place.slot];
      device::mbarrier_wait(&empty[place.slot], place.parity);  // what it held is multiplied
      const int bytes = fma_operand_bytes<kTile, kRowMajor, E>(a, rest) +
                        (diagonal ? 0 : fma_operand_bytes<kTile, kRowMajor, E>(b, rest));
      device::mbarrier_arrive_expecting(arrived, static_cast<unsigned>(bytes));
      copy_operand<kTile, kRowMajor, E>(a, slot, s, rest, arrived);
      if (!diagonal) copy_operand<kTile, kRowMajor, E>(b, slot, s, rest, arrived);
      place.advance(1, kTile.slots);
    }
    return;
  }
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  if constexpr (kTile.wide) device::take_registers<kWideRegisters>();
#endif
  // The later groups exchange the roles of warps that share a scheduler: on the diagonal some of
  // them have less to do.
  const int nth = warp % kTile.group_warps();
  const int in_group = group < kTile.groups / 2 ? nth : kTile.group_warps() - 1 - nth;
  const int i0 = in_group % kTile.warps_m() * kTile.warp_m();
  const int j0 = in_group / kTile.warps_m() * kTile.warp_n();
  const FmaWarp own{.group = group,
                    .i0 = i0,
                    .j0 = j0,
                    .rows = g.m - share.i0 - i0,
                    .columns = g.n - share.j0 - j0,
                    .ahead = diagonal ? i0 - j0 : kTile.n};
  Square square(totals, own, g.conj_a != g.conj_b);  // C of conj(A): the conjugate of A conj(B)
  const bool useful = own.rows > 0 && own.columns > 0 && own.ahead + kTile.warp_m() > 0;
  const std::uint32_t a = device::shared_address(ring) +
                          i0 * (kRowMajor ? sizeof(E) * kSegmentK * kTile.segments : kSegmentBytes);
  const std::uint32_t b = device::shared_address(ring) + (diagonal ? 0 : kOperandB) +
                          j0 * (kRowMajor ? sizeof(E) * kSegmentK * kTile.segments : kSegmentBytes);
  const int a_segment = kSegmentBytes * (kRowMajor ? kSegmentK : box_rows(min(g.m, kTile.m)));
  const int b_segment = kSegmentBytes * (kRowMajor ? kSegmentK : box_rows(min(g.n, kTile.n)));
  device::RingPlace place{group / kTile.segments, 0};
  for (int segment = group;; segment += kTile.groups) {
    const int index = segment / kTile.segments;
    if (!share.has(index)) break;
    const int within = segment % kTile.segments;
    const int slot = place.slot * kSlotBytes;
    device::mbarrier_wait(&full[place.slot], place.parity);  // the slot is filled
    if (useful && (share.at(index) < share.whole || within == 0))
      square.add(a + slot + within * a_segment, b + slot + within * b_segment);
    __syncwarp();  // every lane has read the segment before the slot is given back
    if (threadIdx.x % 32 == 0) device::mbarrier_arrive(&empty[place.slot]);
    place.advance((segment + kTile.groups) / kTile.segments - index, kTile.slots);
  }
  square.finish();
  device::warps_barrier(1, kTile.workers());  // all totals are written before they are added
  for (int s = static_cast<int>(threadIdx.x); s < kTile.m * kTile.n; s += kTile.workers()) {
    const int i = share.i0 + s % kTile.m;
    const int j = share.j0 + s / kTile.m;
    if (i >= g.m || j >= g.n) continue;
    const bool above = diagonal && i < j;
    const Acc sum = above ? Square::total(totals, s / kTile.m, s % kTile.m)
                          : Square::total(totals, s % kTile.m, s / kTile.m);
    // On the other side of the diagonal stands the same, or the conjugate.
    const bool hermitian = g.conj_a != g.conj_b;
    Acc* const partials = g.partials + std::int64_t{share.walker} * g.n * g.m;
    partials[j * g.m + i] = device::conjugate_if(g.conj_a != (above && hermitian), sum);
    if (g.diagonal_walkers == 0) continue;
    if (!diagonal) {
      partials[i * g.m + j] = device::conjugate_if(g.conj_a != hermitian, sum);
    } else if (share.walker + g.diagonal_walkers < g.walkers) {
      partials[(g.diagonal_walkers * g.n + j) * g.m + i] = Acc(0);
    }
  }
  sum_in_last_block(g, *reinterpret_cast<GramWarpTotals<T>*>(ring));
#endif
}

}  // namespace lanky::dense::cuda
