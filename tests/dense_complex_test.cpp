// Dense products of complex elements on every executor: against sums in long double, conjugated or
// not, with complex alpha and beta; and what NaN and Inf do in BLAS's plain formula.
#include <gtest/gtest.h>

#include <lanky/lanky.hpp>

#include "support/dense_oracle.hpp"
#include "support/executor.hpp"
#include "support/expect_error.hpp"

namespace lanky {
namespace {

using testing::DeviceMatrix;
using testing::HostMatrix;
using testing::On;
using testing::text;
using Wide = std::complex<long double>;

template <class Case>
class DenseComplex : public ::testing::Test {};
#ifdef __SANITIZE_ADDRESS__
using Cases = ::testing::Types<On<DeviceKind::cpu, std::complex<double>>>;  // as of PlanCases
#else
using Cases = ::testing::Types<
    On<DeviceKind::cpu, std::complex<float>>, On<DeviceKind::cpu, std::complex<double>>,
    On<DeviceKind::cuda, std::complex<float>>, On<DeviceKind::cuda, std::complex<double>>>;
#endif
TYPED_TEST_SUITE(DenseComplex, Cases, testing::OnName);

#define LANKY_COMPLEX_BODY()                            \
  using T = typename TypeParam::Element;                \
  using Real [[maybe_unused]] = typename T::value_type; \
  const Stream stream(device)

constexpr GemmShape kComplexShapes[] = {
    {.m = 300, .n = 5, .k = 137},  {.m = 3, .n = 160, .k = 300},  {.m = 517, .n = 17, .k = 3},
    {.m = 4, .n = 7, .k = 2100},   {.m = 16, .n = 16, .k = 700},  {.m = 40, .n = 30, .k = 900},
    {.m = 2, .n = 3, .k = 4},      {.m = 1, .n = 1, .k = 1},      {.m = 140, .n = 133, .k = 65},
    {.m = 150, .n = 12, .k = 140}, {.m = 140, .n = 34, .k = 130}, {.m = 131, .n = 13, .k = 16},
    {.m = 100, .n = 64, .k = 40},  {.m = 133, .n = 32, .k = 8},   {.m = 72, .n = 8, .k = 32},
    {.m = 72, .n = 4, .k = 64},    {.m = 72, .n = 70, .k = 100},  {.m = 70, .n = 9, .k = 260},
    {.m = 66, .n = 40, .k = 290},  {.m = 150, .n = 12, .k = 21},  {.m = 134, .n = 7, .k = 5}};
constexpr Op kOps[] = {Op::none, Op::trans, Op::conj_trans};

/// The plain formula, which recovers no Inf from a NaN.
Wide product(Wide a, Wide b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

template <class T>
struct ComplexCase {
  GemmShape shape;
  HostMatrix<T> a;
  HostMatrix<T> b;
  HostMatrix<T> c;

  /// Integers of -1 .. 1 or uniform numbers in both parts; padding is NaN.
  ComplexCase(GemmShape s, bool integers, std::int64_t padding, std::int64_t offset)
      : shape(s),
        a(s.op_a == Op::none ? s.m : s.k, s.op_a == Op::none ? s.k : s.m, s.layout, padding, offset,
          nan()),
        b(s.op_b == Op::none ? s.k : s.n, s.op_b == Op::none ? s.n : s.k, s.layout, padding, offset,
          nan()),
        c(s.m, s.n, s.layout, padding, offset, nan()) {
    shape.lda = a.ld;
    shape.ldb = b.ld;
    shape.ldc = c.ld;
    std::mt19937_64 random(7);
    const auto part = [&] {
      const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
      return static_cast<typename T::value_type>(integers ? std::floor(3 * unit) - 1
                                                          : 2 * unit - 1);
    };
    for (HostMatrix<T>* matrix : {&a, &b, &c}) {
      for (std::int64_t i = 0; i < matrix->rows; ++i) {
        for (std::int64_t j = 0; j < matrix->cols; ++j)
          matrix->at(i, j) = T(part(), part());
      }
    }
  }

  static T nan() { return {std::numeric_limits<typename T::value_type>::quiet_NaN(), 0}; }

  static Wide op(Op op, const HostMatrix<T>& matrix, std::int64_t i, std::int64_t j) {
    const T element = op == Op::none ? matrix.at(i, j) : matrix.at(j, i);
    const Wide wide(element.real(), element.imag());
    return op == Op::conj_trans ? std::conj(wide) : wide;
  }

  struct Exact {
    Wide value;
    long double magnitude;
  };
  Exact exact(std::int64_t i, std::int64_t j, T alpha, T beta) const {
    Wide sum = 0;
    long double magnitude = 0;
    for (std::int64_t p = 0; p < shape.k; ++p) {
      const Wide x = op(shape.op_a, a, i, p);
      const Wide y = op(shape.op_b, b, p, j);
      sum += product(x, y);
      magnitude += std::sqrt(std::norm(x) * std::norm(y));
    }
    Wide value = product(Wide(alpha.real(), alpha.imag()), sum);
    magnitude *= std::abs(alpha);
    if (beta != T(0)) {
      const Wide old(c.at(i, j).real(), c.at(i, j).imag());
      value += product(Wide(beta.real(), beta.imag()), old);
      magnitude += std::abs(Wide(beta.real(), beta.imag())) * std::abs(old);
    }
    return {value, magnitude};
  }

  HostMatrix<T> multiply(const Stream& stream, T alpha, T beta) const {
    const GemmPlan<T> plan(stream, shape);
    DeviceMatrix<T> device_a(stream, a);
    DeviceMatrix<T> device_b(stream, b);
    DeviceMatrix<T> device_c(stream, c);
    plan.run(stream, alpha, device_a.view(), device_b.view(), beta, device_c.view());
    return device_c.download();
  }

  /// Each part within (2 k + 8) u sum|a||b| of the exact one; with `bound` 0, equal to it. Of all
  /// rows but the last 200, every `step`-th.
  void expect(const HostMatrix<T>& got, T alpha, T beta, double bound, int step = 1) const {
    for (std::int64_t i = 0; i < c.rows; i += i < c.rows - 200 ? step : 1) {
      for (std::int64_t j = 0; j < c.cols; ++j) {
        const Exact e = exact(i, j, alpha, beta);
        const auto most = static_cast<double>(bound * unit_roundoff(kDType<T>) *
                                              (2.0L * shape.k + 8) * e.magnitude);
        ASSERT_NEAR(got.at(i, j).real(), static_cast<double>(e.value.real()), most)
            << i << "," << j;
        ASSERT_NEAR(got.at(i, j).imag(), static_cast<double>(e.value.imag()), most)
            << i << "," << j;
      }
    }
  }
};

EXECUTOR_TEST(DenseComplex, ShortExactInEveryOrientation) {
  LANKY_COMPLEX_BODY();
  for (const GemmShape& base : kComplexShapes) {
    for (const Op op_a : kOps) {
      for (const Op op_b : kOps) {
        for (const Layout layout : {Layout::col, Layout::row}) {
          GemmShape shape = base;
          shape.op_a = op_a;
          shape.op_b = op_b;
          shape.layout = layout;
          SCOPED_TRACE(text(shape));
          const ComplexCase<T> complex(shape, true, 3, 1);
          const T alpha(2, -1);
          complex.expect(complex.multiply(stream, alpha, T(0)), alpha, T(0), 0);
        }
      }
    }
  }
}

/// Updates of so many rows have kernels of their own on a GPU.
EXECUTOR_TEST(DenseComplex, UpdatesOfManyRows) {
  LANKY_COMPLEX_BODY();
  if (!device.is_cuda()) GTEST_SKIP() << "one kernel serves any number of rows";
  for (const auto& [k, n] : {std::pair{10, 13}, {34, 4}, {18, 40}}) {
    for (const Op op_a : {Op::none, Op::conj_trans}) {
      for (const Layout layout : {Layout::col, Layout::row}) {
        const GemmShape shape{.m = 30'002,
                              .n = n,
                              .k = k,
                              .op_a = op_a,
                              .op_b = op_a == Op::none ? Op::conj_trans : Op::trans,
                              .layout = layout};
        SCOPED_TRACE(text(shape));
        const ComplexCase<T> complex(shape, true, 0, 0);
        const T alpha(2, 1);
        const T beta(-1, 1);
        complex.expect(complex.multiply(stream, alpha, beta), alpha, beta, 0, 397);
      }
    }
  }
}

EXECUTOR_TEST(DenseComplex, RandomDataKeepTheBound) {
  LANKY_COMPLEX_BODY();
  for (GemmShape shape : kComplexShapes) {
    for (const Op op_a : kOps) {
      shape.op_a = op_a;
      shape.op_b = op_a == Op::conj_trans ? Op::none : Op::conj_trans;
      SCOPED_TRACE(text(shape));
      const ComplexCase<T> complex(shape, false, 0, 0);
      const T alpha(Real(0.3), Real(0.7));
      const T beta(Real(-0.5), Real(0.25));
      complex.expect(complex.multiply(stream, alpha, beta), alpha, beta, 1);
    }
  }
}

EXECUTOR_TEST(DenseComplex, ScalarsFromTheDevice) {
  LANKY_COMPLEX_BODY();
  using Scalar = typename GemmPlan<T>::Scalar;
  const std::vector<T> values = {T(1, 2), T(-1, 1)};
  const auto scalars = Buffer<T>::from(stream, values);
  for (const GemmShape& shape : kComplexShapes) {
    SCOPED_TRACE(text(shape));
    const ComplexCase<T> complex(shape, true, 0, 0);
    const GemmPlan<T> plan(stream, complex.shape);
    DeviceMatrix<T> a(stream, complex.a);
    DeviceMatrix<T> b(stream, complex.b);
    DeviceMatrix<T> c(stream, complex.c);
    plan.run(stream, Scalar::on_device(scalars.data()), a.view(), b.view(),
             Scalar::on_device(scalars.data() + 1), c.view());
    complex.expect(c.download(), values[0], values[1], 0);
  }
}

// On a GPU, A and B may be loaded once, and C computed below its diagonal alone; by lanky's own
// kernels also where the vendor's are faster.
EXECUTOR_TEST(DenseComplex, ProductOfAMatrixWithItself) {
  LANKY_COMPLEX_BODY();
  for (const std::int64_t side : {3, 8, 12, 16, 20, 36, 50, 70, 104, 128}) {
    for (const Op op : {Op::trans, Op::conj_trans}) {
      for (const Layout layout : {Layout::col, Layout::row}) {
        const GemmShape shape{.m = side, .n = side, .k = 1030, .op_a = op, .layout = layout};
        SCOPED_TRACE(text(shape));
        ComplexCase<T> complex(shape, true, 0, 0);
        complex.b = complex.a;
        GemmTuning own;
        for (const bool same : {false, true})
          own.set({device, complex.shape, kDType<T>, kDType<T>, same}, {.vendor = false});
        DeviceMatrix<T> a(stream, complex.a);
        DeviceMatrix<T> c(stream, complex.c);
        for (const bool by_own : {false, true}) {
          const GemmPlan<T> plan(stream, complex.shape, {.tuning = by_own ? &own : nullptr});
          plan.run(stream, T(1), a.view(), a.view(), T(0), c.view());
          complex.expect(c.download(), T(1), T(0), 0);
        }
      }
    }
  }
}

/// NaN, an infinity of either sign, or finite: then the value itself.
void expect_same_class(double got, long double expected) {
  ASSERT_EQ(std::isnan(got), std::isnan(expected)) << got << " " << expected;
  if (!std::isnan(got)) {
    ASSERT_EQ(got, static_cast<double>(expected));
  }
}

EXECUTOR_TEST(DenseComplex, NanAndInfFollowThePlainFormula) {
  LANKY_COMPLEX_BODY();
  constexpr Real kInf = std::numeric_limits<Real>::infinity();
  for (const Op op : {Op::none, Op::conj_trans}) {
    for (GemmShape shape : kComplexShapes) {
      shape.op_a = op;
      SCOPED_TRACE(text(shape));
      ComplexCase<T> complex(shape, true, 0, 0);
      const std::int64_t row = shape.m - 1;
      complex.a.at(op == Op::none ? row : shape.k / 2, op == Op::none ? shape.k / 2 : row) =
          T(kInf, 2);
      complex.b.at(shape.k - 1, shape.n - 1) = complex.nan();
      const HostMatrix<T> got = complex.multiply(stream, T(1), T(0));
      for (std::int64_t i = 0; i < shape.m; ++i) {
        for (std::int64_t j = 0; j < shape.n; ++j) {
          const Wide expected = complex.exact(i, j, T(1), T(0)).value;
          expect_same_class(got.at(i, j).real(), expected.real());
          expect_same_class(got.at(i, j).imag(), expected.imag());
        }
      }
    }
  }
}

EXECUTOR_TEST(DenseComplex, AlphaOrBetaZeroReadsNothing) {
  LANKY_COMPLEX_BODY();
  for (const GemmShape& shape : kComplexShapes) {
    SCOPED_TRACE(text(shape));
    ComplexCase<T> complex(shape, true, 2, 0);
    const ComplexCase<T> finite = complex;
    std::fill(complex.c.data.begin(), complex.c.data.end(), complex.nan());
    finite.expect(complex.multiply(stream, T(1), T(0)), T(1), T(0), 0);
    complex.c = finite.c;
    std::fill(complex.a.data.begin(), complex.a.data.end(), complex.nan());
    finite.expect(complex.multiply(stream, T(0), T(0, 2)), T(0), T(0, 2), 0);
  }
}

EXECUTOR_TEST(DenseComplex, EqualPlansGiveEqualBits) {
  LANKY_COMPLEX_BODY();
  for (const GemmShape& shape : kComplexShapes) {
    const ComplexCase<T> complex(shape, false, 0, 0);
    const auto first = complex.multiply(stream, T(1), T(0));
    EXPECT_TRUE(testing::same_bits(complex.multiply(stream, T(1), T(0)).data, first.data));
  }
}

EXECUTOR_TEST(DenseComplex, MisalignedElementsAreRefusedOnAGpu) {
  LANKY_COMPLEX_BODY();
  const ComplexCase<T> complex({.m = 8, .n = 4, .k = 300}, true, 0, 0);
  const GemmPlan<T> plan(stream, complex.shape);
  DeviceMatrix<T> a(stream, complex.a);
  DeviceMatrix<T> b(stream, complex.b);
  DeviceMatrix<T> c(stream, complex.c);
  MatrixView<T> off = b.view();
  off.data = reinterpret_cast<T*>(reinterpret_cast<Real*>(off.data) + 1);
  if (!device.is_cuda()) return;
  expect_error([&] { plan.run(stream, a.view(), off, c.view()); }, ErrorCode::invalid_argument,
               {"B", "aligned", std::to_string(sizeof(T))});
}

}  // namespace
}  // namespace lanky
