// Y = A X, a step at a time: A sparse, X [cols][n] and Y [rows][n] row-major. A thread an element,
// a warp a row, words, split rows, staged X, tensor cores; spmm_formats.hpp has the formats.
#include <cuda_fp16.h>

#include <algorithm>
#include <bit>
#include <lanky/buffer.hpp>
#include <lanky/error.hpp>
#include <memory>
#include <utility>

#include "bench/harness/gpu.hpp"
#include "bench/ladder/launch.cuh"
#include "bench/ladder/spmm.hpp"
#include "bench/ladder/spmm_formats.hpp"
#include "device/element.cuh"
#include "device/memory.cuh"
#include "device/mma.cuh"

namespace lanky::ladder {

namespace {

constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr int kWarps = kThreads / kWarp;
constexpr std::size_t kWordBytes = 16;

/// What products of E are summed in.
template <class E>
using Acc = decltype(device::widen(E{}));

/// Elements of a word.
template <class E>
constexpr int kWord = kWordBytes / sizeof(E);

/// Offsets of 32 or 64 bits: [rows + 1].
struct Offsets {
  const void* data;
  bool wide;

  __device__ std::int64_t operator[](std::int64_t row) const {
    return wide ? static_cast<const std::int64_t*>(data)[row]
                : static_cast<const std::int32_t*>(data)[row];
  }
};

/// All operands of a product.
template <class E>
struct Product {
  Offsets offsets;
  const std::int32_t* columns;  // [nnz]
  const E* values;              // [nnz]
  std::int64_t rows;
  const E* x;  // [cols][n]
  E* y;        // [rows][n]
  int n;
};

__device__ std::int64_t thread_number() {
  return blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
}
__device__ int lane_number() {
  return static_cast<int>(threadIdx.x) % kWarp;
}

/// A thread an element of Y, what anyone would write. Neighbouring threads have neighbouring
/// columns, so that they read one entry of A and neighbouring elements of X.
template <class E>
__global__ void __launch_bounds__(kThreads) spmm_element_kernel(Product<E> p) {
  const std::int64_t row = thread_number() / p.n;
  const std::int64_t column = thread_number() % p.n;
  if (row >= p.rows) return;
  Acc<E> sum = 0;
  for (std::int64_t e = p.offsets[row]; e < p.offsets[row + 1]; ++e)
    sum +=
        device::widen(p.values[e]) * device::widen(p.x[p.columns[e] * std::int64_t{p.n} + column]);
  p.y[row * p.n + column] = device::narrow<E>(sum);
}

/// A warp a row and strip of 32 columns, a lane a column. The lanes load 32 entries at once, one
/// each, and pass them round by shuffles: entries are read in whole lines and once a strip, where
/// the rung before asks for each of them by itself. The coalesced row caching of GE-SpMM (Huang et
/// al., "GE-SpMM: General-purpose Sparse Matrix-Matrix Multiplication on GPUs for Graph Neural
/// Networks", SC '20), which passes them by way of shared memory.
template <class E>
__global__ void __launch_bounds__(kThreads) spmm_warp_row_kernel(Product<E> p) {
  const std::int64_t row = thread_number() / kWarp;
  if (row >= p.rows) return;
  const int lane = lane_number();
  const int column = static_cast<int>(blockIdx.y) * kWarp + lane;
  const std::int64_t end = p.offsets[row + 1];
  Acc<E> sum = 0;
  for (std::int64_t first = p.offsets[row]; first < end; first += kWarp) {
    const bool has_entry = first + lane < end;
    const std::int32_t own_row = has_entry ? p.columns[first + lane] : 0;
    const E own_value = has_entry ? p.values[first + lane] : E(0);
    const int count = static_cast<int>(min(std::int64_t{kWarp}, end - first));
    for (int i = 0; i < count; ++i) {
      const std::int64_t row_of_x = device::shuffle_from(own_row, i, kWarp);
      const E value = device::shuffle_from(own_value, i, kWarp);
      if (column < p.n) sum += device::widen(value) * device::widen(p.x[row_of_x * p.n + column]);
    }
  }
  if (column < p.n) p.y[row * p.n + column] = device::narrow<E>(sum);
}

/// Columns [column, column + kCount) of row `row` of X, zeros where there are none: beyond n, and
/// where the row is -1. By words where rows of X are whole words.
template <int kCount, class E>
__device__ void load_columns(E (&out)[kCount], const Product<E>& p, std::int32_t row, int column) {
  const E* const x = p.x + row * std::int64_t{p.n} + column;
  if (p.n % kCount == 0) {
#pragma unroll
    for (E& element : out)
      element = E(0);
    if (row >= 0 && column < p.n) device::load_words(out, x);
    return;
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    out[i] = row >= 0 && column + i < p.n ? x[i] : E(0);
}

/// The same columns of a row of Y, rounded; those beyond n are dropped.
template <int kCount, class E>
__device__ void store_columns(const Product<E>& p, std::int64_t row, int column,
                              const Acc<E> (&sums)[kCount]) {
  E* const y = p.y + row * p.n + column;
  E rounded[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    rounded[i] = device::narrow<E>(sums[i]);
  if (p.n % kCount == 0) {
    if (column < p.n) device::store_words(y, rounded);
    return;
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    if (column + i < p.n) y[i] = rounded[i];
}

/// Adds entries [first, end) of a row to the sums of one word of columns; gather(x, entry) loads
/// what the entry multiplies. Four entries are loaded before the first is multiplied, so that four
/// gathers are under way.
template <class E, class Gather>
__device__ void add_entries(Acc<E> (&sums)[kWord<E>], const Product<E>& p, std::int64_t first,
                            std::int64_t end, Gather gather) {
  constexpr int kAtOnce = 4;
  const auto add = [&sums](E value, const E(&x)[kWord<E>]) {
#pragma unroll
    for (int i = 0; i < kWord<E>; ++i)
      sums[i] += device::widen(value) * device::widen(x[i]);
  };
  for (; first + kAtOnce <= end; first += kAtOnce) {
    E x[kAtOnce][kWord<E>];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      gather(x[i], first + i);
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      add(p.values[first + i], x[i]);
  }
  for (; first < end; ++first) {
    E x[kWord<E>];
    gather(x, first);
    add(p.values[first], x);
  }
}

/// A thread's place where groups of lanes have units (rows, or blocks of them) and strips of
/// columns, and a lane has a word.
template <class E>
struct Place {
  std::int64_t unit;
  int column;

  __device__ explicit Place(int lanes)
      : unit(thread_number() / lanes),
        column(static_cast<int>(blockIdx.y * lanes + threadIdx.x % lanes) * kWord<E>) {}
};

/// A group of lanes a row, as many as n has words and at most a warp: each lane has a word of
/// columns. So one load serves 2 to 8 columns, short rows of X share a warp, and four gathers of a
/// lane are under way. All lanes of a group read each entry, which costs one request of theirs.
/// Vector loads and several entries a thread are from Yang, Buluc and Owens ("Design Principles
/// for Sparse Matrix Multiplication on the GPU", Euro-Par '18) and from GE-SpMM's row merging.
template <class E>
__global__ void __launch_bounds__(kThreads) spmm_words_kernel(Product<E> p, int lanes) {
  const Place<E> place(lanes);
  if (place.unit >= p.rows) return;
  Acc<E> sums[kWord<E>] = {};
  add_entries(sums, p, p.offsets[place.unit], p.offsets[place.unit + 1],
              [&](E(&x)[kWord<E>], std::int64_t entry) {
                load_columns(x, p, p.columns[entry], place.column);
              });
  store_columns(p, place.unit, place.column, sums);
}

/// A RowSplit in device memory.
template <class E>
struct SplitOnDevice {
  const RowBlock* blocks;
  std::int64_t block_count;
  const SplitRow* rows;
  std::int64_t row_count;
  Acc<E>* partials;  // [partials][n]
};

/// The same for a block of a row: no group has more than kSplitEntries entries, and those of whole
/// blocks, which stand first, end together. See split_rows().
template <class E>
__global__ void __launch_bounds__(kThreads)
    spmm_row_blocks_kernel(Product<E> p, SplitOnDevice<E> split, int lanes) {
  const Place<E> place(lanes);
  if (place.unit >= split.block_count) return;
  const RowBlock block = split.blocks[place.unit];
  Acc<E> sums[kWord<E>] = {};
  add_entries(sums, p, block.first, std::int64_t{block.first} + block.length,
              [&](E(&x)[kWord<E>], std::int64_t entry) {
                load_columns(x, p, p.columns[entry], place.column);
              });
  if (block.partial < 0) return store_columns(p, block.row, place.column, sums);
  Acc<E>* const partial = split.partials + block.partial * std::int64_t{p.n} + place.column;
#pragma unroll
  for (int i = 0; i < kWord<E>; ++i)
    if (place.column + i < p.n) partial[i] = sums[i];
}

/// A thread an element of a split row: the partial sums of its blocks, in the order of the row.
template <class E>
__global__ void __launch_bounds__(kThreads)
    spmm_row_sums_kernel(Product<E> p, SplitOnDevice<E> split) {
  const std::int64_t number = thread_number() / p.n;
  const std::int64_t column = thread_number() % p.n;
  if (number >= split.row_count) return;
  const SplitRow row = split.rows[number];
  Acc<E> sum = 0;
  for (std::int64_t i = row.first; i < std::int64_t{row.first} + row.count; ++i)
    sum += split.partials[i * p.n + column];
  p.y[std::int64_t{row.row} * p.n + column] = device::narrow<E>(sum);
}

/// StagedRows in device memory.
struct StagedOnDevice {
  const std::int32_t* starts;
  const std::int32_t* rows;
  const std::uint16_t* places;
};

/// A block has kStagedRows rows and a strip of `lanes` words, at most 128 bytes of columns, a group
/// of lanes a row. Where its rows name few distinct rows of X, it first copies their strips into
/// shared memory, each once; entries then read them there, by a place of 16 bits. lanky stages x
/// for one vector in the same way; for X it is what tiles in shared memory are to a dense product.
///
///   shared: words[distinct rows][lanes]
template <class E>
__global__ void __launch_bounds__(kThreads)
    spmm_staged_kernel(Product<E> p, StagedOnDevice staged, int lanes) {
  extern __shared__ uint4 words[];
  const Place<E> place(lanes);
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const std::int32_t first = staged.starts[blockIdx.x];
  const std::int32_t count = staged.starts[blockIdx.x + 1] - first;
  for (int i = static_cast<int>(threadIdx.x) / lanes; i < count; i += kStagedRows) {
    E x[kWord<E>];
    load_columns(x, p, staged.rows[first + i], place.column);
    device::store_wide(reinterpret_cast<E*>(words + i * lanes + lane), x);
  }
  __syncthreads();  // the rows of X are there before any row of A reads them
  if (place.unit >= p.rows) return;
  const std::int64_t begin = p.offsets[place.unit];
  const std::int64_t end = p.offsets[place.unit + 1];
  Acc<E> sums[kWord<E>] = {};
  if (count > 0) {
    add_entries(sums, p, begin, end, [&](E(&x)[kWord<E>], std::int64_t entry) {
      device::load_wide(x, reinterpret_cast<const E*>(words + staged.places[entry] * lanes + lane));
    });
  } else {
    add_entries(sums, p, begin, end, [&](E(&x)[kWord<E>], std::int64_t entry) {
      load_columns(x, p, p.columns[entry], place.column);
    });
  }
  store_columns(p, place.unit, place.column, sums);
}

/// ColumnVectors in device memory, with values at their slots.
template <class E>
struct VectorsOnDevice {
  const std::int32_t* starts;
  const std::int32_t* columns;
  const E* values;
  std::int64_t blocks;
};

/// The sums of a warp: 8 rows of Y by 8 kEach columns, of which lane 4 g + t gathers the kEach
/// beside each other from kEach g on, in the rows of X that its own vectors name.
///
/// f64, m8n8k4: a[8,4] is A (rows g, vectors t), b[4,8] is X, one mma for each of a lane's columns.
/// Lane 4 g + t ends with row g, columns of the lanes 2 t and 2 t + 1: two runs of kEach columns.
template <class E, int kEach>
struct TensorSums {
  static_assert(sizeof(E) == 8);
  static constexpr int kOwn = 1;  // vectors of a lane in a step
  double c[kEach][2] = {};

  __device__ void add(const double (&a)[1], const double (&x)[1][kEach]) {
#pragma unroll
    for (int e = 0; e < kEach; ++e)
      device::mma_m8n8k4(c[e], a[0], x[0][e]);
  }
  /// Two runs of columns: where run i stands, and its sum e.
  __device__ static int row(int lane, int /*i*/) {
    return lane / 4;
  }
  __device__ static int column(int lane, int i) {
    return kEach * (2 * (lane % 4) + i);
  }
  __device__ double sum(int i, int e) const {
    return c[e][i];
  }
};

/// f16, m16n8k16: operands swapped, (A X)^T = X^T A^T, so that the narrow side of the mma, 8, is
/// rows of A: a[16,16] is X^T (two columns of a lane by 16 vectors), b[16,8] is A^T. Lane 4 g + t
/// ends with rows 2 t and 2 t + 1, columns of lane g. The swap is FlashSparse's.
template <int kEach>
struct TensorSums<__half, kEach> {
  static constexpr int kOwn = 4;
  float c[kEach / 2][4] = {};

  __device__ void add(const __half (&a)[4], const __half (&x)[4][kEach]) {
    using device::pair_bits;
#pragma unroll
    for (int e = 0; e < kEach; e += 2) {
      device::mma_m16n8k16<__half>(c[e / 2], pair_bits(x[0][e], x[1][e]),
                                   pair_bits(x[0][e + 1], x[1][e + 1]), pair_bits(x[2][e], x[3][e]),
                                   pair_bits(x[2][e + 1], x[3][e + 1]), pair_bits(a[0], a[1]),
                                   pair_bits(a[2], a[3]));
    }
  }
  __device__ static int row(int lane, int i) {
    return 2 * (lane % 4) + i;
  }
  __device__ static int column(int lane, int /*i*/) {
    return kEach * (lane / 4);
  }
  __device__ float sum(int i, int e) const {
    return c[e / 2][i + e % 2 * 2];
  }
};

/// A warp a block of 8 rows and strip of 8 kEach columns: a row of X is gathered once for all of
/// the 8 rows that name it, at the price of products with the zeros of its column vector. See
/// to_column_vectors(). Those zeros make NaN of Inf and NaN in X, as in the papers' kernels;
/// lanky's own adds such rows up again, entry by entry.
template <class E, int kEach>
__global__ void __launch_bounds__(kThreads) spmm_tensor_kernel(Product<E> p, VectorsOnDevice<E> a) {
  using Sums = TensorSums<E, kEach>;
  constexpr int kOwn = Sums::kOwn;
  const std::int64_t block = thread_number() / kWarp;
  if (block >= a.blocks) return;
  const int lane = lane_number();
  const int strip = static_cast<int>(blockIdx.y) * 8 * kEach;
  const std::int32_t end = a.starts[block + 1];
  Sums sums;
#pragma unroll 4
  for (std::int64_t step = a.starts[block]; step < end; ++step) {
    E values[kOwn];
    std::int32_t rows_of_x[kOwn];
    E x[kOwn][kEach];
    device::load_constant(values, a.values + (step * kWarp + lane) * kOwn);
    device::load_constant(rows_of_x, a.columns + (step * 4 + lane % 4) * kOwn);
#pragma unroll
    for (int v = 0; v < kOwn; ++v)
      load_columns(x[v], p, rows_of_x[v], strip + kEach * (lane / 4));
    sums.add(values, x);
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const std::int64_t row = block * kVectorRows + Sums::row(lane, i);
    Acc<E> run[kEach];
#pragma unroll
    for (int e = 0; e < kEach; ++e)
      run[e] = sums.sum(i, e);
    if (row < p.rows) store_columns(p, row, strip + Sums::column(lane, i), run);
  }
}

using Run = std::function<void(const Stream& stream)>;

/// Launches of `kernel` for so many units, `per_block` of them a block; strips of columns are the
/// grid's second side.
template <class... Parameters>
Run launches(const Stream& stream, void (*kernel)(Parameters...), std::int64_t units,
             std::int64_t per_block, std::int64_t strips, int threads, std::size_t shared_bytes,
             std::type_identity_t<Parameters>... arguments) {
  if (units == 0) return [](const Stream&) {};
  const dim3 grid(static_cast<unsigned>(device::ceil_div(units, per_block)),
                  static_cast<unsigned>(strips));
  device::load_kernels(stream, kernel);
  const Launch launch(stream, kernel, grid, dim3(threads), shared_bytes);
  return [=](const Stream& on) { launch(on, arguments...); };
}

template <class E>
Product<E> product_of(const bench::SpmvOperands& operands) {
  const bench::SpmvRows a = operands.matrix.on_device();
  return {.offsets = {a.offsets.data(), a.offsets.wide()},
          .columns = a.columns,
          .values = static_cast<const E*>(operands.values),
          .rows = a.rows,
          .x = static_cast<const E*>(operands.x),
          .y = static_cast<E*>(operands.y),
          .n = static_cast<int>(operands.columns.count)};
}

/// Bytes of CSR.
std::int64_t csr_bytes(const bench::SpmvOperands& operands) {
  return operands.matrix.index_bytes() +
         operands.matrix.nnz() * static_cast<std::int64_t>(size_of(operands.dtype));
}

/// Lanes that n columns are words for, a power of two and at most `most`, and strips of so many
/// words.
struct Strips {
  template <class E>
  Strips(const Product<E>& p, int most)
      : lanes(std::min<int>(most,
                            std::bit_ceil(static_cast<unsigned>(device::ceil_div(p.n, kWord<E>))))),
        count(device::ceil_div(p.n, lanes * kWord<E>)) {}

  int lanes;
  int count;
};

template <class E>
bench::BuiltSpmv element_rung(const Stream& stream, const bench::SpmvOperands& operands) {
  const auto p = product_of<E>(operands);
  return {launches(stream, spmm_element_kernel<E>, p.rows * p.n, kThreads, 1, kThreads, 0, p),
          csr_bytes(operands)};
}

template <class E>
bench::BuiltSpmv warp_row_rung(const Stream& stream, const bench::SpmvOperands& operands) {
  const auto p = product_of<E>(operands);
  return {launches(stream, spmm_warp_row_kernel<E>, p.rows, kWarps, device::ceil_div(p.n, kWarp),
                   kThreads, 0, p),
          csr_bytes(operands)};
}

template <class E>
bench::BuiltSpmv words_rung(const Stream& stream, const bench::SpmvOperands& operands) {
  const auto p = product_of<E>(operands);
  const Strips strips(p, kWarp);
  return {launches(stream, spmm_words_kernel<E>, p.rows, kThreads / strips.lanes, strips.count,
                   kThreads, 0, p, strips.lanes),
          csr_bytes(operands)};
}

template <class E>
bench::BuiltSpmv row_split_rung(const Stream& stream, const bench::SpmvOperands& operands) {
  struct Kept {
    Buffer<RowBlock> blocks;
    Buffer<SplitRow> rows;
    Buffer<Acc<E>> partials;
  };
  const auto p = product_of<E>(operands);
  const RowSplit split = split_rows(operands.matrix.pattern().view());
  const auto kept = std::make_shared<Kept>(
      Kept{Buffer<RowBlock>::from(stream, split.blocks), Buffer<SplitRow>::from(stream, split.rows),
           Buffer<Acc<E>>(stream, std::int64_t{split.partials} * p.n)});
  const SplitOnDevice<E> there{kept->blocks.data(), kept->blocks.size(), kept->rows.data(),
                               kept->rows.size(), kept->partials.data()};
  const Strips strips(p, kWarp);
  const Run add =
      launches(stream, spmm_row_blocks_kernel<E>, there.block_count, kThreads / strips.lanes,
               strips.count, kThreads, 0, p, there, strips.lanes);
  const Run sum = launches(stream, spmm_row_sums_kernel<E>, there.row_count * p.n, kThreads, 1,
                           kThreads, 0, p, there);
  return {[kept, add, sum](const Stream& on) {
            add(on);
            sum(on);
          },
          csr_bytes(operands) + kept->blocks.size() * static_cast<std::int64_t>(sizeof(RowBlock)) +
              kept->rows.size() * static_cast<std::int64_t>(sizeof(SplitRow)) +
              kept->partials.size() * static_cast<std::int64_t>(sizeof(Acc<E>)),
          concat(split.whole, " whole blocks of ", kSplitEntries, " entries, ",
                 there.block_count - split.whole, " residues; ", there.row_count,
                 " rows have several")};
}

template <class E>
bench::BuiltSpmv staged_rung(const Stream& stream, const bench::SpmvOperands& operands) {
  constexpr int kStripWords = 8;
  struct Kept {
    Buffer<std::int32_t> starts;
    Buffer<std::int32_t> rows;
    Buffer<std::uint16_t> places;
  };
  const auto p = product_of<E>(operands);
  const StagedRows staged = stage_rows(operands.matrix.pattern().view());
  const auto kept =
      std::make_shared<Kept>(Kept{Buffer<std::int32_t>::from(stream, staged.starts),
                                  Buffer<std::int32_t>::from(stream, staged.rows),
                                  Buffer<std::uint16_t>::from(stream, staged.places)});
  const Strips strips(p, kStripWords);
  const std::size_t shared_bytes =
      static_cast<std::size_t>(staged.most) * strips.lanes * kWordBytes;
  const Run run = launches(
      stream, spmm_staged_kernel<E>, p.rows, kStagedRows, strips.count, kStagedRows * strips.lanes,
      shared_bytes, p, StagedOnDevice{kept->starts.data(), kept->rows.data(), kept->places.data()},
      strips.lanes);
  return {
      [kept, run](const Stream& on) { run(on); },
      csr_bytes(operands) + 4 * (kept->starts.size() + kept->rows.size()) + 2 * kept->places.size(),
      concat(staged.staged_blocks, " of ", kept->starts.size() - 1, " blocks of ", kStagedRows,
             " rows stage X, at most ", staged.most, " rows of it")};
}

template <class E, int kEach>
bench::BuiltSpmv tensor_rung(const Stream& stream, const bench::SpmvOperands& operands) {
  struct Kept {
    Buffer<std::int32_t> starts;
    Buffer<std::int32_t> columns;
    Buffer<E> values;
  };
  const auto p = product_of<E>(operands);
  const ColumnVectors vectors =
      to_column_vectors(operands.matrix.pattern().view(), 4 * TensorSums<E, kEach>::kOwn);
  const auto kept = std::make_shared<Kept>(
      Kept{Buffer<std::int32_t>::from(stream, vectors.starts),
           Buffer<std::int32_t>::from(stream, vectors.columns),
           Buffer<E>(stream, static_cast<std::int64_t>(vectors.sources.size()))});
  const auto sources = Buffer<std::int32_t>::from(stream, vectors.sources);
  bench::gpu::place_values(stream, operands.dtype, operands.values,
                           {sources.data(), vectors.sources.size()}, kept->values.data());
  const VectorsOnDevice<E> there{kept->starts.data(), kept->columns.data(), kept->values.data(),
                                 kept->starts.size() - 1};
  const Run run = launches(stream, spmm_tensor_kernel<E, kEach>, there.blocks, kWarps,
                           device::ceil_div(p.n, 8 * kEach), kThreads, 0, p, there);
  const auto slots = static_cast<double>(kept->values.size());
  return {[kept, run](const Stream& on) { run(on); },
          4 * (kept->starts.size() + kept->columns.size()) +
              kept->values.size() * static_cast<std::int64_t>(sizeof(E)),
          concat(vectors.steps(), " steps of ", vectors.width, " vectors; ",
                 slots == 0 ? 0.0 : 100 * static_cast<double>(operands.matrix.nnz()) / slots,
                 " % of their slots are entries")};
}

/// Strips of 16 columns where there are no more, of 32 otherwise.
template <class E>
bench::BuiltSpmv tensor(const Stream& stream, const bench::SpmvOperands& operands) {
  if (operands.columns.count <= 16) return tensor_rung<E, 2>(stream, operands);
  return tensor_rung<E, 4>(stream, operands);
}

template <>
bench::BuiltSpmv tensor<float>(const Stream& /*stream*/, const bench::SpmvOperands& /*operands*/) {
  throw Error(ErrorCode::unsupported,
              "tensor cores have no IEEE product of f32; in tf32 this rung would be outside of the "
              "bound that all are held to, and three products of tf32 take its gain");
}

/// f<E> for the operands' type, on a GPU.
template <class F>
auto for_type(F f) {
  return [f](const Stream& stream, const bench::SpmvOperands& operands) -> bench::BuiltSpmv {
    if (!stream.device().is_cuda()) {
      throw Error(ErrorCode::no_device,
                  "this rung of the ladder runs on a GPU; the stream is the CPU's");
    }
    switch (operands.dtype) {
      case DType::f64:
        return f(std::type_identity<double>{}, stream, operands);
      case DType::f32:
        return f(std::type_identity<float>{}, stream, operands);
      case DType::f16:
        return f(std::type_identity<__half>{}, stream, operands);
      default:
        throw Error(ErrorCode::unsupported, concat("the rungs of ladder spmm are of f64, f32 and "
                                                   "f16; not of ",
                                                   lanky::to_string(operands.dtype)));
    }
  };
}

}  // namespace

std::vector<SparseRung> spmm_rungs() {
  return {
      {{.name = "element", .idea = "a thread an element of Y"},
       for_type([]<class E>(std::type_identity<E>, const auto&... on) {
         return element_rung<E>(on...);
       })},
      {{.name = "warp-row", .idea = "a warp a row: 32 entries by one load, passed by shuffles"},
       for_type([]<class E>(std::type_identity<E>, const auto&... on) {
         return warp_row_rung<E>(on...);
       })},
      {{.name = "words", .idea = "16 bytes of X a lane, four entries under way"},
       for_type(
           []<class E>(std::type_identity<E>, const auto&... on) { return words_rung<E>(on...); })},
      {{.name = "row-split", .idea = "long rows in blocks of equal nonzeros"},
       for_type([]<class E>(std::type_identity<E>, const auto&... on) {
         return row_split_rung<E>(on...);
       })},
      {{.name = "staged", .idea = "rows of X that a block names in shared memory"},
       for_type([]<class E>(std::type_identity<E>, const auto&... on) {
         return staged_rung<E>(on...);
       })},
      {{.name = "tensor", .idea = "8 x 1 column vectors on tensor cores"},
       for_type(
           []<class E>(std::type_identity<E>, const auto&... on) { return tensor<E>(on...); })},
  };
}

}  // namespace lanky::ladder
