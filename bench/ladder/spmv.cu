// y = A x, a step at a time: a thread a row, a warp a row, and DASP (see dasp.hpp), whose rows are
// shaped for tensor cores. What Leave leaves out is told in spmv.hpp.
#include <cuda_fp16.h>

#include <algorithm>
#include <lanky/buffer.hpp>
#include <lanky/error.hpp>
#include <string>
#include <type_traits>

#include "bench/harness/gpu.hpp"
#include "bench/ladder/spmv.hpp"
#include "core/text.hpp"
#include "device/element.cuh"
#include "device/launch.cuh"
#include "device/memory.cuh"
#include "device/mma.cuh"

namespace lanky::ladder {

namespace {

constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr int kWarps = kThreads / kWarp;
constexpr int kUnroll = 4;  // told, since the compiler's choice differs with and without arithmetic

__device__ std::int64_t thread_number() {
  return blockIdx.x * std::int64_t{kThreads} + threadIdx.x;
}
__device__ std::int64_t warp_number() {
  return thread_number() / kWarp;
}
__device__ int lane_number() {
  return static_cast<int>(threadIdx.x) % kWarp;
}

/// x [cols] and y [rows].
template <class E>
struct Vectors {
  const E* x;
  E* y;
  std::int32_t mask;    // all ones, or 0: every gather reads x[0]
  std::uint32_t never;  // bits that no lane is expected to end with

  __device__ E gather(std::int32_t column) const { return x[column & mask]; }
  /// 0 for padding, whose column is -1.
  __device__ E gather_padded(std::int32_t column) const {
    return column < 0 ? E(0) : gather(column);
  }
};

/// What products of E are summed in.
template <class E>
using Acc = decltype(device::widen(E{}));

/// As many bits as E's accumulator.
template <class E>
using Bits = std::conditional_t<sizeof(E) == 8, std::uint64_t, std::uint32_t>;

template <class E>
__device__ Bits<E> bits_of(E value) {
  Bits<E> bits = 0;
  memcpy(&bits, &value, sizeof(value));
  return bits;
}

/// What a lane makes of its entries: the sum of their products, or, without arithmetic, the
/// exclusive or of what it loaded. ptxas drops loads that nothing depends on, so that every lane's
/// bits must be able to reach y: one that writes nothing otherwise would write if it had `never`.
template <class E, bool kArithmetic>
struct LaneSum;

template <class E>
struct LaneSum<E, true> {
  using Part = Acc<E>;
  Part sum = 0;

  __device__ void add(E a, E x) { sum += device::widen(a) * device::widen(x); }
  __device__ void add(Part part) { sum += part; }
  /// Over groups of kLanes neighbouring lanes, each of which has the sum then.
  template <int kLanes>
  __device__ void reduce() {
#pragma unroll
    for (int offset = kLanes / 2; offset > 0; offset /= 2)
      sum += device::shuffle_xor(sum, offset);
  }
  __device__ void store(const Vectors<E>& v, std::int64_t row, bool writes) const {
    if (writes) v.y[row] = device::narrow<E>(sum);
  }
  __device__ void store_part(Part* place, bool writes, std::uint32_t /*never*/) const {
    if (writes) *place = sum;
  }
};

template <class E>
struct LaneSum<E, false> {
  using Part = Bits<E>;
  Part sum = 0;

