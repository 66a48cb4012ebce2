// Gram products whose operands pass in segments of k (128 bytes of each row of A and column of B,
// where k is adjacent in memory) through a ring in shared memory: what these kernels have in
// common. Copies of boxes fill the slots, warps multiply. Each kernel is a Product:
// how its warps multiply a segment, and what they do with their sums (gram_ring()).
#pragma once

#include <cstddef>

#include "core/machine.hpp"
#include "dense/cuda/gram/product.cuh"
#include "dense/cuda/gram/sum.cuh"
#include "device/matrix_copy.cuh"
#include "device/ring.cuh"
#include "device/tensor_map.cuh"
#include "device/warp_group.cuh"

namespace lanky::dense::cuda {

/// The operands as segments, and the k beyond the last whole segment.
struct GramMaps {
  device::TensorMap a;
  device::TensorMap b;
  device::TensorMap a_rest;
  device::TensorMap b_rest;
};

/// How an operand lies in memory and, swizzled (device/tensor_map.cuh), in a slot:
///   columns  k is adjacent      [segment][box_rows][128 bytes]
///   rows     the elements of one k are adjacent, at most 128 bytes   [k][row_pitch]
///   panels   likewise, of any length                                 [panel][k][128 bytes]
enum class GramOrder { columns, rows, panels };

/// Slots of a ring, at most `most`: as many as a block of code for a capability has room for beside
/// `beside` bytes. All slots meet the same groups of warps in every round: 0 where there is no room
/// for one.
__host__ __device__ constexpr int ring_slots(int capability, int most, int groups, int segments,
                                             int slot_bytes, std::size_t beside = 0) {
  constexpr int kOther = 2 << 10;  // the ring's alignment, and barriers
  const auto room =
      static_cast<int>(shared_bytes_for(capability)) - kOther - static_cast<int>(beside);
  int slots = room < 0 ? 0 : room / slot_bytes < most ? room / slot_bytes : most;
  while (slots * segments % groups != 0)
    --slots;
  return slots;
}

/// Dynamic shared memory of a ring's kernel that does not exist.
inline constexpr std::size_t kNeverFits = std::size_t{1} << 30;

/// Rows of an operand in a segment: whole groups of 8, so that the swizzle is that of the row.
__host__ __device__ constexpr int box_rows(int rows) {
  return (rows + 7) / 8 * 8;
}

/// Bytes of a row-major row of floats in shared memory, as tensor copies swizzle: 32, 64 or 128.
__host__ __device__ constexpr int row_pitch(int columns) {
  return columns <= 8 ? 32 : columns <= 16 ? 64 : 128;
}

/// A block's part: up to side_m rows of C from i0 on, up to side_n columns from j0 on, and of k the
/// slots' worth that are walker `walker`'s: runs of 2^run_log2 neighbours, interleaved over the
/// walkers. The last of all is what remains of k beyond whole segments.
struct GramShare {
  int i0;
  int j0;
  int side_m;
  int side_n;
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
};

/// All of C, and the block's turns of `k`. Where A is not by columns, the last segment goes beyond
/// k instead of leaving a rest.
template <class Product, class T>
__device__ GramShare gram_share(const GramArguments<T>& g, std::int64_t k) {
  constexpr int kSegmentK = kSegmentBytes / sizeof(T);
  constexpr bool kColumns = Product::kOrderA == GramOrder::columns;
  if (g.alpha.load() == device::DeviceAccumulator<T>(0)) k = 0;
  const std::int64_t segments = kColumns ? k / kSegmentK : (k + kSegmentK - 1) / kSegmentK;
  const int whole = static_cast<int>((segments + Product::kSegments - 1) / Product::kSegments);
  const bool has_rest = kColumns && k % kSegmentK != 0;
  return {.i0 = 0,
          .j0 = 0,
          .side_m = Product::kM,
          .side_n = Product::kN,
          .walker = static_cast<int>(blockIdx.x),
          .walkers = static_cast<int>(gridDim.x),
          .run_log2 = g.run_log2,
          .whole = whole,
          .count = whole + (has_rest ? 1 : 0)};
}

/// What is copied of one operand: `rows` rows (columns of B) from `first` on.
template <GramOrder kOrder, class E, int kSegments>
struct GramOperand {
  static constexpr int kPanel = kSegmentBytes / sizeof(E);  // elements; k of a segment
  static constexpr int kSlotK = kPanel * kSegments;
  static constexpr int kPanelBytes = kSlotK * kSegmentBytes;

