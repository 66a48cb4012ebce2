// Tensor-core products of four warps (a warp group), c = a b + c, with b in shared memory: as fast
// as an H200 gets, where mma reaches two thirds of it (PTX ISA, wgmma; sm_90a). They run
// asynchronously: registers that they use are left alone between wgmma_fence() and wgmma_wait().
#pragma once

#include <cstdint>

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
/// What this thread has written to shared memory is visible to wgmma and bulk copies afterwards.
__device__ inline void fence_for_async_reads() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// b[8,kColumns] of tf32 as it lies in shared memory: [2 of k][kColumns][4 of k] floats, that is
/// core matrices of 8 columns x 16 bytes, 128 bytes apart along the columns.
template <int kColumns>
__device__ std::uint64_t wgmma_tf32_columns(const void* b) {
  constexpr std::uint64_t kNextK = kColumns * 16 / 16;
  constexpr std::uint64_t kNextColumns = 128 / 16;
  return (shared_address(b) & 0x3ffffU) >> 4 | kNextK << 16 | kNextColumns << 32;
}

/// c[64,kColumns] = a[64,8] b[8,kColumns] + (accumulate ? c : 0); each warp has 16 of the rows, in
/// fragments as of mma_m16n8k8_tf32: c[j] is that of columns 8 j to 8 j + 7.
__device__ inline void wgmma_tf32(float (&c)[4][4], const std::uint32_t (&a)[4], std::uint64_t b,
                                  bool accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred accumulate;\n"
      "setp.ne.b32 accumulate, %21, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
      "{%16, %17, %18, %19}, %20, accumulate, 1, 1;\n"
      "}\n"
      : "+f"(c[0][0]), "+f"(c[0][1]), "+f"(c[0][2]), "+f"(c[0][3]), "+f"(c[1][0]), "+f"(c[1][1]),
        "+f"(c[1][2]), "+f"(c[1][3]), "+f"(c[2][0]), "+f"(c[2][1]), "+f"(c[2][2]), "+f"(c[2][3]),
        "+f"(c[3][0]), "+f"(c[3][1]), "+f"(c[3][2]), "+f"(c[3][3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(accumulate)));
}

__device__ inline void wgmma_tf32(float (&c)[8][4], const std::uint32_t (&a)[4], std::uint64_t b,
                                  bool accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred accumulate;\n"
      "setp.ne.b32 accumulate, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, accumulate, 1, 1;\n"
      "}\n"
      : "+f"(c[0][0]), "+f"(c[0][1]), "+f"(c[0][2]), "+f"(c[0][3]), "+f"(c[1][0]), "+f"(c[1][1]),
        "+f"(c[1][2]), "+f"(c[1][3]), "+f"(c[2][0]), "+f"(c[2][1]), "+f"(c[2][2]), "+f"(c[2][3]),
        "+f"(c[3][0]), "+f"(c[3][1]), "+f"(c[3][2]), "+f"(c[3][3]), "+f"(c[4][0]), "+f"(c[4][1]),
        "+f"(c[4][2]), "+f"(c[4][3]), "+f"(c[5][0]), "+f"(c[5][1]), "+f"(c[5][2]), "+f"(c[5][3]),
        "+f"(c[6][0]), "+f"(c[6][1]), "+f"(c[6][2]), "+f"(c[6][3]), "+f"(c[7][0]), "+f"(c[7][1]),
        "+f"(c[7][2]), "+f"(c[7][3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(accumulate)));
}

}  // namespace lanky::device
