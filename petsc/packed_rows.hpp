// Some rows of a column-major matrix in memory of their own, one after the other: taken out of X
// for other ranks, or added to Y where they alone were computed. PETSc's star forests do the same,
// in the order of PETSc's own stream alone and with an index for each element.
#pragma once

#include <optional>
#include <vector>

#include "columns.hpp"

namespace lanky_petsc {

class PackedRows {
 public:
  PackedRows() = default;  // none
  /// `rows` may come more than once, in any order.
  explicit PackedRows(const std::vector<PetscInt>& rows);

  PetscInt size() const { return static_cast<PetscInt>(rows_.size()); }
  /// packed = X[rows, :], in the order of `stream`, which is of the device where both are. Throws
  /// lanky::Error.
  void gather(const Columns& x, Element* packed, const lanky::Stream& stream);
  /// Y[rows, :] += packed, likewise; equal rows are added in the order in which they stand.
  void add(const Element* packed, const Columns& y, const lanky::Stream& stream);

 private:
  using Indices = std::vector<std::int64_t>;
  /// The same on a GPU.
  struct OnDevice {
    explicit OnDevice(const PackedRows& rows, const lanky::Stream& stream);
    lanky::Device device;
    lanky::Buffer<std::int64_t> rows, targets, begins, slots;
  };
  const OnDevice& on_device(const lanky::Stream& stream);

  bool repeated() const { return !targets_.empty(); }

  Indices rows_{};
  // Where rows come more than once: each of them once, ascending, and targets_[t] is
  // rows_[slots_[k]] for k from begins_[t] to begins_[t + 1].
  Indices targets_{}, begins_{}, slots_{};
  std::optional<OnDevice> on_device_;
};

}  // namespace lanky_petsc
