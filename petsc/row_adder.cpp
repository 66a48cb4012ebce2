#include "row_adder.hpp"

namespace lanky_petsc {

RowAdder::~RowAdder() {
  static_cast<void>(PetscSFDestroy(&forest_));
}

PetscErrorCode RowAdder::set_up(const Columns& y) {
  PetscFunctionBegin;
  if (y.columns() == columns_ && y.leading() == leading_) PetscFunctionReturn(PETSC_SUCCESS);
  const auto count = static_cast<PetscInt>(rows_.size());
  PetscSFNode* entries = nullptr;
  PetscCall(PetscMalloc1(count * y.columns(), &entries));
  for (PetscInt j = 0; j < y.columns(); ++j) {
    for (PetscInt i = 0; i < count; ++i) {
      entries[i + j * count].rank = 0;
      entries[i + j * count].index = rows_[static_cast<std::size_t>(i)] + j * y.leading();
    }
  }
  const PetscInt entries_of_y = y.columns() > 0 ? y.leading() * (y.columns() - 1) + y.rows() : 0;
  PetscCall(PetscSFDestroy(&forest_));
  PetscCall(PetscSFCreate(PETSC_COMM_SELF, &forest_));
  PetscCall(PetscSFSetGraph(forest_, entries_of_y, count * y.columns(), nullptr, PETSC_OWN_POINTER,
                            entries, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(forest_));
  if (y.columns() != columns_) PetscCall(guarded([&] { z_ = std::make_unique<Beside>(); }));
  columns_ = y.columns();
  leading_ = y.leading();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RowAdder::memory(const Columns& y, Vec* z, PetscInt* rows) {
  PetscFunctionBegin;
  PetscCall(set_up(y));
  *rows = static_cast<PetscInt>(rows_.size());
  PetscCall(z_->get(y, *rows * y.columns(), z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RowAdder::add(const Columns& z, Columns* y) {
  PetscFunctionBegin;
  PetscCall(PetscSFReduceWithMemTypeBegin(forest_, MPIU_SCALAR, z.type(), z.data(), y->type(),
                                          y->data(), MPIU_SUM));
  PetscCall(PetscSFReduceEnd(forest_, MPIU_SCALAR, z.data(), y->data(), MPIU_SUM));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace lanky_petsc
