#include <algorithm>
#include <vector>

#include "examples/kmeans/steps.hpp"

namespace lanky::examples {

namespace {

template <class T>
class CpuSteps final : public Steps<T> {
 public:
  CpuSteps(std::int64_t rows, std::int64_t cols, std::int64_t clusters)
      : chunk_rows_(std::max<std::int64_t>(kLeastRows, (rows + kMostChunks - 1) / kMostChunks)) {
    const std::int64_t chunks = (rows + chunk_rows_ - 1) / chunk_rows_;
    partial_.resize(static_cast<std::size_t>(chunks * clusters * cols));
  }

  void make_blobs(const Blobs& blobs, MatrixView<T> x) override {
#pragma omp parallel for schedule(static) if (x.rows * x.cols > kWorthThreads)
    for (std::int64_t i = 0; i < x.rows; ++i) {
      const std::int64_t blob = blob_of(blobs, i);
      for (std::int64_t j = 0; j < x.cols; ++j)
        x.data[i * x.ld + j] =
            j < blobs.cols ? static_cast<T>(blob_value(blobs, blob, i, j)) : T{0};
    }
  }

  void shift(MatrixView<T> x, const T* offset) override {
#pragma omp parallel for schedule(static) if (x.rows * x.cols > kWorthThreads)
    for (std::int64_t i = 0; i < x.rows; ++i) {
      for (std::int64_t j = 0; j < x.cols; ++j)
        x.data[i * x.ld + j] -= offset[j];
    }
  }

  void copy_row(MatrixView<const T> x, std::int64_t row, T* target) override {
    std::copy_n(x.data + row * x.ld, x.cols, target);
  }

  void measure(MatrixView<const T> x, double* lengths) override {
#pragma omp parallel for schedule(static) if (x.rows * x.cols > kWorthThreads)
    for (std::int64_t i = 0; i < x.rows; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < x.cols; ++j)
        sum += static_cast<double>(x.data[i * x.ld + j]) * x.data[i * x.ld + j];
      lengths[i] = sum;
    }
  }

  void approach(MatrixView<const T> x, const T* center, double* distances) override {
#pragma omp parallel for schedule(static) if (x.rows * x.cols > kWorthThreads)
    for (std::int64_t i = 0; i < x.rows; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < x.cols; ++j) {
        const double difference = static_cast<double>(x.data[i * x.ld + j]) - center[j];
        sum += difference * difference;
      }
      distances[i] = std::min(distances[i], sum);
    }
  }

  void assign(const Assignment<T>& a) override {
    const std::int64_t rows = a.products.rows;
    const std::int64_t clusters = a.products.cols;
#pragma omp parallel for schedule(static) if (rows * clusters > kWorthThreads)
    for (std::int64_t i = 0; i < rows; ++i) {
      const T* products = a.products.data + i * a.products.ld;
      std::int64_t best = 0;
      double least = static_cast<double>(products[0]) + a.center_lengths[0];
      for (std::int64_t c = 1; c < clusters; ++c) {
        const double score = static_cast<double>(products[c]) + a.center_lengths[c];
        if (score < least) {
          least = score;
          best = c;
        }
      }
      a.labels[i] = static_cast<std::int32_t>(best);
      a.distances[i] = std::max(0.0, least + a.point_lengths[i]);  // rounding may go below zero
    }
    std::fill_n(a.counts, clusters, 0);
    *a.inertia = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
      ++a.counts[a.labels[i]];
      *a.inertia += a.distances[i];
    }
    if (!a.relocate) return;
    for (std::int64_t c = 0; c < clusters; ++c) {
      if (a.counts[c] == 0) relocate(a, static_cast<std::int32_t>(c));
    }
  }

  void average(MatrixView<const T> x, const std::int32_t* labels, const std::int32_t* counts,
               MatrixView<T> centers) override {
    const std::int64_t sums = centers.rows * x.cols;  // of a chunk: [clusters, cols]
    const std::int64_t chunks = (x.rows + chunk_rows_ - 1) / chunk_rows_;
#pragma omp parallel for schedule(static) if (x.rows * x.cols > kWorthThreads)
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      double* partial = partial_.data() + chunk * sums;
      std::fill_n(partial, sums, 0.0);
      const std::int64_t end = std::min(x.rows, (chunk + 1) * chunk_rows_);
      for (std::int64_t i = chunk * chunk_rows_; i < end; ++i) {
        double* sum = partial + labels[i] * x.cols;
        for (std::int64_t j = 0; j < x.cols; ++j)
          sum[j] += x.data[i * x.ld + j];
      }
    }
#pragma omp parallel for schedule(static) if (chunks * sums > kWorthThreads)
    for (std::int64_t c = 0; c < centers.rows; ++c) {
      for (std::int64_t j = 0; j < x.cols; ++j) {
        double sum = 0;
        for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
          sum += partial_[static_cast<std::size_t>(chunk * sums + c * x.cols + j)];
        centers.data[c * centers.ld + j] = static_cast<T>(sum / counts[c]);
      }
    }
  }

 private:
  // Chunks follow from the number of rows alone: the same bits with any number of threads.
  static constexpr std::int64_t kMostChunks = 64;
  static constexpr std::int64_t kLeastRows = 64;
  static constexpr std::int64_t kWorthThreads = 1 << 17;  // numbers

  static void relocate(const Assignment<T>& a, std::int32_t empty) {
    std::int64_t farthest = -1;
    for (std::int64_t i = 0; i < a.products.rows; ++i) {
      if (a.counts[a.labels[i]] > 1 && (farthest < 0 || a.distances[i] > a.distances[farthest]))
        farthest = i;
    }
    --a.counts[a.labels[farthest]];
    a.counts[empty] = 1;
    a.labels[farthest] = empty;
    a.distances[farthest] = 0;
  }

  std::int64_t chunk_rows_;
  std::vector<double> partial_;  // [chunks, clusters, cols]
};

}  // namespace

template <class T>
std::unique_ptr<Steps<T>> make_cpu_steps(std::int64_t rows, std::int64_t cols,
                                         std::int64_t clusters) {
  return std::make_unique<CpuSteps<T>>(rows, cols, clusters);
}

template std::unique_ptr<Steps<float>> make_cpu_steps(std::int64_t, std::int64_t, std::int64_t);
template std::unique_ptr<Steps<double>> make_cpu_steps(std::int64_t, std::int64_t, std::int64_t);

}  // namespace lanky::examples
