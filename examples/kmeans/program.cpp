#include "examples/kmeans/program.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <lanky/error.hpp>
#include <lanky/version.hpp>
#include <utility>

#include "examples/kmeans/judge.hpp"
#include "examples/support/device.hpp"
#include "examples/support/json_lines.hpp"
#include "examples/support/npy.hpp"

namespace lanky::examples {

namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// One of the products with what was measured of it.
template <class T>
struct Contestant {
  std::string name;
  std::unique_ptr<Product<T>> product;
  std::vector<double> lloyd_ms;  // a run each
  KMeansResult<T> result;        // of the last run
  StageTimes stages;
  std::string fault;
};

template <class T>
nlohmann::ordered_json json_line(const ProgramOptions& options, const Device& device,
                                 std::int64_t rows, std::int64_t cols, double start_ms,
                                 const Contestant<T>& contestant) {
  const double lloyd_ms = median(contestant.lloyd_ms);
  const StageTimes& stages = contestant.stages;
  return {{"kind", "kmeans"},
          {"contestant", contestant.name},
          {"dtype", options.dtype},
          {"n", rows},
          {"d", cols},
          {"k", options.kmeans.clusters},
          {"device", device.properties().name},
          {"lanky", kVersion},
          {"status", contestant.fault.empty() ? "ok" : "wrong"},
          {"init", options.kmeans.init == Init::random ? "random" : "k-means++"},
          {"seed", options.kmeans.seed},
          {"iterations", contestant.result.iterations},
          {"runs", contestant.lloyd_ms.size()},
          {"init_ms", start_ms},
          {"lloyd_ms", lloyd_ms},
          {"total_ms", lloyd_ms / std::max(1, contestant.result.iterations)},
          {"product_ms", stages.product},
          {"assign_ms", stages.assign},
          {"update_ms", stages.update},
          {"other_ms", stages.lengths},
          {"inertia", contestant.result.inertia.back()},
          {"x_bytes", rows * cols * static_cast<std::int64_t>(sizeof(T))},
          {"product", contestant.product->explain()}};
}

/// Faults of the results, each alone and the others beside the first.
template <class T>
bool all_right(std::vector<Contestant<T>>& contestants, std::int64_t rows, std::int64_t cols,
               const Coordinate& coordinate) {
  bool right = true;
  for (Contestant<T>& contestant : contestants) {
    const Verdict verdict = judge(contestant.result, rows, cols, coordinate);
    contestant.fault = verdict.fault;
    const double first = contestants.front().result.inertia.front();
    const double mine = contestant.result.inertia.front();
    if (contestant.fault.empty() && !(std::abs(first - mine) <= verdict.inertia_slack)) {
      contestant.fault = "from the same centers: inertia " + std::to_string(mine) + ", by " +
                         contestants.front().name + " " + std::to_string(first);
    }
    if (contestant.fault.empty()) continue;
    std::printf("%s: WRONG: %s\n", contestant.name.c_str(), contestant.fault.c_str());
    right = false;
  }
  return right;
}

template <class T>
bool run_in(const ProgramOptions& options) {
  const Stream stream(device_of(options.device));
  const Device device = stream.device();
  Table<T> table;
  if (!options.input.empty()) table = read_points<T>(options.input);
  const bool generated = options.input.empty();
  const std::int64_t rows = generated ? options.blobs.rows : table.rows;
  const std::int64_t cols = generated ? options.blobs.cols : table.cols;

  KMeansOptions kmeans_options = options.kmeans;
  if (!options.quiet && !options.compare) {
    kmeans_options.progress = [](int iteration, double inertia) {
      std::printf("iteration %d: inertia %.9g\n", iteration + 1, inertia);
    };
  }
  KMeans<T> kmeans(stream,
                   generated ? make_points<T>(stream, options.blobs) : upload_points(stream, table),
                   cols, kmeans_options);
  Event start(device);
  Event end(device);
  start.record(stream);
  kmeans.choose_starts();
  end.record(stream);
  end.synchronize();
  const double start_ms = Event::elapsed_ms(start, end);
  std::printf("%lld points of %lld numbers (%s, %.3g GB), %lld clusters, %s; start: %.4g ms\n",
              static_cast<long long>(rows), static_cast<long long>(cols), options.dtype.c_str(),
              static_cast<double>(rows) * static_cast<double>(cols) * sizeof(T) * 1e-9,
              static_cast<long long>(options.kmeans.clusters), device.properties().name.c_str(),
              start_ms);

  std::vector<Contestant<T>> contestants;
  const auto enter = [&](const std::string& name, std::unique_ptr<Product<T>> product) {
    contestants.push_back({name, std::move(product), {}, {}, {}, {}});
  };
  if (options.compare || options.product == "lanky") enter("lanky", kmeans.lanky_product());
  if (options.compare || options.product == "cublas")
    enter("cublas", make_cublas_product<T>(stream));
  if (options.compare) {
    for (const Contestant<T>& contestant : contestants)
      kmeans.run(*contestant.product);  // loads kernels, reaches the clock of work
  }
  for (int round = 0; round < (options.compare ? options.rounds : 1); ++round) {
    for (Contestant<T>& contestant : contestants) {
      contestant.result = kmeans.run(*contestant.product);
      contestant.lloyd_ms.push_back(contestant.result.lloyd_ms);
    }
  }
  for (Contestant<T>& contestant : contestants)
    contestant.stages = kmeans.stage_times(*contestant.product, options.rounds);

  Coordinate coordinate = [&table](std::int64_t i, std::int64_t j) {
    return static_cast<double>(table.values[static_cast<std::size_t>(i * table.cols + j)]);
  };
  if (generated) {
    coordinate = [&options](std::int64_t i, std::int64_t j) {
      return static_cast<double>(
          static_cast<T>(blob_value(options.blobs, blob_of(options.blobs, i), i, j)));
    };
  }
  const bool right = all_right(contestants, rows, cols, coordinate);
  for (const Contestant<T>& contestant : contestants) {
    const double lloyd_ms = median(contestant.lloyd_ms);
    const StageTimes& stages = contestant.stages;
    std::printf(
        "%s: inertia %.9g after %d iterations, %.4g ms, %.4g ms each\n"
        "  product %.4g ms, assignment %.4g ms, update %.4g ms, lengths %.4g ms\n",
        contestant.name.c_str(), contestant.result.inertia.back(), contestant.result.iterations,
        lloyd_ms, lloyd_ms / std::max(1, contestant.result.iterations), stages.product,
        stages.assign, stages.update, stages.lengths);
    append_line(options.json, json_line(options, device, rows, cols, start_ms, contestant));
  }
  const KMeansResult<T>& result = contestants.front().result;
  if (!options.labels.empty()) write_npy(options.labels, result.labels, rows);
  if (!options.centers.empty())
    write_npy(options.centers, result.centers, options.kmeans.clusters, cols);
  return right;
}

}  // namespace

bool run_kmeans(const ProgramOptions& options) {
  return options.dtype == "f32" ? run_in<float>(options) : run_in<double>(options);
}

}  // namespace lanky::examples
