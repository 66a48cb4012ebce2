// How PETSc comes to know the types: by -dll_append, or by a call from a program.
#include "aijlanky.hpp"
#include "lankypetsc.h"

PetscErrorCode LankyPetscRegister(void) {
  PetscClassId id = 0;
  PetscErrorCode (*known)(Mat) = nullptr;
  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(MatList, MATSEQAIJLANKY, &known));
  if (known) PetscFunctionReturn(PETSC_SUCCESS);
  lanky_petsc::Events& events = lanky_petsc::events();
  PetscCall(PetscClassIdRegister("lanky", &id));
  PetscCall(PetscLogEventRegister("LankyPlan", id, &events.plan));
  PetscCall(PetscLogEventRegister("LankyUpdate", id, &events.update));
  PetscCall(PetscLogEventRegister("LankyMult", id, &events.multiply));
  PetscCall(PetscLogEventRegister("LankyExchange", id, &events.exchange));
  PetscCall(MatRegister(MATSEQAIJLANKY, lanky_petsc::create_seqaijlanky));
  PetscCall(MatRegister(MATMPIAIJLANKY, lanky_petsc::create_mpiaijlanky));
  PetscCall(MatRegisterRootName(MATAIJLANKY, MATSEQAIJLANKY, MATMPIAIJLANKY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What PETSc calls in a library of this name that it has loaded.
// NOLINTNEXTLINE(readability-identifier-naming)
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_lankypetsc(void) {
  return LankyPetscRegister();
}
