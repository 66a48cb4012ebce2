// svds(): checks the problem, centers and turns it, and hands it to a method.
#include <algorithm>
#include <cmath>
#include <complex>
#include <lanky/dtype.hpp>
#include <lanky/error.hpp>
#include <lanky/svd.hpp>
#include <memory>
#include <utility>

#include "core/text.hpp"
#include "solvers/svd_methods.hpp"

namespace lanky::solvers {

namespace {

template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw Error(ErrorCode::invalid_argument, concat(parts...));
}

template <class T>
void check(const Stream& stream, const LinearOperator<T>& a, const SvdOptions& options) {
  if (!a) fail("singular values without A");
  const std::int64_t most = std::min(a.rows(), a.cols());
  if (options.k < 1 || options.k > most) {
    fail(options.k, " singular triplets of a matrix of ", a.rows(), " x ", a.cols(),
         "; at least 1 and at most ", most, " can be asked for");
  }
  if (!a.has_adjoint()) {
    fail("A has no adjoint, which singular values need: make_operator_with_adjoint() makes both");
  }
  if (!(options.tolerance >= 0)) fail("the tolerance is ", options.tolerance);
  if (options.max_iterations < 1) fail("max_iterations is ", options.max_iterations);
  if (options.oversampling < 0) fail("oversampling is ", options.oversampling);
  if (options.power_iterations < 0) fail("power_iterations is ", options.power_iterations);
  if (stream.is_capturing())
    fail("the stream is captured for a CUDA graph; solvers wait for their work");
}

/// y^H A x is (A^H y)^H x for random vectors. Returns about the size of A's singular values.
template <class T>
double check_adjoint(const Stream& stream, const LinearOperator<T>& a, const SvdOptions& options,
                     BlockWork<T>& work) {
  constexpr std::int64_t kVectors = 4;
  const auto tall = [&](std::int64_t rows) {
    return Matrix<T>(stream, rows, kVectors, Layout::row, 0, options.allocator);
  };
  Matrix<T> x = tall(a.cols());
  Matrix<T> ax = tall(a.rows());
  Matrix<T> y = tall(a.rows());
  Matrix<T> ay = tall(a.cols());
  work.prepare(kVectors);
  work.fill_random(options.seed, 0, x.view());
  work.fill_random(options.seed, kVectors, y.view());
  a.apply(stream, x, ax);
  a.apply_adjoint(stream, y, ay);
  Buffer<double> sums(stream, kVectors, options.allocator);
  const auto dots = [&](const Matrix<T>& left, const Matrix<T>& right) {
    work.dots(left, right, sums.data());
    return sums.to_host();
  };
  const std::vector<double> forward = dots(y, ax);
  const std::vector<double> backward = dots(ay, x);
  const std::vector<double> square_x = dots(x, x);
  const std::vector<double> square_y = dots(y, y);
  const std::vector<double> square_ax = dots(ax, ax);
  const std::vector<double> square_ay = dots(ay, ay);
  double difference = 0;
  double usual = 0;  // y^H A x of random y is about |y| |A x| over the root of y's length
  double size = 0;
  for (std::size_t j = 0; j < kVectors; ++j) {
    difference += std::abs(forward[j] - backward[j]);
    usual += std::sqrt(square_y[j] * square_ax[j] / static_cast<double>(a.rows())) +
             std::sqrt(square_x[j] * square_ay[j] / static_cast<double>(a.cols()));
    size = std::max(
        {size, std::sqrt(square_ax[j] / square_x[j]), std::sqrt(square_ay[j] / square_y[j])});
  }
  if (!std::isfinite(difference + size))
    fail("products with A or its adjoint have elements that are NaN or Inf");
  if (difference > std::cbrt(unit_roundoff(kDType<T>)) * usual) {
    fail("the adjoint is not that of A: for random x and y, y^H (A x) is ", forward[0],
         ", and (A^H y)^H x is ", backward[0]);
  }
  return size;
}

/// A - 1 means^T, as A - ones c^H with c the conjugated means.
template <class T>
class Centered {
 public:
  Centered(const Stream& stream, const LinearOperator<T>& a, Allocator* allocator)
      : a_(a),
        products_(stream, allocator),
        allocator_(allocator),
        ones_(stream, a.rows(), 1, Layout::row, 0, allocator),
        means_(stream, a.cols(), 1, Layout::row, 0, allocator),
        row_(stream, 0, allocator) {
    const auto rows = static_cast<std::size_t>(a.rows());
    ones_.buffer().copy_from(std::vector<T>(rows, T{1}));
    Matrix<T> sums(stream, a.cols(), 1, Layout::row, 0, allocator);
    a.apply_adjoint(stream, ones_, sums);
    make_block_work<T>(stream)->combine(1 / static_cast<double>(rows), read_only(sums.view()), 0,
                                        means_.view());
  }

