// C[m, n] = alpha A[m, k] B[k, n] + beta C for long m and k: A streams once through a ring of slots
// in shared memory, written by copies of boxes and read by the warps that compute. Every block
// gets an equal piece of the work, tile of rows after tile and slot of k after slot (stream-K,
// Osama et al., PPoPP '23); tiles that several blocks share are added up by panel_sum_kernel in the
// blocks' order. TSM2's panel (Chen et al., ICS '19) with Hopper's means.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "dense/cuda/epilogue.cuh"
#include "dense/cuda/panel/policy.hpp"
#include "dense/problem.hpp"
#include "device/element.cuh"
#include "device/grid_dependency.cuh"
#include "device/matrix_copy.cuh"
#include "device/ring.cuh"
#include "device/warp_group.cuh"
#include "device/wgmma.cuh"

namespace lanky::dense::cuda {

template <class T>
struct PanelArguments {
  using Element = device::DeviceElement<T>;
  using Acc = device::DeviceAccumulator<T>;

  Problem problem;
  PanelPlan plan;
  const Element* a;  // [m, k], problem.a
  const Element* b;  // [k, n], problem.b
  void* c;           // [m, n], problem.c, of T or, where wide_c, of Acc
  Acc* partials;     // [block][plan.kept][n][tile rows]: of a block's first tile, and of its last;
                     // of all its tiles where A has classes of lines
  char* packed;  // [class][step][small_bytes]: B as slots take it, from panel_pack_kernel; or null
  bool wide_c;
  bool b_mapped;  // B comes by boxes of its tensor map, too
  bool ahead;     // the first slots are prefetched before the kernel ahead has ended
  device::DeviceScalar<Accumulator<T>> alpha;
  device::DeviceScalar<Accumulator<T>> beta;

  /// Elements from a multiple of 16 bytes to the beginning of a line of A.
  __host__ __device__ int past_multiple(std::int64_t line) const {
    const std::int64_t stride = plan.classes.of_k ? problem.a.col : problem.a.row;
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(a + line * stride) % 16 /
                            sizeof(Element));
  }
  /// Elements of k at the beginning of a row of A that its class leaves out.
  __host__ __device__ int left_out(std::int64_t row) const {
    if (plan.classes.of_k || plan.classes.room == 0) return 0;
    const int past = past_multiple(row);
    return past == 0 ? 0 : plan.classes.room + 1 - past;
  }
};

/// Of A, for each class of its lines, and of B where it is copied by boxes.
template <class T>
struct PanelMaps {
  static constexpr int kCount = sizeof(T) < 16 ? 16 / sizeof(T) : 1;
  device::TensorMap a[kCount];
  device::TensorMap b;
};

/// What a block has in shared memory, from a multiple of 1024 bytes on:
///   slots   [stages][chunk kg * warps_m + wm][4096]  A
///   small   [stages][kg][group of columns][bytes_b]  B, in the order of the product
///   sums    [kg][columns of a slice][tile rows, and 16 bytes more]
///   full, empty [stages]
template <class Product>
struct PanelRing : device::Ring<PanelPlan> {
  using Acc = typename Product::Acc;

  char* small;
  Acc* sums;

  /// B's part of a slot.
  __device__ char* small_of(const device::RingPlace& place) const {
    return small + place.slot * plan.small_bytes;
  }
};

template <class Product>
__device__ PanelRing<Product> panel_ring(char* memory, const PanelPlan& plan) {
  char* const small = memory + plan.stages * plan.slot_bytes;
  char* const sums = small + plan.stages * plan.small_bytes;
  auto* const full = reinterpret_cast<device::Mbarrier*>(sums + plan.sum_bytes);
  return {{plan, memory, full, full + plan.stages},
          small,
          reinterpret_cast<typename Product::Acc*>(sums)};
}

/// The pieces of work of a block: units from `first` on, unit = tile * steps + step. Units of block
/// b begin at b * units / blocks.
struct PanelPiece {
  std::int64_t tile;
  int step;
  std::int64_t left;  // units

