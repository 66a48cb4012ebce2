// The matrix types of the plug-in: AIJ matrices of PETSc whose products lanky computes. All else is
// what PETSc's own AIJ does.
#pragma once

#include "lankypetsc.h"
#include "local_matrix.hpp"

namespace lanky_petsc {

PetscErrorCode create_seqaijlanky(Mat a);
PetscErrorCode create_mpiaijlanky(Mat a);
/// Between seqaij and seqaijlanky, as MatConvert() calls them; in place, too.
PetscErrorCode seqaij_to_lanky(Mat a, MatType type, MatReuse reuse, Mat* b);

/// Sets what computes A X and A^T X into C, for A of either type and a dense X.
PetscErrorCode set_dense_product(Mat c);
/// Lets `a` (of type `type`) be found by MatProductSetFromOptions() beside dense matrices, for
/// which PETSc looks by the names of both types.
PetscErrorCode compose_dense_products(Mat a, const char* type, bool add);

/// Y = A X + beta Y, or Y = A^T X + beta Y (`op`), of a distributed A; collective.
PetscErrorCode multiply_distributed(Mat mpiaijlanky, lanky::Op op, Columns* x, PetscScalar beta,
                                    Columns* y);
/// Prepares products with such an X; collective.
PetscErrorCode prepare_exchange(Mat mpiaijlanky, PetscInt columns, PetscInt leading);

/// MatCreateVecs() makes vectors on the GPU where PETSc and lanky can both use it, with lanky's
/// inner products (vectors.cpp); or PETSc's own again.
PetscErrorCode set_vectors(Mat a, bool of_lanky);

}  // namespace lanky_petsc
