// Tensor maps: one instruction copies pieces of all rows of a strided matrix into shared memory,
// zeros in place of what lies outside (PTX ISA, cp.async.bulk.tensor; sm_90).
#pragma once

#include <cudaTypedefs.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <lanky/error.hpp>

#include "core/cuda_check.hpp"
#include "core/text.hpp"
#include "device/mbarrier.cuh"

namespace lanky::device {

/// Rows of adjacent elements, cut into segments of at most 128 bytes.
struct TensorMapSegments {
  const void* data;  // aligned to 16 bytes
  CUtensorMapDataType type;
  std::int64_t inner;      // elements of a segment
  std::int64_t rows;       // at most 256
  std::int64_t row_bytes;  // from one row to the next: a multiple of 16, < 2^40
  std::int64_t segments;   // of a row, 128 bytes apart; < 2^31
};

/// The driver's function, found through the runtime so that lanky does not link libcuda.
inline PFN_cuTensorMapEncodeTiled_v12000 tensor_map_encoder() {
  static const auto encoder = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    check_cuda(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                cudaEnableDefault, &found),
               "cudaGetDriverEntryPointByVersion");
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
  }();
  return encoder;
}

/// What one instruction copies, padded with zeros: [segments][rows][128 bytes] in shared memory,
/// from a multiple of 1024 bytes on, 16-byte unit u of row r at place u ^ (r % 8) of that row.
struct TensorMapBox {
  unsigned inner;  // elements of 128 bytes
  unsigned rows;   // a multiple of 8, at most 256
  unsigned segments;
};

inline CUtensorMap make_tensor_map(const TensorMapSegments& source, TensorMapBox shape) {
  CUtensorMap map;
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(source.inner),
                                static_cast<cuuint64_t>(source.rows),
                                static_cast<cuuint64_t>(source.segments)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(source.row_bytes), 128};
  const cuuint32_t box[] = {shape.inner, shape.rows, shape.segments};
  const cuuint32_t steps[] = {1, 1, 1};
  const CUresult result =
      tensor_map_encoder()(&map, source.type, 3, const_cast<void*>(source.data), extents, strides,
                           box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                           CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw Error(ErrorCode::device,
                concat("cuTensorMapEncodeTiled: error ", static_cast<int>(result)));
  }
  return map;
}

/// Starts the copy of the box from `segment` on to `target` in shared memory; all its bytes, zeros
/// for what does not exist included, are credited to `barrier`. One thread.
__device__ inline void copy_segments(void* target, const CUtensorMap* map, int segment,
                                     Mbarrier* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %2, %3}], [%4];" ::"r"(shared_address(target)),
      "l"(map), "r"(0), "r"(segment), "r"(shared_address(barrier))
      : "memory");
}

__device__ inline void prefetch_tensor_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

}  // namespace lanky::device
