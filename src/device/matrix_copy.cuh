// Asynchronous copies of pieces of a strided matrix into shared memory: boxes by a tensor map,
// where address and strides are multiples of 16 bytes, and single elements (PTX ISA, cp.async).
#pragma once

#include "device/tensor_map.cuh"

namespace lanky::device {

/// Lines of adjacent elements, `stride_bytes` apart.
struct MatrixLines {
  const void* data;  // aligned to 16 bytes
  CUtensorMapDataType type;
  std::int64_t line_elements;
  std::int64_t lines;         // both less than 2^31
  std::int64_t stride_bytes;  // a multiple of 16, less than 2^40
};

/// What one instruction copies: pieces of `lines` lines, at most 256 each way, one after the other.
struct MatrixBox {
  unsigned line_elements;
  unsigned lines;
  bool swizzled;  // unit u (16 bytes) of line l at unit u ^ (l % 8) of lines of 128 bytes, at unit
                  // u ^ (l / 2 % 4) of lines of 64; shorter ones as they are
};

/// The byte of a swizzled box at which unit u (16 bytes) of a line of 128 bytes stands.
__device__ inline int place_of_unit(int line, int unit) {
  return line * 128 + (unit ^ line % 8) * 16;
}

inline unsigned element_bytes(CUtensorMapDataType type) {
  if (type == CU_TENSOR_MAP_DATA_TYPE_UINT16) return 2;
  return type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 ? 4 : 8;
}

/// The L2 fetches what is asked for, or whole cache lines (`promoted`), which pays where boxes meet
/// in them: on an H200, promotion to 256 bytes cost a panel of 20480 columns .06 of its speed.
inline TensorMap make_line_map(const MatrixLines& matrix, MatrixBox shape, bool bulk,
                               bool promoted = false) {
  TensorMap map{};
  const unsigned bytes = shape.line_elements * element_bytes(matrix.type);
  if (!bulk) {
    const auto element = static_cast<int>(element_bytes(matrix.type));
    map.plain = {.data = static_cast<const char*>(matrix.data),
                 .row_bytes = matrix.stride_bytes,
                 .inner_bytes = matrix.line_elements * element,
                 .element_bytes = element,
                 .rows = static_cast<int>(matrix.lines),
                 .segments = 1,
                 .box_bytes = static_cast<int>(bytes),
                 .box_rows = static_cast<int>(shape.lines),
                 .box_segments = 1,
                 .swizzle = shape.swizzled && bytes >= 64 ? bytes - 16 : 0};
    return map;
  }
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(matrix.line_elements),
                                static_cast<cuuint64_t>(matrix.lines)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(matrix.stride_bytes)};
  const cuuint32_t box[] = {shape.line_elements, shape.lines};
  const cuuint32_t steps[] = {1, 1};
  const CUtensorMapSwizzle swizzle = !shape.swizzled || bytes < 64 ? CU_TENSOR_MAP_SWIZZLE_NONE
                                     : bytes == 64                 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                                   : CU_TENSOR_MAP_SWIZZLE_128B;
  const CUresult result = tensor_map_encoder()(
      &map.encoded, matrix.type, 2, const_cast<void*>(matrix.data), extents, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
      promoted ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B : CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw Error(ErrorCode::device,
                concat("cuTensorMapEncodeTiled: error ", static_cast<int>(result)));
  }
  return map;
}

/// Copies 16 bytes past the first cache.
__device__ inline void copy_word(std::uint32_t target, const void* source) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(target), "l"(source) : "memory");
}
__device__ inline void copy_word(void* target, const void* source) {
  copy_word(shared_address(target), source);
}

/// Starts the copy of the box that begins at `element` of `line` to `target`, a multiple of 1024
/// bytes; what does not exist arrives as zeros. All its bytes arrive at `barrier`. By the lanes
/// that take part (copies_boxes()).
__device__ inline void copy_box(void* target, const TensorMap* map, int element, int line,
                                Mbarrier* barrier) {
  if constexpr (kBulkCopies) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(target)),
        "l"(&map->encoded), "r"(element), "r"(line), "r"(shared_address(barrier))
        : "memory");
  } else {
    copy_box_by_words(target, map->plain, {element, line, 0});
  }
}

/// Has the L2 fetch the same box; code without bulk copies does without.
__device__ inline void prefetch_box(const TensorMap* map, int element, int line) {
  if constexpr (kBulkCopies) {
    asm volatile(
        "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&map->encoded),
        "r"(element), "r"(line)
        : "memory");
  }
}

/// Starts the copy of `bytes` adjacent bytes; addresses and `bytes` are multiples of 16. They
/// arrive at `barrier`. By the lanes that take part (copies_boxes()).
__device__ inline void copy_bytes(void* target, const void* source, int bytes, Mbarrier* barrier) {
  if constexpr (kBulkCopies) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];" ::"r"(shared_address(target)),
        "l"(source), "r"(bytes), "r"(shared_address(barrier))
        : "memory");
  } else {
    for (int at = static_cast<int>(threadIdx.x) % 32 * 16; at < bytes; at += 32 * 16)
      copy_word(static_cast<char*>(target) + at, static_cast<const char*>(source) + at);
  }
}

/// Has the L2 fetch `bytes`, a multiple of 16, from the first multiple of 16 at `begin` or behind
/// it on. One thread.
__device__ inline void prefetch_bytes(const void* begin, int bytes) {
  const std::uintptr_t word = (reinterpret_cast<std::uintptr_t>(begin) + 15) / 16 * 16;
  if constexpr (kBulkCopies) {
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(word), "r"(bytes));
  } else {
    constexpr int kLine = 128;
    for (int at = 0; at < bytes; at += kLine)
      asm volatile("prefetch.global.L2 [%0];" ::"l"(word + at));
  }
}

/// Copies kBytes: 4, 8 or 16, and then mbarrier_arrive_after_copies() tells when they have come; or
/// 2, at once. Bytes from `bytes` on arrive as zeros, and none of them is read.
template <int kBytes>
__device__ void copy_part(void* target, const void* source, int bytes) {
  if constexpr (kBytes == 2) {
    *static_cast<std::uint16_t*>(target) =
        bytes > 0 ? *static_cast<const std::uint16_t*>(source) : std::uint16_t{0};
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(target)),
                 "l"(source), "n"(kBytes), "r"(bytes)
                 : "memory");
  }
}

/// Puts the element copies that this thread has started since into one group.
__device__ inline void group_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Until no more than the last kGroups groups of this thread's copies are on their way.
template <int kGroups>
__device__ void wait_for_copy_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
}

/// All of it, or zeros where it is not `valid`.
template <int kBytes>
__device__ void copy_element(void* target, const void* source, bool valid) {
  copy_part<kBytes>(target, source, valid ? kBytes : 0);
}

/// This thread arrives as soon as all element copies that it has started have come.
__device__ inline void mbarrier_arrive_after_copies(Mbarrier* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

/// Until all element copies that this thread has started have come.
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

}  // namespace lanky::device
