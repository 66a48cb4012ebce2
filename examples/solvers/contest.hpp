// One method on one matrix: solved once, or timed by lanky and cuSPARSE, with a CUDA graph and
// without.
#pragma once

#include <functional>
#include <lanky/csr.hpp>
#include <memory>
#include <string>
#include <vector>

#include "examples/solvers/product.hpp"
#include "examples/solvers/solve.hpp"

namespace lanky::examples::solvers {

/// What the programs differ in.
template <class T>
struct Method {
  const CsrMatrix<double>* matrix;  // that each iteration multiplies with
  std::function<std::unique_ptr<Solve<T>>(const Product<T>&, double tolerance)> make;
  std::function<double(const std::vector<T>&)> residual;  // of a solution, in double on the host
};

struct Settings {
  std::string product = "lanky";  // or "cusparse"
  bool graph = false;
  std::int64_t iterations = 1000;  // at most; in a comparison just so many
  int check = 10;
  double tolerance = 0;
};

struct Outcome {
  std::string product;  // "lanky", "cusparse"
  std::string variant;  // what computed it, as Product::about() tells
  bool graph;
  Progress progress;
  double us_per_iteration;  // looks at the progress included
  double spmv_us;           // of a product alone, launched as the iteration launches it
  double setup_us;
  double residual;
};

template <class T>
struct Solved {
  Outcome outcome;
  std::vector<T> x;
};

/// Solves until the tolerance is met or the iterations are used up. `look` as in Loop::run.
template <class T>
Solved<T> solve(const Stream& stream, const Method<T>& method, const Settings& settings,
                const std::function<void(const Progress&)>& look = {});

/// Medians of `rounds` solves of settings.iterations each, of all contestants in turn: lanky, on a
/// GPU also cuSPARSE and both in a CUDA graph. Throws Error(invalid_argument) where an iteration
/// ends by itself before that.
template <class T>
std::vector<Outcome> compare(const Stream& stream, const Method<T>& method,
                             const Settings& settings, int rounds);

}  // namespace lanky::examples::solvers
