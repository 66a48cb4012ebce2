// lanky eigs: a few eigenpairs at one end of the spectrum of a matrix, or of a pencil.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <lanky/eigensolver.hpp>
#include <lanky/error.hpp>
#include <lanky/solver.hpp>
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

struct EigsOptions : SolverOptions {
  std::int64_t k = 6;
  std::string end = "smallest";
  std::string b;
  std::int64_t block = 0;
  int degree = -1;
  bool mixed = false;
  std::string vectors;
};

template <class T>
CsrMatrix<T> read_b(const EigsOptions& o, std::int64_t rows) {
  CsrMatrix<T> b;
  if (o.b.empty()) return b;
  Source source;
  source.place = o.b;
  b = read_values<T>(source);
  if (b.rows != rows || b.cols != rows) {
    throw Error(ErrorCode::unsupported, o.b + ": has " + std::to_string(b.rows) + " rows and " +
                                            std::to_string(b.cols) + " columns; the matrix has " +
                                            std::to_string(rows) + " of each");
  }
  require_self_adjoint(b, o.b);
  return b;
}

template <class T>
int eigs(const EigsOptions& o, const Source& source) {
  Clock clock;
  const CsrMatrix<T> a = solver_matrix<T>(o, source);
  require_self_adjoint(a, source.place);
  if (o.k > a.rows) {
    throw Error(ErrorCode::invalid_argument, "-k " + std::to_string(o.k) + ": the matrix has " +
                                                 std::to_string(a.rows) +
                                                 " rows, and no more eigenpairs");
  }
  const CsrMatrix<T> b = read_b<T>(o, a.rows);
  SolverOutcome outcome{.method = "lobpcg", .what = "eigenpairs"};
  outcome.read_seconds = clock.lap();

  const Stream stream(device_of(o.device));
  SolverReport report(o, "eigs", stream.device());
  const SolverSubject subject{.source = &source,
                              .rows = a.rows,
                              .cols = a.cols,
                              .nnz = a.nnz(),
                              .dtype = kDType<T>,
                              .values = values_text(o, source)};
  report.begin(subject);
  clock.lap();
  EigenOptions options{.k = o.k, .tolerance = o.tolerance, .block_size = o.block};
  const std::int64_t columns = options.columns();
  double product_seconds = 0;
  const EigenResult<T> result = of_matrix(source.place, [&] {
    EigenProblem<T> problem{
        .a = timed(stream, make_operator(stream, a.view(), columns), product_seconds)};
    if (!o.b.empty()) problem.b = make_operator(stream, b.view(), columns);
    if (o.mixed) {
      problem.a_single = make_single_operator(stream, a.view(), columns);
    }
    problem.preconditioner = make_preconditioner(stream, a, preconditioner_block(o.preconditioner));
    stream.synchronize();
    outcome.setup_seconds = clock.lap();
    SolverWatch watch("eigs of " + source.shown());
    options.end = o.end == "largest" ? EigenEnd::largest : EigenEnd::smallest;
    if (o.max_iterations > 0) options.max_iterations = o.max_iterations;
    options.polynomial_degree = o.degree;
    options.seed = o.seed;
    options.progress = watch.on_progress();
    EigenResult<T> found = lobpcg(stream, problem, options);
    outcome.seconds = clock.lap();
    return found;
  });
  if (!stream.device().is_cuda()) outcome.product_seconds = product_seconds;
  record_result(outcome, result, o.k);
  outcome.tolerance = tolerance_or_default<T>(o.tolerance);
  outcome.columns = {{"eigenvalue", "values", result.values, true},
                     {"residual", "residuals", result.residuals},
                     {"bound", "bounds", result.bounds}};
  outcome.residual_axis =
      o.b.empty() ? "largest |A x - λ x| / |λ x|" : "largest |A x - λ B x| / |λ x|";
  outcome.more = {
      {"end", o.end}, {"b", o.b}, {"block", o.block}, {"mixed", o.mixed}, {"norm", result.norm}};
  const int code = report.end(subject, outcome);
  if (!o.vectors.empty()) write_dense(o.vectors, a.rows, o.k, result.vectors.buffer().to_host());
  return code;
}

int run_eigs(const EigsOptions& o) {
  check_dense_name("--vectors", o.vectors);
  check_solver_options(o, "eigs", {o.vectors}, {o.b});
  if (o.mixed && (!o.b.empty() || preconditioner_block(o.preconditioner) > 0)) {
    throw Error(ErrorCode::invalid_argument,
                "--mixed is for the polynomial, which --b and --preconditioner take the place of");
  }
  if (o.block != 0 && o.block < o.k) {
    throw Error(ErrorCode::invalid_argument, "--block " + std::to_string(o.block) + ": -k " +
                                                 std::to_string(o.k) +
                                                 " eigenpairs need at least as many vectors");
  }
  device_of(o.device);  // before a large file is read
  const Source source = solver_source(o);
  return visit_solver_dtype(solver_dtype(o, source, {o.b}),
                            [&]<class T>(std::type_identity<T>) { return eigs<T>(o, source); });
}

constexpr char kEigsAbout[] =
    "Eigenpairs by LOBPCG, with the values of the file; entries of a pattern are 1. The matrix is\n"
    "symmetric or Hermitian, and so is that of --b, which is also positive definite.\n"
    "\n"
    "residual  |A x - lambda x| / |x|, computed anew at the end\n"
    "bound     A has an eigenvalue no farther than this from the one told (not known with --b)\n"
    "\n"
    "A terminal shows the residual that must fall to the tolerance, and when that will be if its\n"
    "logarithm falls as it did in the later half of the iterations (at most 400). Ctrl-C ends the\n"
    "iteration: the best so far is printed and written, and the exit code is 130. It is 1 where\n"
    "eigenpairs have not converged.\n\n";

}  // namespace

void add_eigs(CLI::App& app, Action& action, int argc, char** argv) {
  CLI::App& command = *app.add_subcommand("eigs", "A few eigenpairs of a symmetric matrix");
  const auto options = std::make_shared<EigsOptions>();
  EigsOptions& o = *options;
  add_solver_options(command, o, argc, argv);
  add_wanted(command, o.k, "eigenpairs");
  command.add_option("--end", o.end, "of the spectrum: smallest or largest, algebraically")
      ->check(CLI::IsMember({"smallest", "largest"}), "")
      ->capture_default_str();
  command.add_option("--b", o.b, "the matrix B of A x = lambda B x")->type_name("FILE");
  command.add_flag("--laplacian", o.laplacian,
                   "of the graph that the pattern is: degrees minus adjacency");
  add_preconditioner(command, o);
  command.add_option("--block", o.block, "vectors iterated at once (default: k and a few more)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20));
  command
      .add_option("--degree", o.degree,
                  "products with A that precondition an iteration, 0 for none (default: by their "
                  "cost)")
      ->check(CLI::Range(0, 100));
  command.add_flag(
      "--mixed", o.mixed,
      "these products in single precision, all else in double; twice the memory for A");
  command
      .add_option("--vectors", o.vectors,
                  "write the eigenvectors as columns of a dense matrix, NAME.mtx or NAME.npy")
      ->type_name("FILE");
  command.footer(kEigsAbout + command.get_footer());
  command.callback([options, &action] { action = [options] { return run_eigs(*options); }; });
}

}  // namespace lanky::cli
