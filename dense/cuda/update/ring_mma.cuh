// C[m, n] = alpha A[m, k] B[k, n] + beta C on the f64 tensor cores, long m: of doubles, of floats,
// whose products are exact in double and faster there than on CUDA cores (H200, 1e7 x 64 x 64: 46
// TFLOP/s against 40), and of complex elements, as the reals that lie side by side in memory. A
// passes through a ring of slots as in ring.cuh.
#pragma once

#include "dense/cuda/update/ring.cuh"
#include "device/mma.cuh"

namespace lanky::dense::cuda {

/// What a warp multiplies at once: a chunk of A, lines of 128 bytes with unit u (16 bytes) of line
/// l at u ^ l % 8. Of reals, it has 32 rows, B 32 columns, 16 along k are a step; p(i) = 4 i + t
/// for lane (g, t) = (lane / 4, lane % 4).
///
///   by columns  a line is a piece of a column. mma[16 rows, 16 k] x [16 k, 8 columns]; lane: unit
///               g' of lines p(i). Of floats, its rows g and g + 8 of both m-tiles; of doubles,
///               those of one: the other's lines are a second box.
///   by rows     a line is a piece of a row. mma[16 columns, 16 k] x [16 k, 8 rows], so that C is
///               transposed; lane: row g' of each n-tile, of floats unit t of a step, of doubles
///               units t and 4 + t; columns 2 g and 2 g + 1 are rows g and g + 8 of B^T's m-tile.
///
/// g' = 4 (g % 2) + g / 2, so that eight lanes read all banks.
///
/// Complex elements by rows: columns of A are parts, B is [re im; -im re] of each element, columns
/// of C are parts. By columns: rows of A are parts, rows g and g + 8 those of one element; even
/// n-tiles hold real parts of B, odd ones imaginary parts: a lane has the four products whose sums
/// are the parts of its elements of C.
template <class T, bool kByColumns>
struct RingChunk {
  using Element = device::DeviceElement<T>;
  using Real = device::RealPart<Element>;
  static constexpr bool kDouble = sizeof(Real) == 8;
  static constexpr int kParts = static_cast<int>(sizeof(Element) / sizeof(Real));
  static constexpr int kPartsAlong = kByColumns ? 1 : kParts;        // along k
  static constexpr int kUnit = 16 / static_cast<int>(sizeof(Real));  // reals of 16 bytes
  static constexpr int kLineUnits = 128 / (sizeof(T) < 8 ? 4 : 8);   // of the map, in a line
  static constexpr int kElementUnits = sizeof(T) > 8 ? 2 : 1;        // of the map
  static constexpr int kBoxes = kByColumns && kDouble ? 2 : 1;
  static constexpr int kRows = 32 / (kByColumns ? kParts : 1);  // elements
  static constexpr int kColumns = 32 / kParts;                  // elements
  static constexpr int kTiles = 2;                              // of 16 rows or columns
  static constexpr int kNarrowTiles = 4;                        // of 8 columns or rows
  static constexpr int kWords = 8;                              // pairs of B, of a lane in a step
  using Sums = double[kTiles][kNarrowTiles][4];
  using Word = std::conditional_t<kDouble, double2, float4>;

