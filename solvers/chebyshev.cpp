#include "solvers/chebyshev.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <lanky/buffer.hpp>
#include <lanky/dtype.hpp>
#include <type_traits>
#include <utility>

#include "solvers/dense_eigen.hpp"
#include "solvers/products.hpp"

namespace lanky::solvers {

template <class T>
double spectrum_bound(const Stream& stream, const LinearOperator<T>& a, EigenEnd end,
                      BlockWork<T>& work, std::uint64_t seed, Allocator* allocator) {
  constexpr int kSteps = 12;
  Matrix<T> vectors(stream, a.rows(), 3, Layout::row, 0, allocator);
  MatrixView<T> v = columns_of(vectors.view(), 0, 1);
  MatrixView<T> before = columns_of(vectors.view(), 1, 1);
  const MatrixView<T> product = columns_of(vectors.view(), 2, 1);
  Buffer<double> sum(stream, 1, allocator);
  const auto dot = [&](MatrixView<T> x, MatrixView<T> y) {
    work.dots(read_only(x), read_only(y), sum.data());
    return sum.to_host().front();
  };
  work.fill_random(seed, 0, v);
  work.combine(1 / std::sqrt(dot(v, v)), read_only(v), 0, v);
  SmallMatrix<double> t(kSteps, kSteps);
  double beta = 0;
  for (int j = 0; j < kSteps; ++j) {
    a.apply(stream, v, product);
    const double alpha = dot(v, product);
    work.combine(-alpha, read_only(v), 1, product);
    if (j > 0) work.combine(-beta, read_only(before), 1, product);
    const double next = std::sqrt(dot(product, product));
    t(j, j) = alpha;
    if (j > 0) t(j - 1, j) = beta;
    beta = next;
    if (!std::isfinite(beta)) break;
    if (!(beta > unit_roundoff(kDType<T>) * std::abs(alpha)) || j + 1 == kSteps) {
      const Spectrum<double> ritz = self_adjoint_eigen(t);
      return end == EigenEnd::largest ? ritz.values.back() + beta : ritz.values.front() - beta;
    }
    work.combine(1 / beta, read_only(product), 0, before);
    std::swap(v, before);
  }
  return 0;
}

std::vector<double> chebyshev_steps(const Damped& damped, int degree) {
  std::vector<double> steps(static_cast<std::size_t>(4 * (degree + 1)));
  const double sign = damped.far < damped.shift ? -1 : 1;
  const double upper = std::abs(damped.far - damped.shift);
  // Beyond what so many steps resolve, a lower bound makes no difference.
  const double least = 1e-2 / ((degree + 1) * (degree + 1));
  const double lower = std::max(std::abs(damped.near - damped.shift), least * upper);
  const double center = (upper + lower) / 2;
  const double radius = (upper - lower) / 2;
  if (!(radius > 0)) {  // all of the spectrum is one value
    for (std::size_t d = 0; d < steps.size(); d += 4)
      steps[d] = 1;
    return steps;
  }
  const double ratio = center / radius;
  double rho = 1 / ratio;
  steps[0] = 1 / center;
  for (std::size_t d = 4; d < steps.size(); d += 4) {
    const double next = 1 / (2 * ratio - rho);
    const double gain = 2 * next / radius;
    steps[d] = 1 + next * rho + gain * sign * damped.shift;
    steps[d + 1] = d == 4 ? 0 : -next * rho;  // the iterate before the first is 0
    steps[d + 2] = gain;
    steps[d + 3] = -gain * sign;
    rho = next;
  }
  return steps;
}

namespace {

/// Iterates are of type V: T, or its half.
template <class T, class V>
class PolynomialIn final : public Polynomial<T> {
  static constexpr bool kSame = std::is_same_v<T, V>;

 public:
  PolynomialIn(const Stream& stream, const LinearOperator<V>& a, int degree, std::int64_t columns,
               BlockWork<T>& work, Allocator* allocator)
      : stream_(stream),
        a_(a),
        degree_(degree),
        columns_(columns),
        work_(work),
        vectors_(stream, a.rows(), (kSame ? 3 : 4) * columns, Layout::row, 0, allocator) {
    if constexpr (!kSame) half_work_ = make_block_work<V>(stream);
  }

  MatrixView<T> residuals(MatrixView<T> w) override {
    if constexpr (kSame) return part(0, w.cols);
    return w;
  }

  void apply(const double* steps, MatrixView<T> w) override {
    const MatrixView<V> r = part(0, w.cols);
    const MatrixView<V> product = part(2, w.cols);
    MatrixView<V> now{};  // the last iterate is to stand in W, or to be what W is made of
    if constexpr (kSame) {
      now = w;
    } else {
      now = part(3, w.cols);
      work_.narrow(steps + 4 * (degree_ + 1), read_only(w), r);
    }
    MatrixView<V> before = part(1, w.cols);
    if (degree_ % 2 != 0) std::swap(now, before);
    work().recur(steps, read_only(r), now, read_only(r), read_only(r));
    for (int d = 1; d <= degree_; ++d) {
      a_.apply(stream_, now, product);
      work().recur(steps + 4 * d, read_only(now), before, read_only(r), read_only(product));
      std::swap(now, before);
    }
    if constexpr (!kSame) work_.widen(read_only(now), w);
  }

 private:
  MatrixView<V> part(std::int64_t i, std::int64_t cols) {
    return columns_of(vectors_.view(), i * columns_, cols);
  }
  BlockWork<V>& work() {
    if constexpr (kSame) {
      return work_;
    } else {
      return *half_work_;
    }
  }

  Stream stream_;
  LinearOperator<V> a_;
  int degree_;
  std::int64_t columns_;
  BlockWork<T>& work_;
  std::unique_ptr<BlockWork<V>> half_work_;
  Matrix<V> vectors_;  // R, an iterate, A times one, and where W cannot be one, another iterate
};

}  // namespace

template <class T>
std::unique_ptr<Polynomial<T>> make_polynomial(const Stream& stream, const EigenProblem<T>& problem,
                                               int degree, std::int64_t columns, BlockWork<T>& work,
                                               Allocator* allocator) {
  if (degree == 0) return nullptr;
  if (problem.a_single) {
    return std::make_unique<PolynomialIn<T, SingleOf<T>>>(stream, problem.a_single, degree, columns,
                                                          work, allocator);
  }
  return std::make_unique<PolynomialIn<T, T>>(stream, problem.a, degree, columns, work, allocator);
}

#define LANKY_INSTANTIATE(T)                                                                       \
  template double spectrum_bound(const Stream&, const LinearOperator<T>&, EigenEnd, BlockWork<T>&, \
                                 std::uint64_t, Allocator*);                                       \
  template std::unique_ptr<Polynomial<T>> make_polynomial(                                         \
      const Stream&, const EigenProblem<T>&, int, std::int64_t, BlockWork<T>&, Allocator*);
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::solvers
