#include "examples/solvers/program.hpp"

#include <cstdio>
#include <filesystem>
#include <lanky/dtype.hpp>
#include <lanky/error.hpp>
#include <lanky/io.hpp>
#include <lanky/version.hpp>
#include <string>
#include <vector>

namespace lanky::examples::solvers {

CsrMatrix<double> load(const Options& options) {
  if (options.file.empty() == options.generate.empty()) {
    throw Error(ErrorCode::invalid_argument,
                options.file.empty() ? "there is no matrix; name a file, or --generate SPEC"
                                     : "there are two matrices, " + options.file +
                                           " and --generate " + options.generate);
  }
  if (options.file.empty()) return io::generate<double>(options.generate);
  std::vector<std::string> warnings;
  CsrMatrix<double> matrix = io::read_csr<double>(options.file, {.warnings = &warnings});
  for (const std::string& warning : warnings)
    std::fprintf(stderr, "warning: %s\n", warning.c_str());
  return matrix;
}

Settings settings_of(const Options& options, const Device& device, double of_f64, double of_f32) {
  Settings settings;
  settings.product = options.product;
  settings.graph = options.graph.empty() ? device.is_cuda() : options.graph == "on";
  settings.iterations = options.iterations >= 0 ? options.iterations : options.compare ? 100 : 1000;
  settings.check = options.check;
  settings.tolerance = options.tolerance >= 0   ? options.tolerance
                       : options.dtype == "f32" ? of_f32
                                                : of_f64;
  return settings;
}

nlohmann::ordered_json result_line(const Report& report, const Options& options,
                                   const CsrMatrix<double>& a, const Stream& stream,
                                   const Outcome& outcome) {
  nlohmann::ordered_json line = {
      {"kind", report.kind},
      {"matrix", options.file.empty() ? options.generate
                                      : std::filesystem::path(options.file).filename().string()},
      {"rows", a.rows},
      {"nnz", a.nnz()},
      {"dtype", options.dtype},
      {"contestant", outcome.product},
      {"variant", outcome.variant},
      {"graph", outcome.graph},
      {"check", options.check},
      {"iterations", outcome.progress.iterations},
      {"converged", outcome.progress.state == State::converged},
      {"us_per_iteration", outcome.us_per_iteration},
      {"spmv_us", outcome.spmv_us},
      {"setup_us", outcome.setup_us},
      {"residual", outcome.residual},
      {"device", stream.device().properties().name},
      {"lanky", kVersion}};
  line.update(report.fields);
  return line;
}

void print_outcome(const Outcome& outcome) {
  std::printf(
      "%-14s graph %-3s  %10.2f us an iteration, %10.2f us a product, set up in %.0f us, "
      "residual %.2e\n",
      outcome.variant.c_str(), outcome.graph ? "on" : "off", outcome.us_per_iteration,
      outcome.spmv_us, outcome.setup_us, outcome.residual);
}

void print_end(const Outcome& outcome, const std::string& measure) {
  const Progress& progress = outcome.progress;
  std::printf("%s after %lld iterations: %s %.3e, computed anew %.3e\n",
              progress.state == State::converged ? "converged" : "not converged",
              static_cast<long long>(progress.iterations), measure.c_str(), progress.residual,
              outcome.residual);
  print_outcome(outcome);
}

}  // namespace lanky::examples::solvers
