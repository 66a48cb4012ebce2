// Conjugate gradients: A x = b, A symmetric and positive definite, from x = 0.
// M. R. Hestenes and E. Stiefel, J. Res. Natl. Bur. Stand. 49, 1952.
#pragma once

#include <vector>

#include "examples/solvers/product.hpp"
#include "examples/solvers/solve.hpp"
#include "examples/solvers/vector_steps.hpp"

namespace lanky::examples::solvers {

/// T: double, float. Scalars are double.
template <class T>
class ConjugateGradients final : public Solve<T> {
 public:
  /// Ends where |r| <= tolerance |b|. `product` must outlive it. `inverse_diagonal` preconditions
  /// (Jacobi); empty: none.
  ConjugateGradients(const Stream& stream, const Product<T>& product, std::vector<T> b,
                     const std::vector<T>& inverse_diagonal, double tolerance);

  const Stream& stream() const override { return stream_; }
  void start() override;
  void iterate() override;
  /// |r| / |b|. Throws Error(invalid_argument) where p.Ap was not positive.
  Progress progress() const override;
  std::vector<T> solution() const override;

 private:
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(b_.size()); }

  Stream stream_;
  const Product<T>& product_;
  std::vector<T> b_;  // [n]
  double tolerance_;
  std::unique_ptr<VectorSteps<T>> steps_;
  Buffer<T> x_;  // all buffers: [n], padded
  Buffer<T> r_;
  Buffer<T> p_;
  Buffer<T> q_;
  Buffer<T> inverse_diagonal_;
  Buffer<CgScalars> scalars_;  // one
  CgVectors<T> vectors_;
};

}  // namespace lanky::examples::solvers
