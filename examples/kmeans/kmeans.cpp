#include "examples/kmeans/kmeans.hpp"

#include <algorithm>
#include <lanky/error.hpp>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "examples/support/timing.hpp"
#include "examples/support/uniform.hpp"

namespace lanky::examples {

namespace {

template <class T>
std::int64_t padded(std::int64_t cols) {
  constexpr std::int64_t kWord = 16 / sizeof(T);
  return (cols + kWord - 1) / kWord * kWord;
}

/// A row, drawn in proportion to its distance; where all are 0, the first that is not yet taken.
std::int64_t draw_row(const std::vector<double>& distances, const std::vector<std::int64_t>& taken,
                      double share) {
  const double target = share * std::accumulate(distances.begin(), distances.end(), 0.0);
  double sum = 0;
  std::int64_t last = -1;  // where rounding leaves the target beyond the sum
  for (std::size_t i = 0; i < distances.size(); ++i) {
    sum += distances[i];
    if (distances[i] > 0) last = static_cast<std::int64_t>(i);
    if (sum > target) return static_cast<std::int64_t>(i);
  }
  while (last < 0 || std::find(taken.begin(), taken.end(), last) != taken.end())
    ++last;
  return last;
}

/// Checked before memory is taken.
std::int64_t checked_clusters(std::int64_t clusters, std::int64_t points, std::int64_t most) {
  if (clusters < 1) {
    throw Error(ErrorCode::invalid_argument,
                std::to_string(clusters) + " clusters; there must be at least one");
  }
  if (clusters > points) {
    throw Error(ErrorCode::invalid_argument, std::to_string(clusters) + " clusters of " +
                                                 std::to_string(points) +
                                                 " points; a cluster needs a point");
  }
  if (clusters > most) {
    throw Error(ErrorCode::unsupported, std::to_string(clusters) + " clusters, at most " +
                                            std::to_string(most) + " are supported");
  }
  if (points > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ErrorCode::unsupported,
                std::to_string(points) + " points; a cluster counts them in 32 bits");
  }
  return clusters;
}

}  // namespace

template <class T>
Matrix<T> upload_points(const Stream& stream, const Table<T>& table) {
  const std::int64_t width = padded<T>(table.cols);
  Matrix<T> points(stream, table.rows, width, Layout::row);
  if (width == table.cols) {
    points.buffer().copy_from(table.values);
    return points;
  }
  std::vector<T> rows(static_cast<std::size_t>(table.rows * width));
  for (std::int64_t i = 0; i < table.rows; ++i)
    std::copy_n(table.values.data() + i * table.cols, table.cols, rows.data() + i * width);
  points.buffer().copy_from(rows);
  return points;
}

template <class T>
Matrix<T> make_points(const Stream& stream, const Blobs& blobs) {
  if (blobs.rows < 1 || blobs.cols < 1 || blobs.clusters < 1) {
    throw Error(ErrorCode::invalid_argument,
                "points to generate need a row, a column and a blob at least, not " +
                    std::to_string(blobs.rows) + "," + std::to_string(blobs.cols) + "," +
                    std::to_string(blobs.clusters));
  }
  Matrix<T> points(stream, blobs.rows, padded<T>(blobs.cols), Layout::row);
  make_steps<T>(stream, 1, padded<T>(blobs.cols), 1)->make_blobs(blobs, points.view());
  return points;
}

template <class T>
KMeans<T>::KMeans(const Stream& stream, Matrix<T> points, std::int64_t cols, KMeansOptions options)
    : stream_(stream),
      options_(std::move(options)),
      cols_(cols),
      points_(std::move(points)),
      n_(points_.view().rows),
      k_(checked_clusters(options_.clusters, n_, kMostClusters)),
      centers_(stream, k_, points_.view().cols, Layout::row),
      products_(stream, n_, k_, Layout::row),
      point_lengths_(stream, n_),
      center_lengths_(stream, k_),
      distances_(stream, n_),
      inertia_(stream, options_.iterations + 1),
      labels_(stream, n_),
      counts_(stream, k_),
      steps_(make_steps<T>(stream, n_, points_.view().cols, k_)) {
  // The mean is the one center of a single cluster.
  labels_.fill_zero();
  counts_.copy_from(
      std::vector<std::int32_t>(static_cast<std::size_t>(k_), static_cast<std::int32_t>(n_)));
  MatrixView<T> mean = centers_.view();
  mean.rows = 1;
  steps_->average(points_.view(), labels_.data(), counts_.data(), mean);
  steps_->shift(points_.view(), mean.data);
  steps_->measure(points_.view(), point_lengths_.data());
  mean_ = centers_.buffer().to_host();
  mean_.resize(static_cast<std::size_t>(cols_));
}

template <class T>
const std::vector<std::int64_t>& KMeans<T>::choose_starts() {
  starts_.clear();
  std::int64_t turn = 0;
  const auto any_row = [&] {
    return static_cast<std::int64_t>(uniform(options_.seed, turn++) * static_cast<double>(n_));
  };
  starts_.push_back(any_row());
  std::vector<double> distances(static_cast<std::size_t>(n_),
                                std::numeric_limits<double>::infinity());
  distances_.copy_from(distances);
  while (static_cast<std::int64_t>(starts_.size()) < k_) {
    if (options_.init == Init::random) {
      const std::int64_t row = any_row();
      if (std::find(starts_.begin(), starts_.end(), row) == starts_.end()) starts_.push_back(row);
      continue;
    }
    const MatrixView<const T> x = points_.view();
    steps_->approach(x, x.data + starts_.back() * x.ld, distances_.data());
    starts_.push_back(draw_row(distances_.to_host(), starts_, uniform(options_.seed, turn++)));
  }
  return starts_;
}