  static __device__ int place() {  // g'
    const int g = static_cast<int>(threadIdx.x) % 32 / 4;
    return g % 2 * 4 + g / 2;
  }
  static __device__ int in_group() { return static_cast<int>(threadIdx.x) % 4; }  // t
  /// Unit u of a line whose number is `line` modulo 8.
  static __device__ Word word(const char* begin, int line, int unit) {
    return *reinterpret_cast<const Word*>(begin + ((unit ^ line) << 4));
  }
  /// By columns: A's fragments of both m-tiles in a step.
  template <int kCount>
  static __device__ void read(double (&a)[kTiles][kCount], const char* chunk, int step,
                              int box_bytes) {
#pragma unroll
    for (int i = 0; i < kCount / 2; ++i) {
#pragma unroll
      for (int x = 0; x < kBoxes; ++x) {
        const int line = 16 * step + 4 * i + in_group();
        const Word w = word(chunk + x * box_bytes + line * 128, line % 8, place());
        a[x][2 * i] = w.x;
        a[x][2 * i + 1] = w.y;
        if constexpr (!kDouble) {
          a[1][2 * i] = w.z;
          a[1][2 * i + 1] = w.w;
        }
      }
    }
  }
  /// By rows: the fragment of A^T of n-tile y in a step.
  template <int kCount>
  static __device__ void read_row(double (&a)[kCount], const char* chunk, int step, int y) {
#pragma unroll
    for (int i = 0; i < kCount; i += kUnit) {
      const char* const line = chunk + place() * 128 + y * 1024;
      const Word w = word(line, place(), 16 / kUnit * step + i * 4 / kUnit + in_group());
      a[i] = w.x;
      a[i + 1] = w.y;
      if constexpr (!kDouble) {
        a[i + 2] = w.z;
        a[i + 3] = w.w;
      }
    }
  }
  /// The real along k that is number i of lane t in a step.
  static __device__ int along_k(int step, int t, int i) {
    if constexpr (kByColumns) return 16 * step + 4 * i + t;
    return 16 * step + i / kUnit * 4 * kUnit + kUnit * t + i % kUnit;
  }
  /// Whether no more than half of the columns of a warp exist, the first one being j0.
  static __device__ bool is_narrow(int j0, int n) {
    return (n - j0) * 2 <= kColumns;
  }
  /// By columns: the warp's column of C, as an element, in column c of n-tile j. Those of lanes
  /// 0 .. 3 are adjacent.
  static __device__ int column(int j, int c) {
    return j / kParts * 8 + c % 2 * 4 + c / 2;
  }

  /// Two neighbours of a lane's fragments of B, word q of a step.
  struct Pair {
    Element raw[2];
    int p[2];  // along k, and
    int j[2];  // the columns of the warp, of reals

    Pair() = default;
    __device__ Pair(int step, int q, int lane) {
      const int t = lane % 4;
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        if constexpr (kByColumns) {
          p[e] = along_k(step, t, q % 2 * 2 + e);
          j[e] = q / 2 * 8 + lane / 4;
        } else {
          p[e] = along_k(step, t, q % 4);
          j[e] = q / 4 * 16 + lane / 4 * 2 + e;
        }
      }
    }
    /// `k`: how much of it is read.
    __device__ void load(const UpdateArguments<T, T>& g, int k, int j0) {
      constexpr int kLoads = kParts > kPartsAlong || kParts == 1 ? 2 : 1;  // by rows, two parts
#pragma unroll
      for (int e = 0; e < kLoads; ++e) {
        const int row = p[e] / kPartsAlong;
        const int n = j0 + (kByColumns ? column(j[e] / 8, j[e] % 8) : j[e] / kParts);
        raw[e] = Element(0);
        if (row < k && n < g.n) raw[e] = g.b[row * g.b_strides.row + n * g.b_strides.col];
      }
      if constexpr (kLoads == 1) raw[1] = raw[0];
    }
    __device__ double2 reals(bool conjugated) const {
      return make_double2(real(0, conjugated), real(1, conjugated));
    }
    __device__ double real(int e, bool conjugated) const {
      if constexpr (kParts == 1) {
        return raw[e];
      } else {
        const Real im = conjugated ? -raw[e].im : raw[e].im;
        if constexpr (kByColumns) return j[e] / 8 % 2 == 0 ? raw[e].re : im;
        if (p[e] % 2 == j[e] % 2) return raw[e].re;
        return p[e] % 2 == 0 ? im : -im;
      }
    }
  };

