// Gram products of up to 32 columns of floats or halves, summed exactly, for chips that multiply
// few doubles: C[i, j] = sum over k of A[i, k] B[k, j]. An element is an integer of six bytes times
// a power of two of its column (dense/slices.hpp), and the 36 products of bytes are summed on
// tensor cores of 8-bit integers, without an error, as in K. Ozaki et al., "Error-free
// transformations of matrix multiplication by using fast routines of matrix multiplication and its
// applications", Numer. Algorithms 59, 2012, and, for integers, H. Ootomo et al., "DGEMM on integer
// matrix multiplication unit", IJHPCA 38, 2024. Rows where a column spans more than the six bytes
// hold, and those with Inf or NaN, are multiplied as doubles instead: how columns are scaled
// changes the time, and never the error.
#pragma once

#include <bit>
#include <cstdint>

#include "dense/cuda/gram/sum.cuh"
#include "dense/slices.hpp"
#include "device/guarded_load.cuh"
#include "device/mma.cuh"

namespace lanky::dense::cuda {

inline constexpr int kSlicesThreads = 256;
/// Words of a slice of a step's elements: four bytes, which are four rows of one column.
inline constexpr int kSlicePlane = kGramSlicesStep / 4;
/// Steps whose sums of bytes an int holds: six products of slices have the same weight, and a warp
/// has at most four chunks of 32 rows in a step.
inline constexpr int kSliceSteps = 32;
static_assert(std::int64_t{kSlices} * 255 * 255 * 32 * 4 * kSliceSteps < std::int64_t{1} << 31);

/// How a step of rows lies in shared memory: of each operand 8, 16 or 32 columns, in each slice.
template <int kOperands>
struct SliceLayout {
  int side_log2;

  __device__ explicit SliceLayout(int columns) : side_log2(gram_slices_side_log2(columns)) {}
  __device__ int side() const { return 1 << side_log2; }
  __device__ int words_log2() const {  // of a column, four rows each
    return std::countr_zero(static_cast<unsigned>(kSlicePlane / kOperands)) - side_log2;
  }
  __device__ int rows() const { return 4 << words_log2(); }
  __device__ int chunks() const { return rows() / 32; }

  /// Word `word` of a column in a plane. Words of a chunk, eight, are turned such that the four
  /// columns that half a warp reads at once meet all banks, and that those of a warp that writes
  /// whole rows meet most.
  __device__ int place(int column, int word) const {
    const int quad = column >> 2;
    const int windows = 1 << (words_log2() - 3);
    const int of_quad = 2 * quad >> (side_log2 - 3);
    const int of_column = windows == 2 ? column >> 1 & 1 : column & 3;
    const int turn = ((of_column ^ of_quad) & (windows - 1)) * 8 + (quad & 1) * 4;
    return (column << words_log2()) + (word ^ turn);
  }
};

/// An operand, [k, columns].
template <class E>
struct SliceOperand {
  const E* data;
  Strides strides;
  int columns;
  bool wide;  // lines are words of four elements

  __device__ bool by_rows() const { return strides.row != 1; }
};

/// A unit of an operand, [column][row].
using SliceFloats = float[4][4];

/// What a thread loads in each step, 4 rows x 4 columns of an operand, with neighbouring lanes at
/// neighbouring addresses.
template <class E>
class SliceUnit {
 public:
  int column;  // the first of four
  int word;    // of rows

  template <int kOperands>
  __device__ SliceUnit(const SliceOperand<E>& operand, const SliceLayout<kOperands>& layout) {
    const int unit = static_cast<int>(threadIdx.x) % (kSlicesThreads / kOperands);
    const int quads_log2 = layout.side_log2 - 2;
    const int words_log2 = layout.words_log2();
    const bool by_rows = operand.by_rows();
    column = 4 * (by_rows ? unit & ((1 << quads_log2) - 1) : unit >> words_log2);
    word = by_rows ? unit >> quads_log2 : unit & ((1 << words_log2) - 1);
  }