template <class T>
void KMeans<T>::start_from(std::vector<std::int64_t> starts) {
  const bool fit = static_cast<std::int64_t>(starts.size()) == k_ &&
                   std::all_of(starts.begin(), starts.end(),
                               [&](std::int64_t row) { return row >= 0 && row < n_; });
  if (!fit) {
    throw Error(ErrorCode::invalid_argument,
                "starts must be " + std::to_string(k_) + " rows below " + std::to_string(n_));
  }
  starts_ = std::move(starts);
}

template <class T>
void KMeans<T>::label(const Product<T>& product, double* inertia, bool relocate) {
  product.run(stream_, points_.view(), centers_.view(), products_.view());
  steps_->assign({.products = products_.view(),
                  .center_lengths = center_lengths_.data(),
                  .point_lengths = point_lengths_.data(),
                  .labels = labels_.data(),
                  .distances = distances_.data(),
                  .counts = counts_.data(),
                  .inertia = inertia,
                  .relocate = relocate});
}

template <class T>
void KMeans<T>::move_centers() {
  steps_->average(points_.view(), labels_.data(), counts_.data(), centers_.view());
  steps_->measure(centers_.view(), center_lengths_.data());
}

template <class T>
KMeansResult<T> KMeans<T>::run(const Product<T>& product) {
  if (starts_.empty()) choose_starts();
  KMeansResult<T> result;
  Event start(stream_.device());
  Event end(stream_.device());
  start.record(stream_);
  const MatrixView<T> centers = centers_.view();
  for (std::int64_t c = 0; c < k_; ++c)
    steps_->copy_row(points_.view(), starts_[static_cast<std::size_t>(c)],
                     centers.data + c * centers.ld);
  steps_->measure(centers, center_lengths_.data());
  double before = -1;  // the inertia of the iteration before, once there is one
  for (bool going = true; going && result.iterations < options_.iterations;) {
    label(product, inertia_.data() + result.iterations, true);
    move_centers();
    if (options_.progress || options_.tolerance > 0) {
      const double inertia = inertia_.to_host()[static_cast<std::size_t>(result.iterations)];
      if (options_.progress) options_.progress(result.iterations, inertia);
      going =
          options_.tolerance <= 0 || before < 0 || before - inertia > options_.tolerance * before;
      before = inertia;
    }
    ++result.iterations;
  }
  label(product, inertia_.data() + result.iterations, false);
  end.record(stream_);
  end.synchronize();
  result.lloyd_ms = Event::elapsed_ms(start, end);

  result.inertia = inertia_.to_host();
  result.inertia.resize(static_cast<std::size_t>(result.iterations) + 1);
  result.labels = labels_.to_host();
  result.distances = distances_.to_host();
  const std::vector<T> held = centers_.buffer().to_host();
  for (std::int64_t c = 0; c < k_; ++c) {
    for (std::int64_t j = 0; j < cols_; ++j)
      result.centers.push_back(held[static_cast<std::size_t>(c * centers.ld + j)] +
                               mean_[static_cast<std::size_t>(j)]);
  }
  return result;
}

template <class T>
StageTimes KMeans<T>::stage_times(const Product<T>& product, int rounds) {
  constexpr int kRepeats = 10;  // of a part at a time: launches are as close as in an iteration
  const auto repeated = [](const std::function<void()>& work) {
    return [work] {
      for (int i = 0; i < kRepeats; ++i)
        work();
    };
  };
  const Assignment<T> assignment{.products = products_.view(),
                                 .center_lengths = center_lengths_.data(),
                                 .point_lengths = point_lengths_.data(),
                                 .labels = labels_.data(),
                                 .distances = distances_.data(),
                                 .counts = counts_.data(),
                                 .inertia = inertia_.data(),
                                 .relocate = true};
  const std::vector<double> ms = median_ms(
      stream_, rounds,
      {repeated([&] { product.run(stream_, points_.view(), centers_.view(), products_.view()); }),
       repeated([&] { steps_->assign(assignment); }), repeated([&] {
         steps_->average(points_.view(), labels_.data(), counts_.data(), centers_.view());
       }),
       repeated([&] { steps_->measure(centers_.view(), center_lengths_.data()); })});
  return {.product = ms[0] / kRepeats,
          .assign = ms[1] / kRepeats,
          .update = ms[2] / kRepeats,
          .lengths = ms[3] / kRepeats};
}

template <class T>
std::unique_ptr<Product<T>> KMeans<T>::lanky_product() const {
  return make_lanky_product<T>(stream_, n_, points_.view().cols, k_);
}

template Matrix<float> upload_points(const Stream&, const Table<float>&);
template Matrix<double> upload_points(const Stream&, const Table<double>&);
template Matrix<float> make_points(const Stream&, const Blobs&);
template Matrix<double> make_points(const Stream&, const Blobs&);
template class KMeans<float>;
template class KMeans<double>;

}  // namespace lanky::examples
