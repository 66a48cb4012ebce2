// The matrix types of the plug-in: AIJ matrices of PETSc whose products lanky computes. All else is
// what PETSc's own AIJ does.
#pragma once

#include <array>

#include "lankypetsc.h"
#include "local_matrix.hpp"

namespace lanky_petsc {

PetscErrorCode create_seqaijlanky(Mat a);
PetscErrorCode create_mpiaijlanky(Mat a);
/// Between seqaij and seqaijlanky, as MatConvert() calls them; in place, too.
PetscErrorCode seqaij_to_lanky(Mat a, MatType type, MatReuse reuse, Mat* b);

/// What MatConvert() asks for beside the conversion itself. Leaves in `a` the matrix that is then
/// to be converted in place: itself or a duplicate, or null where it has been copied into `b`.
PetscErrorCode begin_conversion(Mat* a, MatReuse reuse, Mat* b);

/// PETSc's own operations where lanky's products stand, to be put back: MatMult and its like.
using OwnProducts = std::array<PetscErrorCodeFn*, 4>;
/// Puts lanky's products into `a`, which is to be of that type: with vectors and with dense
/// matrices.
PetscErrorCode take_products(Mat a, const char* type, OwnProducts* own);
PetscErrorCode put_back_products(Mat a, const char* type, const OwnProducts& own);

/// Y = A X + beta Y, or Y = A^T X + beta Y (`op`), of a distributed A; collective.
PetscErrorCode multiply_distributed(Mat mpiaijlanky, lanky::Op op, Columns* x, PetscScalar beta,
                                    Columns* y);

/// MatCreateVecs() makes vectors on the GPU where PETSc and lanky can both use it, with lanky's
/// inner products (vectors.cpp); or PETSc's own again.
PetscErrorCode set_vectors(Mat a, bool of_lanky);

}  // namespace lanky_petsc
