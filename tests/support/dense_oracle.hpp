// Dense products on the host, and what a product of a plan must equal: exactly for integers, within
// k u sum|a||b| for random data. The oracle sums in long double, which holds 11 more bits than f64.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <lanky/dense.hpp>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "support/executor.hpp"

namespace lanky::testing {

/// A matrix as a caller stores it, `offset` elements into its allocation, with padding between
/// the columns (or rows) that no product may read or write.
template <class T>
struct HostMatrix {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  Layout layout = Layout::col;
  std::int64_t ld = 0;
  std::int64_t offset = 0;
  std::vector<T> data;

  HostMatrix(std::int64_t r, std::int64_t c, Layout l, std::int64_t padding, std::int64_t first,
             T fill)
      : rows(r), cols(c), layout(l), ld((l == Layout::col ? r : c) + padding), offset(first) {
    data.assign(static_cast<std::size_t>(offset + ld * (l == Layout::col ? c : r)), fill);
  }
  T& at(std::int64_t i, std::int64_t j) {
    return data[static_cast<std::size_t>(offset +
                                         (layout == Layout::col ? i + j * ld : i * ld + j))];
  }
  const T& at(std::int64_t i, std::int64_t j) const {
    return const_cast<HostMatrix*>(this)->at(i, j);
  }
};

/// Elements of a row or a column: element p at first[p * step].
template <class T>
struct Strided {
  const T* first;
  std::int64_t step;
};

template <class T>
Strided<T> row_of(const HostMatrix<T>& matrix, std::int64_t i) {
  const bool col = matrix.layout == Layout::col;
  return {matrix.data.data() + matrix.offset + i * (col ? 1 : matrix.ld), col ? matrix.ld : 1};
}
template <class T>
Strided<T> column_of(const HostMatrix<T>& matrix, std::int64_t j) {
  const bool col = matrix.layout == Layout::col;
  return {matrix.data.data() + matrix.offset + j * (col ? matrix.ld : 1), col ? 1 : matrix.ld};
}

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() &&
         (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0);
}

/// A matrix on a device, at the same offset into its allocation as on the host.
template <class T>
class DeviceMatrix {
 public:
  DeviceMatrix(const Stream& stream, const HostMatrix<T>& host)
      : host_(host), buffer_(Buffer<T>::from(stream, host.data)) {}

  MatrixView<T> view() {
    return {buffer_.data() + host_.offset, host_.rows, host_.cols, host_.ld, host_.layout};
  }
  HostMatrix<T> download() const {
    HostMatrix<T> result = host_;
    result.data = buffer_.to_host();
    return result;
  }

 private:
  HostMatrix<T> host_;
  Buffer<T> buffer_;
};

inline std::string text(const GemmShape& s) {
  return concat(s.m, " x ", s.n, " x ", s.k, " op ", static_cast<int>(s.op_a),
                static_cast<int>(s.op_b), s.layout == Layout::col ? " col" : " row");
}

template <class T>
constexpr T from_double(double value) {
  return static_cast<T>(value);
}

enum class Data { integers, random };

/// A product with its operands. Padding of A and B is NaN, so that reading it shows.
template <class T, class TOut>
struct DenseCase {
  GemmShape shape;
  double alpha = 1;
  double beta = 0;
  HostMatrix<T> a;
  HostMatrix<T> b;
  HostMatrix<TOut> c;

  /// `shape` without leading dimensions; each is tight plus `padding`, each pointer `offset`
  /// elements off its allocation. C holds NaN where beta is 0.
  DenseCase(GemmShape s, Data data, std::uint64_t seed, double alpha_value = 1,
            double beta_value = 0, std::int64_t padding = 0, std::int64_t offset = 0)
      : shape(s),
        alpha(alpha_value),
        beta(beta_value),
        a(s.op_a == Op::none ? s.m : s.k, s.op_a == Op::none ? s.k : s.m, s.layout, padding, offset,
          nan<T>()),
        b(s.op_b == Op::none ? s.k : s.n, s.op_b == Op::none ? s.n : s.k, s.layout, padding, offset,
          nan<T>()),
        c(s.m, s.n, s.layout, padding, offset, from_double<TOut>(7)) {
    shape.lda = a.ld;
    shape.ldb = b.ld;
    shape.ldc = c.ld;
    std::mt19937_64 random(seed);
    fill(a, data, random);
    fill(b, data, random);
    if (beta != 0) {
      fill(c, data, random);
      return;
    }
    for (std::int64_t i = 0; i < c.rows; ++i) {
      for (std::int64_t j = 0; j < c.cols; ++j)
        c.at(i, j) = nan<TOut>();
    }
  }

  template <class E>
  static E nan() {
    return from_double<E>(std::numeric_limits<double>::quiet_NaN());
  }

