// seqaijlanky: MATSEQAIJ with lanky's products.
#include "aijlanky.hpp"

namespace lanky_petsc {
namespace {

constexpr const char* kLocal = "lanky_local";
constexpr const char* kRetrieveValues = "MatRetrieveValues_C";

using MatMultFn = PetscErrorCode(Mat, Vec, Vec);
using MatMultAddFn = PetscErrorCode(Mat, Vec, Vec, Vec);
using MatDestroyFn = PetscErrorCode(Mat);
using MatRetrieveValuesFn = PetscErrorCode(Mat);

/// PETSc's own functions in the place of which lanky's stand.
struct Replaced {
  MatMultFn* mult;
  MatMultFn* mult_transpose;
  MatMultAddFn* mult_add;
  MatMultAddFn* mult_transpose_add;
  MatRetrieveValuesFn* retrieve_values;  // a composed function
};

struct SeqLanky {
  LocalMatrix local;
  Replaced replaced;
};

/// z = op(A) x, or y + op(A) x.
PetscErrorCode multiply(Mat a, lanky::Op op, Vec x, Vec y, Vec z) {
  LocalMatrix* local = nullptr;
  Columns from(x);
  Columns to(z);
  PetscFunctionBegin;
  PetscCall(local_matrix_of(a, &local));
  if (y && y != z) PetscCall(VecCopy(y, z));
  PetscCall(open_together(&from, &to, y ? Access::read_write : Access::write));
  PetscCall(local->multiply(a, op, from, y ? 1.0 : 0.0, &to));
  PetscCall(to.close());
  PetscCall(from.close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode mult(Mat a, Vec x, Vec y) {
  return multiply(a, lanky::Op::none, x, nullptr, y);
}
PetscErrorCode mult_add(Mat a, Vec x, Vec y, Vec z) {
  return multiply(a, lanky::Op::none, x, y, z);
}
PetscErrorCode mult_transpose(Mat a, Vec x, Vec y) {
  return multiply(a, lanky::Op::trans, x, nullptr, y);
}
PetscErrorCode mult_transpose_add(Mat a, Vec x, Vec y, Vec z) {
  return multiply(a, lanky::Op::trans, x, y, z);
}

/// PETSc's own, which does not tell that the values are other ones.
PetscErrorCode retrieve_values(Mat a) {
  SeqLanky* held = nullptr;
  PetscFunctionBegin;
  PetscCall(composed(object_of(a), kLocal, &held));
  PetscCall(held->replaced.retrieve_values(a));
  PetscCall(PetscObjectStateIncrease(object_of(a)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MATSEQAIJ's. MatHeaderMerge() destroys a matrix that it has taken its composed objects from.
MatDestroyFn* own_destroy = nullptr;

/// Leaves `a` the MATSEQAIJ that it was before.
PetscErrorCode forget_lanky(Mat a) {
  PetscObject object = object_of(a);
  SeqLanky* held = nullptr;
  PetscFunctionBegin;
  PetscCall(composed(object, kLocal, &held));
  if (!held) PetscFunctionReturn(PETSC_SUCCESS);
  const Replaced own = held->replaced;
  PetscCall(set_operation(a, MATOP_MULT, own.mult));
  PetscCall(set_operation(a, MATOP_MULT_ADD, own.mult_add));
  PetscCall(set_operation(a, MATOP_MULT_TRANSPOSE, own.mult_transpose));
  PetscCall(set_operation(a, MATOP_MULT_TRANSPOSE_ADD, own.mult_transpose_add));
  PetscCall(set_operation(a, MATOP_DESTROY, own_destroy));
  PetscCall(PetscObjectComposeFunction(object, kRetrieveValues, own.retrieve_values));
  PetscCall(compose_dense_products(a, MATSEQAIJLANKY, false));
  PetscCall(PetscObjectComposeFunction(object, "MatConvert_seqaijlanky_seqaij_C", nullptr));
  PetscCall(PetscObjectComposeFunction(object, "MatConvert_seqaij_seqaijlanky_C", nullptr));
  PetscCall(PetscObjectCompose(object, kLocal, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy(Mat a) {
  PetscFunctionBegin;
  PetscCall(forget_lanky(a));
  PetscCall(own_destroy(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode lanky_to_seqaij(Mat a, MatType, MatReuse reuse, Mat* b) {
  PetscFunctionBegin;
  if (reuse != MAT_INPLACE_MATRIX) {
    Mat copy = reuse == MAT_REUSE_MATRIX ? *b : nullptr;
    if (copy) {
      PetscCall(MatCopy(a, copy, DIFFERENT_NONZERO_PATTERN));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(MatDuplicate(a, MAT_COPY_VALUES, &copy));
    PetscCall(lanky_to_seqaij(copy, MATSEQAIJ, MAT_INPLACE_MATRIX, &copy));
    *b = copy;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(forget_lanky(a));
  PetscCall(set_vectors(a, false));
  PetscCall(PetscObjectChangeTypeName(object_of(a), MATSEQAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode local_matrix_of(Mat a, LocalMatrix** local) {
  SeqLanky* held = nullptr;
  PetscFunctionBegin;
  PetscCall(composed(object_of(a), kLocal, &held));
  PetscCheck(held, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a matrix that lanky holds no plans of");
  *local = &held->local;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode seqaij_to_lanky(Mat a, MatType, MatReuse reuse, Mat* b) {
  PetscObject object = object_of(a);
  PetscFunctionBegin;
  if (reuse != MAT_INPLACE_MATRIX) {
    Mat copy = reuse == MAT_REUSE_MATRIX ? *b : nullptr;
    if (copy) {
      PetscCall(MatCopy(a, copy, DIFFERENT_NONZERO_PATTERN));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(MatDuplicate(a, MAT_COPY_VALUES, &copy));
    PetscCall(seqaij_to_lanky(copy, MATSEQAIJLANKY, MAT_INPLACE_MATRIX, &copy));
    *b = copy;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  auto* held = new (std::nothrow) SeqLanky;
  PetscCheck(held, PETSC_COMM_SELF, PETSC_ERR_MEM, "the host is out of memory");
  PetscCall(get_operation(a, MATOP_MULT, &held->replaced.mult));
  PetscCall(get_operation(a, MATOP_MULT_ADD, &held->replaced.mult_add));
  PetscCall(get_operation(a, MATOP_MULT_TRANSPOSE, &held->replaced.mult_transpose));
  PetscCall(get_operation(a, MATOP_MULT_TRANSPOSE_ADD, &held->replaced.mult_transpose_add));
  PetscCall(get_operation(a, MATOP_DESTROY, &own_destroy));
  PetscCall(PetscObjectQueryFunction(object, kRetrieveValues, &held->replaced.retrieve_values));
  PetscCall(compose(object, kLocal, held));
  PetscCall(set_operation(a, MATOP_MULT, mult));
  PetscCall(set_operation(a, MATOP_MULT_ADD, mult_add));
  PetscCall(set_operation(a, MATOP_MULT_TRANSPOSE, mult_transpose));
  PetscCall(set_operation(a, MATOP_MULT_TRANSPOSE_ADD, mult_transpose_add));
  PetscCall(set_operation(a, MATOP_DESTROY, destroy));
  PetscCall(PetscObjectComposeFunction(object, kRetrieveValues, retrieve_values));
  PetscCall(compose_dense_products(a, MATSEQAIJLANKY, true));
  PetscCall(PetscObjectComposeFunction(object, "MatConvert_seqaijlanky_seqaij_C", lanky_to_seqaij));
  // MatConvert() of a plain AIJ matrix finds this in a matrix of the type that it is to have.
  PetscCall(PetscObjectComposeFunction(object, "MatConvert_seqaij_seqaijlanky_C", seqaij_to_lanky));
  PetscCall(set_vectors(a, true));
  PetscCall(PetscObjectChangeTypeName(object, MATSEQAIJLANKY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create_seqaijlanky(Mat a) {
  PetscFunctionBegin;
  PetscCall(MatSetType(a, MATSEQAIJ));
  PetscCall(seqaij_to_lanky(a, MATSEQAIJLANKY, MAT_INPLACE_MATRIX, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace lanky_petsc