  /// Starts to load the unit of the step from row `first` on, zeros from row k on.
  __device__ void load(const SliceOperand<E>& operand, std::int64_t first, std::int64_t k) {
    const std::int64_t row = first + 4 * word;
    const int rows = static_cast<int>(max(std::int64_t{0}, min(k - row, std::int64_t{4})));
    const int columns = operand.columns - column;
    const E* const source = operand.data + row * operand.strides.row + column * operand.strides.col;
    const bool by_rows = operand.by_rows();
    const int lines = by_rows ? rows : columns;
    const int elements = by_rows ? columns : rows;
    const std::int64_t line = by_rows ? operand.strides.row : operand.strides.col;
    const std::int64_t element = by_rows ? operand.strides.col : operand.strides.row;
    if (operand.wide && elements >= 4) {
#pragma unroll
      for (int l = 0; l < 4; ++l)
        device::load_if<device::Stay::briefly>(loaded_[l], source + l * line, l < lines);
    } else {
#pragma unroll
      for (int l = 0; l < 4; ++l) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          device::load_if<device::Stay::normally>(loaded_[l][e], source + l * line + e * element,
                                                  l < lines && e < elements);
        }
      }
    }
  }
  /// What was loaded, which is waited for, as floats.
  __device__ void take(SliceFloats& x, bool by_rows) const {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int p = 0; p < 4; ++p)
        x[j][p] = device::widen(by_rows ? loaded_[p][j] : loaded_[j][p]);
    }
  }

 private:
  E loaded_[4][4];  // [line][element]: lines are rows or columns
};

/// What a warp computes: 16 rows x 8 columns of C, and of each step the chunks of 32 rows from
/// `part` on, every parts-th. Where A is B (kOne), no tile above the diagonal. Warps whose part is
/// none of these have nothing to multiply.
template <bool kOne>
struct SliceShare {
  int tiles_n;
  int tiles;
  int parts;
  int i0;
  int j0;
  int part;

  __device__ SliceShare(int m, int n) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int tiles_m = (m + 15) / 16;
    tiles_n = (n + 7) / 8;
    tiles = tiles_m == 1 ? tiles_n : kOne ? 2 + tiles_n : 2 * tiles_n;
    parts = kSlicesThreads / 32 / tiles;
    part = warp / tiles;
    const int tile = warp % tiles;
    const bool second = tile >= (tiles_m == 1 ? tiles_n : row_tiles());
    i0 = second ? 16 : 0;
    j0 = 8 * (second ? tile - row_tiles() : tile);
  }
  /// The tile that has row i and column j of C.
  __device__ int tile_of(int i, int j) const { return i / 16 * row_tiles() + j / 8; }

 private:
  /// Tiles of the first 16 rows, where there are more.
  __device__ int row_tiles() const { return kOne ? 2 : tiles_n; }
};

/// A block's sums. Slices of a step lie in shared memory, [slice][operand][column][word], or its
/// floats, [operand][row][column]. Of two operands each has half of the threads.
template <class T, bool kOne>
class SliceSums {
 public:
  using E = device::DeviceElement<T>;
  static constexpr int kOperands = kOne ? 1 : 2;
  static constexpr int kOperandWords = kSlicePlane / kOperands;  // of a slice
  static constexpr int kPlaceOfB = kOne ? 0 : kOperandWords;
  static constexpr std::size_t kBytes = kSlices * kSlicePlane * sizeof(std::uint32_t);

  __device__ SliceSums(const GramArguments<T>& g, std::uint32_t* memory,
                       int (&bases)[kOperands][32], unsigned (&exponents)[kOperands][32])
      : g_(g),
        layout_(g.m),
        share_(g.m, g.n),
        unit_(operand(), layout_),
        memory_(memory),
        bases_(bases),
        exponents_(exponents) {
    if (threadIdx.x < 32 * kOperands) bases_[threadIdx.x / 32][threadIdx.x % 32] = slice_base(1);
    __syncthreads();  // bases are written before they are read
  }
  __device__ int step_rows() const { return layout_.rows(); }

