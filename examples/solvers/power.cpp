// power: PageRank of a graph, or the dominant eigenvalue of a matrix.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "examples/solvers/command_line.hpp"
#include "examples/solvers/matrix.hpp"
#include "examples/solvers/power_iterations.hpp"
#include "examples/support/device.hpp"

namespace lanky::examples::solvers {

namespace {

struct PowerOptions : Options {
  double damping = 0.85;
  bool eigenvalue = false;
};

/// The ten nodes of the highest rank, equal ones by number; nodes count from 1, as in the file.
template <class T>
void print_top(const std::vector<T>& ranks) {
  std::vector<std::size_t> nodes(ranks.size());
  std::iota(nodes.begin(), nodes.end(), std::size_t{0});
  const auto top =
      nodes.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(10, nodes.size()));
  std::partial_sort(nodes.begin(), top, nodes.end(), [&](std::size_t a, std::size_t b) {
    return ranks[a] != ranks[b] ? ranks[a] > ranks[b] : a < b;
  });
  for (auto node = nodes.begin(); node != top; ++node)
    std::printf("%10zu  %.9g\n", *node + 1, static_cast<double>(ranks[*node]));
}

template <class T>
bool run_pagerank(const PowerOptions& options, const CsrMatrix<double>& a, const Stream& stream) {
  const Links links = make_links(a, options.damping);
  const Method<T> method{&links.transposed,
                         [&](const Product<T>& product, double tolerance) {
                           return std::make_unique<PageRank<T>>(stream, product, links, tolerance);
                         },
                         [&](const std::vector<T>& x) {
                           return pagerank_residual(links, std::vector<double>(x.begin(), x.end()));
                         }};
  const auto complete = [&](nlohmann::ordered_json& line, const std::vector<T>& x) {
    line["sum"] = std::accumulate(x.begin(), x.end(), 0.0);
    print_top(x);
  };
  const Settings settings = settings_of(options, stream.device(), 1e-10, 1e-6);
  const Report report{"pagerank", "change", {{"damping", options.damping}}};
  return run_method<T>(report, options, a, stream, method, settings, complete);
}

template <class T>
bool run_eigenvalue(const PowerOptions& options, const CsrMatrix<double>& a, const Stream& stream) {
  check_square(a, "a power iteration");
  double lambda = 0;  // of the solution that residual() met last
  const Method<T> method{
      &a,
      [&](const Product<T>& product, double tolerance) {
        return std::make_unique<DominantEigenvalue<T>>(stream, product, a.rows, tolerance);
      },
      [&](const std::vector<T>& solution) {
        const EigenPair pair = eigen_pair(a, std::vector<double>(solution.begin(), solution.end()));
        lambda = pair.lambda;
        return pair.relative_residual;
      }};
  const auto complete = [&](nlohmann::ordered_json& line, const std::vector<T>& /*x*/) {
    std::printf("eigenvalue %.15g\n", lambda);
    line["eigenvalue"] = lambda;
  };
  const Settings settings = settings_of(options, stream.device(), 1e-8, 1e-5);
  const Report report{"eigenvalue", "relative residual", nlohmann::ordered_json::object()};
  return run_method<T>(report, options, a, stream, method, settings, complete);
}

bool run(const PowerOptions& options) {
  const Device device = device_of(options.device);
  const CsrMatrix<double> a = load(options);
  const Stream stream(device);
  const bool f32 = options.dtype == "f32";
  if (options.eigenvalue) {
    return f32 ? run_eigenvalue<float>(options, a, stream)
               : run_eigenvalue<double>(options, a, stream);
  }
  return f32 ? run_pagerank<float>(options, a, stream) : run_pagerank<double>(options, a, stream);
}

}  // namespace

}  // namespace lanky::examples::solvers

int main(int argc, char** argv) {
  using namespace lanky::examples::solvers;
  CLI::App app("PageRank: entry (i, j) of the matrix is a link from i to j.", "power");
  PowerOptions options;
  add_options(app, options);
  app.add_option("--damping", options.damping, "share of steps that follow links")
      ->capture_default_str();
  app.add_flag("--eigenvalue", options.eigenvalue, "the dominant eigenvalue instead of PageRank");
  return lanky::examples::run_program(app, argc, argv, [&] { return run(options); });
}
