// lanky solve: A x = b for a symmetric or Hermitian matrix and one or several right-hand sides.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/error.hpp>
#include <lanky/linear_solver.hpp>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench/cases/random.hpp"
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

constexpr std::string_view kRandom = "random";
constexpr std::int64_t kMostRandom = 4096;

struct SolveOptions : SolverOptions {
  std::string method = "cg";
  std::string rhs = "ones";
  std::string x;

  /// Right-hand sides that are drawn; 0: none are.
  std::int64_t drawn() const {
    if (rhs == kRandom) return 1;
    const std::string_view text = rhs;
    if (!text.starts_with("random:")) return 0;
    std::int64_t count = 0;
    const std::string_view digits = text.substr(kRandom.size() + 1);
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, count);
    if (error == std::errc() && stop == end && count >= 1 && count <= kMostRandom) return count;
    throw Error(ErrorCode::invalid_argument, "--rhs " + rhs + ": 1 to " +
                                                 std::to_string(kMostRandom) +
                                                 " random right-hand sides are possible");
  }
  /// The file of right-hand sides; "" where there is none.
  std::string rhs_file() const { return rhs == "ones" || drawn() > 0 ? "" : rhs; }
};

/// Elements of (-1, 1), each component of complex ones, that depend on the seed alone.
template <class T>
std::vector<T> random_elements(std::size_t count, std::uint64_t seed) {
  const auto component = [&](std::size_t at) {
    using Real = decltype(std::real(T()));
    return static_cast<Real>(bench::element(bench::Fill::random, seed,
                                            static_cast<std::int64_t>(at),
                                            std::numeric_limits<Real>::digits));
  };
  std::vector<T> elements(count);
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      elements[i] = component(i);
    } else {
      elements[i] = {component(2 * i), component(2 * i + 1)};
    }
  }
  return elements;
}

/// [rows, cols] by rows.
template <class T>
std::vector<T> right_hand_sides(const SolveOptions& o, std::int64_t rows, std::int64_t& cols) {
  const std::string file = o.rhs_file();
  if (!file.empty()) return read_dense<T>(file, rows, cols);
  cols = std::max<std::int64_t>(1, o.drawn());
  const auto count = static_cast<std::size_t>(rows * cols);
  return o.drawn() > 0 ? random_elements<T>(count, o.seed) : std::vector<T>(count, T(1));
}

template <class T>
LinearResult solved(const SolveOptions& o, const Stream& stream, const LinearOperator<T>& a,
                    MatrixView<const T> b, MatrixView<T> x, const LinearOptions& options,
                    const LinearOperator<T>& preconditioner) {
  if (o.method == "block-cg") return block_cg<T>(stream, a, b, x, options, preconditioner);
  if (o.method == "minres") return minres<T>(stream, a, b, x, options, preconditioner);
  return cg<T>(stream, a, b, x, options, preconditioner);
}

