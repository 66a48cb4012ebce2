#include "solvers/block_work.hpp"

#include <algorithm>
#include <complex>
#include <vector>

#include "core/for_each.hpp"
#include "solvers/column_pass.hpp"

namespace lanky::solvers {

namespace {

/// Rows that are summed as one, whatever the number of threads, so that bits do not depend on it.
constexpr std::int64_t kChunk = 2048;

/// sums [cols / parts], where they are not null.
template <class Pass>
void run_pass(std::int64_t rows, std::int64_t cols, const Pass& pass, double* sums, int parts) {
  const std::int64_t chunks = (rows + kChunk - 1) / kChunk;
  std::vector<double> partials(static_cast<std::size_t>(sums == nullptr ? 0 : chunks * cols));
  for_each(chunks, rows * cols > 32768, [&](std::int64_t chunk) {
    double* const own = sums == nullptr ? nullptr : partials.data() + chunk * cols;
    const std::int64_t end = std::min(rows, (chunk + 1) * kChunk);
    for (std::int64_t i = chunk * kChunk; i < end; ++i) {
      for (std::int64_t c = 0; c < cols; ++c) {
        const int column = static_cast<int>(c);
        const double term = pass.apply(pass.load(i, column), i, column);
        if (own != nullptr) own[c] += term;
      }
    }
  });
  if (sums == nullptr) return;
  std::fill_n(sums, cols / parts, 0.0);
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    for (std::int64_t c = 0; c < cols; ++c)
      sums[c / parts] += partials[static_cast<std::size_t>(chunk * cols + c)];
  }
}

template <class T>
class CpuBlockWork : public BlockWork<T> {
  using Real = RealOf<T>;
  static constexpr int kP = kParts<T>;

 public:
  void residual(MatrixView<const T> ax, MatrixView<const T> bx, const double* theta,
                const std::int32_t* positions, MatrixView<T> w, double* squares) override {
    run_pass(ax.rows, ax.cols * kP,
             ResidualPass<Real>{real_rows(ax), real_rows(bx), theta, positions, kP, real_rows(w)},
             squares, kP);
  }
  void dots(MatrixView<const T> x, MatrixView<const T> y, double* sums) override {
    run_pass(x.rows, x.cols * kP, DotPass<Real>{real_rows(x), real_rows(y)}, sums, kP);
  }
  void combine(double alpha, MatrixView<const T> x, double beta, MatrixView<T> y) override {
    run_pass(x.rows, x.cols * kP, CombinePass<Real>{alpha, real_rows(x), beta, real_rows(y)},
             nullptr, kP);
  }
  void recur(const double* t, MatrixView<const T> x, MatrixView<T> y, MatrixView<const T> r,
             MatrixView<const T> ax) override {
    run_pass(x.rows, x.cols * kP,
             RecurrencePass<Real>{t, real_rows(x), real_rows(y), real_rows(r), real_rows(ax)},
             nullptr, kP);
  }
  void narrow(const double* factor, MatrixView<const T> x, MatrixView<SingleOf<T>> y) override {
    run_pass(x.rows, x.cols * kP,
             ConvertPass<Real, RealOf<SingleOf<T>>>{factor, real_rows(x), real_rows(y)}, nullptr,
             kP);
  }
  void widen(MatrixView<const SingleOf<T>> x, MatrixView<T> y) override {
    run_pass(x.rows, x.cols * kP,
             ConvertPass<RealOf<SingleOf<T>>, Real>{nullptr, real_rows(x), real_rows(y)}, nullptr,
             kP);
  }
  void fill_random(std::uint64_t seed, std::int64_t first_column, MatrixView<T> x) override {
    run_pass(x.rows, x.cols * kP, RandomPass<Real>{seed, first_column * kP, real_rows(x)}, nullptr,
             kP);
  }
  void orthogonal_pass(const PassOperands<Real>& operands) override {
    using Number = typename NumberOf<T>::Number;
    std::vector<Number> t(static_cast<std::size_t>(operands.w * operands.w));
    std::vector<double> scale(static_cast<std::size_t>(operands.w));
    solvers::orthogonal_pass(OneThread{}, operands, t.data(), scale.data());
  }
  void prepare(std::int64_t /*columns*/) override {}
};

}  // namespace

template <class T>
std::unique_ptr<BlockWork<T>> cpu::make_block_work(const Stream& /*stream*/) {
  return std::make_unique<CpuBlockWork<T>>();
}

#define LANKY_INSTANTIATE(T) \
  template std::unique_ptr<BlockWork<T>> cpu::make_block_work(const Stream&);
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::solvers