  __device__ PanelPiece(const PanelPlan& plan, int block, bool empty) {
    const std::int64_t first = plan.first_unit(block);
    tile = first / plan.steps;
    step = static_cast<int>(first - tile * plan.steps);
    left = empty ? 0 : plan.first_unit(block + 1) - first;
  }
};

/// A lane's part of copying B[k0 .. k0 + step, n] into `small`; zeros beyond k. Element (p, j) of a
/// group of columns lies at place_k(p) + j * kColumnPitch. Neighbouring lanes take neighbours in
/// memory, along k or along the columns.
template <class Product, class T>
__device__ void copy_small(const PanelArguments<T>& g, char* small, std::int64_t k0, int lane) {
  using Element = typename Product::Element;
  const PanelPlan& plan = g.plan;
  const Strides b = g.problem.b;
  const int n = static_cast<int>(g.problem.n);
  const int depth = static_cast<int>(min(std::int64_t{plan.step}, g.problem.k - k0));
  const Element* const source = g.b + k0 * b.row;
  const auto target = [&](int p, int j) {
    const int group = p / Product::kDepth * plan.warps_n + j / plan.group_columns;
    return reinterpret_cast<Element*>(small + group * Product::kBytesB) +
           Product::place_k(p % Product::kDepth) + j % plan.group_columns * Product::kColumnPitch;
  };
  if (b.row == 1) {
    const int width = min(32, plan.step);
    for (int p = lane % width; p < plan.step; p += 32) {
      const bool valid = p < depth;
      const Element* from = valid ? source + p + lane / width * b.col : g.b;
      const std::int64_t from_step = valid ? 32 / width * b.col : 0;
#pragma unroll 4
      for (int j = lane / width; j < n; j += 32 / width) {
        device::copy_element<sizeof(Element)>(target(p, j), from, valid);
        from += from_step;
      }
    }
  } else {
    const int width = min(32, plan.small_width);
    for (int j = lane % width; j < n; j += 32) {
      const Element* from = source + lane / width * b.row + j * b.col;
      const std::int64_t from_step = 32 / width * b.row;
#pragma unroll 2
      for (int p = lane / width; p < plan.step; p += 32 / width) {
        const bool valid = p < depth;
        device::copy_element<sizeof(Element)>(target(p, j), valid ? from : g.b, valid);
        from += from_step;
      }
    }
  }
}

/// Where a box begins, as its tensor map counts.
struct PanelBox {
  int element;
  int line;
};

/// Box `lane` of a slot of A.
template <class Product>
__device__ PanelBox box_of_a(const PanelPlan& plan, std::int64_t i0, std::int64_t k0, int lane) {
  constexpr int kBoxRows = Product::kRows / Product::kBoxes;
  constexpr int kPerElement = sizeof(typename Product::Element) > 8 ? 2 : 1;  // of the map
  const int chunk = lane / Product::kBoxes;
  const int i = static_cast<int>(i0) + chunk % plan.warps_m * Product::kRows +
                lane % Product::kBoxes * kBoxRows;
  const int p = static_cast<int>(k0) + chunk / plan.warps_m * Product::kDepth;
  return Product::kAlongK ? PanelBox{kPerElement * p, i} : PanelBox{kPerElement * i, p};
}

/// Box `lane` of B: a group of columns times the k of a chunk.
template <class Product, class T>
__device__ PanelBox box_of_b(const PanelArguments<T>& g, std::int64_t k0, int lane) {
  const int p = static_cast<int>(k0) + lane / g.plan.warps_n * Product::kDepth;
  const int j = lane % g.plan.warps_n * g.plan.group_columns;
  return g.problem.b.row == 1 ? PanelBox{p, j} : PanelBox{j, p};
}