  __device__ void add(E a, E x) { sum ^= bits_of(a) ^ bits_of(x); }
  __device__ void add(Part part) { sum ^= part; }
  template <int kLanes>
  __device__ void reduce() const {}
  __device__ void store(const Vectors<E>& v, std::int64_t row, bool writes) const {
    if (!writes && sum != v.never) return;
    E value;
    memcpy(&value, &sum, sizeof(value));
    v.y[row] = value;
  }
  __device__ void store_part(Part* place, bool writes, std::uint32_t never) const {
    if (writes || sum == never) *place = sum;
  }
};

/// offsets: [rows + 1]; columns, values: [nnz].
template <class E, class Offset>
struct CsrOnDevice {
  const Offset* offsets;
  const std::int32_t* columns;
  const E* values;
  std::int64_t rows;
};

/// A thread a row: what anyone would write. Neighbouring lanes read entries a row apart.
template <class E, class Offset, bool kArithmetic>
__global__ void __launch_bounds__(kThreads)
    spmv_csr_scalar_kernel(CsrOnDevice<E, Offset> a, Vectors<E> v) {
  const std::int64_t row = thread_number();
  if (row >= a.rows) return;
  LaneSum<E, kArithmetic> sum;
#pragma unroll kUnroll
  for (std::int64_t e = a.offsets[row]; e < a.offsets[row + 1]; ++e)
    sum.add(a.values[e], v.gather(a.columns[e]));
  sum.store(v, row, true);
}

/// A warp a row: neighbouring lanes read neighbouring entries, and add up what they have.
template <class E, class Offset, bool kArithmetic>
__global__ void __launch_bounds__(kThreads)
    spmv_csr_warp_kernel(CsrOnDevice<E, Offset> a, Vectors<E> v) {
  const std::int64_t row = warp_number();
  if (row >= a.rows) return;
  const int lane = lane_number();
  LaneSum<E, kArithmetic> sum;
#pragma unroll kUnroll
  for (std::int64_t e = a.offsets[row] + lane; e < a.offsets[row + 1]; e += kWarp)
    sum.add(a.values[e], v.gather(a.columns[e]));
  sum.template reduce<kWarp>();
  sum.store(v, row, lane == 0);
}

/// DaspPattern in device memory, with values at their slots.
template <class E>
struct DaspOnDevice {
  const E* values;              // [slots, then loose entries]
  const std::int32_t* columns;  // the same
  std::int64_t first_loose;

  const std::int32_t* long_rows;    // [long_count]
  const std::int32_t* long_groups;  // [long_count + 1]
  std::int64_t long_count;
  std::int64_t groups;
  void* partials;  // [groups] sums, of the accumulator's type

  const std::int32_t* medium_rows;   // [medium_count]
  const std::int32_t* medium_tiles;  // [blocks + 1]
  const std::int32_t* tail_offsets;  // [medium_count + 1]
  std::int64_t medium_count;
  std::int64_t blocks;

  const std::int32_t* pieced_rows;  // see DaspPattern
  std::int64_t first_short_tile;
  std::int64_t tiles_13;
  std::int64_t split_tiles;  // of 1+3 and 2+2
  std::int64_t short_tiles;
  const std::int32_t* other_rows;  // [single_count, then empty rows]
  std::int64_t first_single;       // loose entry
  std::int64_t single_count;
  std::int64_t other_count;
};

/// What a lane has of an 8 x W tile: lane 4 g + t has row g, columns t W / 4 on; and x at its
/// columns.
///
///   f64, W = 4: 1 entry; mma m8n8k4 takes a[g][t] and b[t][g] from this lane
///   f16, W = 8: 2 entries; m16n8k8 (rows 8..15 are zero) takes a[g][2t..] and b[2t..][g]
///
/// So column g of b is the x of row g alone: the diagonal of c = a b holds the rows' sums, the rest
/// is not wanted.
template <class E>
struct LaneTile {
  static constexpr int kEach = sizeof(E) == 8 ? 1 : 2;
  E a[kEach];
  E x[kEach];

  __device__ LaneTile(const DaspOnDevice<E>& dasp, const Vectors<E>& v, std::int64_t tile) {
    const std::int64_t slot = (tile * kWarp + lane_number()) * kEach;
    std::int32_t columns[kEach];
    device::load_constant<kEach>(a, dasp.values + slot);
    device::load_constant<kEach>(columns, dasp.columns + slot);
#pragma unroll
    for (int i = 0; i < kEach; ++i)
      x[i] = v.gather_padded(columns[i]);
  }
  /// The same with zeros where keep(column of the tile) is false: in x too, since 0 Inf is NaN.
  template <class Keep>
  __device__ LaneTile only(Keep keep) const {
    LaneTile part = *this;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const bool kept = keep(lane_number() % 4 * kEach + i);
      part.a[i] = kept ? a[i] : E(0);
      part.x[i] = kept ? x[i] : E(0);
    }
    return part;
  }
};

/// c[8,8] of a warp: lane 4 g + t has c[g][2t] and c[g][2t + 1]. So c[g][g] is in lane 4 g + g / 2.
__device__ bool has_diagonal() {
  const int lane = lane_number();
  return lane % 4 == lane / 8;
}

template <class E, bool kArithmetic>
struct TileSum;

template <class E>
struct TileSum<E, true> {
  Acc<E> c[sizeof(E) == 8 ? 2 : 4] = {};