  __device__ void load(std::int64_t first, std::int64_t k) { unit_.load(operand(), first, k); }
  /// Puts what was loaded into shared memory; returns whether it is in slices.
  __device__ bool store() {
    SliceFloats x;
    unit_.take(x, operand().by_rows());
    const auto all_fit = [&] {
      return __syncthreads_or(fit(x) ? 0 : 1) == 0;  // and the step before has been read
    };
    const bool fit_bases = all_fit();
    if (!fit_bases || steps_ == kSliceSteps) add_integers();
    if (!fit_bases) {
      choose_bases(x);
      if (!all_fit()) {
        store_floats(x);
        return false;
      }
    }
    store_slices(x);
    return true;
  }
  __device__ void multiply(bool in_slices) {
    if (!in_slices) {
      multiply_floats();
      return;
    }
    if (share_.part < share_.parts) {
      for (int chunk = share_.part; chunk < layout_.chunks(); chunk += share_.parts)
        multiply_chunk(chunk);
    }
    ++steps_;
  }
  /// The end: writes the block's partial sums.
  __device__ void leave(int walker) {
    add_integers();
    __syncthreads();                                       // the last step has been read
    auto* const all = reinterpret_cast<double*>(memory_);  // [warp][column][row]
    const int lane = static_cast<int>(threadIdx.x) % 32;
    double* const of_warp = all + threadIdx.x / 32 * 128;
#pragma unroll
    for (int e = 0; e < 4; ++e)
      of_warp[(lane % 4 * 2 + e % 2) * 16 + lane / 4 + e / 2 * 8] = totals_[e];
    __syncthreads();  // the warps' sums are written before they are added
    for (int s = static_cast<int>(threadIdx.x); s < g_.m * g_.n; s += kSlicesThreads) {
      const int row = s % g_.m;
      const int column = s / g_.m;
      const int i = kOne ? max(row, column) : row;
      const int j = kOne ? min(row, column) : column;
      double sum = 0;
      for (int part = 0; part < share_.parts; ++part) {
        const int warp = part * share_.tiles + share_.tile_of(i, j);
        sum += all[warp * 128 + j % 8 * 16 + i % 16];
      }
      g_.partials[std::int64_t{walker} * g_.m * g_.n + s] = sum;
    }
  }

 private:
  /// The operand of this thread's unit.
  __device__ static int own() {
    return static_cast<int>(threadIdx.x) / (kSlicesThreads / kOperands);
  }
  __device__ SliceOperand<E> operand() const {
    if (own() == 0) return {g_.a, {g_.a_strides.col, g_.a_strides.row}, g_.m, g_.vectors};
    return {g_.b, g_.b_strides, g_.n, g_.vectors};
  }

  /// Whether a unit is of floats that fit the bases of their columns.
  __device__ bool fit(const SliceFloats& x) const {
    bool all = true;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const SliceRange range(bases_[own()][unit_.column + j]);
#pragma unroll
      for (int p = 0; p < 4; ++p)
        all &= range.has(x[j][p]);
    }
    return all;
  }

  /// Bases that suit what was loaded.
  __device__ void choose_bases(const SliceFloats& x) {
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < 32 * kOperands) exponents_[thread / 32][thread % 32] = 1;
    __syncthreads();  // the last bases have been used, and exponents are 1
    find_exponents(x);
    __syncthreads();  // exponents are found
    if (thread < 32 * kOperands) {
      bases_[thread / 32][thread % 32] =
          slice_base(static_cast<int>(exponents_[thread / 32][thread % 32]));
    }
    __syncthreads();  // bases are written before they are read
  }
  __device__ void find_exponents(const SliceFloats& x) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      int greatest = 0;
