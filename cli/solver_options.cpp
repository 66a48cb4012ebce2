#include "cli/solver_options.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <lanky/error.hpp>
#include <limits>
#include <string_view>
#include <utility>

#include "bench/report/output_file.hpp"

namespace lanky::cli {

namespace {

constexpr std::int64_t kMostWanted = std::int64_t{1} << 20;
constexpr std::int64_t kUsualBlock = 8;  // rows of block Jacobi
constexpr std::int64_t kMostBlock = 64;
constexpr std::string_view kBlockJacobi = "block-jacobi";

template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && stop == text.data() + text.size();
}

std::string check_tolerance(const std::string& text) {
  double tolerance = 0;
  if (parse_number(text, tolerance) && tolerance > 0 && tolerance < 1) return "";
  return "\"" + text + "\" is no tolerance such as 1e-8, above 0 and below 1";
}

/// A whole number from 0 to 2^64 - 1; CLI11 itself takes -1 for the largest.
std::string check_seed(const std::string& text) {
  std::uint64_t seed = 0;
  return parse_number(text, seed) ? "" : "\"" + text + "\" is no whole number such as 7";
}

std::string check_preconditioner(const std::string& text) {
  if (preconditioner_block(text) >= 0) return "";
  return "\"" + text +
         "\" is no preconditioner: none, jacobi, or block-jacobi:SIZE with blocks of " + "1 to " +
         std::to_string(kMostBlock) + " rows";
}

}  // namespace

std::int64_t preconditioner_block(std::string_view text) {
  if (text == "none") return 0;
  if (text == "jacobi") return 1;
  if (!text.starts_with(kBlockJacobi)) return -1;
  text.remove_prefix(kBlockJacobi.size());
  if (text.empty()) return kUsualBlock;
  std::int64_t size = 0;
  const bool whole = text.front() == ':' && parse_number(text.substr(1), size);
  return whole && size >= 1 && size <= kMostBlock ? size : -1;
}

void add_solver_options(CLI::App& command, SolverOptions& o, int argc, char** argv) {
  o.argv.assign(argv, argv + argc);
  command.add_option(
      "file", o.file,
      "Matrix Market, Rutherford-Boeing, .mat, .lanky, plain or compressed; NAME.tar.gz");
  command
      .add_option("--generate", o.generator,
                  "a generated matrix such as stencil27:64 (lanky info lists all)")
      ->type_name("SPEC");
  command
      .add_option("--dtype", o.dtype,
                  "f64, f32, c128 or c64 (default: f64, or c128 where the file is complex)")
      ->check(CLI::IsMember({"f64", "f32", "c128", "c64"}), "");
  command.add_option("--device", o.device, "cpu, cuda or cuda:INDEX (default: the best)");
  command
      .add_option("--tolerance", o.tolerance,
                  "at which a residual has converged (default: 1e-8, of f32 and c64 1e-4)")
      ->check(check_tolerance, "");
  command
      .add_option("--max-iterations", o.max_iterations, "end after so many (default: the solver's)")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));
  command.add_option("--seed", o.seed, "of random vectors")
      ->check(check_seed, "")
      ->capture_default_str();
  command.add_option("--json", o.json,
                     "append JSON lines to this file; - is standard output (table on stderr)");
  command.add_option("--plot", o.plot,
                     "draw the residual over the iterations as SVG; - is standard output");
  command.add_flag("--force", o.force, "replace files that are there already");
}

void add_preconditioner(CLI::App& command, SolverOptions& options) {
  command
      .add_option("--preconditioner", options.preconditioner,
                  "none, jacobi (the diagonal), or block-jacobi:SIZE (diagonal blocks of so many\n"
                  "rows, 8 unless told)")
      ->check(check_preconditioner, "")
      ->capture_default_str();
}

void add_wanted(CLI::App& command, std::int64_t& k, const char* what) {
  command.add_option("-k", k, what)
      ->check(CLI::Range(std::int64_t{1}, kMostWanted))
      ->capture_default_str();
}

void check_solver_options(const SolverOptions& options, const std::string& command,
                          std::vector<std::string> outputs, std::vector<std::string> inputs) {
  if (options.file.empty() == options.generator.empty()) {
    throw Error(ErrorCode::invalid_argument, command + " needs a file or --generate SPEC" +
                                                 (options.file.empty() ? "" : ", not both") +
                                                 "; see lanky " + command + " --help");
  }
  if (options.json == "-" && options.plot == "-") {
    throw Error(ErrorCode::invalid_argument,
                "--json - and --plot - would both write to standard output");
  }
  inputs.push_back(options.file);
  report::check_outputs({options.json}, inputs, true);  // lines are appended
  inputs.push_back(options.json);
  outputs.push_back(options.plot);
  report::check_outputs(outputs, inputs, options.force);
}

}  // namespace lanky::cli