  __device__ void add(const LaneTile<E>& tile) {
    if constexpr (sizeof(E) == 8) {
      device::mma_m8n8k4(c, tile.a[0], tile.x[0]);
    } else {
      device::mma_m8n8k8<E>(c, device::pair_bits(tile.a[0], tile.a[1]),
                            device::pair_bits(tile.x[0], tile.x[1]));
    }
  }
  /// c[g][g] where this lane has it, 0 otherwise.
  __device__ Acc<E> diagonal() const {
    const Acc<E> value = lane_number() / 4 % 2 == 0 ? c[0] : c[1];
    return has_diagonal() ? value : 0;
  }
};

template <class E>
struct TileSum<E, false> {
  Bits<E> c = 0;

  __device__ void add(const LaneTile<E>& tile) {
    if constexpr (sizeof(E) == 8) {
      c ^= bits_of(tile.a[0]) ^ bits_of(tile.x[0]);
    } else {
      c ^= device::pair_bits(tile.a[0], tile.a[1]) ^ device::pair_bits(tile.x[0], tile.x[1]);
    }
  }
  __device__ Bits<E> diagonal() const { return c; }
};

/// A warp a group of a long row: two tiles whose rows are all of that row, so that its partial sum
/// is that of the diagonal.
template <class E, bool kArithmetic>
__global__ void __launch_bounds__(kThreads) dasp_long_kernel(DaspOnDevice<E> dasp, Vectors<E> v) {
  const std::int64_t group = warp_number();
  if (group >= dasp.groups) return;
  TileSum<E, kArithmetic> tiles;
#pragma unroll
  for (int i = 0; i < kDaspGroupTiles; ++i)
    tiles.add(LaneTile<E>(dasp, v, group * kDaspGroupTiles + i));
  LaneSum<E, kArithmetic> sum;
  sum.add(tiles.diagonal());
  sum.template reduce<kWarp>();
  using Part = typename LaneSum<E, kArithmetic>::Part;
  sum.store_part(static_cast<Part*>(dasp.partials) + group, lane_number() == 0, v.never);
}

/// A warp a long row: sums what its groups have.
template <class E, bool kArithmetic>
__global__ void __launch_bounds__(kThreads)
    dasp_long_sum_kernel(DaspOnDevice<E> dasp, Vectors<E> v) {
  const std::int64_t i = warp_number();
  if (i >= dasp.long_count) return;
  const int lane = lane_number();
  using Part = typename LaneSum<E, kArithmetic>::Part;
  const auto* const partials = static_cast<const Part*>(dasp.partials);
  LaneSum<E, kArithmetic> sum;
#pragma unroll kUnroll
  for (std::int64_t p = dasp.long_groups[i] + lane; p < dasp.long_groups[i + 1]; p += kWarp)
    sum.add(partials[p]);
  sum.template reduce<kWarp>();
  sum.store(v, dasp.long_rows[i], lane == 0);
}

/// A warp a block of 8 medium rows: their tiles by mma; then lanes 4 g .. 4 g + 3 multiply what is
/// left of row g.
template <class E, bool kArithmetic>
__global__ void __launch_bounds__(kThreads) dasp_medium_kernel(DaspOnDevice<E> dasp, Vectors<E> v) {
  const std::int64_t block = warp_number();
  if (block >= dasp.blocks) return;
  TileSum<E, kArithmetic> tiles;
  const std::int64_t last_tile = dasp.medium_tiles[block + 1];
#pragma unroll kUnroll
  for (std::int64_t tile = dasp.medium_tiles[block]; tile < last_tile; ++tile)
    tiles.add(LaneTile<E>(dasp, v, tile));

  constexpr int kLanesPerRow = kWarp / kDaspTileRows;
  const int lane = lane_number();
  const std::int64_t m = block * kDaspTileRows + lane / kLanesPerRow;
  const bool exists = m < dasp.medium_count;
  const std::int64_t begin = exists ? dasp.tail_offsets[m] : 0;
  const std::int64_t end = exists ? dasp.tail_offsets[m + 1] : 0;
  LaneSum<E, kArithmetic> sum;
#pragma unroll kUnroll
  for (std::int64_t e = begin + lane % kLanesPerRow; e < end; e += kLanesPerRow) {
    const std::int64_t entry = dasp.first_loose + e;
    sum.add(dasp.values[entry], v.gather(dasp.columns[entry]));
  }
  sum.template reduce<kLanesPerRow>();
  sum.add(tiles.diagonal());
  if (exists) sum.store(v, dasp.medium_rows[m], has_diagonal());
}

/// A warp a tile of short rows, 8 W / 4 pieced ones: a product for each of the parts that a row of
/// the tile has (W / 4 pieced rows, of two parts or one), all others zero in it. After the tiles,
/// a thread a row that has one entry or none.
template <class E, bool kArithmetic>
__global__ void __launch_bounds__(kThreads) dasp_short_kernel(DaspOnDevice<E> dasp, Vectors<E> v) {
  constexpr int kEach = LaneTile<E>::kEach;  // also the pieced rows in a row of a tile
  const std::int64_t tile = warp_number();
  const int lane = lane_number();
  if (tile >= dasp.short_tiles) {
    const std::int64_t i = (tile - dasp.short_tiles) * kWarp + lane;
    if (i >= dasp.other_count) return;
    LaneSum<E, kArithmetic> sum;
    if (i < dasp.single_count) {
      const std::int64_t entry = dasp.first_single + i;
      sum.add(dasp.values[entry], v.gather(dasp.columns[entry]));
    }
    sum.store(v, dasp.other_rows[i], true);
    return;
  }
  const int split = tile < dasp.tiles_13 ? 1 : tile < dasp.split_tiles ? 2 : 4;
  const int parts = split < 4 ? 2 : 1;
  const std::int64_t first_whole = dasp.split_tiles * kDaspTileRows * kEach;
  const LaneTile<E> all(dasp, v, dasp.first_short_tile + tile);
#pragma unroll
  for (int half_row = 0; half_row < kEach; ++half_row) {
    const std::int64_t pieced = (tile * kDaspTileRows + lane / 4) * kEach + half_row;
    for (int part = 0; part < parts; ++part) {
      TileSum<E, kArithmetic> sum;
      sum.add(
          all.only([&](int k) { return k / 4 == half_row && (k % 4 >= split ? 1 : 0) == part; }));
      LaneSum<E, kArithmetic> row_sum;
      row_sum.add(sum.diagonal());
      const std::int64_t name = split < 4 ? 2 * pieced + part : first_whole + pieced;
      const std::int32_t row = has_diagonal() ? dasp.pieced_rows[name] : -1;
      // Row 0 stands for lanes without a row: they write nothing, or nothing that is expected.
      row_sum.store(v, max(row, 0), row >= 0);
    }
  }
}

unsigned blocks_of(std::int64_t count, std::int64_t per_block) {
  return static_cast<unsigned>(device::ceil_div(count, per_block));
}

/// x and y as kernels take them.
template <class E>
Vectors<E> vectors(const void* x, void* y, Leave leave) {
  constexpr std::uint32_t kNever = 0x9e3779b9U;
  return {static_cast<const E*>(x), static_cast<E*>(y), leave == Leave::gathers ? 0 : -1, kNever};
}

/// Kernels whose units are threads or warps, with and without arithmetic.
template <class... Parameters>
class Step {
 public:
  using Kernel = void (*)(Parameters...);

