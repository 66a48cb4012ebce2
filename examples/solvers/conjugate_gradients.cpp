#include "examples/solvers/conjugate_gradients.hpp"

#include <cmath>
#include <lanky/error.hpp>
#include <sstream>
#include <utility>

namespace lanky::examples::solvers {

template <class T>
ConjugateGradients<T>::ConjugateGradients(const Stream& stream, const Product<T>& product,
                                          std::vector<T> b, const std::vector<T>& inverse_diagonal,
                                          double tolerance)
    : stream_(stream),
      product_(product),
      b_(std::move(b)),
      tolerance_(tolerance),
      steps_(make_vector_steps<T>(stream)),
      x_(padded_buffer<T>(stream, size())),
      r_(padded_buffer<T>(stream, size())),
      p_(padded_buffer<T>(stream, size())),
      q_(padded_buffer<T>(stream, size())),
      inverse_diagonal_(
          padded_buffer<T>(stream, inverse_diagonal.empty() ? 0 : size(), inverse_diagonal)),
      scalars_(stream, 1),
      vectors_{size(),         x_.data(),
               r_.data(),      p_.data(),
               q_.data(),      inverse_diagonal.empty() ? nullptr : inverse_diagonal_.data(),
               scalars_.data()} {
  if (!inverse_diagonal.empty() && inverse_diagonal.size() != b_.size()) {
    throw Error(ErrorCode::size_mismatch, "the diagonal has " +
                                              std::to_string(inverse_diagonal.size()) +
                                              " entries, b has " + std::to_string(b_.size()));
  }
  start();
}

template <class T>
void ConjugateGradients<T>::start() {
  CgScalars scalars;
  scalars.tolerance = tolerance_;
  scalars_.copy_from({&scalars, 1});
  r_.copy_from(b_);
  x_.fill_zero();
  p_.fill_zero();
  q_.fill_zero();
  steps_->cg_step(vectors_);  // alpha = 0: sums of r = b alone
  steps_->cg_direction(vectors_);
}

template <class T>
void ConjugateGradients<T>::iterate() {
  product_.run(stream_, {vectors_.p, vectors_.size}, {q_.data(), vectors_.size});
  steps_->cg_dot(vectors_);
  steps_->cg_step(vectors_);
  steps_->cg_direction(vectors_);
}

template <class T>
Progress ConjugateGradients<T>::progress() const {
  const CgScalars scalars = scalars_.to_host().front();
  if (scalars.state == State::broken) {
    std::ostringstream message;
    message << "p.Ap is " << scalars.curvature << " at iteration " << scalars.iterations + 1
            << ", which is not positive and finite: the matrix is not positive definite";
    throw Error(ErrorCode::invalid_argument, message.str());
  }
  const double relative = scalars.bb > 0 ? std::sqrt(scalars.rr / scalars.bb) : 0;
  return {scalars.iterations, relative, scalars.state};
}

template <class T>
std::vector<T> ConjugateGradients<T>::solution() const {
  std::vector<T> x = x_.to_host();
  x.resize(b_.size());
  return x;
}

template class ConjugateGradients<double>;
template class ConjugateGradients<float>;

}  // namespace lanky::examples::solvers
