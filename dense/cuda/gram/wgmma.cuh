// Gram products of 16-bit types of up to 128 columns by wgmma: both operands stay in shared memory,
// where tensor copies have put them in a ring. Either layout.
#pragma once

#include "dense/cuda/gram/ring.cuh"
#include "device/wgmma.cuh"

namespace lanky::dense::cuda {

/// Bytes in flight. Where k is adjacent, more makes memory slower (H200, n = 64, k = 1e7: 128 KiB
/// .981 of the floor, 112 .942, 192 .950; A = B 96 KiB .977, 112 .965, 192 .942).
inline constexpr int kColumnBytesInFlight = 128 << 10;
inline constexpr int kSymmetricBytesInFlight = 104 << 10;
inline constexpr int kRowBytesInFlight = 192 << 10;

/// A block computes 64 kTiles rows and columns of C by kTiles warp groups: rows 64 w .. 64 w + 63
/// are group w's. Tensor cores cut the sums that they carry: after 32 slots these are added to
/// totals. Row-major, g.packed rows without padding may pass as one: of the wide sums the blocks on
/// the diagonal are added.
template <class T, int kTiles, bool kRowMajor>
class WgmmaProduct {
 public:
  using E = device::DeviceElement<T>;
  static constexpr GramOrder kOrderA = kRowMajor ? GramOrder::panels : GramOrder::columns;
  static constexpr GramOrder kOrderB = kOrderA;
  static constexpr int kM = 64 * kTiles;
  static constexpr int kN = kM;
  static constexpr int kSegments = 2 / kTiles;  // 64 k each
  static constexpr int kWorkers = 128 * kTiles;
  static constexpr int kReaders = kWorkers / 32;
  static constexpr int kMostSlots = 24;
  static constexpr bool kHandsOn = false;
  // What products read beyond the rows or columns of an operand is in the ring all the same.
  static constexpr std::size_t shared_bytes(int /*capability*/) { return (192 + 16) << 10; }
  static constexpr bool kExists = device::kWarpGroups;
  using Operand = GramOperand<kOrderA, E, kSegments>;
  struct Slots {
    int stages;
    int slot_bytes;
    int b_place;
  };

  __device__ static Slots slots(const GramArguments<T>& g) {
    const int a_bytes = Operand::bytes(g.m);
    const int slot_bytes = a_bytes + (g.symmetric ? 0 : Operand::bytes(g.n));
    const int in_flight = kRowMajor     ? kRowBytesInFlight
                          : g.symmetric ? kSymmetricBytesInFlight
                                        : kColumnBytesInFlight;
    return {min(in_flight / slot_bytes, kMostSlots), slot_bytes, g.symmetric ? 0 : a_bytes};
  }
  __device__ static GramShare share(const GramArguments<T>& g) {
    return gram_share<WgmmaProduct>(g, g.k / g.packed);
  }
  __device__ static bool is_one_operand(const GramArguments<T>& g, const GramShare& /*share*/) {
    return g.symmetric;
  }

  __device__ WgmmaProduct(const GramArguments<T>& g, const GramShare& /*share*/, char* ring)
      : g_(g), ring_(ring) {}

  __device__ void multiply(const GramShare& share, const device::Ring<Slots>& ring) {
    read(share, ring);
    leave(share);
  }

 private:
  /// A slot is given back when its products have ended, one slot later.
  __device__ void read(const GramShare& share, const device::Ring<Slots>& ring) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int group = static_cast<int>(threadIdx.x) / 128;
    const std::uint32_t a =
        device::shared_address(ring_) + group * (kRowMajor ? kPanelBytes : 64 * kSegmentBytes);
    const std::uint32_t b = device::shared_address(ring_) + ring.plan.b_place;
    device::RingPlace place;
    int unread = -1;  // slot whose products may be at work
    int s;
    for (int index = 0; (s = share.at(index)) < share.count; ++index) {
      const int slot = place.slot * ring.plan.slot_bytes;
      ring.wait_until_filled(place);
      if (kTiles == 2 || s < share.whole) {
        start<kSegments>(a + slot, b + slot);
      } else {
        start<1>(a + slot, b + slot);
      }
      const bool all = wait();
      if (lane == 0 && unread >= 0) device::mbarrier_arrive(ring.empty + unread);
      if (lane == 0 && all) device::mbarrier_arrive(ring.empty + place.slot);
      unread = all ? -1 : place.slot;
      ring.advance(place, 1);
    }
    flush();
  }