  Step(const Stream& stream, const char* name, Kernel whole, Kernel without, std::int64_t count,
       int per_block)
      : name_(name), whole_(whole), without_(without), blocks_(blocks_of(count, per_block)) {
    device::load_kernels(stream, whole, without);
  }

  void run(const Stream& stream, Leave leave, Parameters... parameters) const {
    if (blocks_ == 0) return;
    const device::LaunchScope scope(stream);
    const Kernel kernel = leave == Leave::arithmetic ? without_ : whole_;
    kernel<<<blocks_, kThreads, 0, stream.native()>>>(parameters...);
    scope.check(name_);
  }

 private:
  const char* name_;
  Kernel whole_;
  Kernel without_;
  unsigned blocks_;
};

template <class E, class Offset>
class CsrRung final : public SpmvRung {
 public:
  CsrRung(const Stream& stream, const DeviceCsr& a, bool warps)
      : a_{static_cast<const Offset*>(a.offsets.data()), a.columns, static_cast<const E*>(a.values),
           a.rows},
        bytes_((a.rows + 1) * static_cast<std::int64_t>(sizeof(Offset)) +
               a.nnz * static_cast<std::int64_t>(sizeof(E) + sizeof(std::int32_t))),
        step_(warps ? Csr(stream, "spmv_csr_warp_kernel", spmv_csr_warp_kernel<E, Offset, true>,
                          spmv_csr_warp_kernel<E, Offset, false>, a.rows, kWarps)
                    : Csr(stream, "spmv_csr_scalar_kernel", spmv_csr_scalar_kernel<E, Offset, true>,
                          spmv_csr_scalar_kernel<E, Offset, false>, a.rows, kThreads)) {}

