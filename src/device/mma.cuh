// Tensor-core products of one warp, c = a b + c, where only the fragments matter: no shared memory.
// The one place of inline PTX for mma (PTX ISA, "Matrix Fragments for mma").
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace lanky::device {

/// Four matrices of 8 x 8 elements of 16 bits from shared memory: lane l tells where row l % 8 (16
/// bytes) of matrix l / 8 begins, lane g * 4 + t receives element [g][2t + {0, 1}] of each, or,
/// transposed, [2t + {0, 1}][g].
template <bool kTransposed>
__device__ void load_matrices(std::uint32_t (&words)[4], const void* row) {
  const auto place = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(place)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(place)
                 : "memory");
  }
}

// What lane l = g * 4 + t holds:
//   m8n8k4 f64         a[8,4]:  lane holds a[g][t]               (1 double)
//                      b[4,8]:  lane holds b[t][g]               (1 double)
//                      c[8,8]:  lane holds c[g][2t + {0, 1}]     (2 doubles)
//   m16n8k8 f16, bf16  a[16,8]: a[g][2t + {0, 1}], a[g + 8][2t + {0, 1}]             (2 x 32 bits)
//                      b[8,8]:  b[2t + {0, 1}][g]                                    (32 bits)
//   m16n8k16           as two m16n8k8 side by side: k = 0..7, then k = 8..15
//                      c[16,8]: c[g][2t + {0, 1}], c[g + 8][2t + {0, 1}]             (4 floats)
//
// The products of names m8n8 leave rows 8..15 of a at zero, and c[2], c[3] unused. All lanes of the
// warp take part; volatile keeps the compiler from moving a product into a branch.

/// c[8,8] += a[8,4] b[4,8].
__device__ inline void mma_m8n8k4(double (&c)[2], double a, double b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(c[0]), "+d"(c[1])
               : "d"(a), "d"(b));
}

/// c[8,8] += a[8,8] b[8,8] in the upper half of an m16n8k8; E is the type behind the 32-bit pairs.
template <class E>
__device__ void mma_m8n8k8(float (&c)[4], std::uint32_t a, std::uint32_t b);

template <>
__device__ inline void mma_m8n8k8<__half>(float (&c)[4], std::uint32_t a, std::uint32_t b) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a), "r"(0), "r"(b));
}

template <>
__device__ inline void mma_m8n8k8<__nv_bfloat16>(float (&c)[4], std::uint32_t a, std::uint32_t b) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a), "r"(0), "r"(b));
}

/// The same of tf32, c[8,8] += a[8,4] b[4,8]: lane 4 g + t has a[g][t] and b[t][g], floats whose
/// low 13 bits are not looked at.
__device__ inline void mma_m8n8k4_tf32(float (&c)[4], std::uint32_t a, std::uint32_t b) {
  asm volatile(
      "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a), "r"(0), "r"(b));
}

// Whole products, both halves of a in use. What lane l = g * 4 + t holds:
//   m16n8k8 f64, tf32  a[16,8]:  a[g][t], a[g + 8][t], a[g][t + 4], a[g + 8][t + 4]
//                      b[8,8]:   b[t][g], b[t + 4][g]
//   m16n8k16           a[16,16]: a[g][2t + {0, 1}], a[g + 8][2t + ..], a[g][2t + 8 + ..],
//                                a[g + 8][2t + 8 + ..]                            (4 x 32 bits)
//                      b[16,8]:  b[2t + {0, 1}][g], b[2t + 8 + {0, 1}][g]         (2 x 32 bits)
//                      c[16,8]:  c[g][2t + {0, 1}], c[g + 8][2t + {0, 1}], for all of them

/// c[16,8] += a[16,8] b[8,8]: one instruction from sm_90 on, four m8n8k4 before.
__device__ inline void mma_m16n8k8(double (&c)[4], double a0, double a1, double a2, double a3,
                                   double b0, double b1) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a0), "d"(a1), "d"(a2), "d"(a3), "d"(b0), "d"(b1));