/// A warp has the L2 fetch what a block of panel_ring_kernel copies for its `unit`-th slot: that
/// shows the kernel nothing of memory, so that it need not wait for the kernel ahead.
template <class Product, class T>
__device__ void prefetch_slot(const PanelMaps<T>& maps, const PanelArguments<T>& g, int block,
                              int unit, int lane) {
  const PanelPlan& plan = g.plan;
  PanelPiece piece(plan, block, false);
  if (unit >= piece.left) return;
  piece.step += unit;
  while (piece.step >= plan.steps) {
    piece.step -= plan.steps;
    ++piece.tile;
  }
  const std::int64_t k0 = std::int64_t{piece.step} * plan.step;
  if (lane < plan.warps_m * plan.warps_k * Product::kBoxes) {
    const PanelBox box = box_of_a<Product>(plan, piece.tile * plan.tile_rows, k0, lane);
    device::prefetch_box(maps.a, box.element, box.line);
  }
  if (g.b_mapped && lane < plan.warps_k * plan.warps_n) {
    const PanelBox box = box_of_b<Product>(g, k0, lane);
    device::prefetch_box(&maps.b, box.element, box.line);
  }
}

/// copy(box) for `count` boxes, each by a lane, or where words are copied each by all lanes.
template <class Copy>
__device__ void for_each_box(int lane, int count, const Copy& copy) {
  if constexpr (device::kBulkCopies) {
    if (lane < count) copy(lane);
  } else {
    for (int box = 0; box < count; ++box)
      copy(box);
  }
}

/// A warp starts the copies of unit (tile, step of k) to a slot of A and its part of B.
template <class Product, class T>
__device__ void copy_unit(const PanelMaps<T>& maps, const PanelArguments<T>& g,
                          const PanelPiece& piece, char* slot, char* small, device::Mbarrier* full,
                          int lane) {
  const PanelPlan& plan = g.plan;
  const std::int64_t i0 = plan.first_row(piece.tile);
  const std::int64_t k0 = std::int64_t{piece.step} * plan.step;
  const int of_class = plan.class_of(piece.tile);
  const bool b_counts = g.packed != nullptr || g.b_mapped;
  const int bytes = plan.slot_bytes + (b_counts ? plan.small_bytes : 0);
  if (lane == 0) device::mbarrier_arrive_expecting(full, bytes);
  __syncwarp();  // announced before the first byte comes
  constexpr int kBoxBytes = kPanelChunkBytes / Product::kBoxes;
  for_each_box(lane, plan.warps_m * plan.warps_k * Product::kBoxes, [&](int which) {
    const PanelBox box = box_of_a<Product>(plan, i0, k0, which);
    if (plan.classes.log2 == 0) {  // an address that is the same for all needs no instructions
      device::copy_box(slot + which * kBoxBytes, maps.a, box.element, box.line, full);
    } else {
      device::copy_box(slot + which * kBoxBytes, maps.a + of_class, box.element, box.line, full);
    }
  });
  if (g.packed != nullptr) {
    device::wait_for_kernel_ahead();  // B is packed
    if (device::copies_boxes(lane)) {
      const std::int64_t step = std::int64_t{of_class} * plan.steps + piece.step;
      device::copy_bytes(small, g.packed + step * plan.small_bytes, plan.small_bytes, full);
    }
  } else if constexpr (Product::kMapsB) {
    for_each_box(lane, plan.warps_k * plan.warps_n, [&](int which) {
      const PanelBox box = box_of_b<Product>(g, k0, which);
      device::copy_box(small + which * Product::kBytesB, &maps.b, box.element, box.line, full);
    });
  } else if constexpr (!Product::kAlwaysPacked) {
    copy_small<Product>(g, small, k0, lane);
  }
  device::mbarrier_arrive_after_copies(full);
}

