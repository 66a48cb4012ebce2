// The plans of one sequential AIJ matrix, or block of one: made when they are first needed, and
// made or filled anew when the matrix has another pattern or other values.
#pragma once

#include <memory>
#include <vector>

#include "memory.hpp"
#include "packed_rows.hpp"

namespace lanky_petsc {

/// Which state of a matrix a plan was made from.
struct MatrixState {
  PetscObjectState pattern = -1;
  PetscObjectState values = -1;
  PetscObjectState parent = -1;  // of the distributed matrix whose block this is, where one asks
  const PetscInt* columns = nullptr;
  PetscInt nnz = -1;

  bool same_pattern(const MatrixState& other) const {
    return pattern == other.pattern && columns == other.columns && nnz == other.nnz;
  }
  bool same_values(const MatrixState& other) const {
    return values == other.values && (other.parent == -1 || parent == other.parent);
  }
};

class LocalMatrix {
 public:
  /// The streams in whose order X and Y are there.
  struct Order {
    const lanky::Stream& x;
    const lanky::Stream& y;
  };
  /// Y = op(A) X + beta Y, where A is the matrix that these plans belong to, X and Y are open on
  /// the same side, and beta is 0 or 1. In PETSc's stream.
  PetscErrorCode multiply(Mat a, lanky::Op op, const Columns& x, PetscScalar beta, Columns* y);
  /// The same of a block of a distributed matrix that has the object state `parent`.
  PetscErrorCode multiply(Mat a, lanky::Op op, const Columns& x, PetscScalar beta, Columns* y,
                          const Order& streams, PetscObjectState parent);

 private:
  struct Plan {
    lanky::Op op;
    lanky::Stream stream;
    PetscInt columns;  // that it expects
    MatrixState state;
    std::unique_ptr<PackedRows> rows;  // of a plan that has the rows with entries alone
    lanky::Buffer<Element> packed;     // what is added to these
    lanky::SparsePlan<Element> plan;
  };
  PetscErrorCode find(Mat a, lanky::Op op, const Order& streams, const Columns& x, bool adds,
                      PetscObjectState parent, Plan** plan);
  static void run(const lanky::Stream& stream, const Plan& plan, const Columns& x, PetscScalar beta,
                  const Columns& y);

  std::vector<Plan> plans_;
};

/// The plans of a matrix of type seqaijlanky.
PetscErrorCode local_matrix_of(Mat seqaijlanky, LocalMatrix** local);

/// What -log_view shows.
struct Events {
  PetscLogEvent plan = -1;      // packing a matrix
  PetscLogEvent update = -1;    // new values for a packed matrix
  PetscLogEvent multiply = -1;  // a product with a matrix, or with a block of one
  PetscLogEvent exchange = -1;  // of entries of x with other ranks
};
/// Set by LankyPetscRegister().
Events& events();

}  // namespace lanky_petsc
