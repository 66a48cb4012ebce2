// op(A) in the form that its device multiplies: the packed one of a GPU, the chunks of a CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lanky/stream.hpp>

#include "sparse/product.hpp"

namespace lanky::sparse {

struct PlanInfo;

/// What the counters of a workspace hold.
enum class Arrivals : std::uint8_t { zero, unknown };

/// A matrix with what its products need, on one device.
template <class T, class TOut>
class PlanMatrix {
 public:
  virtual ~PlanMatrix() = default;

  virtual std::int64_t rows() const noexcept = 0;
  virtual std::int64_t cols() const noexcept = 0;
  virtual std::int64_t nnz() const noexcept = 0;
  /// Of the device's memory that the matrix holds.
  virtual std::int64_t bytes() const noexcept = 0;
  /// That one product works in.
  virtual std::int64_t workspace_bytes() const noexcept = 0;

  /// Values in CSR order, in the device's memory; the stream comes to read them.
  virtual void update_values(const Stream& stream, const T* values) = 0;
  /// A product in `memory` of workspace_bytes(). Does not allocate.
  virtual void run(const Stream& stream, const ProductOperands<T, TOut>& operands,
                   std::byte* memory, Arrivals arrivals) const = 0;
  /// The same of several columns, each of which gets the bits that run() gives it or, by a second
  /// copy, others that do not depend on the columns beside it.
  virtual void run_columns(const Stream& stream, const ColumnsOperands<T, TOut>& operands,
                           std::byte* memory, Arrivals arrivals) const = 0;

  /// Whether a column of a matrix has the bits that run() gives it: not where kernels of one vector
  /// are for tensor cores, those of several for CUDA cores.
  virtual bool columns_are_vectors() const noexcept = 0;

  /// Sets what a plan tells of its matrix.
  virtual void tell(PlanInfo& info) const = 0;
};

}  // namespace lanky::sparse