/// What one of the producer warps does: every so many-th slot is its to fill. No more of them work
/// than there are slots: a barrier tells apart the two last phases of a slot, no third.
template <class Product, class T>
__device__ void produce(const PanelMaps<T>& maps, const PanelArguments<T>& g,
                        const PanelRing<Product>& ring, PanelPiece piece, int producer, int lane) {
  constexpr bool kFewSlots = panel_least_slots(device::kCapability) < kPanelProducers;
  const PanelPlan& plan = g.plan;
  const int producers = kFewSlots ? min(kPanelProducers, plan.stages) : kPanelProducers;
  if (kFewSlots && producer >= producers) return;
  device::RingPlace place;
  place.advance(producer, plan.stages);
  piece.step += producer;
  for (std::int64_t unit = producer; unit < piece.left; unit += producers) {
    while (piece.step >= plan.steps) {
      piece.step -= plan.steps;
      ++piece.tile;
    }
    device::Mbarrier* const full = ring.wait_until_read(place);
    copy_unit<Product>(maps, g, piece, ring.slot(place), ring.small_of(place), full, lane);
    ring.advance(place, producers);
    piece.step += producers;
  }
  device::wait_for_copies();  // a warp does not end before what it has started
}

/// How a panel's sums become C.
template <class T>
struct PanelFinish {
  using Element = device::DeviceElement<T>;
  using Acc = device::DeviceAccumulator<T>;
  const PanelArguments<T>& g;
  Epilogue<Acc> epilogue;

  __device__ explicit PanelFinish(const PanelArguments<T>& arguments)
      : g(arguments), epilogue(g.problem.k, g.alpha, g.beta) {}

  __device__ bool skips_product() const { return !epilogue.multiplies(); }

  __device__ void store(std::int64_t i, int j, Acc sum) const {
    if (!skips_product()) sum = device::conjugate_if(g.problem.conj_a, repaired(i, j, sum));
    epilogue.template store<Element>(g.c, g.wide_c, i * g.problem.c.row + j * g.problem.c.col, sum);
  }

 private:
  /// A tf32x3 sum that is not finite is computed again in IEEE arithmetic: Inf times the zero low
  /// part of a factor has made NaN of it, or a factor near the largest float was rounded to Inf.
  __device__ Acc repaired(std::int64_t i, int j, Acc sum) const {
    if constexpr (std::is_same_v<T, float>) {
      if (g.problem.math != Math::tf32x3 || isfinite(sum)) return sum;
      const Problem& problem = g.problem;
      sum = 0;
      for (std::int64_t p = 0; p < problem.k; ++p)
        sum = fma(g.a[i * problem.a.row + p * problem.a.col],
                  g.b[p * problem.b.row + j * problem.b.col], sum);
    }
    return sum;
  }
};

/// 16 bytes of sums along the rows.
template <class Acc>
struct alignas(16) SumVector {
  static constexpr int kCount = 16 / sizeof(Acc);
  Acc values[kCount];

  __device__ SumVector& operator+=(SumVector other) {
#pragma unroll
    for (int v = 0; v < kCount; ++v)
      values[v] += other.values[v];
    return *this;
  }
};

