#include "examples/solvers/vector_steps.hpp"

#include <cmath>

namespace lanky::examples::solvers {

namespace {

template <class T>
class CpuVectorSteps final : public VectorSteps<T> {
 public:
  void cg_dot(const CgVectors<T>& v) const override {
    if (v.scalars->state != State::running) return;
    double pq = 0;
    for (std::int64_t i = 0; i < v.size; ++i)
      pq += static_cast<double>(v.p[i]) * static_cast<double>(v.q[i]);
    v.scalars->after_dot(pq);
  }

  void cg_step(const CgVectors<T>& v) const override {
    if (v.scalars->state != State::running) return;
    const T alpha = static_cast<T>(v.scalars->alpha);
    double rr = 0;
    double rz = 0;
    for (std::int64_t i = 0; i < v.size; ++i) {
      v.x[i] += alpha * v.p[i];
      v.r[i] -= alpha * v.q[i];
      const auto r = static_cast<double>(v.r[i]);
      rr += r * r;
      rz += r * static_cast<double>(z(v, i));
    }
    v.scalars->after_step(rr, rz);
  }

  void cg_direction(const CgVectors<T>& v) const override {
    if (v.scalars->state != State::running) return;
    const T beta = static_cast<T>(v.scalars->beta);
    for (std::int64_t i = 0; i < v.size; ++i)
      v.p[i] = z(v, i) + beta * v.p[i];
  }

  void pagerank_step(const PageRankVectors<T>& v) const override {
    if (v.scalars->state != State::running) return;
    const T base = static_cast<T>(v.scalars->base);
    double change = 0;
    double dangling = 0;
    for (std::int64_t i = 0; i < v.size; ++i) {
      const T rank = v.y[i] + base;
      change += std::abs(static_cast<double>(rank) - static_cast<double>(v.x[i]));
      if (v.dangling[i] != 0) dangling += static_cast<double>(rank);
      v.x[i] = rank;
    }
    v.scalars->after_step(change, dangling);
  }

  void eigen_product(const EigenVectors<T>& v) const override {
    if (v.scalars->state != State::running) return;
    double xy = 0;
    double yy = 0;
    for (std::int64_t i = 0; i < v.size; ++i) {
      const auto y = static_cast<double>(v.y[i]);
      xy += static_cast<double>(v.x[i]) * y;
      yy += y * y;
    }
    v.scalars->after_product(xy, std::sqrt(yy));
  }

  void eigen_step(const EigenVectors<T>& v) const override {
    if (v.scalars->state != State::running) return;
    const double lambda = v.scalars->lambda;
    const double scale = 1 / v.scalars->norm;
    double squares = 0;
    for (std::int64_t i = 0; i < v.size; ++i) {
      const auto y = static_cast<double>(v.y[i]);
      const double off = y - lambda * static_cast<double>(v.x[i]);
      squares += off * off;
      v.x[i] = static_cast<T>(y * scale);
    }
    v.scalars->after_step(std::sqrt(squares));
  }

 private:
  static T z(const CgVectors<T>& v, std::int64_t i) {
    return v.inverse_diagonal == nullptr ? v.r[i] : v.inverse_diagonal[i] * v.r[i];
  }
};

}  // namespace

template <class T>
std::unique_ptr<VectorSteps<T>> make_vector_steps(const Stream& stream) {
  if (stream.device().is_cuda()) return cuda_vector_steps<T>(stream);
  return std::make_unique<CpuVectorSteps<T>>();
}

template std::unique_ptr<VectorSteps<double>> make_vector_steps(const Stream&);
template std::unique_ptr<VectorSteps<float>> make_vector_steps(const Stream&);

}  // namespace lanky::examples::solvers
