#include "solvers/svd_work.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <lanky/dtype.hpp>

namespace lanky::solvers {

namespace {

template <class T>
LinearOperator<T> with_fewer_columns(const LinearOperator<T>& op) {
  if (op.rows() >= op.cols()) return op;
  return LinearOperator<T>(
      op.cols(), op.rows(),
      [op](const Stream& stream, MatrixView<const T> x, MatrixView<T> y) {
        op.apply_adjoint(stream, x, y);
      },
      [op](const Stream& stream, MatrixView<const T> x, MatrixView<T> y) {
        op.apply(stream, x, y);
      });
}

template <class T>
double tolerance_of(const SvdOptions& options) {
  constexpr double kRoundings = 32;  // of A x, in units of |A| |x|, that a residual is allowed
  const double usual = sizeof(RealOf<T>) == sizeof(double) ? 1e-8 : 1e-4;
  return std::max(options.tolerance > 0 ? options.tolerance : usual,
                  kRoundings * unit_roundoff(kDType<T>));
}

}  // namespace

template <class T>
SvdWork<T>::SvdWork(const Stream& on, const LinearOperator<T>& op, const SvdOptions& given)
    : stream(on),
      a(with_fewer_columns(op)),
      options(given),
      work(make_block_work<T>(on)),
      products(on, given.allocator),
      tolerance(tolerance_of<T>(given)) {}

template <class T>
bool SvdWork<T>::report(int iteration, std::int64_t converged, double residual) {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
  history.push_back({.iteration = iteration,
                     .wanted = options.k,
                     .converged = converged,
                     .residual = residual,
                     .tolerance = tolerance,
                     .seconds = passed.count()});
  return !options.progress || options.progress(history.back());
}

/// What bases may lose of orthogonality: a tenth of the residuals that are asked for, and so little
/// that one pass of finish() makes triplets orthonormal. The unit is the rounding of a gram
/// product, of which up to 66 times the type's was seen.
template <class T>
double most_loss(double tolerance) {
  constexpr double kLeast = 16;
  constexpr double kMost = sizeof(RealOf<T>) == sizeof(double) ? 180 : 32;
  return std::clamp(0.1 * tolerance / unit_roundoff(kDType<T>), kLeast, kMost);
}

template <class T>
Basis<T>::Basis(SvdWork<T>& work, std::int64_t rows, std::int64_t capacity, std::int64_t at_once)
    : work_(work),
      room_(std::min(capacity, at_once)),
      matrix_(work.stream, rows, room_ + capacity, Layout::row, 0, work.options.allocator),
      orthogonalizer_(work.stream, *work.work, work.products, LinearOperator<T>(), rows, room_,
                      capacity, work.options.allocator),
      loss_{most_loss<T>(work.tolerance)} {}

template <class T>
void Basis<T>::append(std::int64_t count) {
  while (count > 0) {
    const std::int64_t width = std::min(count, room_);
    const Blocks blocks{room_, size_, width};
    if (orthogonalizer_.orthogonalize(matrix_.view(), blocks, Side::right, &loss_) == Side::left) {
      work_.work->combine(1,
                          read_only(columns_of(matrix_.view(), blocks.w_first(Side::left), width)),
                          0, next(width));
    }
    size_ += width;
    count -= width;
  }
}

template <class T>
void Basis<T>::append(MatrixView<const T> x, double scale) {
  work_.work->combine(1 / scale, x, 0, next(x.cols));
  append(x.cols);
}

template <class T>
SmallMatrix<Wide<T>> Basis<T>::append_and_multiply(MatrixView<const T> x, double scale) {
  append(x, scale);
  SmallMatrix<Wide<T>> products;
  if (x.cols <= room_) products = orthogonalizer_.products();
  if (products.cols() == 0) return gram_on_host<T>(work_, read_only(all()), x);
  for (std::int64_t j = 0; j < products.cols(); ++j) {
    for (std::int64_t i = 0; i < products.rows(); ++i)
      products(i, j) *= scale;
  }
  return products;
}

template <class T>
SmallMatrix<Wide<T>> gram_on_host(SvdWork<T>& work, MatrixView<const T> a, MatrixView<const T> b) {
  Matrix<T> c(work.stream, a.cols, b.cols, Layout::row, 0, work.options.allocator);
  work.products.gram(a, b, c.view());
  return from_rows(c.buffer().to_host().data(), a.cols, b.cols);
}

template <class T>
void combine_columns(SvdWork<T>& work, MatrixView<const T> x, const SmallMatrix<Wide<T>>& c,
                     MatrixView<T> y) {
  std::vector<T> elements;
  elements.reserve(static_cast<std::size_t>(c.rows() * y.cols));
  for (std::int64_t i = 0; i < c.rows(); ++i) {
    for (std::int64_t j = 0; j < y.cols; ++j)
      elements.push_back(static_cast<T>(c(i, j)));
  }
  Matrix<T> small(work.stream, c.rows(), y.cols, Layout::row, 0, work.options.allocator);
  small.buffer().copy_from(elements);
  work.products.update(x, read_only(small.view()), y);
}

template <class T>
Triplets<T> projected_triplets(SvdWork<T>& work, MatrixView<const T> x) {
  Allocator* const allocator = work.options.allocator;
  const std::int64_t k = work.options.k;
  Matrix<T> ax(work.stream, work.a.rows(), x.cols, Layout::row, 0, allocator);
  work.a.apply(work.stream, x, ax);
  Basis<T> y(work, work.a.rows(), x.cols);
  const auto small = small_svd(y.append_and_multiply(read_only(ax.view()), work.scale));
  Triplets<T> triplets{{small.values.begin(), small.values.begin() + k},
                       Matrix<T>(work.stream, work.a.rows(), k, Layout::row, 0, allocator),
                       Matrix<T>(work.stream, work.a.cols(), k, Layout::row, 0, allocator)};
  combine_columns<T>(work, y.all(), small.left, triplets.left.view());
  combine_columns<T>(work, x, small.right, triplets.right.view());
  return triplets;
}

template <class T>
Triplets<T> whole_triplets(SvdWork<T>& work) {
  const std::int64_t n = work.a.cols();
  std::vector<T> identity(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i)
    identity[static_cast<std::size_t>(i * n + i)] = T{1};
  Matrix<T> x(work.stream, n, n, Layout::row, 0, work.options.allocator);
  x.buffer().copy_from(identity);
  return projected_triplets<T>(work, x.view());
}

template <class T>
std::vector<double> finish(SvdWork<T>& work, Triplets<T>& triplets) {
  for (const MatrixView<T> vectors : {triplets.left.view(), triplets.right.view()}) {
    Basis<T> basis(work, vectors.rows, vectors.cols);
    basis.append(read_only(vectors));
    work.work->combine(1, read_only(basis.all()), 0, vectors);
  }
  Allocator* const allocator = work.options.allocator;
  const std::int64_t k = work.options.k;
  const auto values = Buffer<double>::from(work.stream, triplets.values, allocator);
  const auto nowhere = Buffer<std::int32_t>::from(
      work.stream, std::vector<std::int32_t>(static_cast<std::size_t>(k), -1), allocator);
  Buffer<double> squares(work.stream, k, allocator);
  Matrix<T> product(work.stream, work.a.rows(), k, Layout::row, 0, allocator);
  work.work->prepare(k);
  const auto measure = [&](MatrixView<const T> image, MatrixView<const T> vectors) {
    work.work->residual(image, vectors, values.data(), nowhere.data(), {}, squares.data());
    return squares.to_host();
  };
  work.a.apply(work.stream, triplets.right.view(), product.view());
  const std::vector<double> forward = measure(product.view(), triplets.left.view());
  const MatrixView<T> back(product.buffer().data(), work.a.cols(), k, Layout::row);
  work.a.apply_adjoint(work.stream, triplets.left.view(), back);
  const std::vector<double> backward = measure(back, triplets.right.view());
  std::vector<double> residuals;
  for (std::size_t j = 0; j < forward.size(); ++j)
    residuals.push_back(std::sqrt(std::max(forward[j], backward[j])));
  return residuals;
}

std::int64_t count_converged(const std::vector<double>& values,
                             const std::vector<double>& residuals, double tolerance) {
  std::int64_t count = 0;
  for (const double residual : residuals) {
    if (!(residual <= tolerance * values.front())) break;
    ++count;
  }
  return count;
}

#define LANKY_INSTANTIATE(T)                                                                   \
  template struct SvdWork<T>;                                                                  \
  template class Basis<T>;                                                                     \
  template SmallMatrix<Wide<T>> gram_on_host(SvdWork<T>&, MatrixView<const T>,                 \
                                             MatrixView<const T>);                             \
  template void combine_columns(SvdWork<T>&, MatrixView<const T>, const SmallMatrix<Wide<T>>&, \
                                MatrixView<T>);                                                \
  template Triplets<T> projected_triplets(SvdWork<T>&, MatrixView<const T>);                   \
  template Triplets<T> whole_triplets(SvdWork<T>&);                                            \
  template std::vector<double> finish(SvdWork<T>&, Triplets<T>&);
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::solvers