#pragma unroll
      for (int p = 0; p < 4; ++p)
        greatest = max(greatest, slice_exponent(__float_as_uint(x[j][p])));
      atomicMax(&exponents_[own()][unit_.column + j], static_cast<unsigned>(greatest));
    }
  }

  /// Of each column of the unit a word of each slice.
  __device__ void store_slices(const SliceFloats& x) {
    std::uint32_t* const plane = memory_ + own() * kOperandWords;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int column = unit_.column + j;
      const int base = bases_[own()][column];
      std::uint32_t low[4];
      std::uint32_t high[4];
#pragma unroll
      for (int p = 0; p < 4; ++p) {
        const std::int64_t integer = sliced(__float_as_uint(x[j][p]), base);
        low[p] = static_cast<std::uint32_t>(integer);
        high[p] = static_cast<std::uint32_t>(integer >> 32);
      }
      std::uint32_t* const target = plane + layout_.place(column, unit_.word);
      // Bytes 0 and 1, and 2 and 3, of two rows; then of all four.
      const std::uint32_t pairs[] = {
          __byte_perm(low[0], low[1], 0x5140),   __byte_perm(low[2], low[3], 0x5140),
          __byte_perm(low[0], low[1], 0x7362),   __byte_perm(low[2], low[3], 0x7362),
          __byte_perm(high[0], high[1], 0x5140), __byte_perm(high[2], high[3], 0x5140)};
#pragma unroll
      for (int s = 0; s < kSlices; ++s) {
        target[s * kSlicePlane] =
            __byte_perm(pairs[s / 2 * 2], pairs[s / 2 * 2 + 1], s % 2 == 0 ? 0x5410 : 0x7632);
      }
    }
  }
  __device__ void store_floats(const SliceFloats& x) {
    float* const floats = reinterpret_cast<float*>(memory_) + own() * 4 * kOperandWords;
#pragma unroll
    for (int p = 0; p < 4; ++p) {
#pragma unroll
      for (int j = 0; j < 4; ++j)
        floats[((4 * unit_.word + p) << layout_.side_log2) + unit_.column + j] = x[j][p];
    }
  }

  /// 8 bytes of a column in a plane: its own rows of those that a lane multiplies.
  __device__ static uint2 load_words(const std::uint32_t* plane, int place) {
    return *reinterpret_cast<const uint2*>(plane + place);
  }

  /// Adds the products of 32 rows, of which lane 4 g + t has eight. Columns that do not exist
  /// repeat others.
  __device__ void multiply_chunk(int chunk) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int word = 8 * chunk + lane % 4 * 2;
    const int last = layout_.side() - 1;
    const int upper = layout_.place(share_.i0 + lane / 4, word);
    const int lower = layout_.place((share_.i0 + 8 + lane / 4) & last, word);
    const int right = layout_.place(share_.j0 + lane / 4, word);
    uint2 b[kSlices];
#pragma unroll
    for (int s = 0; s < kSlices; ++s)
      b[s] = load_words(memory_ + kPlaceOfB + s * kSlicePlane, right);
