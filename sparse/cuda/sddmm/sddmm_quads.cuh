// values[k] = alpha sum_c X(i, c) Y(j, c) + beta values[k] for entries k = (i, j) of a pattern in
// quads. A group of 1 to 32 lanes has a quad at a time: each lane one or two words of 16 bytes of
// each row, of the row of X only where another row begins, all rows of the quad in flight at once.
// Sums of a quad are added up over the lanes together, after which lanes have different ones.
//
// The order of summation of an entry, by the number of columns alone: a lane adds the products of
// its words, column by column; lanes are added to those half a group away, a quarter, ... one.
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/element.cuh"
#include "device/grid_dependency.cuh"
#include "device/guarded_load.cuh"
#include "device/memory.cuh"
#include "device/warp_sum.cuh"
#include "sparse/cuda/columns/strip.hpp"
#include "sparse/cuda/columns/strip_gather.cuh"
#include "sparse/cuda/multiply/writer.cuh"
#include "sparse/cuda/sddmm/quads.hpp"
#include "sparse/cuda/warp.cuh"

namespace lanky::sparse::cuda {

inline constexpr int kQuadThreads = 256;   // of a block
inline constexpr int kQuadGroupMost = 32;  // lanes, which take more columns than theirs in turn

/// Quads as an argument of kernels.
struct DeviceQuads {
  const std::uint32_t* columns;
  const std::int32_t* first;
  const std::int32_t* filled;  // nullptr: all rows have entries
  std::int64_t entries;
  std::int64_t quads;
  std::int32_t steps;  // quads that a group takes one after the other
};

/// X or Y: [.., columns]
template <class E>
struct SampledRows {
  const E* data;
  std::int64_t column;      // elements from column to column
  std::uint32_t row_bytes;  // from row to row
};

/// What a launch multiplies.
template <class T>
struct DeviceSample {
  SampledRows<device::DeviceElement<T>> x;
  SampledRows<device::DeviceElement<T>> y;
  std::int32_t columns;
  bool conjugates;  // Y
  bool words;       // values begin at a multiple of 16 bytes
  bool sums;        // values are of the type of sums
  void* values;     // [entries], of elements or, of halves, also of floats
  device::DeviceScalar<Accumulator<T>> alpha;
  device::DeviceScalar<Accumulator<T>> beta;
};

/// Four entries, as each lane of a group has them.
class QuadEntries {
 public:
  __device__ QuadEntries(const DeviceQuads& pattern, std::int64_t number) {
    const std::int64_t place = min(number, pattern.quads - 1);
    device::load_constant(columns_, pattern.columns + place * kQuad);
    first_ = __ldg(pattern.first + place);
  }

  __device__ std::uint32_t column(int k) const { return columns_[k] & ~kBeginsRow; }
  __device__ bool begins_row(int k) const { return (columns_[k] & kBeginsRow) != 0; }
  /// The row of each entry that begins one, and of the first.
  __device__ void find_rows(const DeviceQuads& pattern, std::uint32_t (&rows)[kQuad]) const {
    rows[0] = static_cast<std::uint32_t>(first_);
#pragma unroll
    for (int k = 1; k < kQuad; ++k)
      rows[k] = rows[k - 1] + (columns_[k] >> 31);
    if (pattern.filled == nullptr) return;
#pragma unroll
    for (int k = 0; k < kQuad; ++k) {
      if (k == 0 || begins_row(k))
        rows[k] = static_cast<std::uint32_t>(__ldg(pattern.filled + rows[k]));
    }
  }

 private:
  std::uint32_t columns_[kQuad];
  std::int32_t first_;
};

/// A lane's words of a strip of rows of X or Y.
template <class E, class Strip>
class WordGather {
 public:
  using Words = E[Strip::kWords][Strip::kEach];

