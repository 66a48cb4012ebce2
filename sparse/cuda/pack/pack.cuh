// Everything of a packed matrix but its values, which do not decide anything.
#pragma once

#include "sparse/cuda/pack/windows.cuh"

namespace lanky::sparse::cuda {

/// As pack(), for `shape.lane_pieces` of any type. Work may still be on its way in the stream.
PackedPattern pack_pattern(const Stream& stream, const CsrPattern& a, const Shape& shape,
                           Allocator* allocator);

/// Threads of a block that has a window: a warp takes slice after slice.
inline int threads_for(int slices_most) {
  if (slices_most <= 4) return 128;
  return slices_most <= 16 ? 256 : 512;
}
inline constexpr int kThreadsMost = 512;

}  // namespace lanky::sparse::cuda
