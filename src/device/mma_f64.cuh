// The wide tensor-core product of doubles that sm_90 brought (PTX ISA, "Matrix Fragments for
// mma.m16n8k16 with .f64"): about twice the rate of m8n8k4 there.
#pragma once

namespace lanky::device {

// What lane l = g * 4 + t holds, g = l / 4, t = l % 4:
//   a[16,16]: a[2 i]     = A[g][4 i + t], a[2 i + 1] = A[g + 8][4 i + t], i = 0..3
//   b[16,8]:  b[i]       = B[4 i + t][g]
//   c[16,8]:  c[0], c[1] = C[g][2 t + {0, 1}], c[2], c[3] = C[g + 8][2 t + {0, 1}]

/// c += a b. All lanes of the warp take part. Traps below sm_90.
__device__ inline void mma_m16n8k16(double (&c)[4], const double (&a)[8], const double (&b)[4]) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
        "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
  __trap();
#endif
}

}  // namespace lanky::device