  /// Of the columns from `column` on, of which there are `columns`. A word that does not exist is
  /// read as the strip's first one; columns that do not, of one that does, are 0.
  __device__ WordGather(const SampledRows<E>& rows, int column, int columns)
      : first_(rows.data + (Strip::kAdjacent ? column : column * rows.column)),
        column_(Strip::kAdjacent ? 1 : rows.column),
        row_bytes_(rows.row_bytes),
        columns_(columns) {}

  __device__ static int column_of(int word) {
    return (word * Strip::kGroup + lane_of_group<Strip>()) * Strip::kEach;
  }
  __device__ bool exists(int word) const { return column_of(word) < columns_; }

  __device__ void load(Words& words, std::uint32_t row) const {
    if constexpr (Strip::kAdjacent && sizeof(device::RealPart<E>) == 8) {
#pragma unroll
      for (int w = 0; w < Strip::kWords; ++w)
        device::load_constant_pairs(words[w], place_of(row, w));
    } else if constexpr (Strip::kAdjacent) {
#pragma unroll
      for (int w = 0; w < Strip::kWords; ++w)
        device::load_constant(words[w], place_of(row, w));
    } else {
      load_if(words, row, true);
    }
  }
  __device__ void load_if(Words& words, std::uint32_t row, bool wanted) const {
#pragma unroll
    for (int w = 0; w < Strip::kWords; ++w) {
      const E* const place = place_of(row, w);
      if constexpr (Strip::kAdjacent) {
        device::load_if<device::Stay::normally>(words[w], place, wanted);
      } else {
#pragma unroll
        for (int e = 0; e < Strip::kEach; ++e)
          device::load_if<device::Stay::normally>(words[w][e], place + e * column_,
                                                  wanted && column_of(w) + e < columns_);
      }
    }
  }

 private:
  __device__ const E* place_of(std::uint32_t row, int word) const {
    const std::int64_t column = exists(word) ? column_of(word) : 0;
    return device::advanced(first_ + column * column_, row, row_bytes_);
  }

  const E* first_;
  std::int64_t column_;
  std::uint32_t row_bytes_;
  int columns_;
};

/// A sampled product, as one thread of a kernel sees it.
template <class T, class Strip>
class QuadProduct {
 public:
  using E = device::DeviceElement<T>;
  using Sum = device::DeviceAccumulator<T>;

  __device__ QuadProduct(const DeviceSample<T>& product, const DeviceQuads& pattern)
      : product_(product), pattern_(pattern) {}

  /// What block `number` has.
  __device__ void run(unsigned number) {
    const int group = thread_of_block() / Strip::kGroup;
    const std::int64_t of_block = std::int64_t{number} * kGroups * pattern_.steps;
    std::int64_t quad = of_block + (kConsecutive ? group * pattern_.steps : group);
    QuadEntries next(pattern_, quad);
    device::wait_for_kernel_ahead();
    const RowScale<Sum> scale{product_.alpha.load(), product_.beta.load()};
#pragma unroll 1
    for (int step = 0; step < pattern_.steps; ++step) {
      const QuadEntries entries = next;
      if (step + 1 < pattern_.steps) next = QuadEntries(pattern_, quad + kStride);
      Sum sums[kQuad] = {};
      if constexpr (kOneStrip) {
        add_strip(entries, 0, kConsecutive && step > 0, sums);
      } else {
#pragma unroll 1
        for (int column = 0; column < product_.columns; column += Strip::kColumns)
          add_strip(entries, column, step > 0 && product_.columns <= Strip::kColumns, sums);
      }
      device::scatter_sums<Strip::kGroup>(sums);
      write(quad, scale, sums);
      quad += kStride;
    }
  }

 private:
  static constexpr int kGroups = kQuadThreads / Strip::kGroup;
  // Many lanes keep a row of X from quad to quad; few of them read and write next to each other.
  static constexpr bool kConsecutive = Strip::kGroup >= 8;
  static constexpr int kStride = kConsecutive ? 1 : kGroups;
  // It has all columns, and at least one.
  static constexpr bool kOneStrip = Strip::kGroup < kQuadGroupMost;

