#include "dense/problem.hpp"

#include <utility>

namespace lanky::dense {

namespace {

/// Strides of op(X), for X stored with leading dimension `ld`.
Strides strides_of(Op op, Layout layout, std::int64_t ld) noexcept {
  const Strides stored = layout == Layout::col ? Strides{1, ld} : Strides{ld, 1};
  return op == Op::none ? stored : stored.transposed();
}

struct BlasOperand {
  bool trans = false;
  std::int64_t ld = 0;
};

/// How BLAS is told of a column-major or row-major operand of `rows` rows. One column whose
/// elements are adjacent may have both strides 1: then it passes as a transposed row.
BlasOperand blas_operand(Strides strides, std::int64_t rows) noexcept {
  if (strides.row == 1 && strides.col >= rows) return {false, strides.col};
  return {true, strides.row};
}

}  // namespace

StoredExtents stored_extents(std::int64_t op_rows, std::int64_t op_cols, Op op) noexcept {
  return op == Op::none ? StoredExtents{op_rows, op_cols} : StoredExtents{op_cols, op_rows};
}

std::int64_t tight_ld(StoredExtents extents, Layout layout) noexcept {
  return layout == Layout::col ? extents.rows : extents.cols;
}

GemmShape with_leading_dimensions(GemmShape shape) noexcept {
  const auto fill = [&](std::int64_t& ld, StoredExtents extents) {
    if (ld == 0) ld = tight_ld(extents, shape.layout);
  };
  fill(shape.lda, stored_extents(shape.m, shape.k, shape.op_a));
  fill(shape.ldb, stored_extents(shape.k, shape.n, shape.op_b));
  fill(shape.ldc, {shape.m, shape.n});
  return shape;
}

Problem canonical(const GemmShape& shape, Math math) noexcept {
  const Strides a = strides_of(shape.op_a, shape.layout, shape.lda);
  const Strides b = strides_of(shape.op_b, shape.layout, shape.ldb);
  const Strides c = strides_of(Op::none, shape.layout, shape.ldc);
  const bool conj_a = shape.op_a == Op::conj_trans;
  const bool conj_b = shape.op_b == Op::conj_trans;
  const Problem problem{shape.m, shape.n, shape.k, a, b, c, false, conj_a, conj_b, math};
  return shape.m >= shape.n ? problem : exchanged(problem);
}

Problem exchanged(const Problem& p) noexcept {
  return {
      p.n,      p.m,      p.k,   p.b.transposed(), p.a.transposed(), p.c.transposed(), !p.swapped,
      p.conj_b, p.conj_a, p.math};
}

BlasCall blas_call(const Problem& problem) noexcept {
  const bool by_rows = problem.c.row != 1 || problem.c.col < problem.m;  // BLAS has columns
  const Problem p = by_rows ? exchanged(problem) : problem;
  const BlasOperand a = blas_operand(p.a, p.m);
  const BlasOperand b = blas_operand(p.b, p.k);
  return {by_rows, p.m, p.n, p.k, a.trans, b.trans, a.ld, b.ld, p.c.col, p.conj_a, p.conj_b};
}

}  // namespace lanky::dense
