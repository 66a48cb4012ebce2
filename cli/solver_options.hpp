// Options that eigs, svds and solve share: the matrix, the device, tolerances, and where results
// go.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace lanky::cli {

struct SolverOptions {
  std::string file;       // a matrix file, or a spec
  std::string generator;  // a spec, in the place of a file
  std::string dtype;      // "": f64, or c128 where a file is complex
  std::string device;     // "" for the best
  double tolerance = 0;   // 0: the solver's own
  int max_iterations = 0;
  std::uint64_t seed = 0;
  bool laplacian = false;  // of the pattern's graph, in the place of the matrix
  double shift = 0;        // added to the diagonal
  std::string preconditioner = "none";
  std::string json;
  std::string plot;
  bool force = false;  // replace files
  std::vector<std::string> argv;

  /// Where the table goes: to standard error where standard output has something else.
  bool writes_to_stdout() const { return json == "-" || plot == "-"; }
};

/// The matrix, --generate, --dtype, --device, --tolerance, --max-iterations, --seed, --json,
/// --plot, --force. `argv` is that of main().
void add_solver_options(CLI::App& command, SolverOptions& options, int argc, char** argv);
/// --preconditioner.
void add_preconditioner(CLI::App& command, SolverOptions& options);
/// -k, whose default `k` holds.
void add_wanted(CLI::App& command, std::int64_t& k, const char* what);

/// Rows of the diagonal blocks of --preconditioner: 1 for jacobi, 0 for none, -1 where the text
/// names no preconditioner.
std::int64_t preconditioner_block(std::string_view text);

/// Throws Error before any work is done: invalid_argument where there is no matrix or standard
/// output is asked for twice, io where one of the files cannot be written, or is there already.
/// `outputs`: files besides those of the options. `inputs`: files besides the matrix.
void check_solver_options(const SolverOptions& options, const std::string& command,
                          std::vector<std::string> outputs, std::vector<std::string> inputs);

}  // namespace lanky::cli