  void run(const Stream& stream, const void* x, void* y, Leave leave) override {
    step_.run(stream, leave, a_, vectors<E>(x, y, leave));
  }
  std::int64_t bytes() const override { return bytes_; }

 private:
  using Csr = Step<CsrOnDevice<E, Offset>, Vectors<E>>;

  CsrOnDevice<E, Offset> a_;
  std::int64_t bytes_;
  Csr step_;
};

template <class E>
std::unique_ptr<SpmvRung> csr_rung(const Stream& stream, const DeviceCsr& a, bool warps) {
  if (a.offsets.wide()) return std::make_unique<CsrRung<E, std::int64_t>>(stream, a, warps);
  return std::make_unique<CsrRung<E, std::int32_t>>(stream, a, warps);
}

void require_gpu(const Stream& stream) {
  if (stream.device().is_cuda()) return;
  throw Error(ErrorCode::no_device,
              "this rung of the ladder runs on a GPU; the stream is the CPU's");
}

std::unique_ptr<SpmvRung> make_csr(const Stream& stream, const DeviceCsr& a, bool warps) {
  require_gpu(stream);
  switch (a.dtype) {
    case DType::f64:
      return csr_rung<double>(stream, a, warps);
    case DType::f32:
      return csr_rung<float>(stream, a, warps);
    case DType::f16:
      return csr_rung<__half>(stream, a, warps);
    default:
      throw Error(ErrorCode::unsupported, concat("the CSR rungs are of f64, f32 and f16; not of ",
                                                 lanky::to_string(a.dtype)));
  }
}

template <class E>
class DaspRung final : public SpmvRung {
 public:
  DaspRung(const Stream& stream, const DaspPattern& dasp, DType dtype, const void* values)
      : columns_(Buffer<std::int32_t>::from(stream, dasp.columns)),
        values_(stream, columns_.size()),
        long_rows_(Buffer<std::int32_t>::from(stream, dasp.long_rows)),
        long_groups_(Buffer<std::int32_t>::from(stream, dasp.long_groups)),
        medium_rows_(Buffer<std::int32_t>::from(stream, dasp.medium_rows)),
        medium_tiles_(Buffer<std::int32_t>::from(stream, dasp.medium_tiles)),
        tail_offsets_(Buffer<std::int32_t>::from(stream, dasp.tail_offsets)),
        pieced_rows_(Buffer<std::int32_t>::from(stream, dasp.pieced_rows)),
        other_rows_(Buffer<std::int32_t>::from(stream, dasp.other_rows)),
        partials_(stream, dasp.groups()),
        on_device_(on_device(dasp)),
        bytes_(summarize(dasp).bytes(dtype) + partials_.size() * std::int64_t{sizeof(Acc<E>)}),
        long_(stream, "dasp_long_kernel", dasp_long_kernel<E, true>, dasp_long_kernel<E, false>,
              dasp.groups(), kWarps),
        long_sum_(stream, "dasp_long_sum_kernel", dasp_long_sum_kernel<E, true>,
                  dasp_long_sum_kernel<E, false>, on_device_.long_count, kWarps),
        medium_(stream, "dasp_medium_kernel", dasp_medium_kernel<E, true>,
                dasp_medium_kernel<E, false>, on_device_.blocks, kWarps),
        short_(
            stream, "dasp_short_kernel", dasp_short_kernel<E, true>, dasp_short_kernel<E, false>,
            on_device_.short_tiles + device::ceil_div(on_device_.other_count, std::int64_t{kWarp}),
            kWarps) {
    const auto sources = Buffer<std::int32_t>::from(stream, dasp.sources);
    bench::gpu::place_values(stream, dtype, values,
                             {sources.data(), static_cast<std::size_t>(sources.size())},
                             values_.data());
  }

