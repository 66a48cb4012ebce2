// Gram products on CUDA cores, where arithmetic binds: IEEE float beyond 16 columns, complex ones.
// All rows of A and columns of B that a block computes with pass through a ring; a lane holds a
// square of sums.
#pragma once

#include <cstring>

#include "dense/cuda/gram/fma_tile.cuh"
#include "dense/cuda/gram/wide.cuh"
#include "device/memory.cuh"

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

  using Sum = Acc;
  struct Sums {
    Acc of[kTile.thread_m][kTile.thread_n] = {};
    int segments = 0;  // in them
  };

  /// `totals`: this thread's first, of one for each sum, kTile.workers() apart.
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
  /// multiples of 1024 bytes. Where A and B are the same, what lies above the diagonal is left out.
  __device__ void add(Sums& sums, std::uint32_t a, std::uint32_t b) const {
    a += a_place_;
    b += b_place_;
    if (warp_.ahead >= kTile.warp_n()) {
      add_ahead<kTile.warp_n()>(sums, a, b);
    } else if constexpr (kTile.m == kTile.n) {
      if (warp_.ahead == 0) {
        add_ahead<0>(sums, a, b);
      } else if constexpr (kTile.warp_m() < kTile.warp_n()) {
        add_ahead<kTile.warp_m()>(sums, a, b);
      }
    }
    if (kShortChains && ++sums.segments == kSegmentsPerFlush) finish(sums);
  }

  /// Adds the sums to the totals: at the end, and before chains of floats get long.
  __device__ void finish(Sums& sums) const {
#pragma unroll
    for (int i = 0; i < kTile.thread_m; ++i) {
#pragma unroll
      for (int j = 0; j < kTile.thread_n; ++j) {
        totals_[(j * kTile.thread_m + i) * kTile.workers()] += sums.of[i][j];
        sums.of[i][j] = Acc(0);
      }
    }
    sums.segments = 0;
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
  __device__ void add_ahead(Sums& sums, std::uint32_t a, std::uint32_t b) const {
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
                sums, unit * kRun + j, [&](int i) { return left[i / kRun][i % kRun]; },
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
  __device__ static void add_column(Sums& sums, int j, Left left, E right, bool backwards) {
    const auto run = [&](bool back, auto add) {
#pragma unroll
      for (int s = 0; s < kTile.thread_m; ++s) {
        const int i = back ? kTile.thread_m - 1 - s : s;
        if (needed<kAhead>(i, j)) add(sums.of[i][j], left(i));
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

  Acc* totals_;
  FmaWarp warp_;
  bool conjugate_b_;
  int a_place_;
  int b_place_;
};

/// The block's tile of C, and its turns of k among the blocks of that tile.
template <class Product, class T>
__device__ GramShare fma_share(const GramArguments<T>& g) {
  constexpr FmaTile kTile = Product::kTile;
  GramShare share = gram_share<Product>(g, g.k);
  const int block = static_cast<int>(blockIdx.x);
  share.side_m = tile_side(kTile, g.m, kTile.m);
  share.side_n = tile_side(kTile, g.n, kTile.n);
  if (g.diagonal_walkers == 0) {
    const int strips_m = (g.m + kTile.m - 1) / kTile.m;
    share.i0 = block % g.strips % strips_m * share.side_m;
    share.j0 = block % g.strips / strips_m * share.side_n;
    share.walker = block / g.strips;
    share.walkers = g.walkers;
  } else if (block < g.walkers) {
    share.i0 = share.side_m;
    share.walker = block;
    share.walkers = g.walkers;
  } else {
    share.i0 = share.j0 = (block - g.walkers) / g.diagonal_walkers * share.side_m;
    share.walker = (block - g.walkers) % g.diagonal_walkers;
    share.walkers = g.diagonal_walkers;
  }
  return share;
}

/// Group g multiplies segments g, g + groups, ... of the block's. Behind the ring stand totals [sum
/// of a lane][thread] of squares, [groups][n][m] of wide ones.
template <class T, int kIndex>
class FmaProduct {
 public:
  using E = device::DeviceElement<T>;
  using Acc = device::DeviceAccumulator<T>;
  static constexpr FmaTile kTile = kFmaTile<T, kIndex>;
  static constexpr bool kRowMajor = !kTile.wide;
  using Square = std::conditional_t<kTile.wide, WideSquare<T, kIndex>, FmaSquare<T, kIndex>>;
  using Sum = typename Square::Sum;
  using Sums = typename Square::Sums;
  static constexpr GramOrder kOrderA = kRowMajor ? GramOrder::panels : GramOrder::columns;
  static constexpr GramOrder kOrderB = kOrderA;
  static constexpr int kM = kTile.m;
  static constexpr int kN = kTile.n;
  static constexpr int kSegments = kTile.segments;
  static constexpr int kGroups = kTile.groups;
  static constexpr int kWorkers = kTile.workers();
  static constexpr int kReaders = kSegments * kTile.group_warps();
  static constexpr int kMostSlots = kTile.slots;
  static constexpr bool kHandsOn = kTile.wide;
  static constexpr std::size_t kTotalBytes = kWorkers * kTile.sums() * sizeof(Sum);
  struct Slots {
    static constexpr int slot_bytes = fma_slot_bytes<E>(kTile);
    static constexpr int stages =
        ring_slots(device::kCapability, kTile.slots, kGroups, kSegments, slot_bytes, kTotalBytes);
    static constexpr int b_place = kM * kSegments * kSegmentBytes;
  };
  static constexpr bool kExists = Slots::stages > 0;
  static constexpr std::size_t shared_bytes(int capability) {
    const int slots =
        ring_slots(capability, kTile.slots, kGroups, kSegments, Slots::slot_bytes, kTotalBytes);
    return slots == 0 ? kNeverFits : std::size_t(slots) * Slots::slot_bytes + kTotalBytes;
  }

  __device__ static Slots slots(const GramArguments<T>& /*g*/) { return {}; }
  __device__ static GramShare share(const GramArguments<T>& g) { return fma_share<FmaProduct>(g); }
  /// On the diagonal.
  __device__ static bool is_one_operand(const GramArguments<T>& g, const GramShare& share) {
    return g.symmetric && share.i0 == share.j0;
  }

  __device__ FmaProduct(const GramArguments<T>& g, const GramShare& share, char* ring)
      : g_(g),
        ring_(ring),
        diagonal_(is_one_operand(g, share)),
        own_(own_part(g, share, diagonal_)),
        square_(totals(), own_, g.conj_a != g.conj_b) {  // C of conj(A): conj of A conj(B)
    constexpr int kLine = static_cast<int>(kRowMajor ? kSegmentBytes * kSegments : kSegmentBytes);
    a_ = device::shared_address(ring) + own_.i0 * kLine;
    b_ = device::shared_address(ring) + (diagonal_ ? 0 : Slots::b_place) + own_.j0 * kLine;
  }

  __device__ void multiply(const GramShare& share, const device::Ring<Slots>& ring) const {
    Sums sums;
    const bool useful = own_.rows > 0 && own_.columns > 0 && own_.ahead + kTile.warp_m() > 0;
    constexpr int kSegmentK = kSegmentBytes / sizeof(E);
    const int a_segment =
        kSegmentBytes * (kRowMajor ? kSegmentK : box_rows(min(g_.m, share.side_m)));
    const int b_segment =
        kSegmentBytes * (kRowMajor ? kSegmentK : box_rows(min(g_.n, share.side_n)));
    read_segments<FmaProduct>(share, ring, own_.group, [&](int slot, int within) {
      if (useful) square_.add(sums, a_ + slot + within * a_segment, b_ + slot + within * b_segment);
    });
    square_.finish(sums);
    leave(share);
  }

 private:
  __device__ void leave(const GramShare& share) const {
    device::warps_barrier(1, kWorkers);  // all totals are written before they are added
    for (int s = static_cast<int>(threadIdx.x); s < kM * kN; s += kWorkers) {
      const int i = share.i0 + s % kM;
      const int j = share.j0 + s / kM;
      if (s % kM < rows_of(g_, share) && s / kM < columns_of(g_, share))
        leave_element(share, s, i, j);
    }
    sum_in_last_block(g_, *reinterpret_cast<GramWarpTotals<T>*>(ring_));
  }

  __device__ static int rows_of(const GramArguments<T>& g, const GramShare& share) {
    return min(g.m - share.i0, share.side_m);
  }
  __device__ static int columns_of(const GramArguments<T>& g, const GramShare& share) {
    return min(g.n - share.j0, share.side_n);
  }
  /// On the diagonal some warps have less to do: the later groups exchange the roles of those that
  /// share a scheduler, and of one group every second column has its rows the other way round.
  __device__ static FmaWarp own_part(const GramArguments<T>& g, const GramShare& share,
                                     bool diagonal) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int group = warp / kTile.group_warps();
    const int nth = warp % kTile.group_warps();
    const int in_group = group < kGroups / 2 ? nth : kTile.group_warps() - 1 - nth;
    const int column = in_group / kTile.warps_m();
    const int row = in_group % kTile.warps_m();
    const bool turned = kTile.wide && kGroups == 1 && column % 2 != 0;
    const int i0 = (turned ? kTile.warps_m() - 1 - row : row) * kTile.warp_m();
    const int j0 = column * kTile.warp_n();
    return {.group = group,
            .i0 = i0,
            .j0 = j0,
            .rows = rows_of(g, share) - i0,
            .columns = columns_of(g, share) - j0,
            .ahead = diagonal ? i0 - j0 : kN};
  }
  __device__ Sum* totals() const {
    return reinterpret_cast<Sum*>(ring_ + Slots::stages * Slots::slot_bytes);
  }
  /// Element s of the tile, (i, j) of C. On the other side of the diagonal stands the same, or the
  /// conjugate.
  __device__ void leave_element(const GramShare& share, int s, int i, int j) const {
    const bool above = diagonal_ && i < j;
    const int row = s % kM;
    const int column = s / kM;
    const Acc sum = Square::total(totals(), above ? column : row, above ? row : column);
    const bool hermitian = g_.conj_a != g_.conj_b;
    Acc* const partials = g_.partials + std::int64_t{share.walker} * g_.n * g_.m;
    partials[j * g_.m + i] = device::conjugate_if(g_.conj_a != (above && hermitian), sum);
    if (g_.diagonal_walkers == 0) return;
    if (!diagonal_) {
      partials[i * g_.m + j] = device::conjugate_if(g_.conj_a != hermitian, sum);
    } else if (share.walker + g_.diagonal_walkers < g_.walkers) {
      partials[(g_.diagonal_walkers * g_.n + j) * g_.m + i] = Acc(0);
    }
  }

  const GramArguments<T>& g_;
  char* ring_;
  bool diagonal_;
  FmaWarp own_;
  Square square_;
  std::uint32_t a_;  // where the rows and columns of the warp begin
  std::uint32_t b_;
};

template <class T, int kIndex>
__global__ __launch_bounds__(kGramRingThreads<FmaProduct<T, kIndex>>,
                             1) void gram_fma_kernel(const __grid_constant__ GramMaps maps,
                                                     GramArguments<T> g) {
  gram_ring<FmaProduct<T, kIndex>>(maps, g);
}

}  // namespace lanky::dense::cuda
