// Lloyd's algorithm: points go to the nearest center, centers to the mean of their points. Squared
// distances are |x|^2 - 2 x.c + |c|^2, where the product of all points with all centers is the
// work.
#pragma once

#include <cstdint>
#include <functional>
#include <lanky/buffer.hpp>
#include <lanky/stream.hpp>
#include <memory>
#include <vector>

#include "examples/kmeans/blobs.hpp"
#include "examples/kmeans/points.hpp"
#include "examples/kmeans/product.hpp"
#include "examples/kmeans/steps.hpp"

namespace lanky::examples {

/// k-means++: Arthur and Vassilvitskii, SODA '07. random: any rows, none twice.
enum class Init { plus_plus, random };

struct KMeansOptions {
  std::int64_t clusters = 16;
  int iterations = 100;
  double tolerance = 0;  // ends once the inertia falls by no more than this share; 0: never
  Init init = Init::plus_plus;
  std::uint64_t seed = 1;
  /// Called after each iteration, which is waited for then.
  std::function<void(int iteration, double inertia)> progress = {};
};

template <class T>
struct KMeansResult {
  int iterations = 0;
  std::vector<double> inertia;       // before each iteration moved the centers, then of the result
  std::vector<std::int32_t> labels;  // [n]
  std::vector<double> distances;     // [n], squared, to the point's center
  std::vector<T> centers;            // [k, d] by rows
  double lloyd_ms = 0;               // from the first product to the last label
};

/// Milliseconds that the parts of an iteration take, medians.
struct StageTimes {
  double product = 0;
  double assign = 0;   // labels, distances, inertia, counts, empty clusters
  double update = 0;   // sums by label, centers
  double lengths = 0;  // |c|^2
};

/// Points on the stream's device as KMeans takes them: by rows of a multiple of 16 bytes, zeros at
/// their ends.
template <class T>
Matrix<T> upload_points(const Stream& stream, const Table<T>& table);
template <class T>
Matrix<T> make_points(const Stream& stream, const Blobs& blobs);

template <class T>
class KMeans {
 public:
  /// Takes over the `points` [n, d, padded] and moves their mean to 0, which keeps the squared
  /// distances accurate where the points are far from 0. Throws Error: invalid_argument (no
  /// cluster, more clusters than points), unsupported (more than kMostClusters), out_of_memory.
  KMeans(const Stream& stream, Matrix<T> points, std::int64_t cols, KMeansOptions options);

  static constexpr std::int64_t kMostClusters = 4096;

  /// The points that the first centers stand at: drawn, and then those that run() starts from.
  const std::vector<std::int64_t>& choose_starts();
  void start_from(std::vector<std::int64_t> starts);
  /// Begins at the starts each time.
  KMeansResult<T> run(const Product<T>& product);
  /// Of iterations after those of run(), whose centers go on moving.
  StageTimes stage_times(const Product<T>& product, int rounds);
  std::unique_ptr<Product<T>> lanky_product() const;

 private:
  void label(const Product<T>& product, double* inertia, bool relocate);
  void move_centers();

  Stream stream_;
  KMeansOptions options_;
  std::int64_t cols_;  // d; the matrices have more, up to a multiple of 16 bytes
  Matrix<T> points_;
  std::int64_t n_;
  std::int64_t k_;
  Matrix<T> centers_;
  Matrix<T> products_;             // [n, k]: -2 x . c
  Buffer<double> point_lengths_;   // [n], squared
  Buffer<double> center_lengths_;  // [k], squared
  Buffer<double> distances_;       // [n], squared
  Buffer<double> inertia_;         // [iterations + 1]
  Buffer<std::int32_t> labels_;    // [n]
  Buffer<std::int32_t> counts_;    // [k]
  std::unique_ptr<Steps<T>> steps_;
  std::vector<T> mean_;  // of the points as they came
  std::vector<std::int64_t> starts_;
};

}  // namespace lanky::examples
