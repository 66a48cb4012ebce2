// Tensor maps: one instruction copies pieces of all rows of a strided matrix into shared memory,
// zeros in place of what lies outside (PTX ISA, cp.async.bulk.tensor; sm_90). Code for earlier
// targets copies the same boxes to the same places by words of 16 bytes, all lanes of a warp.
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
#if CUDART_VERSION >= 12050
    const cudaError_t status = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
                                                                12000, cudaEnableDefault, &found);
#else
    const cudaError_t status =
        cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
#endif
    check_cuda(status, "cudaGetDriverEntryPoint");
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
  }();
  return encoder;
}

/// What a tensor map tells, for code without bulk copies.
struct BoxSource {
  const char* data;
  std::int64_t row_bytes;    // from one row to the next; segments are 128 bytes apart
  std::int64_t inner_bytes;  // of a row of a segment
  int element_bytes;
  int rows;
  int segments;
  // Of a box:
  int box_bytes;  // of a row
  int box_rows;
  int box_segments;
  unsigned swizzle;  // bits of an address from 4 on that are xored with those from 7 on
};

/// The description of a matrix that boxes are copied from, in the form that the code takes.
union TensorMap {
  CUtensorMap encoded;  // bulk copies
  BoxSource plain;
};

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

/// bulk: of the machine whose code takes the map.
inline TensorMap make_tensor_map(const TensorMapSegments& source, TensorMapBox shape, bool bulk) {
  TensorMap map{};
  if (!bulk) {
    const int row_bytes = static_cast<int>(shape.inner) * source.element_bytes;
    map.plain = {.data = static_cast<const char*>(source.data),
                 .row_bytes = source.row_bytes,
                 .inner_bytes = source.inner * source.element_bytes,
                 .element_bytes = source.element_bytes,
                 .rows = static_cast<int>(source.rows),
                 .segments = static_cast<int>(source.segments),
                 .box_bytes = row_bytes,
                 .box_rows = static_cast<int>(shape.rows),
                 .box_segments = static_cast<int>(shape.segments),
                 .swizzle = static_cast<unsigned>(row_bytes - 16)};
    return map;
  }
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
      tensor_map_encoder()(&map.encoded, source.type, 3, const_cast<void*>(source.data), extents,
                           strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
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

/// Arrivals at a barrier by which boxes have come: that of the thread that starts bulk copies, or
/// one of each lane that copies words.
inline constexpr int kBoxArrivals = kBulkCopies ? 1 : 32;

/// Whether a lane of the warp that copies takes part: one thread starts bulk copies.
__device__ inline bool copies_boxes(int lane) {
  return !kBulkCopies || lane == 0;
}

/// Ahead of the copies of a slot's boxes, by the lanes that take part.
__device__ inline void announce_boxes(Mbarrier* barrier, int bytes) {
  if constexpr (kBulkCopies) mbarrier_arrive_expecting(barrier, static_cast<unsigned>(bytes));
}

/// Behind them.
__device__ inline void finish_boxes(Mbarrier* barrier) {
  if constexpr (!kBulkCopies) {
    asm volatile(
        "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(barrier))
        : "memory");
  }
}

/// All lanes of a warp copy a box by words.
__device__ inline void copy_box_by_words(void* target, const BoxSource& source, BoxPlace place) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int units = source.box_bytes / 16;  // of a row
  const int rows_ahead = 32 / units;        // where the lane's next unit is
  const int units_ahead = 32 % units;
  const std::int64_t first = std::int64_t{place.inner} * source.element_bytes;
  const int left =
      static_cast<int>(min(source.inner_bytes - first, std::int64_t{source.box_bytes}));
  const std::uint32_t begin = shared_address(target);
  for (int s = 0; s < source.box_segments; ++s) {
    const char* const data = source.data + std::int64_t{place.row} * source.row_bytes +
                             std::int64_t{place.segment + s} * 128 + first;
    const int rows = place.segment + s < source.segments ? source.rows - place.row : 0;
    int row = lane / units;
    int unit = lane - row * units;
    while (row < source.box_rows) {
      const std::uint32_t at =
          begin +
          static_cast<std::uint32_t>((s * source.box_rows + row) * source.box_bytes + unit * 16);
      const int bytes = row < rows ? min(max(left - unit * 16, 0), 16) : 0;
      const char* const from = bytes > 0 ? data + row * source.row_bytes + unit * 16 : source.data;
      asm volatile(
          "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at ^ (at >> 3U & source.swizzle)),
          "l"(from), "r"(bytes)
          : "memory");
      row += rows_ahead;
      unit += units_ahead;
      if (unit >= units) {
        unit -= units;
        ++row;
      }
    }
  }
}

/// Starts the copy of a box to `target` in shared memory; all its bytes, zeros for what does not
/// exist included, arrive at `barrier`. By the lanes that take part.
__device__ inline void copy_box(void* target, const TensorMap* map, BoxPlace place,
                                Mbarrier* barrier) {
  if constexpr (kBulkCopies) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(target)),
        "l"(&map->encoded), "r"(place.inner), "r"(place.row), "r"(place.segment),
        "r"(shared_address(barrier))
        : "memory");
  } else {
    copy_box_by_words(target, map->plain, place);
  }
}

__device__ inline void prefetch_tensor_map(const TensorMap* map) {
  if constexpr (kBulkCopies)
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map->encoded) : "memory");
}

}  // namespace lanky::device
