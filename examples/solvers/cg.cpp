// cg: solves A x = b by conjugate gradients.
#include <cmath>

#include "examples/solvers/command_line.hpp"
#include "examples/solvers/conjugate_gradients.hpp"
#include "examples/solvers/matrix.hpp"
#include "examples/support/device.hpp"
#include "examples/support/uniform.hpp"

namespace lanky::examples::solvers {

namespace {

struct CgOptions : Options {
  bool jacobi = false;
  std::string rhs = "known";
  double shift = 0;  // of the Laplacian; 0: the matrix as it is
};

/// Numbers in [-1, 1).
std::vector<double> known_solution(std::int64_t n) {
  constexpr std::uint64_t kSeed = 1;
  std::vector<double> x;
  for (std::int64_t i = 0; i < n; ++i)
    x.push_back(2 * uniform(kSeed, i) - 1);
  return x;
}

double relative_error(const std::vector<double>& x, const std::vector<double>& known) {
  double difference = 0;
  double all = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    difference += (x[i] - known[i]) * (x[i] - known[i]);
    all += known[i] * known[i];
  }
  return std::sqrt(difference / all);
}

template <class T>
bool run_cg(const CgOptions& options, const CsrMatrix<double>& a, const Stream& stream) {
  const std::vector<double> known =
      options.rhs == "known" ? known_solution(a.rows) : std::vector<double>();
  const std::vector<double> b = options.rhs == "known"
                                    ? multiply(a, known)
                                    : std::vector<double>(static_cast<std::size_t>(a.rows), 1.0);
  const std::vector<double> inverse = options.jacobi ? inverse_diagonal(a) : std::vector<double>();
  const Method<T> method{&a,
                         [&](const Product<T>& product, double tolerance) {
                           return std::make_unique<ConjugateGradients<T>>(
                               stream, product, std::vector<T>(b.begin(), b.end()),
                               std::vector<T>(inverse.begin(), inverse.end()), tolerance);
                         },
                         [&](const std::vector<T>& x) {
                           return relative_residual(a, std::vector<double>(x.begin(), x.end()), b);
                         }};
  const auto complete = [&](nlohmann::ordered_json& line, const std::vector<T>& x) {
    if (known.empty()) return;
    const double error = relative_error(std::vector<double>(x.begin(), x.end()), known);
    std::printf("relative error %.3e\n", error);
    line["error"] = error;
  };
  const Settings settings = settings_of(options, stream.device(), 1e-8, 1e-5);
  const Report report{
      "cg",
      "relative residual",
      {{"jacobi", options.jacobi}, {"rhs", options.rhs}, {"laplacian", options.shift}}};
  return run_method<T>(report, options, a, stream, method, settings, complete);
}

bool run(const CgOptions& options) {
  const Device device = device_of(options.device);
  CsrMatrix<double> a = load(options);
  check_square(a, "CG");
  if (options.shift != 0) {
    a = laplacian(a, options.shift);
  } else {
    check_symmetric(a);
  }
  const Stream stream(device);
  return options.dtype == "f32" ? run_cg<float>(options, a, stream)
                                : run_cg<double>(options, a, stream);
}

}  // namespace

}  // namespace lanky::examples::solvers

int main(int argc, char** argv) {
  using namespace lanky::examples::solvers;
  CLI::App app("Solves A x = b by conjugate gradients; A symmetric and positive definite.", "cg");
  CgOptions options;
  add_options(app, options);
  app.add_flag("--jacobi", options.jacobi, "precondition with the diagonal");
  app.add_option("--rhs", options.rhs, "b: ones, or A times a known random vector")
      ->check(CLI::IsMember({"ones", "known"}))
      ->capture_default_str();
  app.add_option("--laplacian", options.shift,
                 "solve with the Laplacian of the matrix's graph, so much added to its diagonal");
  return lanky::examples::run_program(app, argc, argv, [&] { return run(options); });
}
