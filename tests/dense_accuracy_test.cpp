// How exact dense products are, on every executor: bounds on data of any scale, long float sums
// against pairwise summation, and the arithmetic of Math::tf32 and tf32x3.
#include <gtest/gtest.h>

#include <bit>
#include <lanky/lanky.hpp>
#include <numeric>

#include "core/text.hpp"
#include "support/dense_oracle.hpp"
#include "support/executor.hpp"

namespace lanky {
namespace {

using testing::Data;
using testing::DenseCase;
using testing::HostMatrix;
using testing::multiply;
using testing::text;

template <class Case>
class DenseAccuracy : public ::testing::Test {};
TYPED_TEST_SUITE(DenseAccuracy, testing::RealCases, testing::OnName);

constexpr GemmShape kAccuracyShapes[] = {
    {.m = 400, .n = 6, .k = 500},
    {.m = 150, .n = 33, .k = 260, .op_a = Op::trans},
    {.m = 600, .n = 17, .k = 9},
    {.m = 300, .n = 3, .k = 70, .layout = Layout::row},
    {.m = 8, .n = 7, .k = 5000, .op_a = Op::trans},
    {.m = 16, .n = 16, .k = 6000, .op_a = Op::trans, .layout = Layout::row},
    {.m = 140, .n = 133, .k = 65}};

/// 2^e, e uniform in [-most, most].
class Scales {
 public:
  explicit Scales(int most) : most_(most) {}
  double next() {
    return std::ldexp(
        1.0, static_cast<int>(random_() % (2U * static_cast<unsigned>(most_) + 1)) - most_);
  }

 private:
  int most_;
  std::mt19937_64 random_{31};
};

/// Multiplies every element of a matrix by scale().
template <class E, class Scale>
void rescale(HostMatrix<E>& matrix, Scale scale) {
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    for (std::int64_t j = 0; j < matrix.cols; ++j) {
      matrix.at(i, j) = static_cast<E>(static_cast<double>(matrix.at(i, j)) * scale(i, j));
    }
  }
}

/// Halves of what scales may be so that C of f16 neither overflows nor vanishes.
template <class T>
constexpr int kMostScale = kDType<T> == DType::f16 ? 3 : 40;

EXECUTOR_TEST(DenseAccuracy, RowsAndColumnsOfDifferentScale) {
  LANKY_DENSE_BODY();
  Scales scales(kMostScale<T>);
  for (const GemmShape& shape : kAccuracyShapes) {
    SCOPED_TRACE(text(shape));
    DenseCase<T, TOut> dense(shape, Data::random, 41);
    std::vector<double> of_rows(static_cast<std::size_t>(shape.m));
    for (double& scale : of_rows)
      scale = scales.next();
    const bool trans = shape.op_a != Op::none;
    rescale(dense.a, [&](std::int64_t i, std::int64_t j) {
      return of_rows[static_cast<std::size_t>(trans ? j : i)];
    });
    rescale(dense.b, [&](std::int64_t, std::int64_t j) { return j % 2 == 0 ? 0.125 : 4; });
    dense.expect_within_bound(multiply(stream, dense));
  }
}

EXECUTOR_TEST(DenseAccuracy, TermsOfDifferentScale) {
  LANKY_DENSE_BODY();
  Scales scales(kMostScale<T>);
  for (const GemmShape& shape : kAccuracyShapes) {
    SCOPED_TRACE(text(shape));
    DenseCase<T, TOut> dense(shape, Data::random, 42);
    rescale(dense.a, [&](std::int64_t, std::int64_t) { return scales.next(); });
    dense.expect_within_bound(multiply(stream, dense));
  }
}

EXECUTOR_TEST(DenseAccuracy, TermsOfOneSign) {
  LANKY_DENSE_BODY();
  for (const GemmShape& shape : kAccuracyShapes) {
    SCOPED_TRACE(text(shape));
    DenseCase<T, TOut> dense(shape, Data::random, 43);
    for (HostMatrix<T>* matrix : {&dense.a, &dense.b}) {
      rescale(*matrix, [&](std::int64_t i, std::int64_t j) {
        return static_cast<double>(matrix->at(i, j)) < 0 ? -1.0 : 1.0;
      });
    }
    dense.expect_within_bound(multiply(stream, dense));
  }
}

/// Tests of float alone, on both executors.
class FloatAccuracy : public ::testing::TestWithParam<DeviceKind> {};
INSTANTIATE_TEST_SUITE_P(Executors, FloatAccuracy,
                         ::testing::Values(DeviceKind::cpu, DeviceKind::cuda),
                         [](const auto& test) {
                           return test.param == DeviceKind::cuda ? "cuda" : "cpu";
                         });

float pairwise_sum(const std::vector<float>& terms, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return terms[begin];
  const std::size_t middle = begin + (end - begin) / 2;
  return pairwise_sum(terms, begin, middle) + pairwise_sum(terms, middle, end);
}

/// Sums of squares of the errors of C, and of pairwise summation of the rounded products, relative
/// to the sums of magnitudes.
struct GramErrors {
  double of_plan = 0;
  double of_pairwise = 0;
};

void add_gram_errors(const Stream& stream, GemmShape shape, unsigned seed, bool one_sign,
                     GramErrors& errors) {
  DenseCase<float, float> dense(shape, Data::random, seed);
  if (one_sign) {
    for (HostMatrix<float>* matrix : {&dense.a, &dense.b})
      std::transform(matrix->data.begin(), matrix->data.end(), matrix->data.begin(),
                     [](float x) { return std::fabs(x); });
  }
  const HostMatrix<float> got = multiply(stream, dense);
  std::vector<float> terms(static_cast<std::size_t>(shape.k));
  for (std::int64_t i = 0; i < shape.m; ++i) {
    for (std::int64_t j = 0; j < shape.n; ++j) {
      const auto exact = dense.exact(i, j);
      for (std::int64_t p = 0; p < shape.k; ++p)
        terms[static_cast<std::size_t>(p)] = dense.a.at(p, i) * dense.b.at(p, j);
      const auto squared = [&](float sum) {
        const auto error = static_cast<double>((sum - exact.value) / exact.magnitude);
        return error * error;
      };
      errors.of_plan += squared(got.at(i, j));
      errors.of_pairwise += squared(pairwise_sum(terms, 0, terms.size()));
    }
  }
}

TEST_P(FloatAccuracy, LongGramIsNoWorseThanPairwiseSummation) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const Stream stream(device);
  // Errors are random. Of 256 sums the ratio of the root mean squares has a standard deviation of a
  // sixteenth; it was .65 to .85 on a CPU without AVX-512.
  const std::int64_t k = device.is_cuda() ? 10'000'000 : 1'000'000;
  const std::int64_t columns = device.is_cuda() ? 4 : 8;
  const unsigned draws = device.is_cuda() ? 1 : 4;
  for (const Layout layout : {Layout::col, Layout::row}) {
    for (const bool one_sign : {false, true}) {
      const GemmShape shape{
          .m = columns, .n = columns, .k = k, .op_a = Op::trans, .layout = layout};
      GramErrors errors;
      for (unsigned draw = 0; draw < draws; ++draw)
        add_gram_errors(stream, shape, 44 + draw, one_sign, errors);
      // Both end with a rounding to float, by luck a small one for either.
      const double last_rounding = one_sign ? 0x1p-24 : 0;
      const auto sums = static_cast<double>(draws * columns * columns);
      EXPECT_LE(std::sqrt(errors.of_plan / sums),
                std::sqrt(errors.of_pairwise / sums) + last_rounding)
          << (layout == Layout::col ? "col" : "row") << (one_sign ? ", one sign" : "");
    }
  }
}