/// What the computing warps do with the sums of their chunks when their block is through with a
/// tile: a slice of columns after the other, parts of k are added up in order, and go to C or to
/// the partial sums.
template <class Product, class T>
__device__ void leave_tile(Product& product, const PanelFinish<T>& finish,
                           const PanelRing<Product>& ring, std::int64_t tile, bool whole,
                           typename Product::Acc* partials) {
  using Acc = typename Product::Acc;
  const PanelArguments<T>& g = finish.g;
  const PanelPlan& plan = g.plan;
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int group = warp % plan.warps_n;
  const int chunk = warp / plan.warps_n;
  const int kg = chunk / plan.warps_m;
  const int n = static_cast<int>(g.problem.n);
  const int rows =
      static_cast<int>(min(std::int64_t{plan.tile_rows}, g.problem.m - tile * plan.tile_rows));
  constexpr int kVector = SumVector<Acc>::kCount;
  const int pitch = plan.tile_rows + kVector;  // of columns, so that 8 of them lie in all banks
  const int parts = plan.warps_n * Product::kSlice;
  // Neighbouring threads take neighbours in C.
  const bool by_rows = g.problem.c.col == 1 && n > 1;
  const int bits = __ffs(by_rows ? parts : plan.tile_rows) - 1;
  product.combine_lanes(thread % 32);
  Acc* const own_sums = ring.sums + (kg * parts + group * Product::kSlice) * pitch +
                        chunk % plan.warps_m * Product::kRows;
  // One loop for all slices: code that runs once a tile is not in the instruction cache.
#pragma unroll 1
  for (int slice = 0; slice < min(plan.group_columns, n); slice += Product::kSlice) {
    device::warps_barrier(1, kPanelConsumerThreads);  // the slice before has been read
    if (warp < plan.warps_m * plan.warps_k * plan.warps_n) {
#pragma unroll
      for (int s = 0; s < Product::kColumns; s += Product::kSlice) {  // in registers
        if (s == slice) product.store(s, own_sums, pitch, thread % 32);
      }
    }
    device::warps_barrier(1, kPanelConsumerThreads);  // all sums of the slice are there
    const auto column = [&](int part) {
      const int in_group = slice + part % Product::kSlice;
      const int j = part / Product::kSlice * plan.group_columns + in_group;
      return in_group < plan.group_columns ? j : n;  // n: there is none
    };
    if (whole) {
#pragma unroll 1
      for (int e = thread; e < parts * plan.tile_rows; e += kPanelConsumerThreads) {
        const int minor = e & ((1 << bits) - 1);
        const int part = by_rows ? minor : e >> bits;
        const int r = by_rows ? e >> bits : minor;
        const int j = column(part);
        if (j >= n || r >= rows) continue;
        const Acc* const place = ring.sums + part * pitch + r;
        Acc sum = place[0];
#pragma unroll
        for (int q = 1; q < kPanelConsumerWarps; ++q) {
          if (q < plan.warps_k) sum += place[q * parts * pitch];
        }
        finish.store(tile * plan.tile_rows + r, j, sum);
      }
    } else {
      const int count = plan.tile_rows / kVector;
#pragma unroll 1
      for (int v = thread; v < parts * count; v += kPanelConsumerThreads) {
        const int part = v / count;
        const int r = (v - part * count) * kVector;
        const int j = column(part);
        if (j >= n) continue;
        const Acc* const place = ring.sums + part * pitch + r;
        auto sum = *reinterpret_cast<const SumVector<Acc>*>(place);
#pragma unroll
        for (int q = 1; q < kPanelConsumerWarps; ++q) {
          if (q < plan.warps_k)
            sum += *reinterpret_cast<const SumVector<Acc>*>(place + q * parts * pitch);
        }
        *reinterpret_cast<SumVector<Acc>*>(partials + j * plan.tile_rows + r) = sum;
      }
    }
  }
}

/// Registers of a thread that copies, and of one that computes. Copying elements of B takes more
/// than starting copies of boxes.
template <class Product>
inline constexpr int kPanelProducerRegisters = Product::kMapsB || Product::kAlwaysPacked ? 40 : 72;
template <class Product>
inline constexpr int kPanelConsumerRegisters = device::registers_to_take(
    kPanelConsumerWarps * 32, kPanelProducers * 32, kPanelProducerRegisters<Product>);

