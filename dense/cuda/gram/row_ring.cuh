// Gram products of two row-major operands of up to 32 floats a row, with sums in double: C[i, j] =
// sum over k of A[k][i] B[k][j]. Rows pass through a ring; their floats, widened to double, which
// is exact, are fragments on tensor cores as they stand.
#pragma once

#include <type_traits>

#include "dense/cuda/gram/ring.cuh"

namespace lanky::dense::cuda {

inline constexpr int kRowRingSlots = 6;

/// Warp w multiplies segments w, w + 8, ... of the block's, 32 rows each. A lane's 16 bytes of a
/// row are four columns; the columns 4 g + c, g < 8, are group c. Tile (i, j) has the rows of C
/// that are groups 2 i and 2 i + 1, and the columns of group j. Where A and B are one operand, a
/// group's products with a later one are those of the tile on the other side of the diagonal, and
/// tiles j > 2 i + 1 are left out. At the end the sums of the warps take the place of the ring.
template <class T>
class RowRingProduct {
 public:
  using E = device::DeviceElement<T>;
  static_assert(std::is_same_v<E, float>);
  static constexpr GramOrder kOrderA = GramOrder::panels;
  static constexpr GramOrder kOrderB = GramOrder::panels;
  static constexpr int kM = kGramRowRingSide;
  static constexpr int kN = kGramRowRingSide;
  static constexpr int kSegments = 4;
  static constexpr int kGroups = 8;  // a warp each
  static constexpr int kWorkers = kGroups * 32;
  static constexpr int kReaders = kSegments;
  static constexpr int kMostSlots = kRowRingSlots;
  static constexpr bool kHandsOn = false;
  static constexpr int kSegmentK = kSegmentBytes / sizeof(E);
  static constexpr int kTilesM = 2;
  static constexpr int kTilesN = 4;
  static constexpr int kSums = kTilesM * kTilesN * 128;  // of a warp
  struct Slots {
    static constexpr int b_place = kSegments * kSegmentK * kSegmentBytes;
    static constexpr int slot_bytes = 2 * b_place;
    static constexpr int stages =
        ring_slots(device::kCapability, kRowRingSlots, kGroups, kSegments, slot_bytes);
  };
  static constexpr bool kExists = Slots::stages > 0;
  static constexpr std::size_t shared_bytes(int capability) {
    const int slots = ring_slots(capability, kRowRingSlots, kGroups, kSegments, Slots::slot_bytes);
    if (slots == 0) return kNeverFits;
    return std::max(kGroups * kSums * sizeof(double), std::size_t(slots) * Slots::slot_bytes);
  }

  __device__ static Slots slots(const GramArguments<T>& /*g*/) { return {}; }
  __device__ static GramShare share(const GramArguments<T>& g) {
    return gram_share<RowRingProduct>(g, g.k);
  }
  __device__ static bool is_one_operand(const GramArguments<T>& g, const GramShare& /*share*/) {
    return g.symmetric;
  }

  __device__ RowRingProduct(const GramArguments<T>& g, const GramShare& /*share*/, char* ring)
      : g_(g), ring_(ring) {}

  /// Code knows whether operands are one: a product that a predicate leaves out takes as long as
  /// another.
  __device__ void multiply(const GramShare& share, const device::Ring<Slots>& ring) const {
    if (g_.symmetric) {
      multiply_known<true>(share, ring);
    } else {
      multiply_known<false>(share, ring);
    }
    leave(share);
  }

 private:
  using Sums = double[kTilesM][kTilesN][4];

  template <bool kOne>
  __device__ void multiply_known(const GramShare& share, const device::Ring<Slots>& ring) const {
    Sums sums = {};
    read_segments<RowRingProduct>(
        share, ring, static_cast<int>(threadIdx.x) / 32, [&](int slot, int within) {
          const char* const a = ring_ + slot + within * kSegmentK * kSegmentBytes;
          add<kOne>(sums, a, a + Slots::b_place);
        });
    device::warps_barrier(1, kWorkers);  // all segments are read before sums overwrite the ring
    store(sums);
    device::warps_barrier(1, kWorkers);  // the warps' sums are written before they are added
  }

  /// Adds the product of a segment, 16 rows at a time.
  template <bool kOne>
  __device__ static void add(Sums& sums, const char* a, const char* b) {
#pragma unroll 1
    for (int first = 0; first < kSegmentK; first += 16) {
      double left[4][4];  // [group][row]
      load(left, a + first * kSegmentBytes);
      double right[4][4];
      if constexpr (!kOne) load(right, b + first * kSegmentBytes);
#pragma unroll
      for (int i = 0; i < kTilesM; ++i) {
        const double rows[8] = {left[2 * i][0],     left[2 * i + 1][0], left[2 * i][1],
                                left[2 * i + 1][1], left[2 * i][2],     left[2 * i + 1][2],
                                left[2 * i][3],     left[2 * i + 1][3]};
#pragma unroll
        for (int j = 0; j < (kOne ? 2 * i + 2 : kTilesN); ++j)
          device::mma_m16n8k16(sums[i][j], rows, kOne ? left[j] : right[j]);
      }
    }
  }

  /// A lane's four columns of rows 2 t, 2 t + 1, and 8 more, t = lane % 4: the 8 lanes that one
  /// cycle serves have rows of all even (odd) remainders by 8, and meet all banks.
  __device__ static void load(double (&columns)[4][4], const char* rows) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const int row = lane % 4 * 2 + q % 2;
      const float4 unit = *reinterpret_cast<const float4*>(
          rows + (q / 2 * 8 + row) * kSegmentBytes + (lane / 4 ^ row) * 16);
      columns[0][q] = unit.x;
      columns[1][q] = unit.y;
      columns[2][q] = unit.z;
      columns[3][q] = unit.w;
    }
  }

  /// To [warp][tile][e][lane].
  __device__ void store(const Sums& sums) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    double* const target =
        reinterpret_cast<double*>(ring_) + static_cast<int>(threadIdx.x) / 32 * kSums + lane;
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
      for (int j = 0; j < kTilesN; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e)
          target[((i * kTilesN + j) * 4 + e) * 32] = sums[i][j][e];
      }
    }
  }

  /// Where the sum of row i and column j of C stands.
  __device__ static int place_of(int i, int j) {
    const int tile = i % 4 / 2 * kTilesN + j % 4;
    const int e = i % 2 * 2 + j / 4 % 2;
    return (tile * 4 + e) * 32 + i / 4 * 4 + j / 8;
  }

  __device__ void leave(const GramShare& share) const {
    const double* const sums = reinterpret_cast<const double*>(ring_);
    for (int s = static_cast<int>(threadIdx.x); s < g_.m * g_.n; s += kWorkers) {
      const int i = s % g_.m;
      const int j = s / g_.m;
      // Of one operand, both sides of the diagonal are the same sum.
      const bool turned = g_.symmetric && (i % 4 < j % 4 || (i % 4 == j % 4 && i < j));
      const int place = turned ? place_of(j, i) : place_of(i, j);
      double sum = 0;
#pragma unroll
      for (int w = 0; w < kGroups; ++w)
        sum += sums[w * kSums + place];
      g_.partials[std::int64_t{share.walker} * g_.m * g_.n + s] = sum;
    }
  }

  const GramArguments<T>& g_;
  char* ring_;
};

template <class T>
__global__ __launch_bounds__(kGramRingThreads<RowRingProduct<T>>,
                             1) void gram_row_ring_kernel(const __grid_constant__ GramMaps maps,
                                                          GramArguments<T> g) {
  gram_ring<RowRingProduct<T>>(maps, g);
}

}  // namespace lanky::dense::cuda
