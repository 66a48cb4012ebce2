// BV type "lanky" of SLEPc: its BVMAT, a dense matrix, with lanky's products of tall matrices.
// SLEPc lets types be registered, but a type's operations can only be set in its private struct.
#include <slepc/private/bvimpl.h>

#include <algorithm>

#include "gemms.hpp"

namespace lanky_petsc {
namespace {

constexpr const char* kOwn = "lanky_bv";

/// The first member of what BVMAT holds, in every version: its matrix [n, nc + m].
struct BvMat {
  Mat matrix;
};
Mat matrix_of(BV bv) {
  return static_cast<BvMat*>(bv->data)->matrix;
}

/// BVMAT's operations that lanky's stand in the place of, for what they leave to them.
struct OwnOperations {
  PetscErrorCode (*mult)(BV, PetscScalar, PetscScalar, BV, Mat);
  PetscErrorCode (*norm)(BV, PetscInt, NormType, PetscReal*);
  PetscErrorCode (*norm_local)(BV, PetscInt, NormType, PetscReal*);
};

PetscLogEvent gemm_event = -1;

std::int64_t leading(BV bv) {
#if PETSC_VERSION_LT(3, 20, 0)
  return bv->n;
#else
  return bv->ld;
#endif
}
/// Whether a BV that has no type yet got a leading dimension: from the one that it duplicates.
bool has_leading(BV bv) {
#if PETSC_VERSION_LT(3, 20, 0)
  (void)bv;
  return false;
#else
  return bv->ld != 0;
#endif
}

/// Element (0, j) of the columns of a BV that is open.
Element* column(BV bv, const Columns& open, std::int64_t j) {
  return elements(open.data()) + (bv->nc + j) * leading(bv);
}
PetscInt active(BV bv) {
  return bv->k - bv->l;
}

/// C = alpha op(A) op(B) + beta C on the device where `where` is.
PetscErrorCode product(BV bv, const Columns& where, const lanky::GemmShape& shape,
                       PetscScalar alpha, const Element* a, const Element* b, PetscScalar beta,
                       Element* c) {
  const lanky::Stream* stream = nullptr;
  Gemms* products = nullptr;
  PetscFunctionBegin;
  PetscCall(stream_of(where, &stream));
  PetscCall(gemms(&products));
  PetscCall(PetscLogEventBegin(gemm_event, bv, 0, 0, 0));
  if (where.on_device()) PetscCall(PetscLogGpuTimeBegin());
  PetscCall(
      guarded([&] { products->multiply(*stream, shape, element(alpha), a, b, element(beta), c); }));
  if (where.on_device()) PetscCall(PetscLogGpuTimeEnd());
  PetscCall(log_flops(where, 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                                 static_cast<double>(shape.k)));
  PetscCall(PetscLogEventEnd(gemm_event, bv, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows [row, row + m) and columns [col, col + n) of a small matrix of the host, where `stream`
/// computes, one after the other.
PetscErrorCode small_operand(const lanky::Stream& stream, Mat q, PetscInt row, PetscInt m,
                             PetscInt col, PetscInt n, const Element** data) {
  const PetscScalar* all = nullptr;
  PetscInt ld = 0;
  Gemms* products = nullptr;
  PetscFunctionBegin;
  PetscCall(gemms(&products));
  PetscCall(MatDenseGetLDA(q, &ld));
  PetscCall(MatDenseGetArrayRead(q, &all));
  PetscCall(guarded([&] {
    std::vector<Element> tight;
    tight.reserve(static_cast<std::size_t>(m * n));
    for (PetscInt j = col; j < col + n; ++j) {
      tight.insert(tight.end(), elements(all) + row + j * ld, elements(all) + row + m + j * ld);
    }
    *data = products->upload(stream, tight.data(), static_cast<std::int64_t>(tight.size()));
  }));
  PetscCall(MatDenseRestoreArrayRead(q, &all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A^H B of m and n columns on the host, summed over the ranks if asked; until the next such call.
PetscErrorCode gram(BV bv, const Columns& where, PetscInt m, PetscInt n, const Element* a,
                    std::int64_t lda, const Element* b, std::int64_t ldb, bool all_ranks,
                    Element** sums) {
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(gemm_event, bv, 0, 0, 0));
  PetscCall(gram_on_host(where, lanky::Op::conj_trans, m, n, bv->n, a, lda, b, ldb, sums));
  PetscCall(PetscLogEventEnd(gemm_event, bv, 0, 0, 0));
  if (all_ranks) PetscCall(sum_over_ranks(object_of(bv), *sums, m * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// M = Y^H X, of the active columns.
PetscErrorCode dot(BV x, BV y, Mat result) {
  Element* sums = nullptr;
  PetscScalar* m = nullptr;
  PetscInt ld = 0;
  Columns xs(matrix_of(x));
  Columns ys(matrix_of(y));
  PetscFunctionBegin;
  const PetscInt rows = active(y), cols = active(x);
  PetscCall(xs.open(Access::read));
  PetscCall(ys.open(Access::read));
  PetscCall(gram(x, xs, rows, cols, column(y, ys, y->l), leading(y), column(x, xs, x->l),
                 leading(x), true, &sums));
  PetscCall(ys.close());
  PetscCall(xs.close());
  PetscCall(MatDenseGetLDA(result, &ld));
  PetscCall(MatDenseGetArray(result, &m));
  for (PetscInt j = 0; j < cols; ++j) {
    std::copy_n(sums + j * rows, rows, elements(m) + y->l + (x->l + j) * ld);
  }
  PetscCall(MatDenseRestoreArray(result, &m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// q = X^H y, or X^H B y, of the active columns; without q in the BV's buffer, on the host.
PetscErrorCode dot_vector(BV x, Vec y, PetscScalar* q, bool all_ranks) {
  Element* sums = nullptr;
  PetscScalar* target = q;
  Vec z = y;
  PetscFunctionBegin;
  if (x->matrix) {
    PetscCall(BV_IPMatMult(x, y));
    z = x->Bx;
  }
  Columns xs(matrix_of(x));
  Columns ys(z);
  PetscCall(open_together(&xs, &ys, Access::read));
  PetscCall(gram(x, xs, active(x), 1, column(x, xs, x->l), leading(x), elements(ys.data()),
                 std::max<PetscInt>(1, ys.rows()), all_ranks, &sums));
  PetscCall(ys.close());
  PetscCall(xs.close());
  if (!q) PetscCall(VecGetArray(x->buffer, &target));
  std::copy_n(sums, active(x), elements(target));
  if (!q) PetscCall(VecRestoreArray(x->buffer, &target));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode dot_vec(BV x, Vec y, PetscScalar* q) {
  return dot_vector(x, y, q, true);
}
PetscErrorCode dot_vec_local(BV x, Vec y, PetscScalar* q) {
  return dot_vector(x, y, q, false);
}

/// The norm of column j; of all active ones for j < 0.
PetscErrorCode norm_of(BV bv, PetscInt j, NormType type, PetscReal* result, bool all_ranks) {
  OwnOperations* own = nullptr;
  PetscFunctionBegin;
  if (j >= 0 && (type == NORM_2 || type == NORM_FROBENIUS)) {
    Element* sum = nullptr;
    Columns open(matrix_of(bv));
    PetscCall(open.open(Access::read));
    const Element* x = column(bv, open, j);
    PetscCall(gram(bv, open, 1, 1, x, leading(bv), x, leading(bv), all_ranks, &sum));
    PetscCall(open.close());
    *result = PetscSqrtReal(std::real(*sum));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(composed(object_of(bv), kOwn, &own));
  PetscCall((all_ranks ? own->norm : own->norm_local)(bv, j, type, result));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode norm(BV bv, PetscInt j, NormType type, PetscReal* result) {
  return norm_of(bv, j, type, result, true);
}
PetscErrorCode norm_local(BV bv, PetscInt j, NormType type, PetscReal* result) {
  return norm_of(bv, j, type, result, false);
}

/// C = alpha X B + beta C: the active columns of X, B in the memory of the device where X is.
PetscErrorCode update(BV x, const Columns& xs, PetscInt n, PetscScalar alpha, lanky::Op op_b,
                      const Element* b, PetscScalar beta, Element* c, std::int64_t ldc) {
  PetscFunctionBegin;
  if (x->n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  lanky::GemmShape shape{x->n, n, active(x), lanky::Op::none, op_b};
  shape.lda = leading(x);
  shape.ldb = op_b == lanky::Op::none ? active(x) : n;
  shape.ldc = ldc;
  PetscCall(product(x, xs, shape, alpha, column(x, xs, x->l), b, beta, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Y = beta Y + alpha X Q.
PetscErrorCode mult(BV y, PetscScalar alpha, PetscScalar beta, BV x, Mat q) {
  const lanky::Stream* stream = nullptr;
  const Element* small = nullptr;
  PetscFunctionBegin;
  if (!q) {
    OwnOperations* own = nullptr;
    PetscCall(composed(object_of(y), kOwn, &own));
    PetscCall(own->mult(y, alpha, beta, x, q));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Columns xs(matrix_of(x));
  Columns ys(matrix_of(y));
  PetscCall(xs.open(Access::read));
  PetscCall(ys.open(Access::read_write));
  PetscCall(stream_of(xs, &stream));
  PetscCall(small_operand(*stream, q, x->l, active(x), y->l, active(y), &small));
  PetscCall(update(x, xs, active(y), alpha, lanky::Op::none, small, beta, column(y, ys, y->l),
                   leading(y)));
  PetscCall(ys.close());
  PetscCall(xs.close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// y = beta y + alpha X q; without q, of the coefficients in the BV's buffer.
PetscErrorCode mult_vec(BV x, PetscScalar alpha, PetscScalar beta, Vec y, PetscScalar* q) {
  const lanky::Stream* stream = nullptr;
  const PetscScalar* coefficients = q;
  const Element* small = nullptr;
  Gemms* products = nullptr;
  Columns xs(matrix_of(x));
  Columns ys(y);
  PetscFunctionBegin;
  const bool overwrites = beta == PetscScalar(0);
  PetscCall(open_together(&xs, &ys, overwrites ? Access::write : Access::read_write));
  PetscCall(stream_of(xs, &stream));
  PetscCall(gemms(&products));
  if (!q) PetscCall(VecGetArrayRead(x->buffer, &coefficients));
  PetscCall(guarded([&] { small = products->upload(*stream, elements(coefficients), active(x)); }));
  if (!q) PetscCall(VecRestoreArrayRead(x->buffer, &coefficients));
  PetscCall(update(x, xs, 1, alpha, lanky::Op::none, small, beta, elements(ys.data()),
                   std::max<PetscInt>(1, ys.rows())));
  PetscCall(ys.close());
  PetscCall(xs.close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// V(:, s:e) = V Q(:, s:e), or V Q(s:e, :)^H.
PetscErrorCode mult_in_place(BV v, Mat q, PetscInt s, PetscInt e, lanky::Op op) {
  const lanky::Stream* stream = nullptr;
  const Element* small = nullptr;
  Element* result = nullptr;
  Gemms* products = nullptr;
  PetscFunctionBegin;
  if (s >= e || v->n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscInt k = active(v), n = e - s;
  const bool flip = op != lanky::Op::none;
  Columns vs(matrix_of(v));
  PetscCall(vs.open(Access::read_write));
  PetscCall(stream_of(vs, &stream));
  PetscCall(flip ? small_operand(*stream, q, s, n, v->l, k, &small)
                 : small_operand(*stream, q, v->l, k, s, n, &small));
  PetscCall(gemms(&products));
  PetscCall(guarded([&] { result = products->scratch(*stream, leading(v) * n); }));
  PetscCall(update(v, vs, n, 1.0, op, small, 0.0, result, leading(v)));
  const auto stride = static_cast<PetscInt>(leading(v));
  PetscCall(copy_columns(vs.on_device(), v->n, n, reinterpret_cast<const PetscScalar*>(result),
                         stride, reinterpret_cast<PetscScalar*>(column(v, vs, s)), stride));
  PetscCall(vs.close());
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode mult_in_place_none(BV v, Mat q, PetscInt s, PetscInt e) {
  return mult_in_place(v, q, s, e, lanky::Op::none);
}
PetscErrorCode mult_in_place_conj_trans(BV v, Mat q, PetscInt s, PetscInt e) {
  return mult_in_place(v, q, s, e, lanky::Op::conj_trans);
}

PetscErrorCode create_lanky(BV bv) {
  PetscErrorCode (*create_mat)(BV) = nullptr;
  PetscFunctionBegin;
  const bool is_duplicate = has_leading(bv);
  PetscCall(PetscFunctionListFind(BVList, BVMAT, &create_mat));
  PetscCheck(create_mat, PetscObjectComm(object_of(bv)), PETSC_ERR_PLIB, "SLEPc has no BV type %s",
             BVMAT);
  PetscCall(create_mat(bv));
  if (bv->cuda) {
    // Coefficients of Gram-Schmidt are few, and the host decides by them. There they are added up
    // and looked at without a wait for the GPU each time.
    // But random numbers are to be made on the GPU, as this flag tells. Duplicates share the
    // original's generator.
    PetscRandom random = nullptr;
    if (!is_duplicate) PetscCall(BVGetRandomContext(bv, &random));
    bv->cuda = PETSC_FALSE;
  }
  auto* own = new (std::nothrow) OwnOperations{bv->ops->mult, bv->ops->norm, bv->ops->norm_local};
  PetscCheck(own, PETSC_COMM_SELF, PETSC_ERR_MEM, "the host is out of memory");
  PetscCall(compose(object_of(bv), kOwn, own));
  bv->ops->mult = mult;
  bv->ops->multvec = mult_vec;
  bv->ops->multinplace = mult_in_place_none;
  bv->ops->multinplacetrans = mult_in_place_conj_trans;
  bv->ops->dot = dot;
  bv->ops->dotvec = dot_vec;
  bv->ops->dotvec_local = dot_vec_local;
  bv->ops->norm = norm;
  bv->ops->norm_local = norm_local;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace
}  // namespace lanky_petsc

// NOLINTNEXTLINE(readability-identifier-naming)
PETSC_EXTERN PetscErrorCode LankySlepcRegister(void) {
  using namespace lanky_petsc;
  PetscClassId id = 0;
  PetscErrorCode (*known)(BV) = nullptr;
  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(BVList, "lanky", &known));
  if (known) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscClassIdRegister("lanky BV", &id));
  PetscCall(PetscLogEventRegister("LankyGemm", id, &gemm_event));
  PetscCall(BVRegister("lanky", create_lanky));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What PETSc calls in a library of this name that it has loaded.
// NOLINTNEXTLINE(readability-identifier-naming)
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_lankyslepc(void) {
  return LankySlepcRegister();
}
