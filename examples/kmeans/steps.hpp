// What Lloyd's algorithm does to the points beside the product, on one device. x is [rows, cols]
// by rows; the sums of a step are added in an order that shape and device fix, so that the same
// input gives the same bits.
#pragma once

#include <cstdint>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <memory>

#include "examples/kmeans/blobs.hpp"

namespace lanky::examples {

/// Where assign() reads and writes, in the memory of the device.
template <class T>
struct Assignment {
  MatrixView<const T> products;  // [rows, clusters] by rows: -2 x . c
  const double* center_lengths;  // [clusters], squared
  const double* point_lengths;   // [rows], squared
  std::int32_t* labels;          // [rows]
  double* distances;             // [rows], squared, to the nearest center
  std::int32_t* counts;          // [clusters]
  double* inertia;               // [1]: the sum of the distances
  bool relocate;                 // give an empty cluster the farthest point
};

template <class T>
class Steps {
 public:
  virtual ~Steps() = default;
  /// x = the blobs, zeros in columns beyond theirs.
  virtual void make_blobs(const Blobs& blobs, MatrixView<T> x) = 0;
  /// x -= offset [cols], row by row.
  virtual void shift(MatrixView<T> x, const T* offset) = 0;
  /// target = row `row` of x.
  virtual void copy_row(MatrixView<const T> x, std::int64_t row, T* target) = 0;
  /// lengths [rows] = squared lengths of the rows.
  virtual void measure(MatrixView<const T> x, double* lengths) = 0;
  /// distances [rows] = squared distances to `center` [cols], where they are less than before.
  virtual void approach(MatrixView<const T> x, const T* center, double* distances) = 0;
  /// Labels, distances, counts and inertia, the lowest index among equals; then, in the order of
  /// their indices, an empty cluster takes over the farthest point that is not alone in its own.
  virtual void assign(const Assignment<T>& assignment) = 0;
  /// centers [clusters, cols] by rows = the means of the rows of x of each label.
  virtual void average(MatrixView<const T> x, const std::int32_t* labels,
                       const std::int32_t* counts, MatrixView<T> centers) = 0;
};

/// For matrices of at most rows x cols, and as many clusters. On a GPU cols is a multiple of 16
/// bytes. Throws Error: no_device (a build without CUDA), out_of_memory.
template <class T>
std::unique_ptr<Steps<T>> make_cpu_steps(std::int64_t rows, std::int64_t cols,
                                         std::int64_t clusters);
template <class T>
std::unique_ptr<Steps<T>> make_cuda_steps(const Stream& stream, std::int64_t rows,
                                          std::int64_t cols, std::int64_t clusters);
template <class T>
std::unique_ptr<Steps<T>> make_steps(const Stream& stream, std::int64_t rows, std::int64_t cols,
                                     std::int64_t clusters) {
  if (stream.device().is_cuda()) return make_cuda_steps<T>(stream, rows, cols, clusters);
  return make_cpu_steps<T>(rows, cols, clusters);
}

}  // namespace lanky::examples
