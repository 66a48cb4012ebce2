// Vectors on the GPU that a lanky matrix creates: PETSc's VECCUDA, with lanky's inner products and
// norms. Solvers wait for each of these; PETSc has them from cuBLAS, which takes longer to answer.
#include <petsc/private/vecimpl.h>

#include "aijlanky.hpp"
#include "gemms.hpp"

namespace lanky_petsc {
namespace {

#if defined(PETSC_HAVE_CUDA)

using DotFn = PetscErrorCode(Vec, Vec, PetscScalar*);
using NormFn = PetscErrorCode(Vec, NormType, PetscReal*);

/// VECCUDA's own operations, for what lanky's leave to them. Those of one rank and of several are
/// different functions.
struct Own {
  DotFn* dot;
  DotFn* tdot;
  NormFn* norm;
  DotFn* dot_local;
  DotFn* tdot_local;
  NormFn* norm_local;
};
Own own_of_kind[2];

PetscErrorCode own_of(Vec x, const Own** own) {
  PetscMPIInt size = 1;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm(object_of(x)), &size));
  *own = &own_of_kind[size > 1 ? 1 : 0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// y^H x, or y^T x, of this rank's entries; `done` tells whether both are on the GPU.
PetscErrorCode local_product(lanky::Op op, Vec x, Vec y, PetscScalar* sum, bool* done) {
  Element* result = nullptr;
  Columns xs(x);
  Columns ys(y);
  PetscFunctionBegin;
  PetscCall(xs.open(Access::read));
  PetscCall(ys.open(Access::read));
  *done = xs.on_device() && ys.on_device();
  if (*done) {
    const std::int64_t ld = std::max<PetscInt>(1, xs.rows());
    PetscCall(gram_on_host(xs, op, 1, 1, xs.rows(), elements(ys.data()), ld, elements(xs.data()),
                           ld, &result));
    *elements(sum) = *result;
  }
  PetscCall(ys.close());
  PetscCall(xs.close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <lanky::Op kOp, bool kLocal>
PetscErrorCode product(Vec x, Vec y, PetscScalar* sum) {
  const Own* own = nullptr;
  bool done = false;
  PetscFunctionBegin;
  PetscCall(local_product(kOp, x, y, sum, &done));
  if (done) {
    if (!kLocal) PetscCall(sum_over_ranks(object_of(x), elements(sum), 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(own_of(x, &own));
  if (kLocal) {
    PetscCall((kOp == lanky::Op::trans ? own->tdot_local : own->dot_local)(x, y, sum));
  } else {
    PetscCall((kOp == lanky::Op::trans ? own->tdot : own->dot)(x, y, sum));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <bool kLocal>
PetscErrorCode norm(Vec x, NormType type, PetscReal* result) {
  const Own* own = nullptr;
  bool done = false;
  PetscScalar sum = 0;
  PetscFunctionBegin;
  if (type == NORM_2 || type == NORM_FROBENIUS) {
    PetscCall(local_product(lanky::Op::conj_trans, x, x, &sum, &done));
    if (done) {
      if (!kLocal) PetscCall(sum_over_ranks(object_of(x), elements(&sum), 1));
      *result = PetscSqrtReal(PetscRealPart(sum));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(own_of(x, &own));
  PetscCall((kLocal ? own->norm_local : own->norm)(x, type, result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode take_products(Vec x) {
  PetscBool cuda = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny(object_of(x), &cuda, VECSEQCUDA, VECMPICUDA, ""));
  if (!cuda || x->ops->norm == norm<false>) PetscFunctionReturn(PETSC_SUCCESS);
  PetscMPIInt size = 1;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm(object_of(x)), &size));
  own_of_kind[size > 1 ? 1 : 0] = {x->ops->dot,       x->ops->tdot,       x->ops->norm,
                                   x->ops->dot_local, x->ops->tdot_local, x->ops->norm_local};
  x->ops->dot = product<lanky::Op::conj_trans, false>;
  x->ops->tdot = product<lanky::Op::trans, false>;
  x->ops->norm = norm<false>;
  x->ops->dot_local = product<lanky::Op::conj_trans, true>;
  x->ops->tdot_local = product<lanky::Op::trans, true>;
  x->ops->norm_local = norm<true>;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create_vectors(Mat a, Vec* right, Vec* left) {
  PetscFunctionBegin;
  // PETSc's default makes vectors of the matrix's vector type where this operation is not there.
  PetscCall(set_operation<PetscErrorCode(Mat, Vec*, Vec*)>(a, MATOP_CREATE_VECS, nullptr));
  PetscCall(MatCreateVecs(a, right, left));
  PetscCall(set_operation(a, MATOP_CREATE_VECS, create_vectors));
  if (right) PetscCall(take_products(*right));
  if (left) PetscCall(take_products(*left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif

}  // namespace

PetscErrorCode set_vectors(Mat a, bool of_lanky) {
  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  if (lanky::Device::cuda_count() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSetVecType(a, of_lanky ? VECCUDA : VECSTANDARD));
  PetscCall(set_operation<PetscErrorCode(Mat, Vec*, Vec*)>(a, MATOP_CREATE_VECS,
                                                           of_lanky ? create_vectors : nullptr));
#else
  (void)a;
  (void)of_lanky;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace lanky_petsc