  const device::TensorMap* map;
  const device::TensorMap* rest_map;
  int first;
  int rows;

  __host__ __device__ static constexpr int bytes(int rows, int segments = kSegments) {
    if (kOrder == GramOrder::columns) return box_rows(rows) * kSegmentBytes * segments;
    if (kOrder == GramOrder::rows) return row_pitch(rows) * kSlotK;
    return (rows + kPanel - 1) / kPanel * kPanelBytes;
  }
  __device__ int bytes(bool rest) const { return bytes(rows, rest ? 1 : kSegments); }
  /// Starts the copies of slot `s` of k.
  __device__ void copy(char* target, int s, bool rest, device::Mbarrier* arrived) const {
    if constexpr (kOrder == GramOrder::columns) {
      device::copy_box(target, rest ? rest_map : map, {0, first, rest ? 0 : s * kSegments},
                       arrived);
    } else if constexpr (kOrder == GramOrder::rows) {
      device::copy_box(target, rest ? rest_map : map, {0, rest ? 0 : s * kSlotK, 0}, arrived);
    } else {
      constexpr int kReals = sizeof(E) / sizeof(device::RealPart<E>);
#pragma unroll 1
      for (int i = 0; i < rows; i += kPanel)
        device::copy_box(target + i / kPanel * kPanelBytes, map,
                         {(first + i) * kReals, s * kSlotK, 0}, arrived);
    }
  }
};

/// What the lanes that copy do. Boxes by columns are equally large in all of C's tiles, rows
/// end with the matrix.
template <class Product, class T>
__device__ void copy_slots(const GramMaps& maps, const GramArguments<T>& g, const GramShare& share,
                           const device::Ring<typename Product::Slots>& ring) {
  using E = device::DeviceElement<T>;
  const auto rows = [](GramOrder order, int all, int first, int most) {
    return min(order == GramOrder::columns ? all : all - first, most);
  };
  const GramOperand<Product::kOrderA, E, Product::kSegments> a{
      &maps.a, &maps.a_rest, share.i0, rows(Product::kOrderA, g.m, share.i0, share.side_m)};
  const GramOperand<Product::kOrderB, E, Product::kSegments> b{
      &maps.b, &maps.b_rest, share.j0, rows(Product::kOrderB, g.n, share.j0, share.side_n)};
  const bool once = Product::is_one_operand(g, share);
  device::RingPlace place;
  int s;
  for (int index = 0; (s = share.at(index)) < share.count; ++index) {
    const bool rest = s == share.whole;
    char* const slot = ring.slot(place);
    device::Mbarrier* const arrived = ring.wait_until_read(place);
    const int bytes = a.bytes(rest) + (once ? 0 : b.bytes(rest));
    device::announce_boxes(arrived, bytes);
    a.copy(slot, s, rest, arrived);
    if (!once) b.copy(slot + ring.plan.b_place, s, rest, arrived);
    device::finish_boxes(arrived);
    ring.advance(place, 1);
  }
  if constexpr (!device::kBulkCopies) device::wait_for_copies();  // before the lanes end
}

/// Warps of group `group` multiply segments group, group + kGroups, ... of the block's. A group
/// that skipped a phase of a barrier would take the one before for the one after: all slots meet
/// the same groups in every round. add(slot, within) multiplies segment `within` of the slot that
/// begins `slot` bytes behind the ring's beginning.
template <class Product, class Add>
__device__ void read_segments(const GramShare& share,
                              const device::Ring<typename Product::Slots>& ring, int group,
                              const Add& add) {
  static_assert(Product::Slots::stages * Product::kSegments % Product::kGroups == 0);
  constexpr bool kColumns = Product::kOrderA == GramOrder::columns;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  device::RingPlace place{group / Product::kSegments, 0};
  for (int segment = group;; segment += Product::kGroups) {
    const int index = segment / Product::kSegments;
    const int s = share.at(index);
    if (s >= share.count) break;
    const int within = segment % Product::kSegments;
    ring.wait_until_filled(place);
    // The rest of k is one segment.
    if (!kColumns || s < share.whole || within == 0)
      add(place.slot * Product::Slots::slot_bytes, within);
    ring.give_back(place.slot, lane);
    ring.advance(place, (segment + Product::kGroups) / Product::kSegments - index);
  }
}

/// Threads of a block.
template <class Product>
inline constexpr unsigned kGramRingThreads = Product::kWorkers + (Product::kHandsOn ? 128 : 32);

/// Of each thread, where the four warps that copy hand registers on to those that multiply.
inline constexpr int kGramCopyRegisters = 40;
template <class Product>
inline constexpr int kGramWorkRegisters = device::registers_to_take(Product::kWorkers, 128,
                                                                    kGramCopyRegisters);

/// What a block of a ring's kernel does: it leaves partial sums of its part. A Product has
///   kWorkers               threads that multiply; the first warp behind them copies
///   shared_bytes(capability)  dynamic shared memory, from a multiple of 1024 bytes on, of code for
///                          a capability; kNeverFits where it has no body
///   kExists                whether it has one in this code
///   kHandsOn               whether the copying warps, four then, hand registers on
///   kReaders               warps that read a slot
///   kSegments, kM, kN      of a slot; most rows of A and columns of B in it
///   kOrderA, kOrderB       how the operands lie
///   Slots                  the ring (device::Ring), and where in a slot B begins, as b_place
///   slots(g), share(g), is_one_operand(g, share)
///   Product(g, share, memory), with the memory of the slots
///   multiply(share, ring)  all its segments; leaves its sums to the block's partial sums
/// A thread's sums are a variable of multiply() where every segment needs other members of the
/// Product: with both in one object, nvcc 13.0 computed the places of the operands anew for every
/// segment, and spilled (float by rows, 16 columns: 120 bytes, 1321 instructions a segment in place
/// of 1086; 10.5 us in place of the 8.6 of a kernel without an object).
/// Shared memory: the ring, swizzled; its place is the Product's when all segments are read.
template <class Product, class T>
__device__ void gram_ring(const GramMaps& maps, const GramArguments<T>& g) {
  if constexpr (!Product::kExists) return device::fail_without_body();
  extern __shared__ __align__(16) char dynamic_shared[];
  __shared__ device::Mbarrier full[Product::kMostSlots];
  __shared__ device::Mbarrier empty[Product::kMostSlots];
  char* const memory = dynamic_shared + device::bytes_to_box(dynamic_shared);
  const typename Product::Slots slots = Product::slots(g);
  const device::Ring<typename Product::Slots> ring{slots, memory, full, empty};
  device::let_next_kernel_start();
  if (threadIdx.x == 0) {
    ring.init(device::kBoxArrivals, Product::kReaders);
    device::prefetch_tensor_map(&maps.a);
    device::prefetch_tensor_map(&maps.b);
  }
  __syncthreads();  // barriers are initialized before anyone waits at them
  device::wait_for_kernel_ahead();
  const GramShare share = Product::share(g);
  if (static_cast<int>(threadIdx.x) / 32 >= Product::kWorkers / 32) {
    if constexpr (Product::kHandsOn) device::keep_registers<kGramCopyRegisters>();
    const int lane = static_cast<int>(threadIdx.x) - Product::kWorkers;
    if (lane < 32 && device::copies_boxes(lane)) copy_slots<Product>(maps, g, share, ring);
    return;
  }
  if constexpr (Product::kHandsOn) device::take_registers<kGramWorkRegisters<Product>>();
  Product(g, share, memory).multiply(share, ring);
}

}  // namespace lanky::dense::cuda