  /// A lane's words of B, of which word 0 is at `b`.
  template <int kCount>
  static __device__ void read_b(double (&values)[kCount], const double2* b) {
#pragma unroll
    for (int i = 0; i < kCount; i += 2) {
      const double2 pair = b[i / 2 * 32];
      values[i] = pair.x;
      values[i + 1] = pair.y;
    }
  }
  /// sums += A B for `steps` steps of a chunk. kHalves: 1 where half of the columns exist. kQuads:
  /// 2 where no more than 8 along k do. b: the lane's words of the first step.
  template <int kHalves, int kQuads>
  static __device__ void multiply(Sums& sums, const char* chunk, const double2* b, int steps,
                                  int box_bytes) {
#pragma unroll 1
    for (int step = 0; step < steps; ++step, b += kWords * 32) {
      constexpr int kTiles16 = kByColumns ? kTiles : kHalves;
      constexpr int kTiles8 = kByColumns ? 2 * kHalves : kNarrowTiles;
      double wide[kTiles16][2 * kQuads];
      if constexpr (kByColumns) {
        read(wide, chunk, step, box_bytes);
      } else {
#pragma unroll
        for (int x = 0; x < kTiles16; ++x)
          read_b(wide[x], b + 4 * x * 32);
      }
#pragma unroll
      for (int y = 0; y < kTiles8; ++y) {
        double narrow[kQuads];
        if constexpr (kByColumns) {
          read_b(narrow, b + 2 * y * 32);
        } else {
          read_row(narrow, chunk, step, y);
        }
#pragma unroll
        for (int x = 0; x < kTiles16; ++x)
          mma(sums[x][y], wide[x], narrow);
      }
    }
  }
  static __device__ void mma(double (&c)[4], const double (&a)[8], const double (&b)[4]) {
    device::mma_m16n8k16(c, a, b);
  }
  static __device__ void mma(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
    device::mma_m16n8k8(c, a[0], a[1], a[2], a[3], b[0], b[1]);
  }
};

/// b[warp_n][step][word][lane]: B's fragments, zero from k and n on. By `threads` threads.
template <class Chunk, class T>
__device__ void stage_fragments(double2* b, const UpdateArguments<T, T>& g, int k, int j0,
                                int warps_n, int steps, int threads) {
  constexpr int kBatch = 8;  // loads of as many are in flight
  const int words = warps_n * steps * Chunk::kWords * 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int first = static_cast<int>(threadIdx.x); first < words; first += kBatch * threads) {
    typename Chunk::Pair pairs[kBatch];
#pragma unroll
    for (int s = 0; s < kBatch; ++s) {
      const int q = (first + s * threads) / 32;
      const int warp = q / (Chunk::kWords * steps);
      pairs[s] = typename Chunk::Pair(q / Chunk::kWords - warp * steps, q % Chunk::kWords, lane);
      pairs[s].load(g, k, j0 + warp * Chunk::kColumns);
    }
#pragma unroll
    for (int s = 0; s < kBatch; ++s) {
      if (first + s * threads < words)
        b[first + s * threads] = pairs[s].reals(g.conj_a != g.conj_b);
    }
  }
}

/// Where a lane's words of C begin: `lines` of its lines exist, `line_step` elements from one to
/// the next; its words of a line begin kOffset elements apart, and `near` of these elements exist,
/// `near_step` apart. `whole`: words are adjacent and aligned, and exist or do not.
template <class Element>
struct RingPlaces {
  Element* first;
  std::int64_t line_step;
  std::int64_t near_step;
  int lines;
  int near;
  bool whole;
};

