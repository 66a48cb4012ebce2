#include <limits>
#include <vector>

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

  void factor(const Stream& /*stream*/, const FactorStep<T>& step) override {
    const std::int64_t n = step.n;
    if (step.pass == 1) *step.breakdown = {};
    std::vector<double> work(static_cast<std::size_t>(n * n));
    double trace = 0;
    for (std::int64_t j = 0; j < n; ++j)
      trace += static_cast<double>(step.gram[j + j * n]);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t c = i; c < n; ++c)
        work[at(i, c, n)] = static_cast<double>(step.gram[i + c * n]);
      work[at(i, i, n)] += step.shift * trace;
    }
    std::vector<double> diagonal;
    for (std::int64_t j = 0; j < n; ++j)
      diagonal.push_back(work[at(j, j, n)]);
    for (std::int64_t j = 0; j < n; ++j) {
      const double pivot = work[at(j, j, n)];
      const double whole = diagonal[static_cast<std::size_t>(j)];
      if (!(pivot > static_cast<double>(n) * step.roundoff * whole)) {
        if (step.breakdown->pass == 0)
          *step.breakdown = {step.pass, static_cast<std::int32_t>(j), pivot, whole};
        work.assign(work.size(), std::numeric_limits<double>::quiet_NaN());
        break;
      }
      for (std::int64_t i = j + 1; i < n; ++i) {
        const EliminationRow row{&work[at(i, 0, n)], &work[at(j, 0, n)], i, j};
        const double factor = row.pivot[i] / pivot;
        for (std::int64_t c = 0; c < n; ++c)
          row.eliminate(factor, c);
      }
    }
    write(step, work);
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

 private:
  static std::size_t at(std::int64_t row, std::int64_t col, std::int64_t n) {
    return static_cast<std::size_t>(row * n + col);
  }

  static void write(const FactorStep<T>& step, const std::vector<double>& work) {
    const std::int64_t n = step.n;
    for (std::int64_t i = 0; i < n; ++i) {
      const double root = std::sqrt(work[at(i, i, n)]);
      for (std::int64_t c = 0; c < n; ++c) {
        const double element = work[at(i, c, n)];
        step.r_step[i + c * n] = static_cast<T>(c < i ? 0 : element / root);
        step.inverse[c + i * n] = static_cast<T>(c > i ? 0 : (c == i ? 1 : element) / root);
        double total = c < i ? 0 : element / root;
        if (step.r_before != nullptr && c >= i) {
          double sum = 0;
          for (std::int64_t l = i; l <= c; ++l)
            sum += work[at(i, l, n)] * static_cast<double>(step.r_before[l + c * n]);
          total = sum / root;
        }
        step.r_total[i + c * n] = static_cast<T>(total);
      }
    }
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
