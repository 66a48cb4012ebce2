// Products of both matrix types: with vectors, as MatMult() and its like ask for them, and with
// dense matrices, as MatMatMult(), MatTransposeMatMult() and SLEPc do through MatProduct.
#include <iterator>
#include <tuple>

#include "aijlanky.hpp"

namespace lanky_petsc {
namespace {

using ProductFn = PetscErrorCode(Mat);

PetscErrorCode is_type(Mat a, const char* type, bool* is) {
  PetscBool same = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare(object_of(a), type, &same));
  *is = same == PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Y = op(A) X + beta Y, of columns that are open on one side.
PetscErrorCode multiply(Mat a, lanky::Op op, Columns* x, PetscScalar beta, Columns* y) {
  bool distributed = false;
  PetscFunctionBegin;
  PetscCall(is_type(a, MATMPIAIJLANKY, &distributed));
  if (distributed) {
    PetscCall(multiply_distributed(a, op, x, beta, y));
  } else {
    LocalMatrix* local = nullptr;
    PetscCall(local_matrix_of(a, &local));
    PetscCall(local->multiply(a, op, *x, beta, y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// z = op(A) x, or y + op(A) x.
PetscErrorCode multiply_vector(Mat a, lanky::Op op, Vec x, Vec y, Vec z) {
  Columns from(x);
  Columns to(z);
  PetscFunctionBegin;
  if (y && y != z) PetscCall(VecCopy(y, z));
  PetscCall(open_together(&from, &to, y ? Access::read_write : Access::write));
  PetscCall(multiply(a, op, &from, y ? 1.0 : 0.0, &to));
  PetscCall(to.close());
  PetscCall(from.close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <lanky::Op kOp>
PetscErrorCode mult(Mat a, Vec x, Vec y) {
  return multiply_vector(a, kOp, x, nullptr, y);
}
template <lanky::Op kOp>
PetscErrorCode mult_add(Mat a, Vec x, Vec y, Vec z) {
  return multiply_vector(a, kOp, x, y, z);
}

const struct {
  MatOperation operation;
  PetscErrorCodeFn* of_lanky;
} product_table[] = {
    {MATOP_MULT, reinterpret_cast<PetscErrorCodeFn*>(&mult<lanky::Op::none>)},
    {MATOP_MULT_ADD, reinterpret_cast<PetscErrorCodeFn*>(&mult_add<lanky::Op::none>)},
    {MATOP_MULT_TRANSPOSE, reinterpret_cast<PetscErrorCodeFn*>(&mult<lanky::Op::trans>)},
    {MATOP_MULT_TRANSPOSE_ADD, reinterpret_cast<PetscErrorCodeFn*>(&mult_add<lanky::Op::trans>)},
};
static_assert(std::size(product_table) == std::tuple_size_v<OwnProducts>);

PetscErrorCode numeric(Mat c) {
  Mat a = nullptr, b = nullptr;
  MatProductType type = MATPRODUCT_UNSPECIFIED;
  PetscFunctionBegin;
  PetscCall(MatProductGetMats(c, &a, &b, nullptr));
  PetscCall(MatProductGetType(c, &type));
  const lanky::Op op = type == MATPRODUCT_AtB ? lanky::Op::trans : lanky::Op::none;
  Columns x(b);
  Columns y(c);
  PetscCall(open_together(&x, &y, Access::write));
  PetscCall(multiply(a, op, &x, 0.0, &y));
  PetscCall(y.close());
  PetscCall(x.close());
  PetscCall(MatAssemblyBegin(c, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(c, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode symbolic(Mat c) {
  Mat a = nullptr, b = nullptr;
  MatProductType type = MATPRODUCT_UNSPECIFIED;
  PetscBool dense = PETSC_FALSE;
  PetscInt rows = 0, cols = 0, all_rows = 0, all_cols = 0;
  PetscFunctionBegin;
  PetscCall(MatProductGetMats(c, &a, &b, nullptr));
  PetscCall(MatProductGetType(c, &type));
  const bool transposed = type == MATPRODUCT_AtB;
  PetscCall(PetscObjectBaseTypeCompareAny(object_of(c), &dense, MATSEQDENSE, MATMPIDENSE, ""));
  if (!dense) {
    MatType of_b = nullptr;
    PetscCall(MatGetLocalSize(a, transposed ? nullptr : &rows, transposed ? &rows : nullptr));
    PetscCall(MatGetSize(a, transposed ? nullptr : &all_rows, transposed ? &all_rows : nullptr));
    PetscCall(MatGetLocalSize(b, nullptr, &cols));
    PetscCall(MatGetSize(b, nullptr, &all_cols));
    PetscCall(MatGetType(b, &of_b));
    PetscCall(MatSetSizes(c, rows, cols, all_rows, all_cols));
    PetscCall(MatSetType(c, of_b));
  }
  PetscCall(MatSetUp(c));
  PetscCall(set_operation(c, MATOP_PRODUCTNUMERIC, numeric));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What PETSc's own AIJ does with a product, found under the names of its types.
PetscErrorCode set_own_product(Mat c, const char* name) {
  Mat a = nullptr, b = nullptr;
  ProductFn* own = nullptr;
  PetscFunctionBegin;
  PetscCall(MatProductGetMats(c, &a, &b, nullptr));
  PetscCall(PetscObjectQueryFunction(object_of(a), name, &own));
  if (!own) PetscCall(PetscObjectQueryFunction(object_of(b), name, &own));
  if (own) PetscCall(own(c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_dense_times_seqaij(Mat c) {
  return set_own_product(c, "MatProductSetFromOptions_seqdense_seqaij_C");
}
PetscErrorCode set_dense_times_mpiaij(Mat c) {
  return set_own_product(c, "MatProductSetFromOptions_mpidense_mpiaij_C");
}

/// Sets what computes A X and A^T X into C, for A of either type and a dense X.
PetscErrorCode set_dense_product(Mat c) {
  Mat a = nullptr, b = nullptr;
  MatProductType type = MATPRODUCT_UNSPECIFIED;
  bool distributed = false;
  PetscFunctionBegin;
  PetscCall(MatProductGetType(c, &type));
  PetscCall(MatProductGetMats(c, &a, &b, nullptr));
  PetscCall(is_type(a, MATMPIAIJLANKY, &distributed));
  if (type != MATPRODUCT_AB && type != MATPRODUCT_AtB) {
    PetscCall(set_own_product(c, distributed ? "MatProductSetFromOptions_mpiaij_mpidense_C"
                                             : "MatProductSetFromOptions_seqaij_seqdense_C"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscInt begin = 0, end = 0, begin_of_b = 0, end_of_b = 0;
  if (type == MATPRODUCT_AB) {
    PetscCall(MatGetOwnershipRangeColumn(a, &begin, &end));
  } else {
    PetscCall(MatGetOwnershipRange(a, &begin, &end));
  }
  PetscCall(MatGetOwnershipRange(b, &begin_of_b, &end_of_b));
  PetscCheck(begin == begin_of_b && end == end_of_b, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "lanky: this rank has [%" PetscInt_FMT ", %" PetscInt_FMT
             ") of A, but rows [%" PetscInt_FMT ", %" PetscInt_FMT ") of the dense matrix",
             begin, end, begin_of_b, end_of_b);
  PetscCall(set_operation(c, MATOP_PRODUCTSYMBOLIC, symbolic));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Lets MatProductSetFromOptions() find `a` beside dense matrices: it looks by the names of both.
PetscErrorCode compose_dense_products(Mat a, const char* type, bool add) {
  const bool distributed = type[0] == 'm';
  const char* const dense = distributed ? "mpidense" : "seqdense";
  ProductFn* const own = distributed ? set_dense_times_mpiaij : set_dense_times_seqaij;
  PetscFunctionBegin;
  for (const char* where : {"", "cuda"}) {
    char name[128];
    PetscCall(PetscSNPrintf(name, sizeof(name), "MatProductSetFromOptions_%s_%s%s_C", type, dense,
                            where));
    PetscCall(PetscObjectComposeFunction(object_of(a), name, add ? set_dense_product : nullptr));
    PetscCall(PetscSNPrintf(name, sizeof(name), "MatProductSetFromOptions_%s%s_%s_C", dense, where,
                            type));
    PetscCall(PetscObjectComposeFunction(object_of(a), name, add ? own : nullptr));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode take_products(Mat a, const char* type, OwnProducts* own) {
  PetscFunctionBegin;
  for (std::size_t i = 0; i < own->size(); ++i) {
    PetscCall(MatGetOperation(a, product_table[i].operation, &(*own)[i]));
    PetscCall(MatSetOperation(a, product_table[i].operation, product_table[i].of_lanky));
  }
  PetscCall(compose_dense_products(a, type, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode put_back_products(Mat a, const char* type, const OwnProducts& own) {
  PetscFunctionBegin;
  for (std::size_t i = 0; i < own.size(); ++i) {
    PetscCall(MatSetOperation(a, product_table[i].operation, own[i]));
  }
  PetscCall(compose_dense_products(a, type, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace lanky_petsc
