// What the programs cg and power share: their options, and what they report.
#pragma once

#include <lanky/csr.hpp>
#include <lanky/device.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "examples/solvers/contest.hpp"
#include "examples/solvers/vector_file.hpp"
#include "examples/support/json_lines.hpp"

namespace lanky::examples::solvers {

struct Options {
  std::string file;      // a matrix file, or
  std::string generate;  // what io::generate takes
  std::string dtype = "f64";
  std::string device;            // "": the best
  std::int64_t iterations = -1;  // below 0: 1000, of a comparison 100
  double tolerance = -1;         // below 0: that of the method and type
  int check = 10;
  std::string product = "lanky";
  std::string graph;  // "on", "off"; "": on a GPU
  bool compare = false;
  int rounds = 5;
  std::string json;
  std::string output;
  bool verbose = false;
};

/// The matrix that the options name. Throws Error: invalid_argument (both or none), and what
/// io::read_csr and io::generate throw.
CsrMatrix<double> load(const Options& options);

/// `of_f64` and `of_f32` are tolerances where none is given.
Settings settings_of(const Options& options, const Device& device, double of_f64, double of_f32);

/// How a method's results are told.
struct Report {
  std::string kind;               // of its lines: "cg"
  std::string measure;            // what its tolerance is of: "relative residual"
  nlohmann::ordered_json fields;  // of every line, such as what the method was asked for
};

/// A line of results; docs/applications.md names the fields.
nlohmann::ordered_json result_line(const Report& report, const Options& options,
                                   const CsrMatrix<double>& a, const Stream& stream,
                                   const Outcome& outcome);

/// Prints one contestant of a comparison, or how a solve ended.
void print_outcome(const Outcome& outcome);
void print_end(const Outcome& outcome, const std::string& measure);

/// Solves or compares, prints, and writes the files that the options ask for. `complete` adds to a
/// line of results what is known of a solution. Whether the tolerance was met.
template <class T>
bool run_method(
    const Report& report, const Options& options, const CsrMatrix<double>& a, const Stream& stream,
    const Method<T>& method, const Settings& settings,
    const std::function<void(nlohmann::ordered_json&, const std::vector<T>&)>& complete) {
  if (options.compare) {
    for (const Outcome& outcome : compare(stream, method, settings, options.rounds)) {
      print_outcome(outcome);
      append_line(options.json, result_line(report, options, a, stream, outcome));
    }
    return true;
  }
  const auto look = [&](const Progress& progress) {
    std::fprintf(stderr, "iteration %lld: %s %.3e\n", static_cast<long long>(progress.iterations),
                 report.measure.c_str(), progress.residual);
  };
  const Solved<T> solved = solve(stream, method, settings,
                                 options.verbose ? look : std::function<void(const Progress&)>());
  print_end(solved.outcome, report.measure);
  nlohmann::ordered_json line = result_line(report, options, a, stream, solved.outcome);
  complete(line, solved.x);
  append_line(options.json, line);
  if (!options.output.empty()) write_vector(options.output, solved.x);
  return solved.outcome.progress.state == State::converged;
}

}  // namespace lanky::examples::solvers
