// BV type "lanky" of SLEPc: its BVMAT, a dense matrix, with lanky's products of tall matrices.
// SLEPc lets types be registered, but a type's operations can only be set in its private struct.
#include <slepc/private/bvimpl.h>

#include <algorithm>
#include <list>

#include "columns.hpp"

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
};

/// Plans and memory that all BVs of the process share: solvers make and drop many of few shapes.
struct Shared {
  struct Plan {
    lanky::GemmShape shape;
    lanky::Stream stream;
    lanky::GemmPlan<Element> plan;
  };
  std::list<Plan> plans;                      // the last used first
  std::vector<lanky::Buffer<Element>> small;  // one for each stream
  std::vector<lanky::Buffer<Element>> large;
};
Shared* shared_state = nullptr;
PetscLogEvent gemm_event = -1;

bool same(const lanky::GemmShape& a, const lanky::GemmShape& b) {
  return a.m == b.m && a.n == b.n && a.k == b.k && a.op_a == b.op_a && a.op_b == b.op_b &&
         a.lda == b.lda && a.ldb == b.ldb && a.ldc == b.ldc;
}

const lanky::GemmPlan<Element>& plan_for(const lanky::Stream& stream,
                                         const lanky::GemmShape& shape) {
  auto& plans = shared_state->plans;
  auto found = std::find_if(plans.begin(), plans.end(), [&](const Shared::Plan& held) {
    return held.stream == stream && same(held.shape, shape);
  });
  if (found == plans.end()) {
    constexpr std::size_t kKept = 256;
    if (plans.size() >= kKept) plans.pop_back();
    plans.push_front({shape, stream, lanky::GemmPlan<Element>(stream, shape)});
  } else {
    plans.splice(plans.begin(), plans, found);
  }
  return plans.front().plan;
}

/// At least `size` elements on the stream, kept for the next call.
lanky::Buffer<Element>& memory(std::vector<lanky::Buffer<Element>>* kept,
                               const lanky::Stream& stream, std::int64_t size) {
  auto found = std::find_if(kept->begin(), kept->end(),
                            [&](const auto& buffer) { return buffer.stream() == stream; });
  if (found != kept->end() && found->size() >= size) return *found;
  if (found != kept->end()) kept->erase(found);
  kept->emplace_back(stream, size);
  return kept->back();
}

/// C = alpha op(A) op(B) + beta C, all by columns, in the memory of the stream's device.
void multiply(const lanky::Stream& stream, const lanky::GemmShape& shape, Element alpha,
              const Element* a, const Element* b, Element beta, Element* c) {
  const lanky::GemmPlan<Element>& plan = plan_for(stream, shape);
  const bool flip_a = shape.op_a != lanky::Op::none;
  const bool flip_b = shape.op_b != lanky::Op::none;
  using View = lanky::MatrixView<const Element>;
  plan.run(stream, alpha,
           View(a, flip_a ? shape.k : shape.m, flip_a ? shape.m : shape.k, shape.lda),
           View(b, flip_b ? shape.n : shape.k, flip_b ? shape.k : shape.n, shape.ldb), beta,
           lanky::MatrixView<Element>(c, shape.m, shape.n, shape.ldc));
}