#pragma unroll
    for (int i = 0; i < kSlices; ++i) {
      const uint2 x = load_words(memory_ + i * kSlicePlane, upper);
      const uint2 y = load_words(memory_ + i * kSlicePlane, lower);
      const std::uint32_t a[] = {x.x, y.x, x.y, y.y};
#pragma unroll
      for (int j = 0; j < kSlices; ++j) {
        int(&sums)[4] = integers_[i + j];
        const std::uint32_t column[] = {b[j].x, b[j].y};
        if (i == kSlices - 1 && j == kSlices - 1) {
          device::mma_m16n8k32<true, true>(sums, a, column);
        } else if (i == kSlices - 1) {
          device::mma_m16n8k32<true, false>(sums, a, column);
        } else if (j == kSlices - 1) {
          device::mma_m16n8k32<false, true>(sums, a, column);
        } else {
          device::mma_m16n8k32<false, false>(sums, a, column);
        }
      }
    }
  }

  /// Adds the products of a step of floats.
  __device__ void multiply_floats() {
    if (share_.part >= share_.parts) return;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int last = layout_.side() - 1;
    const auto* const a = reinterpret_cast<const float*>(memory_) + share_.i0;
    const auto* const b =
        reinterpret_cast<const float*>(memory_) + 4 * kPlaceOfB + share_.j0 + lane % 4 * 2;
    for (int chunk = share_.part; chunk < layout_.chunks(); chunk += share_.parts) {
#pragma unroll 1
      for (int row = 32 * chunk; row < 32 * chunk + 32; ++row) {
        const int at = row << layout_.side_log2;
        const double rows[] = {a[at + lane / 4], a[at + ((lane / 4 + 8) & last)]};
        const double columns[] = {b[at], b[at + 1]};
#pragma unroll
        for (int e = 0; e < 4; ++e)
          totals_[e] = fma(rows[e / 2], columns[e % 2], totals_[e]);
      }
    }
  }

  /// Adds the sums of bytes to the totals, with the bases that they are of, from the greatest
  /// weight to the least, so that a sum is rounded only where its own value has more digits than a
  /// double.
  __device__ void add_integers() {
    if (steps_ == 0) return;
    steps_ = 0;
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      double sum = 0;
#pragma unroll
      for (int d = 2 * kSlices - 2; d >= 0; --d) {
        sum = fma(sum, 256.0, static_cast<double>(integers_[d][e]));
        integers_[d][e] = 0;
      }
      const int row = (share_.i0 + lane / 4 + e / 2 * 8) & (layout_.side() - 1);
      const int column = share_.j0 + lane % 4 * 2 + e % 2;
      const int exponent = bases_[0][row] + bases_[kOperands - 1][column] - 2 * kSliceBias;
      totals_[e] = fma(sum, __hiloint2double((exponent + 1023) << 20, 0), totals_[e]);
    }
  }

  const GramArguments<T>& g_;
  SliceLayout<kOperands> layout_;
  SliceShare<kOne> share_;
  SliceUnit<E> unit_;
  std::uint32_t* memory_;
  int (&bases_)[kOperands][32];
  unsigned (&exponents_)[kOperands][32];
  int integers_[2 * kSlices - 1][4] = {};  // by the sum of both slices' numbers
  int steps_ = 0;                          // that integers_ has
  double totals_[4] = {};
};

/// Block: every gridDim.x-th step of rows. kOne: A is B.
template <class T, bool kOne>
__global__ __launch_bounds__(kSlicesThreads, 2) void gram_slices_kernel(GramArguments<T> g) {
  using Sums = SliceSums<T, kOne>;
  extern __shared__ __align__(16) std::uint32_t slice_memory[];
  __shared__ int bases[Sums::kOperands][32];
  __shared__ unsigned exponents[Sums::kOperands][32];
  device::let_next_kernel_start();
  Sums sums(g, slice_memory, bases, exponents);
  device::wait_for_kernel_ahead();
  const std::int64_t k = g.alpha.load() == 0.0 ? 0 : g.k;
  const std::int64_t stride = std::int64_t{gridDim.x} * sums.step_rows();
  std::int64_t first = std::int64_t{blockIdx.x} * sums.step_rows();
  if (first < k) sums.load(first, k);
  for (; first < k; first += stride) {
    const bool in_slices = sums.store();
    sums.load(first + stride, k);
    __syncthreads();  // the step is written before it is read
    sums.multiply(in_slices);
  }
  sums.leave(static_cast<int>(blockIdx.x));
  sum_in_last_block(g, *reinterpret_cast<GramWarpTotals<T>*>(slice_memory));
}

}  // namespace lanky::dense::cuda