enum class Range { zero_mean, one_sign, wide };

DenseCase<float, float> float_case(GemmShape shape, Range range) {
  DenseCase<float, float> dense(shape, Data::random, 45);
  Scales scales(20);
  for (HostMatrix<float>* matrix : {&dense.a, &dense.b}) {
    rescale(*matrix, [&](std::int64_t i, std::int64_t j) {
      if (range == Range::wide) return scales.next();
      return range == Range::one_sign && matrix->at(i, j) < 0 ? -1.0 : 1.0;
    });
  }
  return dense;
}

/// The largest error of an element, relative to the sum of magnitudes.
double worst_error(const DenseCase<float, float>& dense, const HostMatrix<float>& got) {
  double worst = 0;
  for (std::int64_t i = 0; i < got.rows; ++i) {
    for (std::int64_t j = 0; j < got.cols; ++j) {
      const auto exact = dense.exact(i, j);
      worst = std::max(
          worst, static_cast<double>(std::fabs(got.at(i, j) - exact.value) / exact.magnitude));
    }
  }
  return worst;
}

/// The same of pairwise summation of rounded products.
double worst_error_of_pairwise(const DenseCase<float, float>& dense) {
  HostMatrix<float> sums = dense.c;
  std::vector<float> terms(static_cast<std::size_t>(dense.shape.k));
  for (std::int64_t i = 0; i < sums.rows; ++i) {
    for (std::int64_t j = 0; j < sums.cols; ++j) {
      for (std::int64_t p = 0; p < dense.shape.k; ++p) {
        const float a = dense.shape.op_a == Op::none ? dense.a.at(i, p) : dense.a.at(p, i);
        const float b = dense.shape.op_b == Op::none ? dense.b.at(p, j) : dense.b.at(j, p);
        terms[static_cast<std::size_t>(p)] = a * b;
      }
      sums.at(i, j) = pairwise_sum(terms, 0, terms.size());
    }
  }
  return worst_error(dense, sums);
}

HostMatrix<float> multiply_in(Math math, const Stream& stream,
                              const DenseCase<float, float>& dense) {
  return multiply(stream, dense, {.math = math});
}

