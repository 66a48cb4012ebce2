// kmeans: the command line.
#include <CLI/CLI.hpp>
#include <lanky/version.hpp>

#include "examples/kmeans/program.hpp"
#include "examples/support/command_line.hpp"

int main(int argc, char** argv) {
  CLI::App app("Groups points into k clusters by Lloyd's algorithm, on a GPU or the CPU.",
               "kmeans");
  lanky::examples::ProgramOptions options;
  std::vector<std::int64_t> generated;
  std::string init = "k-means++";
  lanky::examples::KMeansOptions& kmeans = options.kmeans;
  app.set_version_flag("--version", std::string(lanky::kVersion));
  auto* input = app.add_option("points", options.input, "File of points: .npy, or .csv");
  auto* generate = app.add_option("--generate", generated, "N,D[,BLOBS]: points in 16 blobs")
                       ->delimiter(',')
                       ->expected(2, 3)
                       ->check(CLI::PositiveNumber);
  input->excludes(generate);
  app.add_option("--spread", options.blobs.spread, "Of the blobs' middles; noise is 1.15 wide")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("-k,--clusters", kmeans.clusters, "Clusters")->capture_default_str();
  app.add_option("-i,--iterations", kmeans.iterations, "Iterations at most")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  app.add_option("--tolerance", kmeans.tolerance,
                 "End once the inertia falls by no more than this share; 0: never")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--init", init, "First centers")
      ->capture_default_str()
      ->check(CLI::IsMember({"k-means++", "random"}));
  app.add_option("--seed", kmeans.seed, "Of the first centers and of generated points")
      ->capture_default_str();
  app.add_option("--dtype", options.dtype, "Type of the numbers")
      ->capture_default_str()
      ->check(CLI::IsMember({"f64", "f32"}));
  app.add_option("-d,--device", options.device, "cpu, cuda or cuda:N (default: the best)");
  app.add_option("--product", options.product, "Whose product")
      ->capture_default_str()
      ->check(CLI::IsMember({"lanky", "cublas"}));
  app.add_flag("--compare", options.compare, "Both products in turn, the medians of their times");
  app.add_option("--rounds", options.rounds, "Runs of a comparison")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_flag("-q,--quiet", options.quiet, "No line for each iteration; does not wait for it");
  app.add_option("--labels", options.labels, "Write each point's cluster: OUT.npy");
  app.add_option("--centers", options.centers, "Write the centers: OUT.npy");
  app.add_option("--json", options.json, "Append results as JSON lines to this file");
  return lanky::examples::run_program(app, argc, argv, [&] {
    if (options.input.empty() && generated.empty())
      throw CLI::RequiredError("a file of points, or --generate,");
    if (!generated.empty()) {
      options.blobs.rows = generated[0];
      options.blobs.cols = generated[1];
      if (generated.size() > 2) options.blobs.clusters = generated[2];
    }
    options.blobs.seed = kmeans.seed;
    if (init == "random") kmeans.init = lanky::examples::Init::random;
    return lanky::examples::run_kmeans(options);
  });
}
