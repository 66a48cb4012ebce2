// Prints the messages that PETSc's own scatter (PetscSF) sends in MatMult of an MPIAIJ matrix, a
// JSON line for each rank. messages.py computes the same without PETSc; a test compares them.
//
//   mpirun -n 8 lanky_petsc_scatter -points 10,9,8 -grid 2,2,2 -stencil 27
//   mpirun -n 8 lanky_petsc_scatter -file matrix.petsc
#include <petscmat.h>
#include <petscsf.h>
#include <petscviewer.h>

#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "stencil.hpp"

namespace {

using Counts = std::map<PetscInt, PetscInt>;  // rank -> vector entries

/// Roots are entries of x on their owners, leaves are ghosts. This rank receives from the owners of
/// its ghosts, and sends to the ranks whose ghosts it owns.
PetscErrorCode count(PetscSF sf, PetscInt own, Counts* receives, Counts* sends) {
  PetscInt many = 0;
  const PetscMPIInt* ranks = nullptr;
  const PetscInt *offsets = nullptr, *mine = nullptr, *remote = nullptr;
  PetscFunctionBeginUser;
  PetscCall(PetscSFGetRootRanks(sf, &many, &ranks, &offsets, &mine, &remote));
  for (PetscInt i = 0; i < many; ++i) {
    if (ranks[i] != own && offsets[i + 1] > offsets[i]) {
      (*receives)[ranks[i]] = offsets[i + 1] - offsets[i];
    }
  }
  PetscCall(PetscSFGetLeafRanks(sf, &many, &ranks, &offsets, &remote));
  for (PetscInt i = 0; i < many; ++i) {
    if (ranks[i] != own && offsets[i + 1] > offsets[i]) {
      (*sends)[ranks[i]] = offsets[i + 1] - offsets[i];
    }
  }
  PetscFunctionReturn(0);
}

std::string text(const Counts& counts) {
  std::ostringstream result;
  const char* before = "[";
  for (const auto& [rank, entries] : counts) {
    result << before << '[' << rank << ", " << entries << ']';
    before = ", ";
  }
  return counts.empty() ? "[]" : result.str() + "]";
}

PetscErrorCode nonzeros(Mat block, PetscInt* result) {
  MatInfo info{};
  PetscFunctionBeginUser;
  PetscCall(MatGetInfo(block, MAT_LOCAL, &info));
  *result = static_cast<PetscInt>(info.nz_used);
  PetscFunctionReturn(0);
}

PetscErrorCode print_messages(Mat matrix) {
  PetscMPIInt rank = 0, ranks = 1;
  PetscInt rows = 0, columns = 0, diagonal = 0, off_diagonal = 0, ghosts = 0;
  Counts receives, sends;
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(MatGetLocalSize(matrix, &rows, &columns));
  if (ranks == 1) {
    PetscCall(nonzeros(matrix, &diagonal));
  } else {
    Mat own = nullptr, other = nullptr;
    const PetscInt* ghost_columns = nullptr;  // [ghosts], global, ascending
    PetscCall(MatMPIAIJGetSeqAIJ(matrix, &own, &other, &ghost_columns));
    PetscCall(nonzeros(own, &diagonal));
    PetscCall(nonzeros(other, &off_diagonal));
    PetscCall(MatGetSize(other, nullptr, &ghosts));

    // As MatSetUpMultiply_MPIAIJ makes the scatter of MatMult, which no function hands out.
    Vec x = nullptr, y = nullptr, ghost_values = nullptr;
    IS from = nullptr, to = nullptr;
    VecScatter scatter = nullptr;  // a PetscSF
    PetscCall(MatCreateVecs(matrix, &x, &y));
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, ghosts, &ghost_values));
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, ghosts, ghost_columns, PETSC_USE_POINTER, &from));
    PetscCall(ISCreateStride(PETSC_COMM_SELF, ghosts, 0, 1, &to));
    PetscCall(VecScatterCreate(x, from, ghost_values, to, &scatter));
    PetscCall(VecScatterSetUp(scatter));
    PetscCall(count(scatter, rank, &receives, &sends));

    // A star forest made of the ghosts' columns must agree.
    PetscSF forest = nullptr;
    PetscLayout layout = nullptr;
    Counts receives_again, sends_again;
    PetscCall(MatGetLayouts(matrix, nullptr, &layout));
    PetscCall(PetscSFCreate(PETSC_COMM_WORLD, &forest));
    PetscCall(
        PetscSFSetGraphLayout(forest, layout, ghosts, nullptr, PETSC_OWN_POINTER, ghost_columns));
    PetscCall(PetscSFSetUp(forest));
    PetscCall(count(forest, rank, &receives_again, &sends_again));
    PetscCheck(receives == receives_again && sends == sends_again, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "the scatter of MatMult and the graph of its ghosts differ");

    // So must the messages that PETSc counts while it multiplies.
    PetscCall(VecSet(x, 1));
    PetscCall(MatMult(matrix, x, y));
    const PetscLogDouble sent = petsc_isend_ct, bytes = petsc_isend_len;
    PetscCall(MatMult(matrix, x, y));
    PetscInt entries = 0;
    for (const auto& [other_rank, many] : sends)
      entries += many;
    PetscCheck(petsc_isend_ct - sent == static_cast<double>(sends.size()) &&
                   petsc_isend_len - bytes == static_cast<double>(entries * sizeof(PetscScalar)),
               PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "MatMult sent %g messages of %g bytes, its scatter has %zu of %lld entries",
               petsc_isend_ct - sent, petsc_isend_len - bytes, sends.size(),
               static_cast<long long>(entries));
    PetscCall(PetscSFDestroy(&forest));
    PetscCall(VecScatterDestroy(&scatter));
    PetscCall(ISDestroy(&from));
    PetscCall(ISDestroy(&to));
    PetscCall(VecDestroy(&ghost_values));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
  }
  PetscCall(PetscSynchronizedPrintf(
      PETSC_COMM_WORLD,
      "{\"rank\": %d, \"rows\": %lld, \"ghosts\": %lld, \"diagonal_nnz\": %lld, "
      "\"off_diagonal_nnz\": %lld, \"receives\": %s, \"sends\": %s}\n",
      rank, static_cast<long long>(rows), static_cast<long long>(ghosts),
      static_cast<long long>(diagonal), static_cast<long long>(off_diagonal),
      text(receives).c_str(), text(sends).c_str()));
  PetscCall(PetscSynchronizedFlush(PETSC_COMM_WORLD, PETSC_STDOUT));
  PetscFunctionReturn(0);
}

}  // namespace

int main(int argc, char** argv) {
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  char file[PETSC_MAX_PATH_LEN] = "";
  PetscBool from_file = PETSC_FALSE;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-file", file, sizeof file, &from_file));
  Mat matrix = nullptr;
  if (from_file) {
    PetscViewer viewer = nullptr;
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_READ, &viewer));
    PetscCall(MatCreate(PETSC_COMM_WORLD, &matrix));
    PetscCall(MatSetType(matrix, MATAIJ));
    PetscCall(MatLoad(matrix, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  } else {
    lanky_scaling::Stencil stencil;
    PetscCall(lanky_scaling::read_options(&stencil));
    PetscCall(lanky_scaling::create_matrix(PETSC_COMM_WORLD, stencil, &matrix));
  }
  PetscCall(print_messages(matrix));
  PetscCall(MatDestroy(&matrix));
  PetscCall(PetscFinalize());
  return 0;
}
