/* lanky's matrix types for PETSc: seqaijlanky and mpiaijlanky (aijlanky: by the number of ranks).
   A program that loads liblankypetsc.so by -dll_append needs no header. */
#pragma once

#include <petscmat.h>

#define MATAIJLANKY "aijlanky"
#define MATSEQAIJLANKY "seqaijlanky"
#define MATMPIAIJLANKY "mpiaijlanky"

/* For programs that are linked with the library: registers the types, after PetscInitialize(). */
PETSC_EXTERN PetscErrorCode LankyPetscRegister(void);