/// Skinny shapes of every family whose kernels may take tensor cores.
constexpr GemmShape kTensorShapes[] = {
    {.m = 1000, .n = 16, .k = 800},
    {.m = 1000, .n = 32, .k = 800},
    {.m = 500, .n = 64, .k = 600, .layout = Layout::row},
    {.m = 5000, .n = 16, .k = 16},
    {.m = 5000, .n = 32, .k = 32},
    {.m = 3000, .n = 13, .k = 100, .layout = Layout::row},
    {.m = 16, .n = 16, .k = 40'000, .op_a = Op::trans},
    {.m = 32, .n = 32, .k = 30'000, .op_a = Op::trans},
    {.m = 64, .n = 64, .k = 10'000, .op_a = Op::trans},
    {.m = 24, .n = 10, .k = 20'000, .op_a = Op::trans, .layout = Layout::row},
    {.m = 300, .n = 200, .k = 250}};

TEST_P(FloatAccuracy, Tf32x3ErrsAtMostThreeTimesAsMuchAsIeee) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const Stream stream(device);
  for (const GemmShape& shape : kTensorShapes) {
    // The cpu computes both in IEEE.
    if (!device.is_cuda() && shape.m > (testing::kSanitized ? 30 : 500)) continue;
    for (const Range range : {Range::zero_mean, Range::one_sign, Range::wide}) {
      SCOPED_TRACE(concat(text(shape), " range ", static_cast<int>(range)));
      const DenseCase<float, float> dense = float_case(shape, range);
      // Sums in double, which some kernels have, are more exact than IEEE arithmetic of floats.
      const double ieee = std::max(worst_error(dense, multiply_in(Math::ieee, stream, dense)),
                                   worst_error_of_pairwise(dense));
      EXPECT_LE(worst_error(dense, multiply_in(Math::tf32x3, stream, dense)), 3 * ieee);
    }
  }
}

TEST_P(FloatAccuracy, Tf32KeepsElevenBitsOfEachFactor) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const Stream stream(device);
  for (const GemmShape& shape : kTensorShapes) {
    SCOPED_TRACE(text(shape));
    const DenseCase<float, float> dense = float_case(shape, Range::wide);
    const double terms = static_cast<double>(shape.k + 4);
    // Each factor loses at most 2^-10 of itself (truncated), and sums round as floats.
    EXPECT_LE(worst_error(dense, multiply_in(Math::tf32, stream, dense)),
              2.01 * 0x1p-10 + 2 * terms * 0x1p-24);
  }
}

TEST_P(FloatAccuracy, NanAndInfInTf32AreThoseOfIeee) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const Stream stream(device);
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const GemmShape& shape : kTensorShapes) {
    DenseCase<float, float> dense(shape, Data::integers, 46);
    const auto a = [&](std::int64_t i, std::int64_t p) -> float& {
      return shape.op_a == Op::none ? dense.a.at(i, p) : dense.a.at(p, i);
    };
    a(0, 0) = kInf;
    a(shape.m / 2, shape.k / 2) = -kInf;
    a(shape.m - 1, shape.k - 1) = std::numeric_limits<float>::quiet_NaN();
    dense.b.at(shape.k / 3, shape.n - 1) = kInf;
    const HostMatrix<float> expected = multiply_in(Math::ieee, stream, dense);
    for (const Math math : {Math::tf32, Math::tf32x3}) {
      SCOPED_TRACE(concat(text(shape), math == Math::tf32 ? " tf32" : " tf32x3"));
      const HostMatrix<float> got = multiply_in(math, stream, dense);
      for (std::int64_t i = 0; i < shape.m; ++i) {
        for (std::int64_t j = 0; j < shape.n; ++j) {
          ASSERT_EQ(std::isnan(got.at(i, j)), std::isnan(expected.at(i, j))) << i << ", " << j;
          if (!std::isnan(got.at(i, j))) {
            ASSERT_EQ(got.at(i, j), expected.at(i, j)) << i << ", " << j;
          }
        }
      }
    }
  }
}

/// NaN of which all bits are set (CUDA's own has no sign): rounded like a number, it would become
/// 0.
TEST_P(FloatAccuracy, NanOfAllOnesStaysNanInItsRow) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const Stream stream(device);
  for (const GemmShape& shape : kTensorShapes) {
    DenseCase<float, float> dense(shape, Data::integers, 47);
    const auto a = [&](std::int64_t i, std::int64_t p) -> float& {
      return shape.op_a == Op::none ? dense.a.at(i, p) : dense.a.at(p, i);
    };
    a(0, shape.k / 2) = std::bit_cast<float>(0x7fffffffU);
    a(shape.m - 1, 0) = std::bit_cast<float>(0xffffffffU);
    for (const Math math : {Math::tf32, Math::tf32x3}) {
      SCOPED_TRACE(concat(text(shape), math == Math::tf32 ? " tf32" : " tf32x3"));
      const HostMatrix<float> got = multiply_in(math, stream, dense);
      for (std::int64_t i = 0; i < shape.m; ++i) {
        for (std::int64_t j = 0; j < shape.n; ++j)
          ASSERT_EQ(std::isnan(got.at(i, j)), i == 0 || i == shape.m - 1) << i << ", " << j;
      }
    }
  }
}

}  // namespace
}  // namespace lanky