PetscErrorCode begin_log(BV bv, const Columns& where) {
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(gemm_event, bv, 0, 0, 0));
  if (where.on_device()) PetscCall(PetscLogGpuTimeBegin());
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode end_log(BV bv, const Columns& where, PetscInt m, PetscInt n, PetscInt k) {
  const double flops =
      2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  PetscFunctionBegin;
  if (where.on_device()) {
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(PetscLogGpuFlops(flops));
  } else {
    PetscCall(PetscLogFlops(flops));
  }
  PetscCall(PetscLogEventEnd(gemm_event, bv, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt leading(BV bv) {
#if PETSC_VERSION_LT(3, 20, 0)
  return bv->n;
#else
  return bv->ld;
#endif
}
/// Element (0, j) of the columns of a BV that is open.
Element* column(BV bv, const Columns& open, PetscInt j) {
  return elements(open.data()) + (bv->nc + j) * leading(bv);
}
PetscInt active(BV bv) {
  return bv->k - bv->l;
}

/// Rows [row, row + m) and columns [col, col + n) of a small matrix of the host, where `stream`
/// computes, one after the other.
PetscErrorCode small_operand(const lanky::Stream& stream, Mat q, PetscInt row, PetscInt m,
                             PetscInt col, PetscInt n, const Element** data) {
  const PetscScalar* all = nullptr;
  PetscInt ld = 0;
  PetscFunctionBegin;
  PetscCall(MatDenseGetLDA(q, &ld));
  PetscCall(MatDenseGetArrayRead(q, &all));
  PetscCall(guarded([&] {
    std::vector<Element> tight;
    tight.reserve(static_cast<std::size_t>(m * n));
    for (PetscInt j = col; j < col + n; ++j) {
      tight.insert(tight.end(), elements(all) + row + j * ld, elements(all) + row + m + j * ld);
    }
    lanky::Buffer<Element>& buffer = memory(&shared_state->small, stream, m * n);
    buffer.copy_from(tight);
    *data = buffer.data();
  }));
  PetscCall(MatDenseRestoreArrayRead(q, &all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The sum of `count` elements over the ranks.
PetscErrorCode sum_over_ranks(BV bv, Element* values, PetscInt count) {
  PetscMPIInt length = 0, size = 1;
  MPI_Comm comm = PetscObjectComm(object_of(bv));
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMPIIntCast(count, &length));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, values, length, MPIU_SCALAR, MPIU_SUM, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// C = A^H B of m and n columns, all on one device, C one column after the other.
PetscErrorCode gram(BV bv, const Columns& where, PetscInt m, PetscInt n, const Element* a,
                    PetscInt lda, const Element* b, PetscInt ldb, Element* c) {
  const lanky::Stream* stream = nullptr;
  PetscFunctionBegin;
  PetscCall(stream_of(where, &stream));
  PetscCall(begin_log(bv, where));
  PetscCall(guarded([&] {
    lanky::GemmShape shape{m, n, bv->n, lanky::Op::conj_trans};
    shape.lda = lda;
    shape.ldb = ldb;
    shape.ldc = m;
    multiply(*stream, shape, Element(1), a, b, Element(0), c);
  }));
  PetscCall(end_log(bv, where, m, n, bv->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same on the host, summed over the ranks if asked.
PetscErrorCode gram_on_host(BV bv, const Columns& where, PetscInt m, PetscInt n, const Element* a,
                            PetscInt lda, const Element* b, PetscInt ldb, bool all_ranks,
                            std::vector<Element>* sums) {
  const lanky::Stream* stream = nullptr;
  lanky::Buffer<Element>* buffer = nullptr;
  PetscFunctionBegin;
  PetscCall(guarded([&] { sums->assign(static_cast<std::size_t>(m * n), Element(0)); }));
  if (bv->n > 0) {
    PetscCall(stream_of(where, &stream));
    PetscCall(guarded([&] { buffer = &memory(&shared_state->small, *stream, m * n); }));
    PetscCall(gram(bv, where, m, n, a, lda, b, ldb, buffer->data()));
    PetscCall(guarded([&] {
      const std::vector<Element> host = buffer->to_host();
      std::copy_n(host.begin(), sums->size(), sums->begin());
    }));
  }
  if (all_ranks) PetscCall(sum_over_ranks(bv, sums->data(), m * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// M = Y^H X, of the active columns.
PetscErrorCode dot(BV x, BV y, Mat result) {
  std::vector<Element> sums;
  PetscScalar* m = nullptr;
  PetscInt ld = 0;
  Columns xs(matrix_of(x));
  Columns ys(matrix_of(y));
  PetscFunctionBegin;
  const PetscInt rows = active(y), cols = active(x);
  PetscCall(xs.open(Access::read));
  PetscCall(ys.open(Access::read));
  PetscCall(gram_on_host(x, xs, rows, cols, column(y, ys, y->l), leading(y), column(x, xs, x->l),
                         leading(x), true, &sums));
  PetscCall(ys.close());
  PetscCall(xs.close());
  PetscCall(MatDenseGetLDA(result, &ld));
  PetscCall(MatDenseGetArray(result, &m));
  for (PetscInt j = 0; j < cols; ++j) {
    std::copy_n(sums.begin() + j * rows, rows, elements(m) + y->l + (x->l + j) * ld);
  }
  PetscCall(MatDenseRestoreArray(result, &m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// q = X^H y, or X^H B y, of the active columns; without q in the BV's buffer.
PetscErrorCode dot_vector(BV x, Vec y, PetscScalar* q, bool all_ranks) {
  std::vector<Element> sums;
  PetscMPIInt ranks = 1;
  Vec z = y;
  PetscFunctionBegin;
  if (x->matrix) {
    PetscCall(BV_IPMatMult(x, y));
    z = x->Bx;
  }
  PetscCallMPI(MPI_Comm_size(PetscObjectComm(object_of(x)), &ranks));
  Columns xs(matrix_of(x));
  Columns ys(z);
  PetscCall(open_together(&xs, &ys, Access::read));
  const Element* from = column(x, xs, x->l);
  const PetscInt ld = std::max<PetscInt>(1, ys.rows());
  bool done = false;
  if (!q && ranks == 1 && x->n > 0) {  // never leaves the device
    Columns buffer(x->buffer);
    PetscCall(buffer.open(Access::read_write));
    if (buffer.on_device() == xs.on_device()) {
      PetscCall(gram(x, xs, active(x), 1, from, leading(x), elements(ys.data()), ld,
                     elements(buffer.data())));
      done = true;
    }
    PetscCall(buffer.close());
  }
  if (!done) {
    PetscCall(gram_on_host(x, xs, active(x), 1, from, leading(x), elements(ys.data()), ld,
                           all_ranks, &sums));
    PetscScalar* target = q;
    if (!q) PetscCall(VecGetArray(x->buffer, &target));
    std::copy(sums.begin(), sums.end(), elements(target));
    if (!q) PetscCall(VecRestoreArray(x->buffer, &target));
  }
  PetscCall(ys.close());
  PetscCall(xs.close());
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode dot_vec(BV x, Vec y, PetscScalar* q) {
  return dot_vector(x, y, q, true);
}
PetscErrorCode dot_vec_local(BV x, Vec y, PetscScalar* q) {
  return dot_vector(x, y, q, false);
}

/// C = alpha X B + beta C: columns of X from its l-th on, B in the memory of the stream's device.
PetscErrorCode update(BV x, const Columns& xs, PetscInt k, PetscInt n, PetscScalar alpha,
                      lanky::Op op_b, const Element* b, PetscInt ldb, PetscScalar beta, Element* c,
                      PetscInt ldc) {
  const lanky::Stream* stream = nullptr;
  PetscFunctionBegin;
  if (x->n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(stream_of(xs, &stream));
  PetscCall(begin_log(x, xs));
  PetscCall(guarded([&] {
    lanky::GemmShape shape{x->n, n, k, lanky::Op::none, op_b};
    shape.lda = leading(x);
    shape.ldb = ldb;
    shape.ldc = ldc;
    multiply(*stream, shape, element(alpha), column(x, xs, x->l), b, element(beta), c);
  }));
  PetscCall(end_log(x, xs, x->n, n, k));
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
  PetscCall(update(x, xs, active(x), active(y), alpha, lanky::Op::none, small, active(x), beta,
                   column(y, ys, y->l), leading(y)));
  PetscCall(ys.close());
  PetscCall(xs.close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// y = beta y + alpha X q; without q, of the coefficients in the BV's buffer.
PetscErrorCode mult_vec(BV x, PetscScalar alpha, PetscScalar beta, Vec y, PetscScalar* q) {
  const lanky::Stream* stream = nullptr;
  const Element* small = nullptr;
  Columns xs(matrix_of(x));
  Columns ys(y);
  Columns buffer(x->buffer);
  PetscFunctionBegin;
  const bool overwrites = beta == PetscScalar(0);
  PetscCall(open_together(&xs, &ys, overwrites ? Access::write : Access::read_write));
  PetscCall(stream_of(xs, &stream));
  if (!q) {
    PetscCall(buffer.open(Access::read));
    if (buffer.on_device() != xs.on_device()) {
      PetscCall(buffer.close());
      PetscCall(buffer.open(Access::read, true));
    }
  }
  const Element* coefficients = q ? elements(q) : elements(buffer.data());
  if (!xs.on_device() || (!q && buffer.on_device())) {
    small = coefficients;
  } else {
    PetscCall(guarded([&] {
      lanky::Buffer<Element>& copy = memory(&shared_state->small, *stream, active(x));
      copy.copy_from({coefficients, static_cast<std::size_t>(active(x))});
      small = copy.data();
    }));
  }
  PetscCall(update(x, xs, active(x), 1, alpha, lanky::Op::none, small, active(x), beta,
                   elements(ys.data()), std::max<PetscInt>(1, ys.rows())));
  if (!q) PetscCall(buffer.close());
  PetscCall(ys.close());
  PetscCall(xs.close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// V(:, s:e) = V Q(:, s:e), or V Q(s:e, :)^H.
PetscErrorCode mult_in_place(BV v, Mat q, PetscInt s, PetscInt e, lanky::Op op) {
  const lanky::Stream* stream = nullptr;
  const Element* small = nullptr;
  Element* result = nullptr;
  PetscFunctionBegin;
  if (s >= e || v->n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscInt k = active(v), n = e - s;
  const bool flip = op != lanky::Op::none;
  const PetscInt size = leading(v) * (n - 1) + v->n;
  Columns vs(matrix_of(v));
  PetscCall(vs.open(Access::read_write));
  PetscCall(stream_of(vs, &stream));
  PetscCall(flip ? small_operand(*stream, q, s, n, v->l, k, &small)
                 : small_operand(*stream, q, v->l, k, s, n, &small));
  PetscCall(
      guarded([&] { result = memory(&shared_state->large, *stream, leading(v) * n).data(); }));
  PetscCall(update(v, vs, k, n, 1.0, op, small, flip ? n : k, 0.0, result, leading(v)));
  const std::size_t bytes = sizeof(Element) * static_cast<std::size_t>(size);
#if defined(PETSC_HAVE_CUDA)
  if (vs.on_device()) {
    PetscCall(PetscDeviceMemcpy(nullptr, column(v, vs, s), result, bytes));
  } else {
    PetscCall(PetscMemcpy(column(v, vs, s), result, bytes));
  }
#else
  PetscCall(PetscMemcpy(column(v, vs, s), result, bytes));
#endif
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
  PetscCall(PetscFunctionListFind(BVList, BVMAT, &create_mat));
  PetscCheck(create_mat, PetscObjectComm(object_of(bv)), PETSC_ERR_PLIB, "SLEPc has no BV type %s",
             BVMAT);
  PetscCall(create_mat(bv));
  auto* own = new (std::nothrow) OwnOperations{bv->ops->mult};
  PetscCheck(own, PETSC_COMM_SELF, PETSC_ERR_MEM, "the host is out of memory");
  PetscCall(compose(object_of(bv), kOwn, own));
  bv->ops->mult = mult;
  bv->ops->multvec = mult_vec;
  bv->ops->multinplace = mult_in_place_none;
  bv->ops->multinplacetrans = mult_in_place_conj_trans;
  bv->ops->dot = dot;
  bv->ops->dotvec = dot_vec;
  bv->ops->dotvec_local = dot_vec_local;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode forget_shared() {
  delete shared_state;
  shared_state = nullptr;
  return PETSC_SUCCESS;
}

}  // namespace
}  // namespace lanky_petsc

PETSC_EXTERN PetscErrorCode LankySlepcRegister(void) {
  using namespace lanky_petsc;
  PetscClassId id = 0;
  PetscErrorCode (*known)(BV) = nullptr;
  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(BVList, "lanky", &known));
  if (known) PetscFunctionReturn(PETSC_SUCCESS);
  if (!shared_state) {
    shared_state = new (std::nothrow) Shared;
    PetscCheck(shared_state, PETSC_COMM_SELF, PETSC_ERR_MEM, "the host is out of memory");
    PetscCall(PetscRegisterFinalize(forget_shared));
  }
  PetscCall(PetscClassIdRegister("lanky BV", &id));
  PetscCall(PetscLogEventRegister("LankyGemm", id, &gemm_event));
  PetscCall(BVRegister("lanky", create_lanky));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What PETSc calls in a library of this name that it has loaded.
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_lankyslepc(void) {
  return LankySlepcRegister();
}