  __device__ void leave(const GramShare& share) {
    auto* const partials = g_.partials + std::int64_t{share.walker} * g_.m * g_.n;
    if (kRowMajor && kTiles == 1 && g_.packed > 1) return leave_packed(partials);
    const int i0 = static_cast<int>(threadIdx.x) / 128 * 64;
    store([&](int i, int j, float sum) {
      if (i0 + i < g_.m && j < g_.n) partials[j * g_.m + i0 + i] = sum;
    });
  }

  /// Starts the products of the first segments of a slot: a, of this group's rows, and b.
  template <int kCount>
  __device__ void start(std::uint32_t a, std::uint32_t b) {
    const int a_pitch = box_rows(g_.m) * kSegmentBytes;
    const int b_pitch = box_rows(g_.n) * kSegmentBytes;
    device::wgmma_fence();
#pragma unroll
    for (int s = 0; s < kCount; ++s) {
#pragma unroll
      for (int q = 0; q < 4; ++q) {  // 16 k: 32 bytes of a line, or 16 lines
        const int step = kRowMajor ? (s * 4 + q) * 16 * kSegmentBytes : q * 32;
        device::wgmma<E, kRowMajor>(sums_,
                                    device::wgmma_swizzled<kRowMajor>(
                                        a + (kRowMajor ? 0 : s * a_pitch) + step, kPanelBytes),
                                    device::wgmma_swizzled<kRowMajor>(
                                        b + (kRowMajor ? 0 : s * b_pitch) + step, kPanelBytes),
                                    started_);
        started_ = true;
      }
    }
    device::wgmma_commit();
  }
  /// True where all that was started has ended, otherwise all but the last slot's products have.
  __device__ bool wait() {
    if (++slots_ < kSlotsPerFlush) {
      device::wgmma_wait<1>();
      return false;
    }
    flush();
    return true;
  }
  __device__ void flush() {
    device::wgmma_wait<0>();
    device::keep_in_order(sums_);
    if (started_) {
#pragma unroll
      for (int j = 0; j < kN / 8; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e)
          totals_[j][e] += sums_[j][e];
      }
    }
    started_ = false;
    slots_ = 0;
  }
  /// visit(i, j, sum) for every element of the group's rows, each by one lane.
  template <class Visit>
  __device__ void store(Visit visit) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int row = static_cast<int>(threadIdx.x) % 128 / 32 * 16 + lane / 4;
#pragma unroll
    for (int j = 0; j < kN / 8; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e)
        visit(row + e / 2 * 8, j * 8 + lane % 4 * 2 + e % 2, totals_[j][e]);
    }
  }
  __device__ void leave_packed(float* partials) const {
    constexpr int kPitch = kN + 4;                        // the lanes of a fragment meet all banks
    float* const wide = reinterpret_cast<float*>(ring_);  // [column][row]
    device::warps_barrier(1, kWorkers);  // all slots are read before sums overwrite them
    store([&](int i, int j, float sum) { wide[j * kPitch + i] = sum; });
    device::warps_barrier(1, kWorkers);  // the wide sums are written before they are added
    for (int s = static_cast<int>(threadIdx.x); s < g_.m * g_.n; s += kWorkers) {
      const float* source = wide + s / g_.m * kPitch + s % g_.m;
      float sum = 0;
      for (int r = 0; r < g_.packed; ++r, source += g_.n * kPitch + g_.m)
        sum += *source;
      partials[s] = sum;
    }
  }

  static constexpr int kSlotsPerFlush = 32;
  static constexpr int kPanelBytes = Operand::kPanelBytes;  // row-major: 64 columns

  const GramArguments<T>& g_;
  char* ring_;
  float sums_[kN / 8][4] = {};
  float totals_[kN / 8][4] = {};
  bool started_ = false;
  int slots_ = 0;
};

template <class T, int kTiles, bool kRowMajor>
__global__ __launch_bounds__(kGramRingThreads<WgmmaProduct<T, kTiles, kRowMajor>>,
                             1) void gram_wgmma_kernel(const __grid_constant__ GramMaps maps,
                                                       GramArguments<T> g) {
  gram_ring<WgmmaProduct<T, kTiles, kRowMajor>>(maps, g);
}

}  // namespace lanky::dense::cuda