/// Block: an equal piece of the work; one to a multiprocessor, as it takes nearly all its shared
/// memory. Eight warps compute, each a chunk (4 KiB: rows x depth) of A's slot times a group of
/// columns of B, and four copy.
template <class Product, class T>
__global__ __launch_bounds__(kPanelThreads, 1) void panel_ring_kernel(
    const __grid_constant__ PanelMaps<T> maps, const __grid_constant__ PanelArguments<T> g) {
  if constexpr (Product::kWarpGroups && !device::kWarpGroups) {
    device::fail_without_body();
  } else {
    extern __shared__ char memory[];
    const PanelPlan& plan = g.plan;
    const auto ring = panel_ring<Product>(memory + device::bytes_to_box(memory), plan);
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (g.ahead && warp >= kPanelConsumerWarps)
      prefetch_slot<Product>(maps, g, static_cast<int>(blockIdx.x), warp - kPanelConsumerWarps,
                             lane);
    const int working = plan.warps_m * plan.warps_k * plan.warps_n;
    if (threadIdx.x == 0) ring.init(33, working);  // filled by 32 lanes' elements, and the boxes
    __syncthreads();                               // barriers are initialized
    device::let_next_kernel_start();
    if (g.packed == nullptr) device::wait_for_kernel_ahead();
    const PanelFinish<T> finish(g);
    PanelPiece piece(plan, static_cast<int>(blockIdx.x), finish.skips_product());
    if (warp >= kPanelConsumerWarps) {
      device::keep_registers<kPanelProducerRegisters<Product>>();
      produce<Product>(maps, g, ring, piece, warp - kPanelConsumerWarps, lane);
      return;
    }
    device::take_registers<kPanelConsumerRegisters<Product>>();
    const int chunk = warp / plan.warps_n;
    const int small =
        (chunk / plan.warps_m * plan.warps_n + warp % plan.warps_n) * Product::kBytesB;
    device::RingPlace place;
    const std::int64_t kept = g.problem.n * plan.tile_rows;  // sums of a tile
    auto* const partials = g.partials + std::int64_t{blockIdx.x} * plan.kept * kept;
    int tiles = 0;
    while (piece.left > 0) {
      const int steps = static_cast<int>(min(std::int64_t{plan.steps - piece.step}, piece.left));
      Product product;
      product.clear(g.problem.conj_a != g.problem.conj_b,
                    min(plan.group_columns,
                        static_cast<int>(g.problem.n) - warp % plan.warps_n * plan.group_columns));
      if constexpr (Product::kMapsB) product.b_by_rows = g.b_mapped && g.problem.b.row != 1;
      if (warp < working) {
        for (int step = 0; step < steps; ++step) {
          ring.wait_until_filled(place);
          product.multiply(ring.slot(place) + chunk * kPanelChunkBytes,
                           ring.small_of(place) + small, lane);
          ring.give_back(place.slot, lane);
          ring.advance(place, 1);
        }
      }
      leave_tile(product, finish, ring, piece.tile, steps == plan.steps && plan.classes.room == 0,
                 partials + min(tiles, plan.kept - 1) * kept);
      piece.left -= steps;
      piece.step = 0;
      ++piece.tile;
      ++tiles;
    }
  }
}

/// Threads of a block that packs, at most.
inline constexpr int kPanelPackThreads = 256;

/// Writes B as slots of the ring take it, zeros beyond k and n, for each class of A's lines: every
/// so many-th row of B, or all but those that meet what the class leaves out. Block (x, class): a
/// chunk's k times a group of columns, which is put in order in shared memory, so that memory is
/// written in words of 16 bytes. Whatever runs ahead has ended before the next kernel starts, so
/// that panel_ring_kernel may read A at once.
template <class Product, class T>
__global__ __launch_bounds__(kPanelPackThreads) void panel_pack_kernel(
    const __grid_constant__ PanelArguments<T> g) {
  using Element = typename Product::Element;
  constexpr int kDepth = Product::kDepth;
  __shared__ __align__(16) char ordered[Product::kBytesB];
  device::wait_for_kernel_ahead();
  device::let_next_kernel_start();
  const PanelFinish<T> finish(g);
  if (finish.skips_product()) return;
  const PanelPlan& plan = g.plan;
  const Strides b = g.problem.b;
  const int parts = plan.step / kDepth * plan.warps_n;  // of a step
  const auto step = static_cast<int>(blockIdx.x) / parts;
  const int part = static_cast<int>(blockIdx.x) - step * parts;
  const int columns = plan.group_columns;
  const std::int64_t p0 = std::int64_t{step} * plan.step + part / plan.warps_n * kDepth;
  const std::int64_t j0 = std::int64_t{part % plan.warps_n} * columns;
  const auto threads = static_cast<int>(blockDim.x);
  const bool along_k = b.row == 1;
  const unsigned apart = plan.classes.of_k ? plan.classes.log2 : 0;  // rows of B, 2^apart
  const unsigned first = plan.classes.of_k ? blockIdx.y : g.left_out(blockIdx.y);
#pragma unroll 4
  for (int e = static_cast<int>(threadIdx.x); e < kDepth * columns; e += threads) {
    const int outer = along_k ? e / kDepth : e / columns;
    const int inner = along_k ? e % kDepth : e - outer * columns;
    const int p = along_k ? inner : outer;
    const int j = along_k ? outer : inner;
    Element value(0.0F);
    const std::int64_t row = ((p0 + p) << apart) + first;
    if (row < g.problem.k && j0 + j < g.problem.n) value = g.b[row * b.row + (j0 + j) * b.col];
    if constexpr (Product::kPacksConjugate)
      value = device::conjugate_if(g.problem.conj_a != g.problem.conj_b, value);
    Product::pack(ordered, p, j, value);
  }
  __syncthreads();  // all of it is in order
  auto* const packed = reinterpret_cast<uint4*>(
      g.packed + (std::int64_t{blockIdx.y} * plan.steps + step) * plan.small_bytes +
      part * Product::kBytesB);
  for (int word = static_cast<int>(threadIdx.x); word < Product::kBytesB / 16; word += threads)
    packed[word] = reinterpret_cast<const uint4*>(ordered)[word];
}