  template <class E>
  static void fill(HostMatrix<E>& matrix, Data data, std::mt19937_64& random) {
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
      for (std::int64_t j = 0; j < matrix.cols; ++j) {
        const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
        matrix.at(i, j) =
            from_double<E>(data == Data::integers ? std::floor(3 * unit) - 1 : 2 * unit - 1);
      }
    }
  }

  /// Element (i, j) of the exact result, and the sum of the absolute values of its terms.
  struct Exact {
    long double value = 0;
    long double magnitude = 0;
  };
  Exact exact(std::int64_t i, std::int64_t j) const {
    Exact sum;
    if (alpha != 0) {
      const auto [x, step_x] = shape.op_a == Op::none ? row_of(a, i) : column_of(a, i);
      const auto [y, step_y] = shape.op_b == Op::none ? column_of(b, j) : row_of(b, j);
      for (std::int64_t p = 0; p < shape.k; ++p) {
        const long double term = static_cast<long double>(static_cast<double>(x[p * step_x])) *
                                 static_cast<double>(y[p * step_y]);
        sum.value += term;
        sum.magnitude += std::fabs(term);
      }
    }
    sum.value *= alpha;
    sum.magnitude *= std::fabs(alpha);
    if (beta != 0) {
      const long double term = static_cast<long double>(beta) * static_cast<double>(c.at(i, j));
      sum.value += term;
      sum.magnitude += std::fabs(term);
    }
    return sum;
  }

  /// C as it must be for integers: each element the exact one, rounded once; padding as it was.
  HostMatrix<TOut> expected() const {
    HostMatrix<TOut> result = c;
    for (std::int64_t i = 0; i < c.rows; ++i) {
      for (std::int64_t j = 0; j < c.cols; ++j)
        result.at(i, j) = from_double<TOut>(static_cast<double>(exact(i, j).value));
    }
    return result;
  }
  void expect_exact(const HostMatrix<TOut>& got) const { expect_equal(got, expected()); }

  /// Every element in memory is equal, padding included.
  static void expect_equal(const HostMatrix<TOut>& got, const HostMatrix<TOut>& expected) {
    std::int64_t wrong = 0;
    for (std::size_t e = 0; e < expected.data.size(); ++e) {
      const auto x = static_cast<double>(got.data[e]);
      const auto y = static_cast<double>(expected.data[e]);
      if (x == y) continue;
      if (wrong++ == 0) ADD_FAILURE() << "C[" << e << "] is " << x << ", expected " << y;
    }
    EXPECT_EQ(wrong, 0) << "of " << expected.data.size() << " elements";
  }

  /// exact() of all elements, [rows][cols] of C: for more results than one of the same case.
  std::vector<Exact> exact_elements() const {
    std::vector<Exact> elements;
    for (std::int64_t i = 0; i < c.rows; ++i) {
      for (std::int64_t j = 0; j < c.cols; ++j)
        elements.push_back(exact(i, j));
    }
    return elements;
  }

  /// Each element is within (k + 4) u sum|a||b| and one rounding to TOut of the exact one.
  void expect_within_bound(const HostMatrix<TOut>& got) const {
    expect_within_bound(got, exact_elements());
  }
  void expect_within_bound(const HostMatrix<TOut>& got, const std::vector<Exact>& elements) const {
    const double u = unit_roundoff(kDType<GemmAccumulator<T, TOut>>);
    const double u_out = unit_roundoff(kDType<TOut>);
    const double smallest = kDType<TOut> == DType::f16 ? 0x1p-25 : 0;
    double worst = 0;
    for (std::int64_t i = 0; i < c.rows; ++i) {
      for (std::int64_t j = 0; j < c.cols; ++j) {
        const Exact& e = elements[static_cast<std::size_t>(i * c.cols + j)];
        const auto error =
            std::fabs(static_cast<long double>(static_cast<double>(got.at(i, j))) - e.value);
        const long double sum_bound =
            static_cast<long double>(u) * static_cast<long double>(shape.k + 4) * e.magnitude;
        const long double bound = sum_bound + u_out * (std::fabs(e.value) + sum_bound) + smallest;
        const double ratio = error == 0 ? 0 : static_cast<double>(error / bound);
        if (!(ratio <= worst)) worst = ratio;
      }
    }
    EXPECT_LE(worst, 1) << "error over bound";
  }
};

/// One run of a plan of the case's shape, host scalars.
template <class T, class TOut>
HostMatrix<TOut> multiply(const Stream& stream, const DenseCase<T, TOut>& dense,
                          const GemmOptions& options = {}) {
  using Acc = GemmAccumulator<T, TOut>;
  const GemmPlan<T, TOut> plan(stream, dense.shape, options);
  DeviceMatrix<T> a(stream, dense.a);
  DeviceMatrix<T> b(stream, dense.b);
  DeviceMatrix<TOut> c(stream, dense.c);
  plan.run(stream, static_cast<Acc>(dense.alpha), a.view(), b.view(), static_cast<Acc>(dense.beta),
           c.view());
  return c.download();
}

}  // namespace lanky::testing

/// The types of the body of an EXECUTOR_TEST, and a stream of its device.
#define LANKY_DENSE_BODY()                                        \
  using T [[maybe_unused]] = typename TypeParam::Element;         \
  using TOut [[maybe_unused]] = typename TypeParam::Result;       \
  using Acc [[maybe_unused]] = ::lanky::GemmAccumulator<T, TOut>; \
  const ::lanky::Stream stream(device)
