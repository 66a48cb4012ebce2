// What a plan multiplies by: op(A), packed on the stream's device, with the way for new values of
// the caller's CSR.
#pragma once

#include <functional>
#include <lanky/buffer.hpp>
#include <lanky/sparse.hpp>
#include <lanky/view.hpp>

#include "sparse/backend.hpp"
#include "sparse/packed.hpp"

namespace lanky::sparse {

/// Packs op(A) on the device where it is.
template <class T>
using Packer = std::function<PackedMatrix<T>(const Csr<T>& a, const RowFacts& facts)>;

/// Packs in the shape that choose_shape() tells for products by `path`: tensor cores know of no hot
/// columns.
template <class T>
PackedMatrix<T> pack_by_model(const Stream& stream, const Csr<T>& a, RowFacts facts, SpmvPath path,
                              Allocator* allocator);

template <class T>
class PlanMatrix {
 public:
  /// Throws Error as the constructor of SpmvPlan does.
  PlanMatrix(const Stream& stream, const CsrView<T>& a, const PlanOptions& options,
             const Packer<T>& pack);

  const PackedHeader& header() const noexcept { return packed_.header; }
  PackedView<T> view() const { return packed_.view(); }
  Op op() const noexcept { return op_; }
  Symmetry symmetry() const noexcept { return symmetry_; }
  /// Entries of the caller's CSR: of A, or of a triangle of it.
  std::int64_t given_entries() const noexcept { return given_entries_; }
  std::int64_t bytes() const;

  /// given_entries() values in the order of the caller's CSR, in host memory or in that of the
  /// device, which the stream comes to read: as SpmvPlan::update_values, and throws Error as that.
  void update_values(VectorView<const T> values);

 private:
  /// Whether entries of op(A) stand in another order than the caller's, or are more.
  bool rearranged() const noexcept { return symmetry_ != Symmetry::general || op_ != Op::none; }
  PackedMatrix<T> packed_on(const Stream& stream, const CsrView<T>& a, const PlanOptions& options,
                            const Packer<T>& pack);
  PackedMatrix<T> packed(const Stream& stream, const Csr<T>& a, const RowFacts& facts,
                         const PlanOptions& options, const Packer<T>& pack);
  Arrangement arrange(const Stream& stream, const CsrPattern& a, const PlanOptions& options) const;
  /// Values of op(A), in the order of entries_, from the caller's on the device.
  Buffer<T> gathered(const Stream& stream, const T* values) const;

  Symmetry symmetry_;
  Op op_;
  std::int64_t given_entries_;
  Buffer<std::uint32_t> entries_;  // of the Arrangement; empty where not kept
  PackedMatrix<T> packed_;
};

}  // namespace lanky::sparse
