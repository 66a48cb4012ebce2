#include "columns.hpp"

namespace lanky_petsc {

PetscErrorCode Columns::open(Access access, bool on_host) {
  PetscFunctionBegin;
  access_ = access;
  plain_ = on_host;
  type_ = PETSC_MEMTYPE_HOST;
  if (vec_) {
    PetscCall(VecGetLocalSize(vec_, &rows_));
    leading_ = rows_;
    auto** reads = const_cast<const PetscScalar**>(&data_);
    if (access == Access::read) {
      PetscCall(on_host ? VecGetArrayRead(vec_, reads)
                        : VecGetArrayReadAndMemType(vec_, reads, &type_));
    } else if (access == Access::write) {
      PetscCall(on_host ? VecGetArrayWrite(vec_, &data_)
                        : VecGetArrayWriteAndMemType(vec_, &data_, &type_));
    } else {
      PetscCall(on_host ? VecGetArray(vec_, &data_) : VecGetArrayAndMemType(vec_, &data_, &type_));
    }
  } else {
    PetscCall(MatGetLocalSize(dense_, &rows_, nullptr));
    PetscCall(MatGetSize(dense_, nullptr, &columns_));
    PetscCall(MatDenseGetLDA(dense_, &leading_));
    PetscCall(on_host ? host_dense_array(dense_, access, &data_)
                      : dense_array(dense_, access, &data_, &type_));
  }
  // A lanky without CUDA multiplies on the host. Counting devices makes no context on any of them.
  if (PetscMemTypeHost(type_) || (PetscMemTypeCUDA(type_) && lanky::Device::cuda_count() > 0)) {
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(close());
  PetscCall(open(access, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Columns::close() {
  PetscFunctionBegin;
  auto** reads = const_cast<const PetscScalar**>(&data_);
  if (vec_ && plain_) {
    if (access_ == Access::read) {
      PetscCall(VecRestoreArrayRead(vec_, reads));
    } else if (access_ == Access::write) {
      PetscCall(VecRestoreArrayWrite(vec_, &data_));
    } else {
      PetscCall(VecRestoreArray(vec_, &data_));
    }
  } else if (vec_) {
    if (access_ == Access::read) {
      PetscCall(VecRestoreArrayReadAndMemType(vec_, reads));
    } else if (access_ == Access::write) {
      PetscCall(VecRestoreArrayWriteAndMemType(vec_, &data_));
    } else {
      PetscCall(VecRestoreArrayAndMemType(vec_, &data_));
    }
  } else {
    PetscCall(plain_ ? restore_host_dense_array(dense_, access_, &data_)
                     : restore_dense_array(dense_, access_, type_, &data_));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode open_together(Columns* x, Columns* y, Access access_of_y) {
  PetscFunctionBegin;
  PetscCall(x->open(Access::read));
  PetscCall(y->open(access_of_y));
  if (x->on_device() != y->on_device()) {
    Columns* stray = x->on_device() ? x : y;
    PetscCall(stray->close());
    PetscCall(stray->open(stray == x ? Access::read : access_of_y, true));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode stream_of(const Columns& columns, const lanky::Stream** stream) {
  static const lanky::Stream cpu(lanky::Device::cpu());
  static lanky::Stream gpu = cpu;
  PetscFunctionBegin;
  *stream = &cpu;
  if (columns.on_device()) {
    PetscErrorCode status = PETSC_SUCCESS;
    PetscCall(guarded([&] { status = device_stream(&gpu); }));
    PetscCall(status);
    *stream = &gpu;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace lanky_petsc