  /// `held`: factors_ are the words of the row of the entry before.
  __device__ void add_strip(const QuadEntries& entries, int column, bool held, Sum (&sums)[kQuad]) {
    const WordGather<E, Strip> x(product_.x, column, product_.columns - column);
    const WordGather<E, Strip> y(product_.y, column, product_.columns - column);
    E of_x[kQuad][Strip::kWords][Strip::kEach];
    E of_y[kQuad][Strip::kWords][Strip::kEach];
    std::uint32_t rows[kQuad];
    entries.find_rows(pattern_, rows);
#pragma unroll
    for (int k = 0; k < kQuad; ++k)
      x.load_if(of_x[k], rows[k], entries.begins_row(k) || (k == 0 && !held));
#pragma unroll
    for (int k = 0; k < kQuad; ++k)
      y.load(of_y[k], entries.column(k));
#pragma unroll
    for (int k = 0; k < kQuad; ++k) {
      if (entries.begins_row(k) || (k == 0 && !held)) widen_factors(of_x[k]);
#pragma unroll
      for (int w = 0; w < Strip::kWords; ++w) {
        if (!y.exists(w)) continue;
#pragma unroll
        for (int e = 0; e < Strip::kEach; ++e)
          sums[k] = fma(factors_[w][e], device::widen(of_y[k][w][e]), sums[k]);
      }
    }
  }

  /// conj(X) Y is the conjugate of X conj(Y).
  __device__ void widen_factors(const E (&of_x)[Strip::kWords][Strip::kEach]) {
#pragma unroll
    for (int w = 0; w < Strip::kWords; ++w) {
#pragma unroll
      for (int e = 0; e < Strip::kEach; ++e)
        factors_[w][e] = device::conjugate_if(product_.conjugates, device::widen(of_x[w][e]));
    }
  }

  /// `sums`: as scatter_sums() leaves them.
  __device__ void write(std::int64_t quad, const RowScale<Sum>& scale,
                        const Sum (&sums)[kQuad]) const {
    constexpr int kCount = Strip::kGroup < kQuad ? kQuad / Strip::kGroup : 1;
    constexpr int kSharers = Strip::kGroup < kQuad ? 1 : Strip::kGroup / kQuad;
    if (lane_of_group<Strip>() % kSharers != 0) return;
    const std::int64_t entry = quad * kQuad + lane_of_group<Strip>() / kSharers * kCount;
    Sum own[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      own[i] = device::conjugate_if(product_.conjugates, sums[i]);
    if (std::is_same_v<E, Sum> || product_.sums) {
      write_as<Sum>(entry, scale, own);
    } else {
      write_as<E>(entry, scale, own);
    }
  }
  template <class Out, int kCount>
  __device__ void write_as(std::int64_t entry, const RowScale<Sum>& scale,
                           const Sum (&sums)[kCount]) const {
    Out* const values = static_cast<Out*>(product_.values) + entry;
    const std::int64_t left = pattern_.entries - entry;
    if (product_.words && left >= kCount) {
      Out held[kCount] = {};
      if (scale.adds()) device::load_words(held, values);
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        held[i] = scale.template row_of<Out>(sums[i], held[i]);
      device::store_words(values, held);
      return;
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i >= left) break;
      values[i] = scale.template row_of<Out>(sums[i], scale.adds() ? values[i] : Out{});
    }
  }

  const DeviceSample<T>& product_;
  const DeviceQuads& pattern_;
  Sum factors_[Strip::kWords][Strip::kEach];  // of the row of X
};

/// A block has kQuadThreads / Strip::kGroup groups of lanes, each of which takes
/// DeviceQuads::steps quads.
template <class Strip, class T>
__global__ void __launch_bounds__(kQuadThreads, 2)
    sddmm_quads_kernel(const __grid_constant__ DeviceSample<T> product,
                       const __grid_constant__ DeviceQuads pattern) {
  device::let_next_kernel_start();
  QuadProduct<T, Strip>(product, pattern).run(blockIdx.x);
}

}  // namespace lanky::sparse::cuda
