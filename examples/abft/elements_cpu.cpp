#include <algorithm>
#include <cmath>
#include <vector>

#include "examples/abft/elements.hpp"

namespace lanky::examples::abft {

namespace {

template <class T>
class CpuElements : public Elements<T> {
 public:
  void fill(const Stream& /*stream*/, Data data, std::uint64_t seed,
            MatrixView<T> matrix) override {
    for (std::int64_t j = 0; j < matrix.cols; ++j) {
      for (std::int64_t i = 0; i < matrix.rows; ++i)
        matrix.data[i + j * matrix.ld] = static_cast<T>(datum(data, seed, i + j * matrix.rows));
    }
  }

  void fill_weights(const Stream& /*stream*/, MatrixView<T> weights) override {
    for (std::int64_t i = 0; i < weights.rows; ++i) {
      for (int s = 0; s < 2; ++s)
        weights.data[i + s * weights.ld] = weight<T>(s, i, weights.rows);
    }
  }

  void square_norms(const Stream& /*stream*/, MatrixView<const T> matrix, double* rows,
                    double* cols) override {
    std::fill_n(rows, matrix.rows, 0.0);
    for (std::int64_t j = 0; j < matrix.cols; ++j) {
      double sum = 0;
      for (std::int64_t i = 0; i < matrix.rows; ++i) {
        const auto x = static_cast<double>(matrix.data[i + j * matrix.ld]);
        rows[i] += x * x;
        sum += x * x;
      }
      cols[j] = sum;
    }
  }

  void scales(const Stream& /*stream*/, const Inner<T>& a, const Inner<T>& b, std::int64_t m,
              std::int64_t n, std::int64_t k, double lambda_u, Scales* scales) override {
    scales->columns = side_scales(norms(a, k), lambda_u, m, k);
    scales->rows = side_scales(norms(b, k), lambda_u, n, k);
  }

  void inspect(const Stream& /*stream*/, const Side<T>& columns, const Side<T>& rows,
               const Scales* scales, Report* report) override {
    report->share = 0;
    const Wrong wrong_columns = wrong_lines(columns, scales->columns, report->share);
    const Wrong wrong_rows = wrong_lines(rows, scales->rows, report->share);
    judge<T>(wrong_columns, wrong_rows, rows.count, columns.count, *report);
  }

  void settle(const Stream& /*stream*/, MatrixView<const T> a, MatrixView<const T> b,
              MatrixView<const T> c, double factor, Report* report) override {
    double sum = 0;
    double magnitudes = 0;
    PlainSum<T> plain;
    for (std::int64_t l = 0; l < a.cols; ++l) {
      const T x = a.data[report->suspect_row + l * a.ld];
      const T y = b.data[l + report->suspect_col * b.ld];
      const double product = static_cast<double>(x) * static_cast<double>(y);
      sum += product;
      magnitudes += std::fabs(product);
      plain.add(x, y);
    }
    const T element = c.data[report->suspect_row + report->suspect_col * c.ld];
    abft::settle(static_cast<double>(element), static_cast<double>(static_cast<T>(sum)),
                 factor * magnitudes, plain.most, *report);
  }

  void correct(const Stream& /*stream*/, MatrixView<T> c, const Report* report) override {
    if (report->verdict == Verdict::located)
      c.data[report->row + report->col * c.ld] = static_cast<T>(report->recomputed);
  }

  void inject(const Stream& /*stream*/, const Fault& fault, MatrixView<T> c,
              Report* report) override {
    T& element = c.data[fault.row + fault.col * c.ld];
    report->injected = static_cast<double>(element);
    element = with_fault(element, fault);
    report->faulty = static_cast<double>(element);
  }

  void restore(const Stream& /*stream*/, const Fault& fault, MatrixView<T> c,
               const Report* report) override {
    c.data[fault.row + fault.col * c.ld] = static_cast<T>(report->injected);
  }

 private:
  static InnerNorms norms(const Inner<T>& inner, std::int64_t k) {
    InnerNorms norms;
    for (std::int64_t l = 0; l < k; ++l) {
      norms.total_square += inner.squares[l];
      norms.most_square = std::max(norms.most_square, inner.squares[l]);
      for (int s = 0; s < 2; ++s) {
        const auto x = static_cast<double>(inner.checksum[l + s * k]);
        norms.checksum_square[s] += x * x;
      }
    }
    return norms;
  }

  static Wrong wrong_lines(const Side<T>& side, const Scales::Side& scales, double& most) {
    Wrong wrong;
    for (std::int64_t i = 0; i < side.count; ++i) {
      const std::int64_t second = i + side.count;
      const Residuals r = residuals(scales, side.found[i], side.expected[i], side.found[second],
                                    side.expected[second], side.operand[i], side.result[i]);
      const double share = share_of_bound(r);
      most = std::max(most, share);
      wrong.rank = std::max(wrong.rank, rank_of(prominence(scales.spread, r.value[0],
                                                           static_cast<double>(side.expected[i]),
                                                           side.operand[i], side.result[i]),
                                                i));
      if (share <= 1) continue;
      if (wrong.count++ == 0) {
        wrong.first = i;
        wrong.of_first = r;
      }
    }
    return wrong;
  }
};

}  // namespace

template <class T>
std::unique_ptr<Elements<T>> make_elements(const Stream& stream, std::int64_t m, std::int64_t n,
                                           std::int64_t k) {
  if (stream.device().is_cuda()) return make_cuda_elements<T>(stream, m, n, k);
  return std::make_unique<CpuElements<T>>();
}

template std::unique_ptr<Elements<double>> make_elements(const Stream&, std::int64_t, std::int64_t,
                                                         std::int64_t);
template std::unique_ptr<Elements<float>> make_elements(const Stream&, std::int64_t, std::int64_t,
                                                        std::int64_t);

}  // namespace lanky::examples::abft
