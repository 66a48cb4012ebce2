// Two power iterations: PageRank of a graph, and the dominant eigenvalue of a matrix.
#pragma once

#include <vector>

#include "examples/solvers/links.hpp"
#include "examples/solvers/product.hpp"
#include "examples/solvers/solve.hpp"
#include "examples/solvers/vector_steps.hpp"

namespace lanky::examples::solvers {

/// x = d P^T x + (1 - d + d * what x has on nodes without links) / n, from x = 1 / n. T: double,
/// float; sums are formed in double.
template <class T>
class PageRank final : public Solve<T> {
 public:
  /// Ends where the sum of |x - x before| <= tolerance. `product` is that with links.transposed,
  /// and must outlive it.
  PageRank(const Stream& stream, const Product<T>& product, const Links& links, double tolerance);

  const Stream& stream() const override { return stream_; }
  void start() override;
  void iterate() override;
  Progress progress() const override;
  std::vector<T> solution() const override;

 private:
  Stream stream_;
  const Product<T>& product_;
  PageRankScalars begin_;
  std::unique_ptr<VectorSteps<T>> steps_;
  std::vector<T> uniform_;  // [n]
  Buffer<T> x_;             // all buffers: [n], padded
  Buffer<T> y_;
  Buffer<std::uint8_t> dangling_;
  Buffer<PageRankScalars> scalars_;  // one
  PageRankVectors<T> vectors_;
};

/// x = A x / |A x|, from a vector of random numbers that are always the same.
template <class T>
class DominantEigenvalue final : public Solve<T> {
 public:
  /// Ends where |A x - lambda x| <= tolerance |lambda|, lambda = x.Ax. `product` is that with A of
  /// n rows, and must outlive it.
  DominantEigenvalue(const Stream& stream, const Product<T>& product, std::int64_t n,
                     double tolerance);

  const Stream& stream() const override { return stream_; }
  void start() override;
  void iterate() override;
  /// Throws Error(invalid_argument) where |A x| was not positive and finite.
  Progress progress() const override;
  std::vector<T> solution() const override;
  /// The Rayleigh quotient as it is; waits.
  double eigenvalue() const;

 private:
  Stream stream_;
  const Product<T>& product_;
  double tolerance_;
  std::unique_ptr<VectorSteps<T>> steps_;
  std::vector<T> first_;  // [n]
  Buffer<T> x_;           // all buffers: [n], padded
  Buffer<T> y_;
  Buffer<EigenScalars> scalars_;  // one
  EigenVectors<T> vectors_;
};

}  // namespace lanky::examples::solvers
