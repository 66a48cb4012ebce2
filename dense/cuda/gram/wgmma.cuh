// Gram products of 16-bit types of up to 128 columns by wgmma: both operands stay in shared memory,
// where tensor copies have put them in a ring. Either layout.
#pragma once

#include "dense/cuda/gram/staged.cuh"
#include "device/warp_group.cuh"
#include "device/wgmma.cuh"

namespace lanky::dense::cuda {

/// What a block computes: 64 kTiles rows and columns of C by kTiles warp groups of 64 rows; one
/// more warp copies.
template <int kTiles>
struct WgmmaTile {
  static constexpr int kSide = 64 * kTiles;
  static constexpr int kThreads = 128 * kTiles + 32;
  static constexpr int kSegments = 2 / kTiles;  // of a slot, 64 k each
  static constexpr int kSegmentK = kSegmentBytes / 2;
  static constexpr int kSlotK = kSegmentK * kSegments;
  static constexpr int kPanelBytes = kSlotK * kSegmentBytes;  // row-major: 64 columns
  static constexpr int kMostSlots = 24;
  // What products read beyond the rows or columns of an operand is in the ring all the same.
  static constexpr int kRingBytes = (192 + 16) << 10;
};

/// Sums of a warp group. Tensor cores cut the sums that they carry: after 32 slots these are added
/// to totals.
template <class E, int kTiles, bool kRowMajor>
class WgmmaProduct {
 public:
  using Tile = WgmmaTile<kTiles>;

  /// Starts the products of kSegments segments that begin at `a` (of this group's rows) and `b`;
  /// `pitch`s are the bytes from one to the next, where k is adjacent.
  template <int kSegments>
  __device__ void start(std::uint32_t a, int a_pitch, std::uint32_t b, int b_pitch) {
    device::wgmma_fence();
#pragma unroll
    for (int s = 0; s < kSegments; ++s) {
#pragma unroll
      for (int q = 0; q < 4; ++q) {  // 16 k: 32 bytes of a line, or 16 lines
        const int step = kRowMajor ? (s * 4 + q) * 16 * kSegmentBytes : q * 32;
        device::wgmma<E, kRowMajor>(
            sums_,
            device::wgmma_swizzled<kRowMajor>(a + (kRowMajor ? 0 : s * a_pitch) + step,
                                              Tile::kPanelBytes),
            device::wgmma_swizzled<kRowMajor>(b + (kRowMajor ? 0 : s * b_pitch) + step,
                                              Tile::kPanelBytes),
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
      for (int j = 0; j < Tile::kSide / 8; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e)
          totals_[j][e] += sums_[j][e];
      }
    }
    started_ = false;
    slots_ = 0;
  }
  /// store(i, j, sum) for every element of the group's rows, each by one lane.
  template <class Store>
  __device__ void finish(Store store) {
    flush();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int row = static_cast<int>(threadIdx.x) % 128 / 32 * 16 + lane / 4;
#pragma unroll
    for (int j = 0; j < Tile::kSide / 8; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e)
        store(row + e / 2 * 8, j * 8 + lane % 4 * 2 + e % 2, totals_[j][e]);
    }
  }

 private:
  static constexpr int kSlotsPerFlush = 32;

  float sums_[Tile::kSide / 8][4] = {};
  float totals_[Tile::kSide / 8][4] = {};
  bool started_ = false;
  int slots_ = 0;
};

/// Bytes in flight. Where k is adjacent, more makes memory slower (H200, n = 64, k = 1e7: 128 KiB
/// .981 of the floor, 112 .942, 192 .950; A = B 96 KiB .977, 112 .965, 192 .942).
inline constexpr int kColumnBytesInFlight = 128 << 10;
inline constexpr int kSymmetricBytesInFlight = 104 << 10;
inline constexpr int kRowBytesInFlight = 192 << 10;

/// Block: writes [n][m] sums of slots' worth of k, as gram_staged_kernel takes them. Row-major,
/// g.packed rows without padding may pass as one: of the wide sums the blocks on the diagonal are
/// added. Warp group w: rows 64 w .. 64 w + 63. Shared memory: ring of slots [A, B (unless A is
/// B)], an operand being [segment][row][128 bytes] or, row-major, [64 columns][k][128 bytes],
/// swizzled.
template <class T, int kTiles, bool kRowMajor>
__global__ __launch_bounds__(WgmmaTile<kTiles>::kThreads,
                             1) void gram_wgmma_kernel(const __grid_constant__ GramMaps maps,
                                                       GramArguments<T> g) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL  // wgmma exists on no other architecture
  using Tile = WgmmaTile<kTiles>;
  using E = device::DeviceElement<T>;
  extern __shared__ unsigned char dynamic_shared[];
  __shared__ device::Mbarrier full[Tile::kMostSlots];
  __shared__ device::Mbarrier empty[Tile::kMostSlots];
  unsigned char* const ring = device::swizzle_aligned(dynamic_shared);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const auto operand_bytes = [](int rows) {
    return kRowMajor ? (rows + 63) / 64 * Tile::kPanelBytes
                     : box_rows(rows) * Tile::kSegments * kSegmentBytes;
  };
  const int b_offset = g.symmetric ? 0 : operand_bytes(g.m);
  const int slot_bytes = operand_bytes(g.m) + (g.symmetric ? 0 : operand_bytes(g.n));
  const int in_flight = kRowMajor     ? kRowBytesInFlight
                        : g.symmetric ? kSymmetricBytesInFlight
                                      : kColumnBytesInFlight;
  const int slots = min(in_flight / slot_bytes, Tile::kMostSlots);

