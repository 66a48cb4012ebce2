// Vectors and dense matrices of PETSc as what lanky multiplies: n x c columns, on the host or on a
// GPU. A vector is one column, so that one path serves MatMult and MatMatMult.
#pragma once

#include "compat.hpp"

namespace lanky_petsc {

static_assert(sizeof(PetscScalar) == sizeof(PetscReal) * (PetscDefined(USE_COMPLEX) ? 2 : 1) &&
                  (sizeof(PetscReal) == 4 || sizeof(PetscReal) == 8),
              "lanky multiplies in single and in double precision");
using Real = std::conditional_t<sizeof(PetscReal) == 8, double, float>;
using Element = std::conditional_t<PetscDefined(USE_COMPLEX), std::complex<Real>, Real>;

inline const Element* elements(const PetscScalar* data) {
  return reinterpret_cast<const Element*>(data);
}
inline Element* elements(PetscScalar* data) {
  return reinterpret_cast<Element*>(data);
}
/// A scalar as lanky takes it for alpha and beta.
inline Element element(PetscScalar value) {
  return *elements(&value);
}

/// Runs `work`, which throws lanky::Error; an error becomes one of PETSc, with lanky's message.
template <class F>
PetscErrorCode guarded(F&& work) {
  PetscFunctionBegin;
  try {
    work();
  } catch (const lanky::Error& error) {
    PetscErrorCode code = PETSC_ERR_LIB;
    switch (error.code()) {
      case lanky::ErrorCode::invalid_argument:
        code = PETSC_ERR_ARG_WRONG;
        break;
      case lanky::ErrorCode::size_mismatch:
        code = PETSC_ERR_ARG_SIZ;
        break;
      case lanky::ErrorCode::out_of_memory:
        code = PETSC_ERR_MEM;
        break;
      case lanky::ErrorCode::unsupported:
        code = PETSC_ERR_SUP;
        break;
      case lanky::ErrorCode::no_device:
      case lanky::ErrorCode::device:
        code = PETSC_ERR_GPU;
        break;
      default:
        break;
    }
    SETERRQ(PETSC_COMM_SELF, code, "lanky: %s", error.what());
  } catch (const std::bad_alloc&) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "lanky: the host is out of memory");
  } catch (const std::exception& error) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "lanky: %s", error.what());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The columns of a Vec, or those of the rows of a dense Mat that this rank has.
class Columns {
 public:
  explicit Columns(Vec vec) : vec_(vec) {}
  explicit Columns(Mat dense) : dense_(dense) {}
  /// Memory of the plug-in's own that holds `columns` columns by rows; always open.
  Columns(Element* data, PetscMemType type, PetscInt rows, PetscInt columns)
      : type_(type),
        data_(reinterpret_cast<PetscScalar*>(data)),
        rows_(rows),
        columns_(columns),
        leading_(columns),
        layout_(lanky::Layout::row) {}

  /// Takes the array, where its newest values are or, with `on_host`, in host memory.
  PetscErrorCode open(Access access, bool on_host = false);
  PetscErrorCode close();

  bool on_device() const { return PetscMemTypeCUDA(type_); }
  PetscMemType type() const { return type_; }
  PetscScalar* data() const { return data_; }
  PetscInt rows() const { return rows_; }
  PetscInt columns() const { return columns_; }
  PetscInt leading() const { return leading_; }
  lanky::Layout layout() const { return layout_; }
  lanky::MatrixView<Element> view() const {
    return {elements(data_), rows_, columns_, leading_, layout_};
  }

 private:
  Vec vec_ = nullptr;
  Mat dense_ = nullptr;
  Access access_ = Access::read;
  bool plain_ = false;  // taken by the calls that give host memory
  PetscMemType type_ = PETSC_MEMTYPE_HOST;
  PetscScalar* data_ = nullptr;
  PetscInt rows_ = 0;
  PetscInt columns_ = 1;
  PetscInt leading_ = 0;
  lanky::Layout layout_ = lanky::Layout::col;
};

/// Opens both on the same side: on the GPU where both are there, else on the host.
PetscErrorCode open_together(Columns* x, Columns* y, Access access_of_y);

/// The stream of the device where `columns` are: PETSc's own on a GPU.
PetscErrorCode stream_of(const Columns& columns, const lanky::Stream** stream);

}  // namespace lanky_petsc
