#include "examples/solvers/power_iterations.hpp"

#include <algorithm>
#include <cmath>
#include <lanky/error.hpp>
#include <numeric>
#include <sstream>

#include "examples/support/uniform.hpp"

namespace lanky::examples::solvers {

namespace {

PageRankScalars pagerank_begin(const Links& links, double tolerance) {
  const auto nodes = static_cast<double>(links.dangling.size());
  const auto dangling = std::accumulate(links.dangling.begin(), links.dangling.end(), 0.0);
  PageRankScalars scalars;
  scalars.tolerance = tolerance;
  scalars.damping = links.damping;
  scalars.nodes = nodes;
  scalars.change = 1;
  scalars.set_base(dangling / nodes);
  return scalars;
}

/// Numbers in [0.5, 1.5), scaled to a norm of 1.
template <class T>
std::vector<T> first_vector(std::int64_t n) {
  constexpr std::uint64_t kSeed = 1;
  std::vector<double> values(static_cast<std::size_t>(n));
  double squares = 0;
  std::int64_t index = 0;
  for (double& value : values) {
    value = 0.5 + uniform(kSeed, index++);
    squares += value * value;
  }
  std::vector<T> vector;
  vector.reserve(values.size());
  for (const double value : values)
    vector.push_back(static_cast<T>(value / std::sqrt(squares)));
  return vector;
}

}  // namespace

template <class T>
PageRank<T>::PageRank(const Stream& stream, const Product<T>& product, const Links& links,
                      double tolerance)
    : stream_(stream),
      product_(product),
      begin_(pagerank_begin(links, tolerance)),
      steps_(make_vector_steps<T>(stream)),
      uniform_(links.dangling.size(), static_cast<T>(1 / begin_.nodes)),
      x_(padded_buffer<T>(stream, links.transposed.rows)),
      y_(padded_buffer<T>(stream, links.transposed.rows)),
      dangling_(padded_buffer<std::uint8_t>(stream, links.transposed.rows, links.dangling)),
      scalars_(stream, 1),
      vectors_{links.transposed.rows, x_.data(), y_.data(), dangling_.data(), scalars_.data()} {
  start();
}

template <class T>
void PageRank<T>::start() {
  scalars_.copy_from({&begin_, 1});
  x_.copy_from(uniform_);
}

template <class T>
void PageRank<T>::iterate() {
  product_.run(stream_, {vectors_.x, vectors_.size}, {y_.data(), vectors_.size});
  steps_->pagerank_step(vectors_);
}

template <class T>
Progress PageRank<T>::progress() const {
  const PageRankScalars scalars = scalars_.to_host().front();
  return {scalars.iterations, scalars.change, scalars.state};
}

template <class T>
std::vector<T> PageRank<T>::solution() const {
  std::vector<T> x = x_.to_host();
  x.resize(uniform_.size());
  return x;
}

template <class T>
DominantEigenvalue<T>::DominantEigenvalue(const Stream& stream, const Product<T>& product,
                                          std::int64_t n, double tolerance)
    : stream_(stream),
      product_(product),
      tolerance_(tolerance),
      steps_(make_vector_steps<T>(stream)),
      first_(first_vector<T>(n)),
      x_(padded_buffer<T>(stream, n)),
      y_(padded_buffer<T>(stream, n)),
      scalars_(stream, 1),
      vectors_{n, x_.data(), y_.data(), scalars_.data()} {
  start();
}

template <class T>
void DominantEigenvalue<T>::start() {
  EigenScalars scalars;
  scalars.tolerance = tolerance_;
  scalars_.copy_from({&scalars, 1});
  x_.copy_from(first_);
}

template <class T>
void DominantEigenvalue<T>::iterate() {
  product_.run(stream_, {vectors_.x, vectors_.size}, {y_.data(), vectors_.size});
  steps_->eigen_product(vectors_);
  steps_->eigen_step(vectors_);
}

template <class T>
Progress DominantEigenvalue<T>::progress() const {
  const EigenScalars scalars = scalars_.to_host().front();
  if (scalars.state == State::broken) {
    std::ostringstream message;
    message << "|A x| is " << scalars.norm << " at iteration " << scalars.iterations + 1
            << ", which is not positive and finite: a power iteration finds no eigenvalue here";
    throw Error(ErrorCode::invalid_argument, message.str());
  }
  const double size = std::abs(scalars.lambda);
  return {scalars.iterations, size > 0 ? scalars.residual / size : 1, scalars.state};
}

template <class T>
std::vector<T> DominantEigenvalue<T>::solution() const {
  std::vector<T> x = x_.to_host();
  x.resize(first_.size());
  return x;
}

template <class T>
double DominantEigenvalue<T>::eigenvalue() const {
  return scalars_.to_host().front().lambda;
}

template class PageRank<double>;
template class PageRank<float>;
template class DominantEigenvalue<double>;
template class DominantEigenvalue<float>;

}  // namespace lanky::examples::solvers