/// kLines lines of kAcross words of C, real(l, x, r) being real r of kReals in the sums of word x
/// of line l.
template <int kLines, int kAcross, int kOffset, int kReals, class T, class RealOf>
__device__ void leave(const UpdateArguments<T, T>& g,
                      const Epilogue<device::DeviceAccumulator<T>>& epilogue,
                      const RingPlaces<device::DeviceElement<T>>& places, RealOf real) {
  using Element = device::DeviceElement<T>;
  using Real = device::RealPart<Element>;
  constexpr int kParts = static_cast<int>(sizeof(Element) / sizeof(Real));
  constexpr int kCount = kReals / kParts;
  const auto sum = [&](int l, int x, int e) -> Element {
    if constexpr (kParts == 1) {
      return static_cast<Real>(real(l, x, e));
    } else {
      return device::conjugate_if(g.conj_a, Element(static_cast<Real>(real(l, x, 2 * e)),
                                                    static_cast<Real>(real(l, x, 2 * e + 1))));
    }
  };
  const std::int64_t line_step = device::opaque(places.line_step);
  if (kCount > 1 && !places.whole) {
    constexpr int kOfLine = kAcross * kCount;  // elements
    const auto near = [](int w) { return w % kOfLine / kCount * kOffset + w % kCount; };
    leave_all_words<true, kLines * kOfLine, 1>(
        epilogue, [&](int w) { return w / kOfLine < places.lines && near(w) < places.near; },
        [&](int w) { return places.first + w / kOfLine * line_step + near(w) * places.near_step; },
        [&](int w, int /*e*/) { return sum(w / kOfLine, w % kOfLine / kCount, w % kCount); });
    return;
  }
  // From one word of a line to the next: 1 where a word is several elements.
  const std::int64_t near_step = kCount == 1 ? places.near_step : 1;
  const auto near = [](int w) { return w % kAcross * kOffset; };
  const auto leave_whole = [&]<bool kAdds>() {
    leave_all_words<kAdds, kLines * kAcross, kCount>(
        epilogue, [&](int w) { return w / kAcross < places.lines && near(w) < places.near; },
        [&](int w) { return places.first + w / kAcross * line_step + near(w) * near_step; },
        [&](int w, int e) { return sum(w / kAcross, w % kAcross, e); });
  };
  // Where C is read, alpha sum and beta C meet in one block of code: nvcc rounds beta C first then.
  if (epilogue.adds()) {
    leave_whole.template operator()<true>();
  } else {
    leave_whole.template operator()<false>();
  }
}

/// C = alpha sums + beta C for a warp's rows from i0 on and its columns from j0 on. `wide`: columns
/// (or rows, where A is by rows) of C are adjacent words of 16 bytes.
template <class T, bool kByColumns>
__device__ void leave_fragments(const typename RingChunk<T, kByColumns>::Sums& sums,
                                const UpdateArguments<T, T>& g, bool wide,
                                const Factors<device::DeviceAccumulator<T>>& factors,
                                std::int64_t i0, int j0) {
  using Chunk = RingChunk<T, kByColumns>;
  using Element = typename Chunk::Element;
  constexpr int kParts = Chunk::kParts;
  const int t = Chunk::in_group();
  const auto rows = static_cast<int>(min(std::int64_t{Chunk::kRows}, g.m - i0));
  const int columns = g.n - j0;
  const Strides strides = g.c_strides;
  Element* const c = g.c + i0 * strides.row + j0 * strides.col;
  const bool whole = wide && rows == Chunk::kRows;
  if constexpr (kByColumns) {
    constexpr int kUnit = Chunk::kUnit;
    const int row = Chunk::place() * kUnit / kParts;
    leave<2 * Chunk::kNarrowTiles / kParts, 4 / kUnit, 16 / kParts, kUnit>(
        g, factors,
        RingPlaces<Element>{c + row * strides.row + t * strides.col, 4 * strides.col, strides.row,
                            (columns - t + 3) / 4, rows - row, whole},
        [&](int l, int x, int r) {
          const int j = l / 2 * kParts;  // n-tile
          const int b = l % 2;
          const double(&tile)[Chunk::kNarrowTiles][4] = sums[x + r / 2];
          if constexpr (kParts == 1) return tile[j][r % 2 * 2 + b];
          return r % 2 == 0 ? tile[j][b] - tile[(j + 1) % Chunk::kNarrowTiles][2 + b]
                            : tile[j][2 + b] + tile[(j + 1) % Chunk::kNarrowTiles][b];
        });
  } else {
    const int column = static_cast<int>(threadIdx.x) % 32 / 4 * 2 / kParts;
    leave<2 * Chunk::kNarrowTiles, Chunk::kTiles, 16 / kParts, 2>(
        g, factors,
        RingPlaces<Element>{c + t * strides.row + column * strides.col, 4 * strides.row,
                            strides.col, (rows - t + 3) / 4, columns - column, whole},
        [&](int l, int x, int r) { return sums[x][l / 2][2 * r + l % 2]; });
  }
}

