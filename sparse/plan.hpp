// What a plan of a sparse product is: op(A) in the form of its device, with a workspace and the way
// for new values of the caller's CSR.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/sparse.hpp>
#include <lanky/view.hpp>
#include <memory>

#include "core/own_workspace.hpp"
#include "sparse/backend.hpp"
#include "sparse/plan_info.hpp"
#include "sparse/plan_matrix.hpp"

namespace lanky::sparse {

template <class T, class TOut>
struct Plan {
  Stream stream;
  std::unique_ptr<const Backend<T, TOut>> backend;  // outlives the matrix
  Symmetry symmetry;                                // of A
  Op op;                                            // on A
  std::int64_t given_entries;                   // of the caller's CSR: of A, or of a triangle of it
  Buffer<std::uint32_t> entries;                // of the Arrangement; empty where not kept
  std::unique_ptr<PlanMatrix<T, TOut>> matrix;  // op(A)
  OwnWorkspace workspace;
};

/// Throws Error as the constructor of SparsePlan does.
template <class T, class TOut>
Plan<T, TOut> build_plan(const Stream& stream, const CsrView<T>& a, const SparseOptions& options);

/// given_entries values in the order of the caller's CSR, in host memory or in that of the device,
/// which the stream comes to read: as SparsePlan::update_values, and throws Error as that.
template <class T, class TOut>
void update_values(Plan<T, TOut>& plan, const Stream& stream, VectorView<const T> values);

/// Bytes of all that a plan holds on its device.
template <class T, class TOut>
std::int64_t device_bytes(const Plan<T, TOut>& plan) {
  return plan.matrix->bytes() +
         plan.entries.size() * static_cast<std::int64_t>(sizeof(std::uint32_t)) +
         plan.matrix->workspace_bytes();
}

template <class T, class TOut>
PlanInfo info_of(const Plan<T, TOut>& plan);

}  // namespace lanky::sparse