  device::let_next_kernel_start();
  if (threadIdx.x == 0) {
    device::init_ring(full, empty, Tile::kMostSlots, 1, 4 * kTiles);
    device::prefetch_tensor_map(&maps.a);
    device::prefetch_tensor_map(&maps.b);
  }
  __syncthreads();  // barriers are initialized before anyone waits at them
  device::wait_for_kernel_ahead();
  const std::int64_t k = g.alpha.load() == 0.0F ? 0 : g.k / g.packed;
  const auto sequence = slots_of<kRowMajor>(g.run_log2, k, Tile::kSegmentK, Tile::kSegments);

  if (warp == 4 * kTiles) {
    if (lane != 0) return;
    const auto copy = [&](unsigned char* target, const CUtensorMap* map,
                          const CUtensorMap* rest_map, int rows, int s, device::Mbarrier* arrived) {
      const bool rest = s == sequence.whole;
      if constexpr (kRowMajor) {
        for (int i = 0; i < rows; i += 64)
          device::copy_box(target + i / 64 * Tile::kPanelBytes, map, {i, s * Tile::kSlotK, 0},
                           arrived);
      } else {
        device::copy_box(target, rest ? rest_map : map, {0, 0, rest ? 0 : s * Tile::kSegments},
                         arrived);
      }
    };
    device::RingPlace place{0, 1};  // the first wait at each slot finds it empty
    for (int index = 0; sequence.has(index); ++index) {
      const int s = sequence.at(index);
      unsigned char* const slot = ring + place.slot * slot_bytes;
      device::Mbarrier* const arrived = &full[place.slot];
      device::mbarrier_wait(&empty[place.slot], place.parity);  // what it held is multiplied
      const int bytes = kRowMajor || s < sequence.whole ? slot_bytes : slot_bytes / Tile::kSegments;
      device::mbarrier_arrive_expecting(arrived, static_cast<unsigned>(bytes));
      copy(slot, &maps.a, &maps.a_rest, g.m, s, arrived);
      if (!g.symmetric) copy(slot + b_offset, &maps.b, &maps.b_rest, g.n, s, arrived);
      place.advance(1, slots);
    }
    return;
  }

  WgmmaProduct<E, kTiles, kRowMajor> product;
  const int i0 = warp / 4 * 64;
  const std::uint32_t a = device::shared_address(ring) +
                          warp / 4 * (kRowMajor ? Tile::kPanelBytes : 64 * kSegmentBytes);
  const std::uint32_t b = device::shared_address(ring) + b_offset;
  device::RingPlace place{0, 0};
  int unread = -1;  // slot whose products may be at work
  const auto give_back = [&](int slot) {
    if (lane == 0 && slot >= 0) device::mbarrier_arrive(&empty[slot]);
  };
  for (int index = 0; sequence.has(index); ++index) {
    const int slot = place.slot * slot_bytes;
    device::mbarrier_wait(&full[place.slot], place.parity);  // the slot is filled
    const int a_pitch = box_rows(g.m) * kSegmentBytes;
    const int b_pitch = box_rows(g.n) * kSegmentBytes;
    if (kTiles == 2 || sequence.at(index) < sequence.whole) {
      product.template start<Tile::kSegments>(a + slot, a_pitch, b + slot, b_pitch);
    } else {
      product.template start<1>(a + slot, a_pitch, b + slot, b_pitch);
    }
    const bool all = product.wait();
    give_back(unread);
    if (all) give_back(place.slot);
    unread = all ? -1 : place.slot;
    place.advance(1, slots);
  }
  if (kRowMajor && kTiles == 1 && g.packed > 1) {
    constexpr int kWarps = 4;
    constexpr int kPitch = Tile::kSide + 4;              // the lanes of a fragment meet all banks
    float* const wide = reinterpret_cast<float*>(ring);  // [column][row]
    product.flush();
    device::warps_barrier(1, kWarps * 32);  // all slots are read before sums overwrite them
    product.finish([&](int i, int j, float sum) { wide[j * kPitch + i] = sum; });
    device::warps_barrier(1, kWarps * 32);  // the wide sums are written before they are added
    for (int s = static_cast<int>(threadIdx.x); s < g.m * g.n; s += kWarps * 32) {
      const float* source = wide + s / g.m * kPitch + s % g.m;
      float sum = 0;
      for (int r = 0; r < g.packed; ++r, source += g.n * kPitch + g.m)
        sum += *source;
      g.partials[std::int64_t{blockIdx.x} * g.m * g.n + s] = sum;
    }
    return;
  }
  product.finish([&](int i, int j, float sum) {
    if (i0 + i < g.m && j < g.n)
      g.partials[(std::int64_t{blockIdx.x} * g.n + j) * g.m + i0 + i] = sum;
  });
#endif
}

}  // namespace lanky::dense::cuda
