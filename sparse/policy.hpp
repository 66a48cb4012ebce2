// The numbers that shape a packed matrix and its kernels: row classes, tiles, work per warp.
// Shared by packing, both executors and the checker; every tuned number is here.
#pragma once

#include <cstdint>
#include <lanky/device.hpp>
#include <lanky/dtype.hpp>
#include <lanky/sparse.hpp>
#include <string_view>

namespace lanky::sparse {

// Classes by entries in a row (DASP): empty 0, short 1..4, medium 5..255, long from 256 on.
inline constexpr std::int64_t kShortMost = 4;
inline constexpr std::int64_t kLongLeast = 256;

// A tile: 8 tile rows of kDepth slots, the shape of one MMA fragment; lane = tile row * 4 + q holds
// the kLaneSlots adjacent slots that begin at q * kLaneSlots.
inline constexpr int kTileRows = 8;
inline constexpr int kQuad = 4;  // lanes that share a tile row, and slots that short rows share
template <class E>
inline constexpr int kDepth = sizeof(E) == 2 ? 8 : 4;
template <class E>
inline constexpr int kLaneSlots = kDepth<E> / kQuad;
template <class E>
inline constexpr int kTileSlots = kTileRows* kDepth<E>;

// Long rows are cut into pieces of kPieceTiles tiles, one warp each. 1024 slots: a row of 1e7
// entries gives 9766 warps, enough for 132 SMs, and a row up to 1024 needs no second kernel.
inline constexpr int kPieceSlots = 1024;
template <class E>
inline constexpr int kPieceTiles = kPieceSlots / kTileSlots<E>;

// Medium rows are sorted by their number of tiles within windows of this many medium rows, so that
// the 8 rows of a block are alike, yet near each other: neighbours read the same part of x.
inline constexpr std::int64_t kWindowRows = 4096;
static_assert(kWindowRows % kTileRows == 0, "a block must not cross windows");

// Short tiles and empty rows that one warp takes.
inline constexpr int kShortTilesPerUnit = 4;
inline constexpr int kEmptyRowsPerUnit = 256;

// Slots and rows below which the CPU uses one thread: about 0.2 ms of work, while waking threads
// takes 10 us to several milliseconds, as busy as the machine is.
inline constexpr std::int64_t kThreadsLeast = 1 << 18;

/// The kernels of a plan and the reason for them, as explain() tells it.
struct PathChoice {
  SpmvPath path;  // mma or cuda
  std::string_view reason;
};

/// Which kernels run a matrix of `dtype` on `device`. Throws Error(unsupported) where mma is asked
/// for and there is none. Today's model: tensor cores where they keep the precision. For one vector
/// both paths are bound by memory, and draw level.
PathChoice choose_path(SpmvPath requested, DType dtype, Device device);

}  // namespace lanky::sparse
