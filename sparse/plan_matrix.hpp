// What a plan multiplies by: op(A), packed on the stream's device, with the way for new values of
// A.
#pragma once

#include <lanky/buffer.hpp>
#include <lanky/sparse.hpp>
#include <lanky/view.hpp>

#include "sparse/packed.hpp"

namespace lanky::sparse {

template <class T>
class PlanMatrix {
 public:
  /// Throws Error as the constructor of SpmvPlan does.
  PlanMatrix(const Stream& stream, const CsrView<T>& a, const PlanOptions& options);

  const PackedHeader& header() const noexcept { return packed_.header; }
  PackedView<T> view() const { return packed_.view(); }
  Op op() const noexcept { return op_; }
  std::int64_t bytes() const;

  /// Values in the CSR order of A, as many as it has entries, in host memory or in that of the
  /// device. Waits for the stream. Throws Error as SpmvPlan::update_values does.
  void update_values(VectorView<const T> values);

 private:
  PackedMatrix<T> packed_on(const Stream& stream, const CsrView<T>& a, const PlanOptions& options);
  template <class Checked, class Transpose, class Pack>
  PackedMatrix<T> packed(const Stream& stream, const Checked& a, const PlanOptions& options,
                         Transpose transpose, Pack pack);

  Op op_;
  Buffer<std::uint32_t> entries_;  // [nnz] A's entry of each of op(A); empty where not kept
  PackedMatrix<T> packed_;
};

}  // namespace lanky::sparse
