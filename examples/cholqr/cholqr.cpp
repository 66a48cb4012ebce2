#include "examples/cholqr/cholqr.hpp"

#include <cmath>
#include <lanky/error.hpp>
#include <sstream>

#include "examples/support/uniform.hpp"

namespace lanky::examples::cholqr {

namespace {

std::int64_t checked_columns(std::int64_t m, std::int64_t n) {
  if (n < 1 || n > kMostColumns || m < n) {
    throw Error(ErrorCode::invalid_argument,
                "A is " + std::to_string(m) + " x " + std::to_string(n) + "; 1 to " +
                    std::to_string(kMostColumns) + " columns and no fewer rows are needed");
  }
  return n;
}

/// [n, n], column major: diag(geometric) (I - 2 v v^T) (I - 2 w w^T), v and w random.
std::vector<double> small_factor(std::int64_t n, double condition, std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<double> s(size * size);
  for (std::size_t i = 0; i < size; ++i)
    s[i + i * size] = n == 1 ? 1 : std::pow(condition, -static_cast<double>(i) / (n - 1));
  for (int reflection = 0; reflection < 2; ++reflection) {
    std::vector<double> v(size);
    double square = 0;
    for (std::size_t i = 0; i < size; ++i) {
      v[i] = 2 * uniform(seed, reflection * n + static_cast<std::int64_t>(i)) - 1;
      square += v[i] * v[i];
    }
    for (std::size_t i = 0; i < size; ++i) {
      double product = 0;
      for (std::size_t j = 0; j < size; ++j)
        product += s[i + j * size] * v[j];
      for (std::size_t j = 0; j < size; ++j)
        s[i + j * size] -= 2 * product / square * v[j];
    }
  }
  return s;
}

}  // namespace

double first_shift(std::int64_t m, std::int64_t n, double roundoff) {
  const auto cols = static_cast<double>(n);
  return 11 * (std::sqrt(static_cast<double>(m)) * cols + cols * (cols + 1)) * roundoff;
}

void throw_breakdown(const Breakdown& breakdown, std::int64_t n, bool shifted) {
  if (breakdown.pass == 0) return;
  std::ostringstream message;
  message.imbue(std::locale::classic());
  message << "pass " << breakdown.pass << " of CholeskyQR broke down: pivot " << breakdown.pivot + 1
          << " of " << n << " is " << breakdown.value << ", what rounding leaves of "
          << breakdown.diagonal << "; the columns of A depend on each other too closely"
          << (shifted ? "" : " for two passes, three with a shift may do");
  throw Error(ErrorCode::unsupported, message.str());
}

template <class T>
CholeskyQr<T>::CholeskyQr(const Stream& stream, std::int64_t m, std::int64_t n, bool shifted)
    : stream_(stream),
      m_(m),
      n_(checked_columns(m, n)),
      passes_(shifted ? 3 : 2),
      work_(make_tall_work<T>(stream)),
      gram_(stream, {.m = n, .n = n, .k = m, .op_a = Op::trans}),
      update_(stream, {.m = m, .n = n, .k = n}),
      between_(stream, m, n),
      g_(stream, n, n),
      r_step_(stream, n, n),
      inverse_(stream, n, n),
      r_before_{Matrix<T>(stream, n, n), Matrix<T>(stream, n, n)},
      breakdown_(stream, 1) {
  breakdown_.fill_zero();
}

template <class T>
void CholeskyQr<T>::run(MatrixView<const T> a, MatrixView<T> q, MatrixView<T> r) {
  const double roundoff = unit_roundoff(kDType<T>);
  MatrixView<const T> source = a;
  for (int pass = 1; pass <= passes_; ++pass) {
    const bool last = pass == passes_;
    const bool into_q = (passes_ - pass) % 2 == 0;  // the last one's; those before take turns
    MatrixView<T> target = into_q ? q : between_.view();
    const Matrix<T>& before = r_before_[pass % 2];
    Matrix<T>& after = r_before_[(pass + 1) % 2];
    gram_.run(stream_, source, source, g_.view());
    work_->factor(stream_, {.n = n_,
                            .gram = g_.buffer().data(),
                            .shift = passes_ == 3 && pass == 1 ? first_shift(m_, n_, roundoff) : 0,
                            .roundoff = roundoff,
                            .pass = pass,
                            .r_before = pass == 1 ? nullptr : before.buffer().data(),
                            .r_step = r_step_.buffer().data(),
                            .r_total = last ? r.data : after.buffer().data(),
                            .inverse = inverse_.buffer().data(),
                            .breakdown = breakdown_.data()});
    update_.run(stream_, source, inverse_.view(), target);
    source = target;
  }
}

template <class T>
void CholeskyQr<T>::check() const {
  throw_breakdown(breakdown_.to_host()[0], n_, passes_ == 3);
}

template <class T>
void fill_conditioned(const Stream& stream, TallWork<T>& work, double condition, std::uint64_t seed,
                      MatrixView<T> scratch, MatrixView<T> a) {
  work.fill(stream, seed, scratch);
  const std::vector<double> factor = small_factor(a.cols, condition, ~seed);
  Matrix<T> small(stream, a.cols, a.cols);
  small.buffer().copy_from(std::vector<T>(factor.begin(), factor.end()));
  gemm<T>(stream, Op::none, Op::none, T{1}, scratch, small.view(), T{0}, a);
}

template class CholeskyQr<double>;
template class CholeskyQr<float>;
template void fill_conditioned(const Stream&, TallWork<double>&, double, std::uint64_t,
                               MatrixView<double>, MatrixView<double>);
template void fill_conditioned(const Stream&, TallWork<float>&, double, std::uint64_t,
                               MatrixView<float>, MatrixView<float>);

}  // namespace lanky::examples::cholqr
