// Y[rows, :] += Z, for products whose A has entries in few of its rows, as the off-diagonal block
// of a distributed matrix: what is added up is made for these rows alone, and no others of Y are
// touched.
#pragma once

#include <petscsf.h>

#include <vector>

#include "columns.hpp"

namespace lanky_petsc {

class RowAdder {
 public:
  explicit RowAdder(std::vector<PetscInt> rows) : rows_(std::move(rows)) {}
  RowAdder(const RowAdder&) = delete;
  RowAdder& operator=(const RowAdder&) = delete;
  ~RowAdder();

  /// Columns of as many rows in the memory where Y is, to be opened and written.
  PetscErrorCode memory(const Columns& y, Vec* z, PetscInt* rows);
  /// Y[rows, :] += Z, of columns that are open; in the order of PETSc's stream.
  PetscErrorCode add(const Columns& z, Columns* y);

 private:
  /// What depends on the number of columns and on Y's leading dimension.
  PetscErrorCode set_up(const Columns& y);

  std::vector<PetscInt> rows_;
  PetscInt columns_ = -1;
  PetscInt leading_ = -1;
  PetscSF forest_ = nullptr;  // from entries of Z to those of Y
  std::unique_ptr<Beside> z_;
};

}  // namespace lanky_petsc