template <class T>
int solve(const SolveOptions& o, const Source& source) {
  Clock clock;
  const CsrMatrix<T> a = solver_matrix<T>(o, source);
  require_self_adjoint(a, source.place);
  std::int64_t columns = 0;
  const std::vector<T> sides = right_hand_sides<T>(o, a.rows, columns);
  SolverOutcome outcome{.method = o.method, .what = "right-hand sides"};
  outcome.read_seconds = clock.lap();

  const Stream stream(device_of(o.device));
  SolverReport report(o, "solve", stream.device());
  const SolverSubject subject{.source = &source,
                              .rows = a.rows,
                              .cols = a.cols,
                              .nnz = a.nnz(),
                              .dtype = kDType<T>,
                              .values = values_text(o, source)};
  report.begin(subject);
  clock.lap();
  Matrix<T> b(stream, a.rows, columns, Layout::row);
  Matrix<T> x(stream, a.rows, columns, Layout::row);
  b.buffer().copy_from(sides);
  x.buffer().fill_zero();
  double product_seconds = 0;
  const LinearResult result = of_matrix(source.place, [&] {
    const LinearOperator<T> op =
        timed(stream, make_operator(stream, a.view(), columns), product_seconds);
    const LinearOperator<T> preconditioner =
        make_preconditioner(stream, a, preconditioner_block(o.preconditioner));
    stream.synchronize();
    outcome.setup_seconds = clock.lap();
    SolverWatch watch("solve of " + source.shown());
    LinearOptions options{.tolerance = o.tolerance};
    options.max_iterations = o.max_iterations;
    options.progress = watch.on_progress();
    const LinearResult found =
        solved<T>(o, stream, op, std::as_const(b).view(), x.view(), options, preconditioner);
    outcome.seconds = clock.lap();
    return found;
  });
  if (!stream.device().is_cuda()) outcome.product_seconds = product_seconds;
  record_result(outcome, result, columns);
  outcome.tolerance = tolerance_or_default<T>(o.tolerance);
  outcome.columns = {{"|b - A x| / |b|", "residuals", result.residuals}};
  outcome.residual_axis = "largest |b - A x| / |b|";
  outcome.more = {{"rhs", o.rhs}};
  const int code = report.end(subject, outcome);
  if (!o.x.empty()) write_dense(o.x, a.rows, columns, x.buffer().to_host());
  return code;
}

int run_solve(const SolveOptions& o) {
  check_dense_name("--x", o.x);
  check_solver_options(o, "solve", {o.x}, {o.rhs_file()});
  device_of(o.device);  // before a large file is read
  const Source source = solver_source(o);
  return visit_solver_dtype(solver_dtype(o, source, {o.rhs_file()}),
                            [&]<class T>(std::type_identity<T>) { return solve<T>(o, source); });
}

std::string check_shift(const std::string& text) {
  double shift = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, shift);
  if (error == std::errc() && stop == end && std::isfinite(shift)) return "";
  return "\"" + text + "\" is no number such as 0.01";
}

constexpr char kSolveAbout[] =
    "A x = b by a Krylov method, with the values of the file; entries of a pattern are 1. The "
    "matrix\n"
    "is symmetric or Hermitian and, for cg and block-cg, positive definite. All right-hand sides "
    "are\n"
    "solved at once: cg and minres have a recurrence for each, block-cg one for all.\n"
    "\n"
    "|b - A x| / |b| is computed anew at the end.\n"
    "\n"
    "Ctrl-C ends the iteration: the best so far is printed and written, and the exit code is 130. "
    "It\n"
    "is 1 where right-hand sides are not solved.\n\n";

}  // namespace

void add_solve(CLI::App& app, Action& action, int argc, char** argv) {
  CLI::App& command =
      *app.add_subcommand("solve", "A x = b, A symmetric, for one or several right-hand sides");
  const auto options = std::make_shared<SolveOptions>();
  SolveOptions& o = *options;
  add_solver_options(command, o, argc, argv);
  command.add_option("--method", o.method, "cg, block-cg or minres")
      ->check(CLI::IsMember({"cg", "block-cg", "minres"}), "")
      ->capture_default_str();
  command
      .add_option("--rhs", o.rhs,
                  "b: ones, random or random:N (N of them), or a matrix file, whose columns are\n"
                  "right-hand sides")
      ->type_name("RHS")
      ->capture_default_str();
  command.add_flag("--laplacian", o.laplacian,
                   "solve with the graph's Laplacian: degrees minus adjacency of the pattern");
  command.add_option("--shift", o.shift, "added to the diagonal: (A + shift I) x = b")
      ->check(check_shift, "");
  add_preconditioner(command, o);
  command.add_option("--x", o.x, "write the solutions, NAME.mtx or NAME.npy")->type_name("FILE");
  command.footer(kSolveAbout + command.get_footer());
  command.callback([options, &action] { action = [options] { return run_solve(*options); }; });
}

}  // namespace lanky::cli
