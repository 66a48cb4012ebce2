// How a warp multiplies a slice of any kind: on CUDA cores or on tensor cores. Both have
// sum() for narrow slices and add_wide() for wide ones, whose results are the lane's cells.
#pragma once

#include <cstdint>
#include <lanky/sparse.hpp>

#include "sparse/cuda/multiply/narrow_walk.cuh"
#include "sparse/cuda/multiply/slice_mma.cuh"
#include "sparse/cuda/multiply/wide_walk.cuh"

namespace lanky::sparse::cuda {

/// Path::cuda: fused multiply-adds in the arithmetic of the accumulator type.
struct ByCudaCores {
  /// The cell of the lane's piece of a slice that is not wide.
  template <class V, class Gather, class E = typename Gather::Factor>
  static __device__ Cell<E> sum(const SliceView<V>& slice, IndexKind kind, const Gather& gather,
                                int lane, int length) {
    Cell<E> cell{};
    with_kind<false>(kind, [&](auto constant) {
      if constexpr (Gather::has(constant.value))
        NarrowWalk<E, decltype(constant), Stay::briefly>(slice, constant, lane, length)
            .add_all(gather, cell);
    });
    return cell;
  }

  /// The same, its first steps by code that is fetched soon. ready() is as NarrowWalk calls
  /// it, by all warps.
  template <bool kDeep, class V, class Gather, class Ready, class E = typename Gather::Factor>
  static __device__ Cell<E> sum_at_once(const SliceView<V>& slice, IndexKind kind,
                                        const Gather& gather, int lane, int length, Ready ready) {
    Cell<E> cell{};
    NarrowWalk<E, IndexKind, Stay::normally> first(slice, kind, lane, length);
    first.add(gather, cell, ready);
    if constexpr (kDeep) {
      if (!first.goes_on()) return cell;
      with_kind<false>(kind, [&](auto constant) {
        NarrowWalk<E, decltype(constant), Stay::normally>(first, constant).add_all(gather, cell);
      });
    }
    return cell;
  }

  /// Adds to cells[r] of the lane's piece r of a wide slice. lengths(): those of pieces 4 lane ..
  /// 4 lane + 3, a byte each, where pieces differ in length.
  template <int kPieces, class V, class E, class Gather, class Lengths>
  static __device__ void add_wide(const SliceView<V>& slice, IndexKind kind, const Gather& gather,
                                  int lane, Lengths lengths, Cell<E> (&cells)[kPieces]) {
    const auto shorter = [&] { return slice.depth * kEachByte - lengths(); };
    with_kind<true>(kind, [&](auto constant) {
      if constexpr (Gather::has(constant.value))
        WideWalk<E, kPieces, constant.value>(slice, lane)
            .add(gather, slice.depth - slice.shortest, shorter, cells);
    });
  }
};

/// The same by another path, on tensor cores.
template <Path kPath>
struct ByTensorCores {
  template <class E, class Gather>
  static __device__ Cell<E> sum(const SliceView<E>& slice, IndexKind kind, const Gather& gather,
                                int lane, int length) {
    Cell<E> cells[1];
    with_kind<false>(kind, [&](auto constant) {
      SliceMma<E, kPath, 1, constant.value>(slice, lane).walk(gather, {length}, cells);
    });
    return cells[0];
  }

  template <int kPieces, class E, class Gather, class Lengths>
  static __device__ void add_wide(const SliceView<E>& slice, IndexKind kind, const Gather& gather,
                                  int lane, Lengths lengths, Cell<E> (&cells)[kPieces]) {
    const bool even = slice.shortest == slice.depth;
    const std::uint32_t word = even ? slice.depth * kEachByte : lengths();
    int own[kPieces];
#pragma unroll
    for (int r = 0; r < kPieces; ++r) {
      const unsigned four = __shfl_sync(kAllLanes, word, r * (kLanes / 4) + lane / 4);
      own[r] =
          r * kLanes + lane < slice.width ? static_cast<int>(four >> (lane % 4 * 8) & 255U) : 0;
    }
    with_kind<true>(kind, [&](auto constant) {
      SliceMma<E, kPath, kPieces, constant.value>(slice, lane).walk(gather, own, cells);
    });
  }
};

}  // namespace lanky::sparse::cuda