  void run(const Stream& stream, const void* x, void* y, Leave leave) override {
    const Vectors<E> v = vectors<E>(x, y, leave);
    long_.run(stream, leave, on_device_, v);
    long_sum_.run(stream, leave, on_device_, v);
    medium_.run(stream, leave, on_device_, v);
    short_.run(stream, leave, on_device_, v);
  }
  std::int64_t bytes() const override { return bytes_; }

 private:
  using Kernels = Step<DaspOnDevice<E>, Vectors<E>>;

  DaspOnDevice<E> on_device(const DaspPattern& dasp) {
    return {.values = values_.data(),
            .columns = columns_.data(),
            .first_loose = dasp.first_loose(),
            .long_rows = long_rows_.data(),
            .long_groups = long_groups_.data(),
            .long_count = long_rows_.size(),
            .groups = dasp.groups(),
            .partials = partials_.data(),
            .medium_rows = medium_rows_.data(),
            .medium_tiles = medium_tiles_.data(),
            .tail_offsets = tail_offsets_.data(),
            .medium_count = medium_rows_.size(),
            .blocks = medium_tiles_.size() - 1,
            .pieced_rows = pieced_rows_.data(),
            .first_short_tile = dasp.first_short_tile(),
            .tiles_13 = dasp.pieced_tiles(dasp.pieced_13),
            .split_tiles = dasp.split_tiles(),
            .short_tiles = dasp.short_tiles(),
            .other_rows = other_rows_.data(),
            .first_single = dasp.first_loose() + dasp.tail_offsets.back(),
            .single_count = dasp.single_rows,
            .other_count = other_rows_.size()};
  }

  Buffer<std::int32_t> columns_;
  Buffer<E> values_;
  Buffer<std::int32_t> long_rows_;
  Buffer<std::int32_t> long_groups_;
  Buffer<std::int32_t> medium_rows_;
  Buffer<std::int32_t> medium_tiles_;
  Buffer<std::int32_t> tail_offsets_;
  Buffer<std::int32_t> pieced_rows_;
  Buffer<std::int32_t> other_rows_;
  Buffer<Acc<E>> partials_;
  DaspOnDevice<E> on_device_;
  std::int64_t bytes_;
  Kernels long_;
  Kernels long_sum_;
  Kernels medium_;
  Kernels short_;
};

}  // namespace

std::unique_ptr<SpmvRung> make_csr_scalar(const Stream& stream, const DeviceCsr& a) {
  return make_csr(stream, a, false);
}

std::unique_ptr<SpmvRung> make_csr_warp(const Stream& stream, const DeviceCsr& a) {
  return make_csr(stream, a, true);
}

std::unique_ptr<SpmvRung> make_dasp(const Stream& stream, const DaspPattern& dasp, DType dtype,
                                    const void* values) {
  require_gpu(stream);
  const int width = dasp_tile_width(dtype);
  if (width != dasp.tile_width) {
    throw Error(ErrorCode::size_mismatch,
                concat("the layout has tiles ", dasp.tile_width, " wide; ", lanky::to_string(dtype),
                       " takes tiles ", width, " wide"));
  }
  if (dtype == DType::f64) return std::make_unique<DaspRung<double>>(stream, dasp, dtype, values);
  return std::make_unique<DaspRung<__half>>(stream, dasp, dtype, values);
}

}  // namespace lanky::ladder
