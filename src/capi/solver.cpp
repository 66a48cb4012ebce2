// What the C interface's solvers share.
#include "capi/solver.hpp"

namespace lanky::capi {

static_assert(LANKY_SOLVER_STATUS_CONVERGED == int(SolverStatus::converged) &&
              LANKY_SOLVER_STATUS_ITERATIONS_EXHAUSTED == int(SolverStatus::iterations_exhausted) &&
              LANKY_SOLVER_STATUS_STAGNATED == int(SolverStatus::stagnated) &&
              LANKY_SOLVER_STATUS_STOPPED == int(SolverStatus::stopped));

namespace {

lanky_solver_progress from_progress(const SolverProgress& progress) noexcept {
  return {progress.iteration, 0,
          progress.wanted,    progress.converged,
          progress.residual,  progress.tolerance,
          progress.seconds};
}

}  // namespace

void refuse_half(DType type) {
  throw Error(ErrorCode::unsupported,
              "solvers compute in f64, f32, c64 and c128, not in " + std::string(to_string(type)));
}

DType dtype_of(const lanky_linear_operator& op) noexcept {
  return std::visit([]<class T>(const LinearOperator<T>&) { return kDType<T>; }, op.any);
}

void refuse_operator(const char* name, DType found, DType wanted) {
  throw Error(ErrorCode::invalid_argument,
              std::string(name) + " is of " + std::string(to_string(found)) + ", but " +
                  std::string(to_string(wanted)) + " is needed beside this a");
}

OnProgress to_progress(lanky_on_progress progress, void* user) {
  if (progress == nullptr) return {};
  return [progress, user](const SolverProgress& reached) {
    const lanky_solver_progress told = from_progress(reached);
    std::int32_t stop = 0;
    call_back("the caller's progress function", [&] { return progress(&told, &stop, user); });
    return stop == 0;
  };
}

std::vector<lanky_solver_progress> from_history(const std::vector<SolverProgress>& history) {
  std::vector<lanky_solver_progress> result;
  result.reserve(history.size());
  for (const SolverProgress& reached : history)
    result.push_back(from_progress(reached));
  return result;
}

}  // namespace lanky::capi
