// Products of floats and of the half types whose sums and results are doubles: nothing is rounded
// before the first sum, so that data on which sums of floats fail keep the bound of doubles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <lanky/lanky.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "dense/cuda/routes.hpp"
#include "support/dense_oracle.hpp"
#include "support/executor.hpp"
#include "support/expect_error.hpp"

namespace lanky {
namespace {

using testing::Data;
using testing::DenseCase;
using testing::DeviceMatrix;
using testing::HostMatrix;
using testing::multiply;
using testing::On;
using testing::text;

template <class Case>
class DenseWide : public ::testing::Test {};
using WideCases =
    ::testing::Types<On<DeviceKind::cpu, float, double>, On<DeviceKind::cpu, half, double>,
                     On<DeviceKind::cpu, bfloat16, double>, On<DeviceKind::cuda, float, double>,
                     On<DeviceKind::cuda, half, double>, On<DeviceKind::cuda, bfloat16, double>>;
TYPED_TEST_SUITE(DenseWide, WideCases, testing::OnName);

/// One of each family, and the tile kernel's three tiles.
constexpr GemmShape kShapes[] = {
    {.m = 300, .n = 5, .k = 700},  {.m = 150, .n = 40, .k = 140}, {.m = 3, .n = 260, .k = 300},
    {.m = 517, .n = 17, .k = 3},   {.m = 4, .n = 7, .k = 2100},   {.m = 16, .n = 16, .k = 1500},
    {.m = 100, .n = 30, .k = 900}, {.m = 2, .n = 3, .k = 4},      {.m = 140, .n = 133, .k = 65}};

/// A Gram product of stored columns (col) or rows (row).
GemmShape gram_of(std::int64_t m, std::int64_t n, std::int64_t k, Layout layout) {
  return {.m = m, .n = n, .k = k, .op_a = Op::trans, .layout = layout};
}

/// Integers whose products, a thousand of them, exceed what a float counts, and the half types
/// hold.
template <class T>
void fill_with_large_integers(HostMatrix<T>& matrix, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    for (std::int64_t j = 0; j < matrix.cols; ++j)
      matrix.at(i, j) = static_cast<T>(static_cast<float>(random() % 256));
  }
}

/// Runs of the case by every way to compute it are what `check` expects; `same`: of A alone.
template <class T, class TOut>
void run_every_choice(const Stream& stream, const DenseCase<T, TOut>& dense, bool same,
                      const std::function<void(const HostMatrix<TOut>&)>& check) {
  GemmQuery query{stream.device(), dense.shape, kDType<T>, kDType<TOut>};
  query.same_operands = same;
  query.adds = dense.beta != 0;
  for (const GemmChoice& choice : gemm_choices(query)) {
    SCOPED_TRACE(concat(choice.vendor ? "vendor " : "lanky ", choice.algorithm));
    ASSERT_FALSE(choice.vendor);
    GemmTuning tuning;
    tuning.set(query, choice);
    const GemmPlan<T, TOut> plan(stream, dense.shape, {.tuning = &tuning});
    DeviceMatrix<T> a(stream, dense.a);
    DeviceMatrix<T> b(stream, dense.b);
    DeviceMatrix<TOut> c(stream, dense.c);
    for (int run = 0; run < (dense.beta == 0 ? 2 : 1); ++run)
      plan.run(stream, dense.alpha, a.view(), same ? a.view() : b.view(), dense.beta, c.view());
    check(c.download());
    if (::testing::Test::HasFailure()) return;
  }
}

EXECUTOR_TEST(DenseWide, ExactInEveryOrientation) {
  LANKY_DENSE_BODY();
  static_assert(std::is_same_v<Acc, double>);
  for (const GemmShape& base : kShapes) {
    for (const Op op_a : {Op::none, Op::trans}) {
      for (const Op op_b : {Op::none, Op::trans}) {
        for (const Layout layout : {Layout::col, Layout::row}) {
          GemmShape shape = base;
          shape.op_a = op_a;
          shape.op_b = op_b;
          shape.layout = layout;
          SCOPED_TRACE(text(shape));
          DenseCase<T, TOut> dense(shape, Data::integers, 1, 2, -3, 3, 1);
          fill_with_large_integers(dense.a, 2);
          fill_with_large_integers(dense.b, 3);
          dense.expect_exact(multiply(stream, dense));
        }
      }
    }
  }
}

EXECUTOR_TEST(DenseWide, EveryKernelOfGramIsExact) {
  LANKY_DENSE_BODY();
  const std::int64_t most = device.is_cuda() ? 20'011 : 1'031;
  for (const auto& [m, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1},
                                                                               {2, 2},
                                                                               {3, 3},
                                                                               {4, 4},
                                                                               {8, 1},
                                                                               {7, 5},
                                                                               {8, 8},
                                                                               {12, 12},
                                                                               {16, 16},
                                                                               {20, 12},
                                                                               {24, 24},
                                                                               {31, 31},
                                                                               {32, 32},
                                                                               {33, 20},
                                                                               {64, 64},
                                                                               {128, 16},
                                                                               {128, 100}}) {
    if (!device.is_cuda() && m > 33) continue;  // kernels are a GPU's
    for (const std::int64_t k : {std::int64_t{300}, std::int64_t{1'024}, most}) {
      if (!device.is_cuda() && k == 1'024) continue;
      for (const Layout layout : {Layout::col, Layout::row}) {
        const GemmShape shape = gram_of(m, n, k, layout);
        SCOPED_TRACE(text(shape));
        DenseCase<T, TOut> dense(shape, Data::integers, 4);
        fill_with_large_integers(dense.a, 5);
        fill_with_large_integers(dense.b, 6);
        const HostMatrix<TOut> expected = dense.expected();
        run_every_choice<T, TOut>(stream, dense, false,
                                  [&](const auto& c) { dense.expect_equal(c, expected); });
      }
    }
  }
}

EXECUTOR_TEST(DenseWide, EveryKernelOfOneOperandIsExactAndSymmetric) {
  LANKY_DENSE_BODY();
  const std::int64_t most = device.is_cuda() ? 20'008 : 1'031;
  for (const std::int64_t side : {1, 2, 4, 6, 8, 12, 16, 20, 24, 30, 32, 48, 64, 128}) {
    if (!device.is_cuda() && side > 32) continue;
    for (const std::int64_t k : {std::int64_t{264}, most}) {
      for (const Layout layout : {Layout::col, Layout::row}) {
        const GemmShape shape = gram_of(side, side, k, layout);
        SCOPED_TRACE(text(shape));
        DenseCase<T, TOut> dense(shape, Data::integers, 7, 2, 0);
        fill_with_large_integers(dense.a, 8);
        dense.b = dense.a;
        const HostMatrix<TOut> expected = dense.expected();
        run_every_choice<T, TOut>(stream, dense, true,
                                  [&](const auto& c) { dense.expect_equal(c, expected); });
        DenseCase<T, TOut> rounded(shape, Data::random, 9);
        rounded.b = rounded.a;
        run_every_choice<T, TOut>(stream, rounded, true,
                                  [&](const auto& c) { rounded.expect_within_bound(c); });
      }
    }
  }
}

EXECUTOR_TEST(DenseWide, EveryKernelOfUpdateIsExact) {
  LANKY_DENSE_BODY();
  for (const auto& [n, k] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {2, 2}, {4, 4}, {8, 8}, {7, 5}, {16, 16}, {32, 32}, {20, 48}, {64, 100}}) {
    if (!device.is_cuda() && k > 16) continue;
    for (const Op op_a : {Op::none, Op::trans}) {  // trans: of A and C one stands by rows
      for (const Layout layout : {Layout::col, Layout::row}) {
        for (const double beta : {0.0, 2.0}) {
          const GemmShape shape{
              .m = device.is_cuda() ? 20'004 : 516, .n = n, .k = k, .op_a = op_a, .layout = layout};
          SCOPED_TRACE(concat(text(shape), ", beta ", beta));
          DenseCase<T, TOut> dense(shape, Data::integers, 20, 1, beta);
          fill_with_large_integers(dense.a, 21);
          fill_with_large_integers(dense.b, 22);
          const HostMatrix<TOut> expected = dense.expected();
          run_every_choice<T, TOut>(stream, dense, false,
                                    [&](const auto& c) { dense.expect_equal(c, expected); });
        }
      }
    }
  }
}

EXECUTOR_TEST(DenseWide, ServesPointersOff16BytesAndPadding) {
  LANKY_DENSE_BODY();
  for (const std::int64_t side : {1, 3, 4, 8, 16, 24, 32, 60}) {
    for (const std::int64_t padding : {0, 1, 4}) {
      for (const std::int64_t offset : {0, 1}) {
        for (const Layout layout : {Layout::col, Layout::row}) {
          for (const Op op_b : {Op::none, Op::trans}) {  // trans: of mixed layouts
            GemmShape shape = gram_of(side, side, device.is_cuda() ? 1'501 : 301, layout);
            shape.op_b = op_b;
            SCOPED_TRACE(concat(text(shape), ", padding ", padding, ", offset ", offset));
            DenseCase<T, TOut> dense(shape, Data::integers, 10, 1, 2, padding, offset);
            fill_with_large_integers(dense.a, 11);
            fill_with_large_integers(dense.b, 12);
            dense.expect_exact(multiply(stream, dense));
          }
        }
      }
    }
  }
}

EXECUTOR_TEST(DenseWide, KeepsTheBoundOfDoublesOnIllScaledColumns) {
  LANKY_DENSE_BODY();
  // Columns from 1e-6 to 1e6; of half, whose range is less, from 2^-9 to 2^9.
  const double widest = kDType<T> == DType::f16 ? 9 * std::log10(2.0) : 6;
  for (const std::int64_t side : {4, 8, 16, 32}) {
    for (const Layout layout : {Layout::col, Layout::row}) {
      const GemmShape shape = gram_of(side, side, 9'001, layout);
      SCOPED_TRACE(text(shape));
      DenseCase<T, TOut> dense(shape, Data::random, 13, 1.0 / 3, 0);
      for (std::int64_t j = 0; j < side; ++j) {
        const double scale = std::pow(
            10.0, widest * (2.0 * static_cast<double>(j) / static_cast<double>(side - 1) - 1));
        for (std::int64_t p = 0; p < shape.k; ++p)
          dense.a.at(p, j) = static_cast<T>(static_cast<float>(dense.a.at(p, j)) * scale);
      }
      // op_b is none: B is [k, n], as A is stored.
      dense.b = dense.a;
      dense.expect_within_bound(multiply(stream, dense));
    }
  }
}

EXECUTOR_TEST(DenseWide, KeepsTheBoundWhereSumsCancel) {
  LANKY_DENSE_BODY();
  for (const std::int64_t side : {1, 3, 8, 16, 32, 40}) {
    for (const Layout layout : {Layout::col, Layout::row}) {
      const std::int64_t half_k = 4'096;
      const GemmShape shape = gram_of(side, side, 2 * half_k + 1, layout);
      SCOPED_TRACE(text(shape));
      DenseCase<T, TOut> dense(shape, Data::random, 14);
      for (std::int64_t p = 0; p < half_k; ++p) {
        for (std::int64_t j = 0; j < side; ++j) {
          dense.a.at(half_k + p, j) = dense.a.at(p, j);
          dense.b.at(half_k + p, j) = static_cast<T>(-static_cast<float>(dense.b.at(p, j)));
        }
      }
      // One small product is left: of 2^-14, which sums of floats beside some thousand lose.
      for (std::int64_t j = 0; j < side; ++j) {
        dense.a.at(2 * half_k, j) = static_cast<T>(0x1p-7F);
        dense.b.at(2 * half_k, j) = static_cast<T>(0x1p-7F);
      }
      const HostMatrix<TOut> c = multiply(stream, dense);
      dense.expect_within_bound(c);
      for (std::int64_t i = 0; i < side; ++i) {
        for (std::int64_t j = 0; j < side; ++j)
          ASSERT_NEAR(c.at(i, j), 0x1p-14, 1e-10);
      }
    }
  }
}

EXECUTOR_TEST(DenseWide, ProductsNeitherUnderflowNorOverflow) {
  LANKY_DENSE_BODY();
  T least{};
  reinterpret_cast<unsigned char*>(&least)[0] = 1;  // little-endian: the bits of integer 1
  ASSERT_GT(static_cast<double>(least), 0.0);
  const auto greatest = static_cast<T>(kDType<T> == DType::f16    ? 65504.0
                                       : kDType<T> == DType::bf16 ? 0x1.fep127
                                                                  : 0x1.fffffep127);
  for (const std::int64_t side : {1, 2, 4, 8, 16, 32, 40}) {
    for (const Layout layout : {Layout::col, Layout::row}) {
      for (const T value : {least, greatest}) {
        const GemmShape shape = gram_of(side, side, 640, layout);
        SCOPED_TRACE(concat(text(shape), " of ", static_cast<double>(value)));
        DenseCase<T, TOut> dense(shape, Data::integers, 15);
        for (auto* const matrix : {&dense.a, &dense.b}) {
          for (std::int64_t p = 0; p < shape.k; ++p) {
            for (std::int64_t j = 0; j < side; ++j)
              matrix->at(p, j) = p % 64 == 7 ? value : T{};
          }
        }
        const HostMatrix<TOut> c = multiply(stream, dense);
        dense.expect_within_bound(c);
        EXPECT_EQ(c.at(0, 0), 10 * (static_cast<double>(value) * static_cast<double>(value)));
      }
    }
  }
}

EXECUTOR_TEST(DenseWide, NanAndInfReachTheirRowAndColumnOnly) {
  LANKY_DENSE_BODY();
  for (const std::int64_t side : {2, 4, 8, 16, 24, 32, 40}) {
    for (const Layout layout : {Layout::col, Layout::row}) {
      const GemmShape shape = gram_of(side, side, 1'003, layout);
      SCOPED_TRACE(text(shape));
      DenseCase<T, TOut> dense(shape, Data::integers, 16);
      dense.a.at(shape.k / 2, side - 1) = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
      dense.b.at(shape.k - 1, 0) = static_cast<T>(std::numeric_limits<float>::infinity());
      const HostMatrix<TOut> c = multiply(stream, dense);
      for (std::int64_t i = 0; i < side; ++i) {
        for (std::int64_t j = 0; j < side; ++j) {
          const auto expected = static_cast<double>(dense.exact(i, j).value);
          ASSERT_EQ(std::isnan(c.at(i, j)), std::isnan(expected)) << i << ", " << j;
          if (!std::isnan(expected)) {
            ASSERT_EQ(c.at(i, j), expected) << i << ", " << j;
          }
        }
      }
    }
  }
}

EXECUTOR_TEST(DenseWide, TakesDoublesForAlphaAndBeta) {
  LANKY_DENSE_BODY();
  using Scalar = typename GemmPlan<T, TOut>::Scalar;
  for (const GemmShape& shape : kShapes) {
    SCOPED_TRACE(text(shape));
    const double factors[] = {1.0 / 3, 1e-30 / 7};  // floats would change both
    const DenseCase<T, TOut> dense(shape, Data::random, 17, factors[0], factors[1]);
    const GemmPlan<T, TOut> plan(stream, dense.shape);
    const auto scalars = Buffer<double>::from(stream, std::vector<double>{factors[0], factors[1]});
    for (const bool on_device : {false, true}) {
      DeviceMatrix<T> a(stream, dense.a);
      DeviceMatrix<T> b(stream, dense.b);
      DeviceMatrix<TOut> c(stream, dense.c);
      const auto scalar = [&](int s) {
        return on_device ? Scalar::on_device(scalars.data() + s) : Scalar(factors[s]);
      };
      plan.run(stream, scalar(0), a.view(), b.view(), scalar(1), c.view());
      dense.expect_within_bound(c.download());
    }
  }
}

EXECUTOR_TEST(DenseWide, GemmTakesDoubles) {
  LANKY_DENSE_BODY();
  const DenseCase<T, TOut> dense(gram_of(5, 4, 900, Layout::col), Data::random, 18, 1.0 / 3,
                                 1.0 / 7);
  DeviceMatrix<T> a(stream, dense.a);
  DeviceMatrix<T> b(stream, dense.b);
  DeviceMatrix<TOut> c(stream, dense.c);
  gemm(stream, Op::trans, Op::none, dense.alpha, a.view(), b.view(), dense.beta, c.view());
  dense.expect_within_bound(c.download());
  const DenseCase<T, TOut> whole(gram_of(5, 4, 900, Layout::col), Data::integers, 19, 2, 1);
  DeviceMatrix<T> x(stream, whole.a);
  DeviceMatrix<T> y(stream, whole.b);
  DeviceMatrix<TOut> z(stream, whole.c);
  gemm(stream, Op::trans, Op::none, 2, x.view(), y.view(), 1.0F, z.view());
  whole.expect_exact(z.download());
}

EXECUTOR_TEST(DenseWide, IsAProductOfItsOwn) {
  LANKY_DENSE_BODY();
  const GemmShape shape = gram_of(8, 8, 10'000, Layout::col);
  const GemmPlan<T, TOut> plan(stream, shape);
  EXPECT_NE(plan.explain().find(concat("gemm ", to_string(kDType<T>), " -> f64")),
            std::string::npos)
      << plan.explain();
  EXPECT_NE(plan.fingerprint(), (GemmPlan<T>(stream, shape).fingerprint()));
  EXPECT_NE(gemm_class({device, shape, kDType<T>, DType::f64}),
            gemm_class({device, shape, kDType<T>, kDType<T>}));
  for (const Math math : {Math::tf32, Math::tf32x3}) {
    expect_error([&] { GemmPlan<T, TOut>(stream, shape, {.math = math}); }, ErrorCode::unsupported,
                 {"tf32", std::string(to_string(kDType<T>))});
  }
}

/// What the policy offers on every machine, with what each needs: the shape's own kernels.
TEST(WidePolicy, ServesGramsWithKernelsOfTheirOwn) {
  using namespace dense;
  const auto kernels = [](const GemmShape& shape, DType in, bool same, bool off = false) {
    const Problem problem = canonical(with_leading_dimensions(shape));
    std::string names;
    for (const GramLaunch& launch :
         gram_candidates(problem, {in, DType::f64}, known_machine("H200"), off, same))
      names += kernel_name(launch.kernel) + " ";
    return names;
  };
  const auto has = [](const std::string& names, const char* name) {
    return names.find(concat("gram_", name, "_kernel")) != std::string::npos;
  };
  constexpr std::int64_t kLength = 1'000'000;
  const std::string by_columns = kernels(gram_of(16, 16, kLength, Layout::col), DType::f32, true);
  for (const char* name : {"vector", "direct", "fma", "triangle", "words"})
    EXPECT_TRUE(has(by_columns, name)) << name << " is not in " << by_columns;
  const std::string by_rows = kernels(gram_of(32, 32, kLength, Layout::row), DType::f32, false);
  for (const char* name : {"rows", "row_ring", "words"})
    EXPECT_TRUE(has(by_rows, name)) << name << " is not in " << by_rows;
  EXPECT_TRUE(has(kernels(gram_of(4, 4, kLength, Layout::row), DType::f32, false), "row_vector"));
  EXPECT_FALSE(has(kernels(gram_of(8, 8, kLength, Layout::row), DType::f32, false), "row_vector"));
  EXPECT_FALSE(has(kernels(gram_of(32, 32, kLength, Layout::row), DType::f16, false), "row_ring"));
  EXPECT_FALSE(has(kernels(gram_of(36, 36, kLength, Layout::row), DType::f32, false), "row_ring"));
  // No kernel that rounds: those of halves and of IEEE floats sum in float.
  for (const Layout layout : {Layout::col, Layout::row}) {
    for (const DType in : {DType::f32, DType::f16, DType::bf16}) {
      for (const bool off : {false, true}) {
        const std::string names = kernels(gram_of(16, 16, kLength, layout), in, true, off);
        EXPECT_FALSE(names.empty());
        for (const char* name : {"staged", "wgmma", "stream", "double"})
          EXPECT_FALSE(has(names, name)) << name << " is in " << names;
      }
    }
  }
}

/// How long a launch takes follows from the rate at which a chip multiplies doubles.
TEST(WidePolicy, CostsKnowHowFastAChipMultipliesDoubles) {
  using namespace dense;
  const GemmShape shape = gram_of(32, 32, 10'000'000, Layout::row);
  const auto least = [&](const char* chip, DType out) {
    const Request request{canonical(with_leading_dimensions(shape)),
                          GemmFamily::gram,
                          {DType::f32, out},
                          known_machine(chip)};
    return candidates(request, {}, false).front().us;
  };
  EXPECT_LT(least("H200", DType::f64), 1.5 * least("H200", DType::f32));
  EXPECT_GT(least("L40S", DType::f64), 3 * least("L40S", DType::f32));
}

}  // namespace
}  // namespace lanky
