// The kinds of cases: a plan with the products that it is tried on.
#pragma once

#include <memory>

#include "random/worker.hpp"

namespace lanky::random_cases {

/// A plan drawn at random. Its cases come in order, since values may be updated between them.
class PlanCases {
 public:
  virtual ~PlanCases() = default;
  virtual void run(std::int64_t number) = 0;
};

/// Plan number `plan`, of SparsePlan or SddmmPlan.
std::unique_ptr<PlanCases> draw_sparse(Worker& worker, std::int64_t plan);
/// And of GemmPlan.
std::unique_ptr<PlanCases> draw_dense(Worker& worker, std::int64_t plan);

/// A plan of SddmmPlan<T, TOut>, for draw_sparse().
template <class T, class TOut>
std::unique_ptr<PlanCases> draw_sampled(Worker& worker, Random& random);

}  // namespace lanky::random_cases