  std::vector<double> means() const {
    std::vector<double> means;
    for (const T mean : means_.buffer().to_host())
      means.push_back(std::real(mean));
    return means;
  }

  static LinearOperator<T> as_operator(const std::shared_ptr<Centered>& centered) {
    return LinearOperator<T>(
        centered->a_.rows(), centered->a_.cols(),
        [centered](const Stream& stream, MatrixView<const T> x, MatrixView<T> y) {
          centered->a_.apply(stream, x, y);
          centered->subtract(stream, centered->ones_, centered->means_, x, y);
        },
        [centered](const Stream& stream, MatrixView<const T> x, MatrixView<T> y) {
          centered->a_.apply_adjoint(stream, x, y);
          centered->subtract(stream, centered->means_, centered->ones_, x, y);
        });
  }

 private:
  /// Y = Y - left (right^H X).
  void subtract(const Stream& stream, MatrixView<const T> left, MatrixView<const T> right,
                MatrixView<const T> x, MatrixView<T> y) {
    if (row_.size() < x.cols) row_ = Buffer<T>(stream, x.cols, allocator_);
    const MatrixView<T> row(row_.data(), 1, x.cols, Layout::row);
    products_.gram(right, x, row);
    products_.update(T{-1}, left, row, T{1}, y);
  }

  LinearOperator<T> a_;
  Products<T> products_;
  Allocator* allocator_;
  Matrix<T> ones_;   // [m, 1]
  Matrix<T> means_;  // [n, 1], conjugated
  Buffer<T> row_;
};

template <class T>
SvdOutcome<T> solve(SvdWork<T>& work) {
  const SvdOptions& options = work.options;
  const bool randomized = options.method == SvdMethod::randomized;
  const std::int64_t least =
      randomized ? options.k + options.oversampling : golub_kahan_columns(options);
  if (work.a.cols() > least) return randomized ? randomized_svd(work) : golub_kahan_svd(work);
  SvdOutcome<T> outcome{whole_triplets(work), {}, SolverStatus::converged, 0};
  outcome.residuals = finish(work, outcome.triplets);
  return outcome;
}

}  // namespace

}  // namespace lanky::solvers

namespace lanky::inline v1 {

template <class T>
SvdResult<T> svds(const Stream& stream, const LinearOperator<T>& a, const SvdOptions& options) {
  solvers::check(stream, a, options);
  LinearOperator<T> op = a;
  std::vector<double> means;
  double size = 0;
  {
    const auto work = solvers::make_block_work<T>(stream);
    size = solvers::check_adjoint(stream, a, options, *work);
  }
  if (options.center) {
    const auto centered = std::make_shared<solvers::Centered<T>>(stream, a, options.allocator);
    means = centered->means();
    op = solvers::Centered<T>::as_operator(centered);
  }
  solvers::SvdWork<T> work(stream, op, options);
  // Squares of such sizes are far from overflow, also in float.
  if (size > 0 && std::abs(std::log2(size)) > 20)
    work.scale = std::exp2(std::round(std::log2(size)));
  solvers::SvdOutcome<T> outcome = solvers::solve(work);

  SvdResult<T> result(stream, 0, 0, 0, options.allocator);
  const bool turned = a.rows() < a.cols();
  result.u = std::move(turned ? outcome.triplets.right : outcome.triplets.left);
  result.v = std::move(turned ? outcome.triplets.left : outcome.triplets.right);
  result.values = std::move(outcome.triplets.values);
  result.residuals = std::move(outcome.residuals);
  result.means = std::move(means);
  result.iterations = outcome.iterations;
  result.converged = solvers::count_converged(result.values, result.residuals, work.tolerance);
  result.status = outcome.status;
  if (result.converged < options.k && result.status == SolverStatus::converged)
    result.status = SolverStatus::stagnated;
  result.history = std::move(work.history);
  return result;
}

#define LANKY_INSTANTIATE(T) \
  template SvdResult<T> svds(const Stream&, const LinearOperator<T>&, const SvdOptions&);
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::inline v1
