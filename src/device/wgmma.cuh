// Tensor-core products of four warps (a warp group), c = a b + c, with b in shared memory: as fast
// as an H200 gets, where mma reaches two thirds of it (PTX ISA, wgmma; sm_90a). They run
// asynchronously: registers that they use are left alone between wgmma_fence() and wgmma_wait().
#pragma once

#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "device/mbarrier.cuh"

namespace lanky::device {

/// Before the first wgmma on registers that other instructions have written.
__device__ inline void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Until at most kPending of the committed groups are still at work.
template <int kPending>
__device__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

/// b[8,kColumns] of tf32 as it lies in shared memory: [2 of k][kColumns][4 of k] floats, that is
/// core matrices of 8 columns x 16 bytes, 128 bytes apart along the columns.
template <int kColumns>
__device__ std::uint64_t wgmma_tf32_columns(const void* b) {
  constexpr std::uint64_t kNextK = kColumns * 16 / 16;
  constexpr std::uint64_t kNextColumns = 128 / 16;
  return (shared_address(b) & 0x3ffffU) >> 4 | kNextK << 16 | kNextColumns << 32;
}

// The sums of 8 columns as operands of asm, and their places in its text.
#define LANKY_SUMS(i) "+f"(c[i][0]), "+f"(c[i][1]), "+f"(c[i][2]), "+f"(c[i][3])
#define LANKY_SUMS_32(i) LANKY_SUMS(i), LANKY_SUMS(i + 1), LANKY_SUMS(i + 2), LANKY_SUMS(i + 3)
#define LANKY_SUMS_64(i) LANKY_SUMS_32(i), LANKY_SUMS_32(i + 4)
#define LANKY_PLACES_32 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define LANKY_PLACES_64                        \
  LANKY_PLACES_32                              \
  ", %16, %17, %18, %19, %20, %21, %22, %23, " \
  "%24, %25, %26, %27, %28, %29, %30, %31"
#define LANKY_PLACES_128                                                                         \
  LANKY_PLACES_64                                                                                \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, " \
  "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

/// c[64,kColumns] = a[64,8] b[8,kColumns] + (accumulate ? c : 0); each warp has 16 of the rows, in
/// fragments as of mma_m16n8k8_tf32: c[j] is that of columns 8 j to 8 j + 7.
__device__ inline void wgmma_tf32(float (&c)[4][4], const std::uint32_t (&a)[4], std::uint64_t b,
                                  bool accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred accumulate;\n"
      "setp.ne.b32 accumulate, %21, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32 {" LANKY_PLACES_32
      "}, {%16, %17, %18, %19}, %20, accumulate, 1, 1;\n"
      "}\n"
      : LANKY_SUMS_32(0)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(accumulate)));
}

__device__ inline void wgmma_tf32(float (&c)[8][4], const std::uint32_t (&a)[4], std::uint64_t b,
                                  bool accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred accumulate;\n"
      "setp.ne.b32 accumulate, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 {" LANKY_PLACES_64
      "}, {%32, %33, %34, %35}, %36, accumulate, 1, 1;\n"
      "}\n"
      : LANKY_SUMS_64(0)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(accumulate)));
}

/// 64 rows (or columns) x 16 bytes x 8 of an operand of 16-bit elements as tensor copies swizzle it
/// in lines of 128 bytes, from `first` in shared memory on. k adjacent: 64 of k in a line,
/// 8 lines are 1024 bytes. Otherwise a line has 64 rows of one k; the next 64 are `panel_bytes`
/// away.
template <bool kRowMajor>
__device__ std::uint64_t wgmma_swizzled(std::uint32_t first, int panel_bytes) {
  constexpr std::uint64_t kEightLines = 1024 / 16;
  constexpr std::uint64_t kSwizzle128 = std::uint64_t{1} << 62;
  const auto next_panel = static_cast<std::uint64_t>(kRowMajor ? panel_bytes / 16 : 1);
  return (first & 0x3ffffU) >> 4 | next_panel << 16 | kEightLines << 32 | kSwizzle128;
}

/// The registers are read or written by what follows only after what stands before.
template <int kTiles>
__device__ void keep_in_order(float (&c)[kTiles][4]) {
#pragma unroll
  for (auto& tile : c) {
#pragma unroll
    for (float& value : tile)
      asm volatile("" : "+f"(value)::"memory");
  }
}

#define LANKY_WGMMA_64(type)                                                           \
  asm volatile(                                                                        \
      "{\n"                                                                            \
      ".reg .pred accumulate;\n"                                                       \
      "setp.ne.b32 accumulate, %34, 0;\n"                                              \
      "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " {" LANKY_PLACES_64 \
      "}, %32, %33, accumulate, 1, 1, %35, %35;\n"                                     \
      "}\n"                                                                            \
      : LANKY_SUMS_64(0)                                                               \
      : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)), "n"(kRowMajor ? 1 : 0))
#define LANKY_WGMMA_128(type)                                                            \
  asm volatile(                                                                          \
      "{\n"                                                                              \
      ".reg .pred accumulate;\n"                                                         \
      "setp.ne.b32 accumulate, %66, 0;\n"                                                \
      "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type " {" LANKY_PLACES_128 \
      "}, %64, %65, accumulate, 1, 1, %67, %67;\n"                                       \
      "}\n"                                                                              \
      : LANKY_SUMS_64(0), LANKY_SUMS_64(8)                                               \
      : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)), "n"(kRowMajor ? 1 : 0))

/// c[64,64 or 128] = a[64,16] b[16,64 or 128] + (accumulate ? c : 0), both in shared memory
/// (wgmma_swizzled); fragments as those of wgmma_tf32. E: __half or __nv_bfloat16.
template <class E, bool kRowMajor>
__device__ void wgmma(float (&c)[8][4], std::uint64_t a, std::uint64_t b, bool accumulate) {
  if constexpr (std::is_same_v<E, __half>)
    LANKY_WGMMA_64("f16");
  else
    LANKY_WGMMA_64("bf16");
}
template <class E, bool kRowMajor>
__device__ void wgmma(float (&c)[16][4], std::uint64_t a, std::uint64_t b, bool accumulate) {
  if constexpr (std::is_same_v<E, __half>)
    LANKY_WGMMA_128("f16");
  else
    LANKY_WGMMA_128("bf16");
}

#undef LANKY_WGMMA_128
#undef LANKY_WGMMA_64
#undef LANKY_PLACES_128
#undef LANKY_PLACES_64
#undef LANKY_PLACES_32
#undef LANKY_SUMS_64
#undef LANKY_SUMS_32
#undef LANKY_SUMS

}  // namespace lanky::device
