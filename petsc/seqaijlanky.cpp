// seqaijlanky: MATSEQAIJ with lanky's products.
#include "aijlanky.hpp"

namespace lanky_petsc {
namespace {

constexpr const char* kLocal = "lanky_local";
constexpr const char* kRetrieveValues = "MatRetrieveValues_C";

using MatDestroyFn = PetscErrorCode(Mat);
using MatRetrieveValuesFn = PetscErrorCode(Mat);

struct SeqLanky {
  LocalMatrix local;
  OwnProducts own_products;
  MatRetrieveValuesFn* own_retrieve_values;
};

/// PETSc's own, which does not tell that the values are other ones.
PetscErrorCode retrieve_values(Mat a) {
  SeqLanky* held = nullptr;
  PetscFunctionBegin;
  PetscCall(composed(object_of(a), kLocal, &held));
  PetscCall(held->own_retrieve_values(a));
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
  PetscCall(put_back_products(a, MATSEQAIJLANKY, held->own_products));
  PetscCall(set_operation(a, MATOP_DESTROY, own_destroy));
  PetscCall(PetscObjectComposeFunction(object, kRetrieveValues, held->own_retrieve_values));
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
  PetscCall(begin_conversion(&a, reuse, b));
  if (!a) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(forget_lanky(a));
  PetscCall(set_vectors(a, false));
  PetscCall(PetscObjectChangeTypeName(object_of(a), MATSEQAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode begin_conversion(Mat* a, MatReuse reuse, Mat* b) {
  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(*a, *b, DIFFERENT_NONZERO_PATTERN));
    *a = nullptr;
  } else if (reuse == MAT_INITIAL_MATRIX) {
    PetscCall(MatDuplicate(*a, MAT_COPY_VALUES, b));
    *a = *b;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode local_matrix_of(Mat a, LocalMatrix** local) {
  SeqLanky* held = nullptr;
  PetscFunctionBegin;
  PetscCall(composed(object_of(a), kLocal, &held));
  PetscCheck(held, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a matrix that lanky holds no plans of");
  *local = &held->local;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode seqaij_to_lanky(Mat a, MatType, MatReuse reuse, Mat* b) {
  PetscFunctionBegin;
  PetscCall(begin_conversion(&a, reuse, b));
  if (!a) PetscFunctionReturn(PETSC_SUCCESS);
  PetscObject object = object_of(a);
  auto* held = new (std::nothrow) SeqLanky;
  PetscCheck(held, PETSC_COMM_SELF, PETSC_ERR_MEM, "the host is out of memory");
  PetscCall(compose(object, kLocal, held));
  PetscCall(take_products(a, MATSEQAIJLANKY, &held->own_products));
  PetscCall(get_operation(a, MATOP_DESTROY, &own_destroy));
  PetscCall(set_operation(a, MATOP_DESTROY, destroy));
  PetscCall(PetscObjectQueryFunction(object, kRetrieveValues, &held->own_retrieve_values));
  PetscCall(PetscObjectComposeFunction(object, kRetrieveValues, retrieve_values));
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
