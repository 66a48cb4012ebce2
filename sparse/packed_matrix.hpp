// The packed form behind PlanMatrix: shape and launches chosen, tuned where asked for.
#pragma once

#include <memory>

#include "sparse/backend.hpp"

namespace lanky::sparse {

/// What the choice of a shape knows of op(A): its rows' facts, and what samples of columns tell.
/// Tensor cores know of no hot columns. `steps` sample: an Executor, or the CPU's PackedSteps.
template <class T, class Steps>
RowFacts facts_by(const Steps& steps, const LoadedCsr<T>& a, Path path) {
  RowFacts facts = a.facts;
  const CsrPattern pattern = a.csr.pattern();
  const ReachFacts reach = steps.reach_facts(pattern);
  facts.reach = reach.mean;
  facts.repeated = reach.repeated;
  facts.locality = locality_of(steps.column_samples(pattern));
  if (path == Path::cuda && may_have_hot_columns(facts)) {
    const std::int64_t most = hot_columns_most(kDType<T>, steps.machine());
    const HotFacts hot = steps.hot_facts(pattern, most);
    facts.hot_least = hot.least;
    facts.hot_entries = hot.entries;
  }
  return facts;
}

/// `executor` must outlive the matrix. Throws Error(out_of_memory).
template <class T, class TOut>
std::unique_ptr<PlanMatrix<T, TOut>> make_packed_matrix(const Executor<T, TOut>& executor,
                                                        const LoadedCsr<T>& a,
                                                        const SparseOptions& options,
                                                        const PathChoice& choice);

}  // namespace lanky::sparse
