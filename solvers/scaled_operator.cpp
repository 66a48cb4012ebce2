#include "solvers/scaled_operator.hpp"

#include <cmath>
#include <complex>
#include <lanky/buffer.hpp>
#include <lanky/error.hpp>
#include <memory>

#include "solvers/products.hpp"

namespace lanky::solvers {

template <class T>
double norm_seen(const Stream& stream, const LinearOperator<T>& a, std::uint64_t seed,
                 Allocator* allocator) {
  const auto work = make_block_work<T>(stream);
  work->prepare(1);
  Matrix<T> x(stream, a.cols(), 1, Layout::row, 0, allocator);
  Matrix<T> ax(stream, a.rows(), 1, Layout::row, 0, allocator);
  Buffer<double> sum(stream, 1, allocator);
  const auto length = [&](MatrixView<T> v) {
    work->dots(read_only(v), read_only(v), sum.data());
    return std::sqrt(sum.to_host().front());
  };
  work->fill_random(seed, 0, x.view());
  a.apply(stream, x, ax);
  // Squares of a part of the range alone can be added up.
  constexpr bool kWide = sizeof(RealOf<T>) == sizeof(double);
  const double stretch = kWide ? 0x1p500 : 0x1p60;
  double product = length(ax.view());
  if (!(product > 1 / stretch && product < stretch)) {
    const double factor = product < 1 ? stretch : 1 / stretch;
    work->combine(factor, read_only(ax.view()), 0, ax.view());
    product = length(ax.view()) / factor;
  }
  if (!std::isfinite(product)) {
    throw Error(ErrorCode::invalid_argument, "A X has elements that are NaN or Inf");
  }
  return product / length(x.view());
}

template <class T>
double scale_for(double norm) {
  // Squares of residuals that are as small as roundings of A x, or as large as A x of many rows.
  constexpr bool kWide = sizeof(RealOf<T>) == sizeof(double);
  constexpr double kLeast = kWide ? 1e-130 : 1e-12;
  constexpr double kMost = kWide ? 1e130 : 1e12;
  if (norm == 0 || (norm >= kLeast && norm <= kMost)) return 1;
  return std::ldexp(1.0, -std::ilogb(norm));
}

template <class T>
LinearOperator<T> scaled(const Stream& stream, const LinearOperator<T>& a, double scale) {
  if (!a || scale == 1) return a;
  const std::shared_ptr<BlockWork<T>> work = make_block_work<T>(stream);
  LinearOperator<T> result(
      a.rows(), a.cols(),
      [a, scale, work](const Stream& on, MatrixView<const T> x, MatrixView<T> y) {
        a.apply(on, x, y);
        work->combine(scale, read_only(y), 0, y);
      });
  result.set_capturable(a.capturable()).set_bytes(a.bytes());
  return result;
}

#define LANKY_INSTANTIATE(T)                                                                     \
  template double norm_seen(const Stream&, const LinearOperator<T>&, std::uint64_t, Allocator*); \
  template double scale_for<T>(double);                                                          \
  template LinearOperator<T> scaled(const Stream&, const LinearOperator<T>&, double);
LANKY_FOR_EACH_VECTOR_TYPE(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::solvers
