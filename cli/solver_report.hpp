// How a solver ended, for people (a table), for programs (a JSON line) and as a drawing.
#pragma once

#include <cstdint>
#include <lanky/device.hpp>
#include <lanky/dtype.hpp>
#include <lanky/solver.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/records/journal.hpp"
#include "cli/solver_options.hpp"
#include "cli/sources.hpp"

namespace lanky::cli {

/// A column of the table and a field of the JSON line: a number for each of what was wanted.
struct SolverColumn {
  std::string heading;  // "eigenvalue"
  std::string field;    // "values"
  std::vector<double> numbers;
  bool is_result = false;  // told with all its digits
};

struct SolverOutcome {
  std::string method{};  // "lobpcg"
  std::string what{};    // of which `wanted` were sought: "eigenpairs"
  SolverStatus status = SolverStatus::converged;
  int iterations = 0;
  std::int64_t wanted = 0;
  std::int64_t converged = 0;
  double tolerance = 0;  // 0: the method has none, and takes a fixed number of iterations
  double read_seconds = 0;
  double setup_seconds = 0;  // plans and the preconditioner
  double seconds = 0;        // of the solver
  /// The part of them that products with A take; known on a CPU alone, where a product is done when
  /// it returns.
  std::optional<double> product_seconds{};
  std::vector<SolverColumn> columns{};
  std::vector<SolverProgress> history{};
  std::string residual_axis{};  // what the drawing's y axis tells
  nlohmann::ordered_json more = nlohmann::ordered_json::object();  // further fields
};

/// The matrix that was solved.
struct SolverSubject {
  const Source* source = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  DType dtype = DType::f64;
  std::string values;  // "values of the file"
};

class SolverReport {
 public:
  /// Opens the file of results and writes its first line. `kind`: "eigs", "svds", "solve".
  SolverReport(const SolverOptions& options, std::string kind, Device device);

  void begin(const SolverSubject& subject);
  /// Prints, records and draws; returns the ExitCode.
  int end(const SolverSubject& subject, const SolverOutcome& outcome);
  /// A line of the table.
  void print(const std::string& line) const;

 private:
  nlohmann::ordered_json record(const SolverSubject& subject, const SolverOutcome& outcome) const;
  void print_columns(const SolverSubject& subject, const SolverOutcome& outcome) const;
  void draw(const SolverSubject& subject, const SolverOutcome& outcome) const;

  const SolverOptions& options_;
  std::string kind_;
  Device device_;
  std::unique_ptr<bench::Journal> records_;
};

}  // namespace lanky::cli
