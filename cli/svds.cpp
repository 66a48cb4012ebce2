// lanky svds: the largest singular triplets of a matrix, or principal components of its rows.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <lanky/error.hpp>
#include <lanky/linear_operator.hpp>
#include <lanky/svd.hpp>
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "cli/dense_file.hpp"
#include "cli/device.hpp"
#include "cli/solver_matrix.hpp"
#include "cli/solver_options.hpp"
#include "cli/solver_report.hpp"
#include "cli/solver_run.hpp"
#include "cli/solver_watch.hpp"

namespace lanky::cli {

namespace {

struct SvdsOptions : SolverOptions {
  SvdOptions svd;
  std::string method = "golub-kahan";
  std::string u;
  std::string v;

  bool is_randomized() const { return method == "randomized"; }
};

template <class T>
int svds_of(const SvdsOptions& o, const Source& source) {
  Clock clock;
  const CsrMatrix<T> a = solver_matrix<T>(o, source);
  SolverOutcome outcome{.method = o.method, .what = "singular triplets"};
  outcome.read_seconds = clock.lap();
  const std::int64_t most = std::min(a.rows, a.cols);
  if (o.svd.k > most) {
    throw Error(ErrorCode::invalid_argument, "-k " + std::to_string(o.svd.k) + ": a matrix of " +
                                                 std::to_string(a.rows) + " rows and " +
                                                 std::to_string(a.cols) + " columns has " +
                                                 std::to_string(most) + " singular values");
  }
  const Stream stream(device_of(o.device));
  SolverReport report(o, "svds", stream.device());
  const SolverSubject subject{
      .source = &source,
      .rows = a.rows,
      .cols = a.cols,
      .nnz = a.nnz(),
      .dtype = kDType<T>,
      .values = values_text(o, source) + (o.svd.center ? ", centered" : "")};
  report.begin(subject);
  clock.lap();
  double product_seconds = 0;
  const SvdResult<T> result = of_matrix(source.place, [&] {
    const std::int64_t columns = o.svd.k + o.svd.oversampling;
    const LinearOperator<T> op =
        timed(stream, make_operator_with_adjoint(stream, a.view(), columns), product_seconds);
    stream.synchronize();
    outcome.setup_seconds = clock.lap();
    SolverWatch watch("svds of " + source.shown());
    SvdOptions options = o.svd;
    options.method = o.is_randomized() ? SvdMethod::randomized : SvdMethod::golub_kahan;
    options.tolerance = o.tolerance;
    if (o.max_iterations > 0) options.max_iterations = o.max_iterations;
    options.seed = o.seed;
    options.progress = watch.on_progress();
    SvdResult<T> found = svds(stream, op, options);
    outcome.seconds = clock.lap();
    return found;
  });
  if (!stream.device().is_cuda()) outcome.product_seconds = product_seconds;
  record_result(outcome, result, o.svd.k);
  outcome.tolerance = o.is_randomized() ? 0 : tolerance_or_default<T>(o.tolerance);
  outcome.columns = {{"singular value", "values", result.values, true},
                     {"residual", "residuals", result.residuals}};
  outcome.residual_axis = "largest residual over the largest singular value";
  outcome.more = {{"center", o.svd.center},
                  {"oversampling", o.svd.oversampling},
                  {"power_iterations", o.svd.power_iterations}};
  const int code = report.end(subject, outcome);
  if (!o.u.empty()) write_dense(o.u, a.rows, o.svd.k, result.u.buffer().to_host());
  if (!o.v.empty()) write_dense(o.v, a.cols, o.svd.k, result.v.buffer().to_host());
  return code;
}

int run_svds(const SvdsOptions& o) {
  check_dense_name("--u", o.u);
  check_dense_name("--v", o.v);
  check_solver_options(o, "svds", {o.u, o.v}, {});
  if (o.is_randomized() && (o.tolerance > 0 || o.max_iterations > 0)) {
    throw Error(ErrorCode::invalid_argument,
                "--method randomized takes --power-iterations, and no --tolerance or "
                "--max-iterations");
  }
  device_of(o.device);  // before a large file is read
  const Source source = solver_source(o);
  return visit_solver_dtype(solver_dtype(o, source, {}),
                            [&]<class T>(std::type_identity<T>) { return svds_of<T>(o, source); });
}

constexpr char kSvdsAbout[] =
    "The largest singular triplets A v = s u, with the values of the file; entries of a pattern "
    "are\n"
    "1. golub-kahan iterates until the tolerance is reached, randomized takes a fixed number of\n"
    "products, and its residuals tell how near it came.\n"
    "\n"
    "residual  max(|A v - s u|, |A^H u - s v|), computed anew at the end: A has a singular value "
    "no\n"
    "          farther than this from the one told\n"
    "\n"
    "Ctrl-C ends the iteration: the best so far is printed and written, and the exit code is 130. "
    "It\n"
    "is 1 where triplets have not converged.\n\n";

}  // namespace

void add_svds(CLI::App& app, Action& action, int argc, char** argv) {
  CLI::App& command = *app.add_subcommand("svds", "The largest singular triplets of a matrix");
  const auto options = std::make_shared<SvdsOptions>();
  SvdsOptions& o = *options;
  add_solver_options(command, o, argc, argv);
  add_wanted(command, o.svd.k, "singular triplets");
  command.add_option("--method", o.method, "golub-kahan or randomized")
      ->check(CLI::IsMember({"golub-kahan", "randomized"}), "")
      ->capture_default_str();
  command.add_flag("--center", o.svd.center,
                   "of the columns less their means: principal components of the rows");
  command.add_option("--oversampling", o.svd.oversampling, "vectors beside the k")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  command.add_option("--power-iterations", o.svd.power_iterations, "of the randomized method")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  command.add_option("--u", o.u, "write the left singular vectors, NAME.mtx or NAME.npy")
      ->type_name("FILE");
  command.add_option("--v", o.v, "write the right singular vectors likewise")->type_name("FILE");
  command.footer(kSvdsAbout + command.get_footer());
  command.callback([options, &action] { action = [options] { return run_svds(*options); }; });
}

}  // namespace lanky::cli