#else
  double upper[2] = {c[0], c[1]};
  double lower[2] = {c[2], c[3]};
  mma_m8n8k4(upper, a0, b0);
  mma_m8n8k4(upper, a2, b1);
  mma_m8n8k4(lower, a1, b0);
  mma_m8n8k4(lower, a3, b1);
  c[0] = upper[0];
  c[1] = upper[1];
  c[2] = lower[0];
  c[3] = lower[1];
#endif
}

/// c[16,8] += a[16,8] b[8,8] of floats whose low 13 bits are not looked at.
__device__ inline void mma_m16n8k8_tf32(float (&c)[4], std::uint32_t a0, std::uint32_t a1,
                                        std::uint32_t a2, std::uint32_t a3, std::uint32_t b0,
                                        std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

/// c[16,8] += a[16,16] b[16,8]; E is the type behind the 32-bit pairs.
template <class E>
__device__ void mma_m16n8k16(float (&c)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t a2,
                             std::uint32_t a3, std::uint32_t b0, std::uint32_t b1);

template <>
__device__ inline void mma_m16n8k16<__half>(float (&c)[4], std::uint32_t a0, std::uint32_t a1,
                                            std::uint32_t a2, std::uint32_t a3, std::uint32_t b0,
                                            std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

template <>
__device__ inline void mma_m16n8k16<__nv_bfloat16>(float (&c)[4], std::uint32_t a0,
                                                   std::uint32_t a1, std::uint32_t a2,
                                                   std::uint32_t a3, std::uint32_t b0,
                                                   std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

/// c[16,8] += a[16,32] b[32,8] of bytes, signed or not, with sums of int. What lane l = g * 4 + t
/// holds, four bytes along k in a word:
///   a[16,32]: a[g][4t + ..], a[g + 8][4t + ..], a[g][4t + 16 + ..], a[g + 8][4t + 16 + ..]
///   b[32,8]:  b[4t + ..][g], b[4t + 16 + ..][g]
///   c[16,8]:  as above
template <bool kSignedA, bool kSignedB>
__device__ void mma_m16n8k32(int (&c)[4], const std::uint32_t (&a)[4],
                             const std::uint32_t (&b)[2]) {
  // The types are a part of the text. As operands ("C") CUDA 12.4 does not know them, 12.5 does.
#define LANKY_MMA(type_a, type_b)                                                     \
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32." type_a "." type_b             \
               ".s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                       \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
  if constexpr (kSignedA && kSignedB) {
    LANKY_MMA("s8", "s8");
  } else if constexpr (kSignedA) {
    LANKY_MMA("s8", "u8");
  } else if constexpr (kSignedB) {
    LANKY_MMA("u8", "s8");
  } else {
    LANKY_MMA("u8", "u8");
  }
#undef LANKY_MMA
}

// m16n8k16 f64, about twice the rate of m8n8k4 on sm_90; eight of these before. Lane l = g * 4 + t
// holds:
//   a[16,16]: a[2 i]     = A[g][4 i + t], a[2 i + 1] = A[g + 8][4 i + t], i = 0..3
//   b[16,8]:  b[i]       = B[4 i + t][g]
//   c[16,8]:  c[0], c[1] = C[g][2 t + {0, 1}], c[2], c[3] = C[g + 8][2 t + {0, 1}]

/// c += a b. All lanes of the warp take part.
__device__ inline void mma_m16n8k16(double (&c)[4], const double (&a)[8], const double (&b)[4]) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
        "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
  double upper[2] = {c[0], c[1]};
  double lower[2] = {c[2], c[3]};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    mma_m8n8k4(upper, a[2 * i], b[i]);
    mma_m8n8k4(lower, a[2 * i + 1], b[i]);
  }
  c[0] = upper[0];
  c[1] = upper[1];
  c[2] = lower[0];
  c[3] = lower[1];
#endif
}

}  // namespace lanky::device
