// Warps and shared memory of a block of a product: the same numbers for the kernels and for the
// host code that launches them.
#pragma once

#include <cstdint>
#include <lanky/dtype.hpp>

#include "device/columns.hpp"
#include "sparse/launch.hpp"
#include "sparse/packed.hpp"

namespace lanky::sparse::cuda {

// Warps of a block: those that share what a window stages, or have a slice each; otherwise 4, which
// wait for each other less. 32 warps of a multiprocessor are resident; 24 where no slice is wide
// but many or deep, as small matrices need registers more.
inline constexpr int kWarpsMost = 32;
inline constexpr int kSharingWarps = 8;  // at least
inline constexpr int kOtherWarps = 4;
inline constexpr int kWideWordThreads = 512;  // of wide slices, where sums of a row are two words
inline constexpr int kHotTeamWarps = 4;       // of each team of a block where columns are hot
constexpr bool one_a_warp(Slices slices) {
  return slices == Slices::single || slices == Slices::few || slices == Slices::deep;
}

inline constexpr int kWordBytes = 16;
inline constexpr int kAheadBytes = 32 << 10;  // of values, and of indices, that are fetched ahead

/// Steps of a slice that is not wide in flight: as many as there are registers for. kShort: in the
/// code for slices of few steps.
template <class E, bool kShort>
inline constexpr int kStepsAtOnce = sizeof(E) >= 16             ? 4
                                    : sizeof(E) == 8 && !kShort ? 6
                                                                : 8;
/// The code for few steps takes as many of several columns: a piece has no more.
template <class E, int kCount>
inline constexpr int kStepsAtOnce<device::Columns<E, kCount>, true> = kStepsAtOnce<E, true>;
/// Of these, those whose factors are in flight at once.
template <class E, bool kShort>
inline constexpr int kFactorsAtOnce = sizeof(E) > kWordBytes ? 4 : kStepsAtOnce<E, kShort>;

// Shared memory: the window's slices, where warps have several (of elements of 8 bytes and more,
// which need fewer registers and more of the first cache, the next one is read ahead instead); a
// sum for each cell, from an address on that is to 16 bytes what that of the window's first row is,
// so that words of both match; then the columns that the window stages, placed by x in the same
// way.
template <class T>
inline constexpr bool kKeepsSlices = sizeof(T) < 8;
template <class T, class Matrix>
constexpr int slice_bytes(const Matrix& a) {
  return kKeepsSlices<T> ? a.slices_most * static_cast<int>(sizeof(Slice)) : 0;
}
template <class T, class Matrix>
constexpr int cell_bytes(const Matrix& a) {
  const auto bytes = a.cells_most * static_cast<std::int64_t>(sizeof(Accumulator<T>));
  return bytes == 0 ? 0 : static_cast<int>(round_up(bytes, kWordBytes)) + kWordBytes;
}
template <class T, class Matrix>
constexpr int staged_bytes(const Matrix& a) {
  return a.columns_most == 0 ? 0 : a.columns_most * static_cast<int>(sizeof(T)) + kWordBytes;
}
/// Shared memory of each team of a block where a matrix has hot columns.
template <class T, class Matrix>
constexpr int team_bytes(const Matrix& a) {
  return slice_bytes<T>(a) + cell_bytes<T>(a);
}

}  // namespace lanky::sparse::cuda
