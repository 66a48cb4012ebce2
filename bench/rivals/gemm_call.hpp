// A dense product as a vendor's library takes it. Header only: liblanky_vendor.so links nothing of
// lanky.
#pragma once

#include <cstdint>
#include <lanky/dense.hpp>

#include "bench/cases/gemm_type.hpp"

namespace lanky::bench {

/// C = alpha op(A) op(B) + beta C; leading dimensions of `shape` are set, none is 0.
struct GemmCall {
  GemmType type;
  GemmShape shape;
  double alpha = 1;
  double beta = 0;
  bool symmetric = false;  // B is A, C = op(A) op(A)^T or op(A) op(A)^H
};

struct GemmOperands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
};

/// A product with a vector in the terms of column-major BLAS: y = op(matrix) x.
struct GemvCall {
  bool exists = false;
  bool swapped = false;  // the matrix is B, the vector A
  Op op = Op::none;
  std::int64_t rows = 0;  // of the matrix as column-major BLAS sees it
  std::int64_t cols = 0;
  std::int64_t ld = 0;
  std::int64_t stride_x = 1;
  std::int64_t stride_y = 1;
};

inline GemvCall gemv_call(const GemmCall& gemm) {
  const GemmShape& s = gemm.shape;
  const auto plain = [&](Op op) {
    return op == Op::conj_trans && !is_complex(gemm.type.in) ? Op::trans : op;
  };
  const Op op_a = plain(s.op_a);
  const Op op_b = plain(s.op_b);
  const bool row = s.layout == Layout::row;
  GemvCall call;
  // n = 1: c = op(A) b. m = 1: c^T = op(B)^T a^T.
  call.swapped = s.n != 1;
  const Op op = call.swapped ? op_b : op_a;
  const Op op_vector = call.swapped ? op_a : op_b;
  // Column-major BLAS sees a row-major matrix transposed. op(M) needs one transposition for op
  // itself, one for the layout, one where swapped; two of them cancel, but a conjugate without a
  // transposition is no op of BLAS.
  const bool transposed = ((op != Op::none) != row) != call.swapped;
  const bool conjugated = op == Op::conj_trans;
  call.exists = (s.n == 1 || s.m == 1) && gemm.type.in == gemm.type.out &&
                op_vector != Op::conj_trans && (transposed || !conjugated) &&
                component_type(gemm.type.in) != DType::f16 &&
                component_type(gemm.type.in) != DType::bf16;
  call.op = !transposed ? Op::none : conjugated ? Op::conj_trans : Op::trans;
  const std::int64_t long_side = call.swapped ? s.n : s.m;  // of op(M): long_side x k
  call.rows = transposed ? s.k : long_side;
  call.cols = transposed ? long_side : s.k;
  call.ld = call.swapped ? s.ldb : s.lda;
  // A stored vector runs along the contiguous direction, or across it.
  const bool vector_is_row = call.swapped != (op_vector != Op::none);  // as stored: 1 x k
  call.stride_x = vector_is_row != row ? (call.swapped ? s.lda : s.ldb) : 1;
  call.stride_y = call.swapped != row ? s.ldc : 1;
  return call;
}

}  // namespace lanky::bench
