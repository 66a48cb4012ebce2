// What a plan of a sparse product is: op(A) packed on a device, with the launches that multiply it
// and the way for new values of the caller's CSR.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/sparse.hpp>
#include <lanky/view.hpp>
#include <memory>
#include <optional>

#include "sparse/backend.hpp"
#include "sparse/launch.hpp"
#include "sparse/packed.hpp"
#include "sparse/plan_info.hpp"
#include "sparse/policy.hpp"
#include "sparse/tune.hpp"

namespace lanky::sparse {

template <class T, class TOut>
struct Plan {
  Stream stream;
  std::unique_ptr<const Executor<T, TOut>> executor;
  Symmetry symmetry;              // of A
  Op op;                          // on A
  std::int64_t given_entries;     // of the caller's CSR: of A, or of a triangle of it
  Buffer<std::uint32_t> entries;  // of the Arrangement; empty where not kept
  PackedMatrix<T> packed;         // op(A)
  ShapeChoice model;              // of a shape; packed has another where it was tuned
  PathChoice choice;
  std::optional<Tuning> tuning;  // where it was asked for
  Launches launches;             // of a GPU
  Buffer<std::byte> workspace;   // partial sums, then arrivals

  const PackedHeader& header() const noexcept { return packed.header; }
};

/// What the choice of a shape knows of op(A): its rows' facts, and what samples of columns tell.
/// Tensor cores know of no hot columns.
template <class T, class TOut>
RowFacts facts_of(const Executor<T, TOut>& executor, const LoadedCsr<T>& a, SpmvPath path);

/// Throws Error as the constructor of SpmvPlan does.
template <class T, class TOut>
Plan<T, TOut> build_plan(const Stream& stream, const CsrView<T>& a, const PlanOptions& options);

/// given_entries values in the order of the caller's CSR, in host memory or in that of the device,
/// which the plan's stream comes to read: as SpmvPlan::update_values, and throws Error as that.
template <class T, class TOut>
void update_values(const Plan<T, TOut>& plan, VectorView<const T> values);

/// Bytes of a workspace: of its partial sums, and of the arrivals behind them.
template <class T>
std::int64_t partials_bytes(const PackedHeader& a) {
  return a.partials * static_cast<std::int64_t>(sizeof(Accumulator<T>));
}
template <class T>
std::int64_t workspace_bytes(const PackedHeader& a) {
  return partials_bytes<T>(a) + counters(a) * static_cast<std::int64_t>(sizeof(unsigned));
}

/// Bytes of all that a plan holds on its device.
template <class T, class TOut>
std::int64_t device_bytes(const Plan<T, TOut>& plan) {
  return plan.packed.bytes() +
         plan.entries.size() * static_cast<std::int64_t>(sizeof(std::uint32_t)) +
         workspace_bytes<T>(plan.header());
}

template <class T, class TOut>
PlanInfo info_of(const Plan<T, TOut>& plan);

}  // namespace lanky::sparse