/// Where a block's tiles of C are: rows from `first` on, `stride` apart, and columns from j0 on.
struct RingTiles {
  std::int64_t first;
  std::int64_t stride;
  int j0;

  __device__ RingTiles(const UpdateRingPlan& plan, int rows, int columns) {
    const int column_blocks = static_cast<int>(gridDim.x) / plan.row_tiles;
    const int tile_rows = plan.warps_m * rows;
    first = std::int64_t{blockIdx.x / static_cast<unsigned>(column_blocks)} * tile_rows;
    stride = std::int64_t{plan.row_tiles} * tile_rows;
    j0 = static_cast<int>(blockIdx.x) % column_blocks * plan.warps_n * columns;
  }
};

/// By the copying warp: every slot of all tiles, `lines` of each box; k in real elements.
template <class Chunk, bool kByColumns, class Ring>
__device__ void copy_boxes(const device::TensorMap& map, const UpdateRingPlan& plan,
                           const Ring& ring, const RingTiles& tiles, std::int64_t m, int k,
                           int lines) {
  const int boxes = plan.warps_m * Chunk::kBoxes;
  const int box_bytes = plan.slot_bytes / boxes;
  device::RingPlace turn;
  for (std::int64_t i0 = tiles.first; i0 < m; i0 += tiles.stride) {
    for (int k0 = 0; k0 < k; k0 += plan.depth) {
      device::Mbarrier* const filled = ring.wait_until_read(turn);
      if (device::copies_boxes(static_cast<int>(threadIdx.x) % 32)) {
        device::announce_boxes(filled, boxes * lines * 128);
        // Units of the map are parts of complex<double>, else elements.
        const int p = k0 / Chunk::kPartsAlong * (kByColumns ? 1 : Chunk::kElementUnits);
        const int i = static_cast<int>(i0) * (kByColumns ? Chunk::kElementUnits : 1);
        for (int w = 0; w < boxes; ++w) {
          const int row = i + w * (kByColumns ? Chunk::kLineUnits : Chunk::kRows);
          device::copy_box(ring.slot(turn) + w * box_bytes, &map, kByColumns ? row : p,
                           kByColumns ? p : row, filled);
        }
        device::finish_boxes(filled);
      }
      ring.advance(turn, 1);
    }
  }
  if constexpr (!device::kBulkCopies) device::wait_for_copies();  // before the lanes end
}

/// Adds a slot's products to a warp's sums; `shallow`: all of k are one step's first 8.
template <class Chunk, bool kMayBeShallow>
__device__ void multiply_slot(typename Chunk::Sums& sums, const char* chunk, const double2* b,
                              int steps, int box_bytes, bool narrow, bool shallow) {
  const auto multiply = [&]<int kHalves>() {
    if constexpr (kMayBeShallow) {
      if (shallow) return Chunk::template multiply<kHalves, 2>(sums, chunk, b, steps, box_bytes);
    }
    Chunk::template multiply<kHalves, 4>(sums, chunk, b, steps, box_bytes);
  };
  if (narrow) {
    multiply.template operator()<1>();
  } else {
    multiply.template operator()<2>();
  }
}

