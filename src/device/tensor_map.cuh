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

/// Rows of adjacent elements, perhaps cut into segments of 128 bytes.
struct TensorMapSegments {
  const void* data;  // aligned to 16 bytes
  CUtensorMapDataType type;
  int element_bytes;
  std::int64_t inner;      // elements of a segment
  std::int64_t rows;       // < 2^31
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

/// What one instruction copies, padded with zeros: [segments][rows][row of 128, 64 or 32 bytes] in
/// shared memory, from a multiple of 1024 bytes on. Swizzled: the bits of an address that count the
/// 16-byte units of a row are xored with those from bit 7 on, so that 8 units in a column of rows
/// stand in different banks.
struct TensorMapBox {
  unsigned inner;  // elements of a row
  unsigned rows;   // at most 256
  unsigned segments;
};

/// Bytes from `shared` to the first multiple of 1024 in shared memory. (Returned as a pointer, a
/// kernel's memory would be one of unknown kind to nvcc 13.0: a product of doubles then spilled 112
/// bytes in place of 32.)
__device__ inline unsigned bytes_to_box(const void* shared) {
  return -shared_address(shared) & 1023U;
}

inline CUtensorMap make_tensor_map(const TensorMapSegments& source, TensorMapBox shape) {
  CUtensorMap map;
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(source.inner),
                                static_cast<cuuint64_t>(source.rows),
                                static_cast<cuuint64_t>(source.segments)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(source.row_bytes), 128};
  const cuuint32_t box[] = {shape.inner, shape.rows, shape.segments};
  const cuuint32_t steps[] = {1, 1, 1};
  const unsigned row = shape.inner * static_cast<unsigned>(source.element_bytes);
  const CUtensorMapSwizzle swizzle = row == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                     : row == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                 : CU_TENSOR_MAP_SWIZZLE_32B;
  // Promotion to 256 bytes cost 7 % (H200, gram f64 n = 32, k = 1e7: .907 of the floor, not .977).
  const CUresult result =
      tensor_map_encoder()(&map, source.type, 3, const_cast<void*>(source.data), extents, strides,
                           box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                           CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw Error(ErrorCode::device,
                concat("cuTensorMapEncodeTiled: error ", static_cast<int>(result)));
  }
  return map;
}

/// Where a box begins in the matrix of its map.
struct BoxPlace {
  int inner;
  int row;
  int segment;
};

/// Starts the copy of a box to `target` in shared memory; all its bytes, zeros for what does not
/// exist included, are credited to `barrier`. One thread.
__device__ inline void copy_box(void* target, const CUtensorMap* map, BoxPlace place,
                                Mbarrier* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(target)),
      "l"(map), "r"(place.inner), "r"(place.row), "r"(place.segment), "r"(shared_address(barrier))
      : "memory");
}

__device__ inline void prefetch_tensor_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

}  // namespace lanky::device
