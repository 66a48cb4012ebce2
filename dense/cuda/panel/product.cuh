// What the products of a chunk of A with a group of columns of B have in common (fma.cuh, mma.cuh).
// A Product is a warp's sums of a tile. It says how a chunk lies in shared memory and
//   pack(small, p, j, value)           puts element (p, j) of B where multiply() reads it
//   clear(conjugated, columns)         zeros its sums; so many columns exist
//   multiply(a, b, lane)               adds a chunk
//   combine_lanes(lane)                adds the sums that lanes have of the same elements
//   store(slice, target, pitch, lane)  target[j][row]: kSlice columns from `slice` on
#pragma once

#include <lanky/dense.hpp>

namespace lanky::dense::cuda {

/// What holds of most products.
struct PanelProduct {
  static constexpr char kName[] = "mma";          // how it multiplies
  static constexpr Math kMath = Math::ieee;       // what float is multiplied in
  static constexpr int kLineBytes = 128;          // of a chunk
  static constexpr bool kSwizzled = true;         // are its lines
  static constexpr bool kMapsB = false;           // B comes by boxes of a tensor map, if it can
  static constexpr bool kAlwaysPacked = true;     // by panel_pack_kernel, where it does not
  static constexpr bool kPacksConjugate = false;  // which conjugates then
  static constexpr int kWarpsTogether = 1;        // that must share a part of B
  static constexpr int kStages = 16;              // at most
  static constexpr bool kWarpGroups = false;      // exists in code for sm_90a alone

  __device__ void combine_lanes(int /*lane*/) {}
};

}  // namespace lanky::dense::cuda
