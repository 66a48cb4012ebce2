// Gram products of doubles with long sides: a block computes all of C on tensor cores. All rows of
// A and columns of B pass through a ring; tiles of 16 rows are dealt out to the four schedulers.
#pragma once

#include "dense/cuda/gram/policy.hpp"
#include "dense/cuda/gram/ring.cuh"

namespace lanky::dense::cuda {

/// Warp w multiplies one or two tiles of 16 rows, the w % 4-th and the w % 4-th from the end beyond
/// the first four, with every kTeams-th 16 columns of B, from the w / 4-th on. Where B is A, what
/// lies above the diagonal is left out. Each scheduler has about as much to do (of 8 tiles, all
/// equally much), and so have its warps:
///
///   tile   0 1 2 3 4 5 6 7
///   w % 4  0 1 2 3 3 2 1 0
template <bool kRowMajor>
class DoubleProduct {
 public:
  static constexpr GramOrder kOrderA = kRowMajor ? GramOrder::panels : GramOrder::columns;
  static constexpr GramOrder kOrderB = kOrderA;
  static constexpr int kM = kGramDoubleSide;
  static constexpr int kN = kGramDoubleSide;
  static constexpr int kSegments = 1;
  static constexpr int kGroups = 1;
  static constexpr int kTeams = 2;  // a warp of each scheduler
  static constexpr int kWorkers = 4 * kTeams * 32;
  static constexpr int kReaders = kWorkers / 32;
  static constexpr int kMostSlots = 7;
  static constexpr bool kHandsOn = true;
  struct Slots {
    static constexpr int slot_bytes = (kM + kN) * kSegmentBytes;
    static constexpr int stages =
        ring_slots(device::kCapability, kMostSlots, kGroups, kSegments, slot_bytes);
    static constexpr int b_place = kM * kSegmentBytes;
  };
  static constexpr bool kExists = Slots::stages > 0;
  static constexpr std::size_t shared_bytes(int capability) {
    const int slots = ring_slots(capability, kMostSlots, kGroups, kSegments, Slots::slot_bytes);
    return slots == 0 ? kNeverFits : std::size_t(slots) * Slots::slot_bytes;
  }

  __device__ static Slots slots(const GramArguments<double>& /*g*/) { return {}; }
  __device__ static GramShare share(const GramArguments<double>& g) {
    return gram_share<DoubleProduct>(g, g.k);
  }
  __device__ static bool is_one_operand(const GramArguments<double>& g,
                                        const GramShare& /*share*/) {
    return g.symmetric;
  }

  __device__ DoubleProduct(const GramArguments<double>& g, const GramShare& /*share*/, char* ring)
      : g_(g) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    team_ = warp / kSchedulers;
    const int tiles = (g.m + kSide - 1) / kSide;
    const int near = warp % kSchedulers;
    const int far = tiles - 1 - near;
    tiles_[0] = near;
    tiles_[1] = max(far, near);
    pairs_[0] = near < tiles ? pairs_of(near) : 0;
    pairs_[1] = far < kSchedulers ? 0 : pairs_of(far);
    const std::uint32_t a = device::shared_address(ring) + place();
    a_[0] = a + tiles_[0] * kTileBytes;
    a_[1] = a + tiles_[1] * kTileBytes;
    b_ = a + (g.symmetric ? 0 : Slots::b_place) + team_ * kTileBytes;
  }

  __device__ void multiply(const GramShare& share, const device::Ring<Slots>& ring) const {
    Sums sums;
    read_segments<DoubleProduct>(share, ring, 0, [&](int slot, int /*within*/) {
      visit_known<kPairs>(pairs_[0], pairs_[1], [&](auto first, auto second) {
        add<first.value, second.value>(sums, slot);
      });
    });
    leave(sums, share);
  }

 private:
  static constexpr int kSchedulers = 4;
  static constexpr int kSide = 16;  // rows of a tile, columns of a pair of fragments
  static constexpr int kTiles = 2;  // of a warp
  static constexpr int kPairs = (kN / kSide + kTeams - 1) / kTeams;  // of a warp, at most
  static constexpr int kTileBytes = kSide * kSegmentBytes;
  struct Sums {
    double of[kTiles][kPairs][2][4] = {};
  };
  /// Of a fragment: 8 rows of A, or columns of B, and two k of this lane's.
  using Units = UnitProduct<double, Math::ieee>;
  using Unit = Units::Unit;

  __device__ int column_of(int pair) const { return (team_ + pair * kTeams) * kSide; }
  /// Pairs of the warp that a tile is multiplied with.
  __device__ int pairs_of(int tile) const {
    const int columns = g_.symmetric ? min(g_.n, (tile + 1) * kSide) : g_.n;
    const int all = (columns + kSide - 1) / kSide;
    return max(0, (all - team_ + kTeams - 1) / kTeams);
  }

