#include <cmath>

#include "examples/cholqr/tall_work.hpp"
#include "examples/support/uniform.hpp"

namespace lanky::examples::cholqr {

namespace {

template <class T>
class CpuTallWork : public TallWork<T> {
 public:
  void fill(const Stream& /*stream*/, std::uint64_t seed, MatrixView<T> matrix) override {
    for (std::int64_t j = 0; j < matrix.cols; ++j) {
      for (std::int64_t i = 0; i < matrix.rows; ++i)
        matrix.data[i + j * matrix.ld] = static_cast<T>(2 * uniform(seed, i + j * matrix.rows) - 1);
    }
  }

  double orthogonality(const Stream& /*stream*/, MatrixView<const T> q) override {
    double sum = 0;
    for (std::int64_t i = 0; i < q.cols; ++i) {
      for (std::int64_t j = 0; j < q.cols; ++j) {
        long double product = i == j ? -1 : 0;  // a chain of m doubles would err more than Q does
        for (std::int64_t l = 0; l < q.rows; ++l)
          product +=
              static_cast<double>(q.data[l + i * q.ld]) * static_cast<double>(q.data[l + j * q.ld]);
        sum += static_cast<double>(product * product);
      }
    }
    return std::sqrt(sum);
  }

  double residual(const Stream& /*stream*/, MatrixView<const T> a, MatrixView<const T> q,
                  MatrixView<const T> r) override {
    double difference = 0;
    double whole = 0;
    for (std::int64_t j = 0; j < a.cols; ++j) {
      for (std::int64_t i = 0; i < a.rows; ++i) {
        const auto element = static_cast<double>(a.data[i + j * a.ld]);
        double rest = element;
        for (std::int64_t l = 0; l <= j; ++l)
          rest -=
              static_cast<double>(q.data[i + l * q.ld]) * static_cast<double>(r.data[l + j * r.ld]);
        difference += rest * rest;
        whole += element * element;
      }
    }
    return std::sqrt(difference / whole);
  }
};

}  // namespace

template <class T>
std::unique_ptr<TallWork<T>> make_tall_work(const Stream& stream) {
  if (stream.device().is_cuda()) return make_cuda_tall_work<T>(stream);
  return std::make_unique<CpuTallWork<T>>();
}

std::function<void()> replay(const Stream& stream, const std::function<void()>& work) {
  return stream.device().is_cuda() ? cuda_replay(stream, work) : work;
}

template std::unique_ptr<TallWork<double>> make_tall_work(const Stream&);
template std::unique_ptr<TallWork<float>> make_tall_work(const Stream&);

}  // namespace lanky::examples::cholqr
