#include "examples/kmeans/program.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <lanky/error.hpp>
#include <lanky/version.hpp>
#include <limits>
#include <utility>

#include "examples/support/json_lines.hpp"

namespace lanky::examples {

namespace {

/// Coordinate (row, column) of the points, on the host.
using Coordinate = std::function<double(std::int64_t, std::int64_t)>;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Holds results against sums of (x - c)^2 in double, at points all over the data.
template <class T>
class Judge {
 public:
  Judge(Coordinate coordinate, std::int64_t rows, std::int64_t cols)
      : coordinate_(std::move(coordinate)), rows_(rows), cols_(cols) {}

  /// Why the result is wrong; "" where it is right.
  std::string fault(const KMeansResult<T>& result) {
    const auto clusters = static_cast<std::int64_t>(result.centers.size()) / cols_;
    const std::int64_t samples = std::min(rows_, kSamples);
    double all_lengths = 0;
    std::vector<double> point(static_cast<std::size_t>(cols_));
    for (std::int64_t s = 0; s < samples; ++s) {
      const std::int64_t row = s * (rows_ - 1) / std::max<std::int64_t>(1, samples - 1);
      double length = 0;
      for (std::int64_t j = 0; j < cols_; ++j) {
        point[static_cast<std::size_t>(j)] = coordinate_(row, j);
        length += point[static_cast<std::size_t>(j)] * point[static_cast<std::size_t>(j)];
      }
      double least = std::numeric_limits<double>::infinity();
      double own = least;
      double longest = 0;
      for (std::int64_t c = 0; c < clusters; ++c) {
        double distance = 0;
        double center_length = 0;
        for (std::int64_t j = 0; j < cols_; ++j) {
          const double center = result.centers[static_cast<std::size_t>(c * cols_ + j)];
          const double difference = point[static_cast<std::size_t>(j)] - center;
          distance += difference * difference;
          center_length += center * center;
        }
        least = std::min(least, distance);
        longest = std::max(longest, center_length);
        if (c == result.labels[static_cast<std::size_t>(row)]) own = distance;
      }
      const double allowed = roundings() * (length + longest);
      all_lengths += length + longest;
      const double told = result.distances[static_cast<std::size_t>(row)];
      if (!(own - least <= allowed) || !(std::abs(told - own) <= allowed)) {
        return "point " + std::to_string(row) + ": " + std::to_string(told) + " from its center, " +
               std::to_string(own) + " in double, " + std::to_string(least) + " from the nearest";
      }
    }
    inertia_slack_ =
        roundings() * all_lengths * static_cast<double>(rows_) / static_cast<double>(samples);
    for (std::size_t i = 1; i < result.inertia.size(); ++i) {
      if (!(result.inertia[i] <= result.inertia[i - 1] + inertia_slack_)) {
        return "iteration " + std::to_string(i) + ": the inertia rose from " +
               std::to_string(result.inertia[i - 1]) + " to " + std::to_string(result.inertia[i]);
      }
    }
    return "";
  }
  /// What rounding may change of an inertia; known after fault().
  double inertia_slack() const { return inertia_slack_; }

 private:
  static constexpr std::int64_t kSamples = 200;

  /// Relative error of a squared distance, to that of the lengths it is computed from.
  double roundings() const {
    return (16 + std::sqrt(static_cast<double>(cols_))) * std::numeric_limits<T>::epsilon();
  }

  Coordinate coordinate_;
  std::int64_t rows_;
  std::int64_t cols_;
  double inertia_slack_ = 0;
};

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

/// Faults of the results, each alone and the second beside the first.
template <class T>
bool judge(Judge<T> judge, std::vector<Contestant<T>>& contestants) {
  bool right = true;
  for (Contestant<T>& contestant : contestants) {
    contestant.fault = judge.fault(contestant.result);
    const double first = contestants.front().result.inertia.front();
    const double mine = contestant.result.inertia.front();
    if (contestant.fault.empty() && !(std::abs(first - mine) <= judge.inertia_slack())) {
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
  const Stream stream(options.device.empty() ? Device::best() : Device::parse(options.device));
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
  const bool right = judge(Judge<T>(coordinate, rows, cols), contestants);
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

bool run_program(const ProgramOptions& options) {
  return options.dtype == "f32" ? run_in<float>(options) : run_in<double>(options);
}

}  // namespace lanky::examples