  /// Of a lane, from a tile on. Row-major: rows 2 (lane / 4) + {0, 1} of k = 2 (lane % 4) + {0, 1};
  /// lanes that one cycle serves have k of all even (odd) remainders by 8, and meet all banks.
  __device__ static std::uint32_t place() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int line = kRowMajor ? lane % 4 * 2 : mixed_row(lane / 4);
    const int unit = kRowMajor ? lane / 4 : lane % 4;
    return static_cast<std::uint32_t>(line * kSegmentBytes + (unit ^ line) * 16);
  }
  /// The two fragments of a tile, of k = 8 s to 8 s + 7 in some order.
  __device__ static void load(Unit (&units)[2], std::uint32_t tile, int s) {
    if constexpr (kRowMajor) {
      const std::uint32_t k = tile + s * 8 * kSegmentBytes;
      const Unit even = Units::take(device::load_shared(k));
      const Unit odd = Units::take(device::load_shared((k ^ 16U) + kSegmentBytes));
      units[0] = {even.x, odd.x};
      units[1] = {even.y, odd.y};
    } else {
      const std::uint32_t rows = tile ^ static_cast<std::uint32_t>(s * 64);
      units[0] = Units::take(device::load_shared(rows));
      units[1] = Units::take(device::load_shared(rows + 8 * kSegmentBytes));
    }
  }
  /// Row of the tile that element e of a sum belongs to, and column of the pair (that of `half`).
  __device__ static int row(int lane, int e) {
    return kRowMajor ? lane / 4 * 2 + e / 2 : e / 2 * 8 + mixed_row(lane / 4);
  }
  __device__ static int column(int lane, int half, int e) {
    const int within = lane % 4 * 2 + e % 2;
    return kRowMajor ? within * 2 + half : half * 8 + mixed_row(within);
  }

  /// Adds the products of one segment: so many pairs with each tile.
  template <int kFirst, int kSecond>
  __device__ void add(Sums& sums, int slot) const {
    constexpr int kCounts[kTiles] = {kFirst, kSecond};
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      Unit left[kTiles][2];
#pragma unroll
      for (int i = 0; i < kTiles; ++i)
        if (kCounts[i] > 0) load(left[i], a_[i] + slot, s);
#pragma unroll
      for (int p = 0; p < max(kFirst, kSecond); ++p) {
        Unit right[2];
        load(right, b_ + slot + p * kTeams * kTileBytes, s);
#pragma unroll
        for (int i = 0; i < kTiles; ++i) {
          if (p >= kCounts[i]) continue;
#pragma unroll
          for (int half = 0; half < 2; ++half)
            Units::multiply(sums.of[i][p][half], sums.of[i][p][half], left[i][0], left[i][1],
                            right[half]);
        }
      }
    }
  }

  __device__ void leave(const Sums& sums, const GramShare& share) const {
    double* const partials = g_.partials + std::int64_t{share.walker} * g_.n * g_.m;
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
#pragma unroll
      for (int p = 0; p < kPairs; ++p) {
        if (p >= pairs_[i]) continue;
        const int r0 = tiles_[i] * kSide;
        const int c0 = column_of(p);
        if (kRowMajor && g_.m % 2 == 0 && !(g_.symmetric && r0 == c0)) {
          leave_words(partials, sums.of[i][p], r0, c0);
        } else {
          leave_elements(partials, sums.of[i][p], r0, c0);
        }
      }
    }
  }
  /// Where the lane has two rows of four columns, not on the diagonal; m is even.
  __device__ void leave_words(double* partials, const double (&sums)[2][4], int r0, int c0) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int r = r0 + row(lane, 0);
    const int c = c0 + column(lane, 0, 0);
    if (r >= g_.m) return;
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (c + j < g_.n)
        *reinterpret_cast<double2*>(partials + (c + j) * g_.m + r) = {sums[j % 2][j / 2],
                                                                      sums[j % 2][j / 2 + 2]};
    if (!g_.symmetric) return;
#pragma unroll
    for (int e = 0; e < 4; ++e)  // row e / 2, the columns of e % 2
      *reinterpret_cast<double2*>(partials + (r + e / 2) * g_.m + c + e % 2 * 2) = {sums[0][e],
                                                                                    sums[1][e]};
  }
  __device__ void leave_elements(double* partials, const double (&sums)[2][4], int r0,
                                 int c0) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int r = r0 + row(lane, e);
        const int c = c0 + column(lane, half, e);
        if (r >= g_.m || c >= g_.n || (g_.symmetric && r < c)) continue;
        partials[c * g_.m + r] = sums[half][e];
        if (g_.symmetric) partials[r * g_.m + c] = sums[half][e];
      }
    }
  }

  const GramArguments<double>& g_;
  std::uint32_t a_[kTiles];  // of the lane: its tiles
  std::uint32_t b_;          // and its first pair, in the first slot
  int team_;
  int tiles_[kTiles];
  int pairs_[kTiles];  // that each is multiplied with
};

template <bool kRowMajor>
__global__ __launch_bounds__(kGramRingThreads<DoubleProduct<kRowMajor>>,
                             1) void gram_double_kernel(const __grid_constant__ GramMaps maps,
                                                        GramArguments<double> g) {
  gram_ring<DoubleProduct<kRowMajor>>(maps, g);
}

}  // namespace lanky::dense::cuda
