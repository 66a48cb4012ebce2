// The randomized range finder with power iterations (Halko, Martinsson and Tropp, SIAM Review 53,
// 2011, algorithms 4.4 and 5.1), on A^H: its range is in the space of the shorter side.
#include <algorithm>
#include <complex>
#include <limits>

#include "solvers/svd_methods.hpp"

namespace lanky::solvers {

template <class T>
SvdOutcome<T> randomized_svd(SvdWork<T>& work) {
  const SvdOptions& options = work.options;
  const std::int64_t m = work.a.rows();
  const std::int64_t n = work.a.cols();
  const std::int64_t l = std::min(options.k + options.oversampling, n);
  Basis<T> x(work, n, l);
  Basis<T> y(work, m, l);
  // Y = A X, orthonormal, and the other way round. The product is scaled in its place, which
  // combine() passes once.
  const auto scaled = [&](MatrixView<T> product) {
    if (work.scale != 1) work.work->combine(1 / work.scale, read_only(product), 0, product);
  };
  const auto back = [&] {
    const MatrixView<T> source = y.columns(0, l);
    x.clear();
    work.a.apply_adjoint(work.stream, source, x.next(l));
    scaled(x.next(l));
    x.append(l);
  };
  work.work->fill_random(options.seed, 0, y.next(l));
  back();
  int iteration = 0;
  bool wanted = true;
  while (iteration < options.power_iterations && wanted) {
    y.clear();
    work.a.apply(work.stream, x.all(), y.next(l));
    scaled(y.next(l));
    y.append(l);
    back();
    wanted = work.report(++iteration, 0, std::numeric_limits<double>::infinity());
  }
  SvdOutcome<T> outcome{projected_triplets<T>(work, x.all()), {}, SolverStatus::stopped, iteration};
  outcome.residuals = finish(work, outcome.triplets);
  const std::vector<double>& values = outcome.triplets.values;
  const std::int64_t converged = count_converged(values, outcome.residuals, work.tolerance);
  const double worst = *std::max_element(outcome.residuals.begin(), outcome.residuals.end());
  work.report(iteration, converged, values.front() > 0 ? worst / values.front() : 0);
  if (wanted) {
    outcome.status =
        converged == options.k ? SolverStatus::converged : SolverStatus::iterations_exhausted;
  }
  return outcome;
}

#define LANKY_INSTANTIATE(T) template SvdOutcome<T> randomized_svd(SvdWork<T>&);
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::solvers
