// The command lines of cg and power, as far as they are alike.
#pragma once

#include <CLI/CLI.hpp>

#include "examples/solvers/program.hpp"
#include "examples/support/command_line.hpp"

namespace lanky::examples::solvers {

inline void add_options(CLI::App& app, Options& options) {
  app.add_option("FILE", options.file, "matrix file (Matrix Market and others, compressed or not)");
  app.add_option("--generate", options.generate, "a matrix of lanky's generators: stencil27:128");
  app.add_option("--dtype", options.dtype, "type of matrix and vectors")
      ->check(CLI::IsMember({"f64", "f32"}));
  app.add_option("-d,--device", options.device, "cpu, cuda or cuda:N; the best by default");
  app.add_option("--iterations", options.iterations,
                 "at most, 1000 by default; with --compare just so many, 100")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40));
  app.add_option("--tolerance", options.tolerance, "ends the iteration")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--check", options.check, "iterations between two looks at the progress")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--spmv", options.product, "who multiplies with the matrix")
      ->check(CLI::IsMember({"lanky", "cusparse"}))
      ->capture_default_str();
  app.add_option("--graph", options.graph, "launch as a CUDA graph; on a GPU by default")
      ->check(CLI::IsMember({"on", "off"}));
  app.add_flag("--compare", options.compare,
               "time lanky and cuSPARSE, each without a CUDA graph and with one");
  app.add_option("--rounds", options.rounds, "solves of each contestant of --compare")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--json", options.json, "append results as JSON lines to this file");
  app.add_option("-o,--output", options.output, "write the vector: NAME.npy, otherwise text");
  app.add_flag("-v,--verbose", options.verbose, "a line for each look at the progress");
}

}  // namespace lanky::examples::solvers
