// What differs between the versions of PETSc and SLEPc that the plug-in is built for, 3.18 to 3.26:
// the rest of petsc/ is written for the newest one.
#pragma once

#include <petsc/private/petscimpl.h>  // PetscObjectStateGet()
#include <petscmat.h>
#include <petscsf.h>
#if defined(PETSC_HAVE_CUDA)
#include <petscdevice_cuda.h>
#endif

#include <lanky/lanky.hpp>

#if PETSC_VERSION_LT(3, 18, 0)
#error "lanky's plug-in needs PETSc 3.18 or newer"
#endif

#if PETSC_VERSION_LT(3, 19, 0)
#define PETSC_SUCCESS 0
#endif
#if PETSC_VERSION_LT(3, 24, 0)
using PetscErrorCodeFn = void(void);  // what operations and composed functions are passed as
#endif

namespace lanky_petsc {

template <class T>
PetscObject object_of(T handle) {
  return reinterpret_cast<PetscObject>(handle);
}

/// Hands `context` to `object` under `name`, which deletes it when it goes itself.
template <class T>
PetscErrorCode compose(PetscObject object, const char* name, T* context) {
  PetscContainer container = nullptr;
  PetscFunctionBegin;
  PetscCall(PetscContainerCreate(PetscObjectComm(object), &container));
  PetscCall(PetscContainerSetPointer(container, context));
#if PETSC_VERSION_LT(3, 23, 0)
  PetscCall(PetscContainerSetUserDestroy(container, [](void* held) -> PetscErrorCode {
    delete static_cast<T*>(held);
    return PETSC_SUCCESS;
  }));
#else
  // The parameter is a void** by its meaning, and either that or a void* by its type.
  PetscCall(PetscContainerSetCtxDestroy(container, [](auto slot) -> PetscErrorCode {
    auto** held = reinterpret_cast<void**>(slot);
    delete static_cast<T*>(*held);
    *held = nullptr;
    return PETSC_SUCCESS;
  }));
#endif
  PetscCall(PetscObjectCompose(object, name, object_of(container)));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What compose() has handed over; null where there is none.
template <class T>
PetscErrorCode composed(PetscObject object, const char* name, T** context) {
  PetscObject found = nullptr;
  PetscFunctionBegin;
  *context = nullptr;
  PetscCall(PetscObjectQuery(object, name, &found));
  if (found) {
    void* held = nullptr;
    PetscCall(PetscContainerGetPointer(reinterpret_cast<PetscContainer>(found), &held));
    *context = static_cast<T*>(held);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class F>
PetscErrorCode set_operation(Mat mat, MatOperation operation, F* function) {
  return MatSetOperation(mat, operation, reinterpret_cast<PetscErrorCodeFn*>(function));
}

template <class F>
PetscErrorCode get_operation(Mat mat, MatOperation operation, F** function) {
  PetscErrorCodeFn* found = nullptr;
  PetscFunctionBegin;
  PetscCall(MatGetOperation(mat, operation, &found));
  *function = reinterpret_cast<F*>(found);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The stream that PETSc computes by at present on its CUDA device.
inline PetscErrorCode device_stream(lanky::Stream* stream) {
  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  PetscDeviceContext context = nullptr;
  PetscDevice device = nullptr;
  PetscInt index = 0;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextGetDevice(context, &device));
  PetscCall(PetscDeviceGetDeviceId(device, &index));
#if PETSC_VERSION_LT(3, 20, 0)
  cudaStream_t native = PetscDefaultCudaStream;
#else
  void* handle = nullptr;
  PetscCall(PetscDeviceContextGetStreamHandle(context, &handle));
  cudaStream_t native = *static_cast<cudaStream_t*>(handle);
#endif
  const auto device_index = static_cast<int>(index);
  if (stream->native() != native || !stream->device().is_cuda() ||
      stream->device().index() != device_index) {
    *stream = lanky::Stream::wrap(native, lanky::Device::cuda(device_index));
  }
#else
  *stream = lanky::Stream(lanky::Device::cpu());
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Copies `columns` columns of `rows` elements, leading dimensions apart, in the order of PETSc's
/// stream on a device, at once on the host.
inline PetscErrorCode copy_columns(bool on_device, PetscInt rows, PetscInt columns,
                                   const PetscScalar* from, PetscInt from_leading, PetscScalar* to,
                                   PetscInt to_leading) {
  PetscFunctionBegin;
  if (rows == 0 || columns == 0) PetscFunctionReturn(PETSC_SUCCESS);
  constexpr std::size_t kSize = sizeof(PetscScalar);
  const auto height = static_cast<std::size_t>(rows);
#if defined(PETSC_HAVE_CUDA)
  if (on_device) {
    lanky::Stream stream(lanky::Device::cpu());
    PetscCall(device_stream(&stream));
    PetscCallCUDA(cudaMemcpy2DAsync(to, static_cast<std::size_t>(to_leading) * kSize, from,
                                    static_cast<std::size_t>(from_leading) * kSize, height * kSize,
                                    static_cast<std::size_t>(columns), cudaMemcpyDeviceToDevice,
                                    stream.native()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  (void)on_device;
  for (PetscInt j = 0; j < columns; ++j) {
    const std::ptrdiff_t column = j;  // the product may pass the end of a PetscInt
    PetscCall(PetscMemcpy(to + column * to_leading, from + column * from_leading, height * kSize));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// How PetscSF counts ranks: in PetscInt in older versions, in PetscMPIInt in newer ones.
template <class Count, class... Rest>
Count type_of_count(PetscErrorCode (*)(PetscSF, Count*, Rest...));
using SfCount = decltype(type_of_count(&PetscSFGetLeafRanks));

enum class Access { read, write, read_write };

/// The array of a dense matrix (of its local rows) in host memory.
inline PetscErrorCode host_dense_array(Mat dense, Access access, PetscScalar** data) {
  PetscFunctionBegin;
  if (access == Access::read) {
    PetscCall(MatDenseGetArrayRead(dense, const_cast<const PetscScalar**>(data)));
  } else if (access == Access::write) {
    PetscCall(MatDenseGetArrayWrite(dense, data));
  } else {
    PetscCall(MatDenseGetArray(dense, data));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode restore_host_dense_array(Mat dense, Access access, PetscScalar** data) {
  PetscFunctionBegin;
  if (access == Access::read) {
    PetscCall(MatDenseRestoreArrayRead(dense, const_cast<const PetscScalar**>(data)));
  } else if (access == Access::write) {
    PetscCall(MatDenseRestoreArrayWrite(dense, data));
  } else {
    PetscCall(MatDenseRestoreArray(dense, data));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same where its newest values are.
inline PetscErrorCode dense_array(Mat dense, Access access, PetscScalar** data,
                                  PetscMemType* type) {
  PetscFunctionBegin;
#if PETSC_VERSION_LT(3, 19, 0)
  *type = PETSC_MEMTYPE_HOST;
#if defined(PETSC_HAVE_CUDA)
  PetscBool cuda = PETSC_FALSE;
  PetscCall(
      PetscObjectTypeCompareAny(object_of(dense), &cuda, MATSEQDENSECUDA, MATMPIDENSECUDA, ""));
  if (cuda) {
    *type = PETSC_MEMTYPE_CUDA;
    if (access == Access::read) {
      PetscCall(MatDenseCUDAGetArrayRead(dense, const_cast<const PetscScalar**>(data)));
    } else if (access == Access::write) {
      PetscCall(MatDenseCUDAGetArrayWrite(dense, data));
    } else {
      PetscCall(MatDenseCUDAGetArray(dense, data));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(host_dense_array(dense, access, data));
#else
  if (access == Access::read) {
    PetscCall(MatDenseGetArrayReadAndMemType(dense, const_cast<const PetscScalar**>(data), type));
  } else if (access == Access::write) {
    PetscCall(MatDenseGetArrayWriteAndMemType(dense, data, type));
  } else {
    PetscCall(MatDenseGetArrayAndMemType(dense, data, type));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode restore_dense_array(Mat dense, Access access, PetscMemType type,
                                          PetscScalar** data) {
  PetscFunctionBegin;
#if PETSC_VERSION_LT(3, 19, 0)
#if defined(PETSC_HAVE_CUDA)
  if (PetscMemTypeDevice(type)) {
    if (access == Access::read) {
      PetscCall(MatDenseCUDARestoreArrayRead(dense, const_cast<const PetscScalar**>(data)));
    } else if (access == Access::write) {
      PetscCall(MatDenseCUDARestoreArrayWrite(dense, data));
    } else {
      PetscCall(MatDenseCUDARestoreArray(dense, data));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  (void)type;
  PetscCall(restore_host_dense_array(dense, access, data));
#else
  (void)type;
  if (access == Access::read) {
    PetscCall(MatDenseRestoreArrayReadAndMemType(dense, const_cast<const PetscScalar**>(data)));
  } else if (access == Access::write) {
    PetscCall(MatDenseRestoreArrayWriteAndMemType(dense, data));
  } else {
    PetscCall(MatDenseRestoreArrayAndMemType(dense, data));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace lanky_petsc
