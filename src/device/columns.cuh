// Columns that a lane has, handed to other lanes.
#pragma once

#include "device/columns.hpp"
#include "device/element.cuh"

namespace lanky::device {

template <class E, int kCount>
__device__ Columns<E, kCount> shuffle_xor(Columns<E, kCount> value, int mask) {
#pragma unroll
  for (E& one : value.of)
    one = shuffle_xor(one, mask);
  return value;
}

}  // namespace lanky::device