/// Block: as update_ring_kernel's, with one of warps_k. Computing warp: RingChunk's rows x columns
/// of each tile. A has a map; C any strides. Shared memory: slots [warps_m][chunk], B's fragments,
/// barriers.
template <class T, bool kByColumns>
__global__ void __launch_bounds__(kRingThreads, 3)
    update_ring_mma_kernel(const __grid_constant__ device::TensorMap map,
                           const __grid_constant__ UpdateArguments<T, T> g,
                           const __grid_constant__ UpdateRingPlan plan) {
  using Chunk = RingChunk<T, kByColumns>;
  constexpr int kPartsAlong = Chunk::kPartsAlong;
  extern __shared__ __align__(16) char staged[];
  const int steps = (g.k * kPartsAlong + 15) / 16;
  const auto ring = update_slots<double2>(staged + device::bytes_to_box(staged), plan,
                                          plan.warps_n * steps * Chunk::kWords * 32);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int consumers = plan.warps_m * plan.warps_n;
  const RingTiles tiles(plan, Chunk::kRows, Chunk::kColumns);
  // Lines that no copy touches stay zero.
  const int lines = kByColumns ? min(plan.depth, g.k) : Chunk::kRows;
  device::let_next_kernel_start();
  if (threadIdx.x == 0) ring.init(device::kBoxArrivals, consumers);
  if (kByColumns && lines < plan.depth) {
    for (int place = static_cast<int>(threadIdx.x) * 16; place < plan.ring_bytes;
         place += static_cast<int>(blockDim.x) * 16)
      *reinterpret_cast<uint4*>(ring.slots + place) = uint4{};
  }
  __syncthreads();  // barriers are initialized
  device::wait_for_kernel_ahead();
  const Factors<device::DeviceAccumulator<T>> factors(g);
  const int k = factors.k * kPartsAlong;
  if (warp == consumers)
    return copy_boxes<Chunk, kByColumns>(map, plan, ring, tiles, g.m, k, lines);
  stage_fragments<Chunk>(ring.b, g, factors.k, tiles.j0, plan.warps_n, steps, 32 * consumers);
  device::warps_barrier(1, 32 * consumers);  // B is whole before it is read
  const int warp_m = warp % plan.warps_m;
  const int warp_n = warp / plan.warps_m;
  const int warp_j0 = tiles.j0 + warp_n * Chunk::kColumns;
  const bool narrow = Chunk::is_narrow(warp_j0, g.n);
  const int box_bytes = plan.slot_bytes / (plan.warps_m * Chunk::kBoxes);
  const double2* const b_warp = ring.b + warp_n * steps * Chunk::kWords * 32 + lane;
  device::RingPlace turn;
  for (std::int64_t i0 = tiles.first; i0 < g.m; i0 += tiles.stride) {
    const std::int64_t warp_i0 = i0 + warp_m * Chunk::kRows;
    prefetch_c(g, factors, warp_i0, Chunk::kRows, warp_j0, Chunk::kColumns);
    typename Chunk::Sums sums = {};
    for (int k0 = 0; k0 < k; k0 += plan.depth) {
      const char* const chunk = ring.slot(turn) + warp_m * Chunk::kBoxes * box_bytes;
      const int slot_steps = (min(plan.depth, k - k0) + 15) / 16;
      ring.wait_until_filled(turn);
      multiply_slot<Chunk, kByColumns || Chunk::kDouble>(sums, chunk,
                                                         b_warp + k0 / 16 * Chunk::kWords * 32,
                                                         slot_steps, box_bytes, narrow, k <= 8);
      ring.give_back(turn.slot, lane);
      ring.advance(turn, 1);
    }
    leave_fragments<T, kByColumns>(sums, g, plan.wide_c, factors, warp_i0, warp_j0);
  }
}

}  // namespace lanky::dense::cuda