/// Tiles of C that several blocks of panel_ring_kernel have worked at, or none (alpha = 0).
/// Block: vectors of 16 bytes along the rows of a tile's columns, each with plan.sum_parts threads;
/// thread t of them adds the partial sums of every sum_parts-th block from t on, then the first of
/// them those of the others.
template <class T>
__global__ __launch_bounds__(kPanelSumThreads) void panel_sum_kernel(
    const __grid_constant__ PanelArguments<T> g) {
  using Acc = device::DeviceAccumulator<T>;
  using Vector = SumVector<Acc>;
  constexpr int kVector = Vector::kCount;
  __shared__ Vector vectors[kPanelSumThreads];
  device::let_next_kernel_start();
  const PanelPlan& plan = g.plan;
  const int width = kPanelSumThreads / plan.sum_parts;
  const int thread = static_cast<int>(threadIdx.x);
  const int part = thread / width;
  const std::int64_t tile = blockIdx.x / plan.sum_pieces;
  const int vector = static_cast<int>(blockIdx.x % plan.sum_pieces) * width + thread % width;
  const int n = static_cast<int>(g.problem.n);
  // Neighbouring threads take neighbours in C.
  const int count = plan.tile_rows / kVector;
  const bool by_rows = g.problem.c.col == 1;
  const int j = by_rows ? vector % n : vector / count;
  const int row = (by_rows ? vector / n : vector % count) * kVector;
  const bool exists = j < n && row < plan.tile_rows;
  const std::int64_t unit = tile * plan.steps;
  const int from = plan.block_of(unit);
  const int to = plan.block_of(unit + plan.steps - 1);
  // The tile is the first one of each of these blocks, but perhaps of the block `from`.
  const bool second = plan.first_unit(from) < unit;
  device::wait_for_kernel_ahead();
  const PanelFinish<T> finish(g);
  if (from == to && !finish.skips_product()) return;
  Vector sum{};
  if (!finish.skips_product() && exists) {
    const std::int64_t pitch = 2 * std::int64_t{n} * plan.tile_rows;
    const Acc* const source = g.partials + j * std::int64_t{plan.tile_rows} + row;
#pragma unroll 4
    for (int block = from + part; block <= to; block += plan.sum_parts) {
      const bool last = second && block == from;
      sum += *reinterpret_cast<const Vector*>(source + block * pitch + (last ? pitch / 2 : 0));
    }
  }
  vectors[thread] = sum;
  __syncthreads();  // all parts' sums are there
  if (part != 0 || !exists) return;
  for (int other = 1; other < plan.sum_parts; ++other)
    sum += vectors[thread + other * width];
#pragma unroll
  for (int v = 0; v < kVector; ++v) {
    const std::int64_t i = tile * plan.tile_rows + row + v;
    if (i < g.problem.m) finish.store(i, j, sum.values[v]);
  }
}

}  // namespace lanky::dense::cuda
