// Products of floats and of the half types whose sums and results are doubles: nothing is rounded
// before the first sum, so that data on which sums of floats fail keep the bound of doubles.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <lanky/lanky.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "dense/cuda/routes.hpp"
#include "dense/slices.hpp"
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
        const auto exact = rounded.exact_elements();
        run_every_choice<T, TOut>(stream, rounded, true,
                                  [&](const auto& c) { rounded.expect_within_bound(c, exact); });
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

/// Exponents drift along k, by a power of two every few rows or in a step, or differ from element
/// to element by more than any other format than a float holds.
EXECUTOR_TEST(DenseWide, EveryKernelOfGramKeepsTheBoundOnIllScaledRows) {
  LANKY_DENSE_BODY();
  const int widest = kDType<T> == DType::f16 ? 7 : 60;
  const std::function<int(std::int64_t, std::int64_t, std::mt19937_64&)> kinds[] = {
      [&](std::int64_t p, std::int64_t, std::mt19937_64&) {
        return static_cast<int>(p / 40 % (2 * widest)) - widest;
      },
      [&](std::int64_t p, std::int64_t, std::mt19937_64&) { return p < 700 ? -widest : widest; },
      [&](std::int64_t, std::int64_t j, std::mt19937_64& random) {
        return j % 3 == 0 ? static_cast<int>(random() % (2 * widest)) - widest : 0;
      },
      [&](std::int64_t p, std::int64_t, std::mt19937_64& random) {  // here and there one
        return p % 512 == 77 ? static_cast<int>(random() % (2 * widest)) - widest : 0;
      }};
  for (const std::int64_t side : {1, 4, 8, 13, 16, 24, 32}) {
    for (const Layout layout : {Layout::col, Layout::row}) {
      int kind = 0;
      for (const auto& exponent : kinds) {
        const GemmShape shape = gram_of(side, side, device.is_cuda() ? 5'003 : 1'203, layout);
        SCOPED_TRACE(concat(text(shape), ", kind ", kind++));
        DenseCase<T, TOut> dense(shape, Data::random, 23, 1.0 / 3, 0);
        std::mt19937_64 random(24);
        for (auto* const matrix : {&dense.a, &dense.b}) {
          for (std::int64_t p = 0; p < shape.k; ++p) {
            for (std::int64_t j = 0; j < side; ++j) {
              const auto value = static_cast<float>(matrix->at(p, j));
              matrix->at(p, j) = static_cast<T>(std::ldexp(value, exponent(p, j, random)));
            }
          }
        }
        for (const bool same : {false, true}) {
          if (same) dense.b = dense.a;
          const auto exact = dense.exact_elements();
          run_every_choice<T, TOut>(stream, dense, same,
                                    [&](const auto& c) { dense.expect_within_bound(c, exact); });
        }
      }
    }
  }
}

/// Each element of C is one product of two elements, all bits of which count, beside rows that are
/// zero in one of the operands and larger in the other.
EXECUTOR_TEST(DenseWide, EveryKernelOfGramIsExactInEveryBit) {
  LANKY_DENSE_BODY();
  std::mt19937_64 random(26);
  const auto element = [&random](int exponent) {
    const double unit = 1 + static_cast<double>(random() % (1U << 23)) * 0x1p-23;
    return static_cast<T>(
        static_cast<float>(std::ldexp(random() % 2 == 0 ? unit : -unit, exponent)));
  };
  for (const std::int64_t side : {1, 3, 8, 11, 16, 25, 32}) {
    for (const Layout layout : {Layout::col, Layout::row}) {
      for (int repeat = 0; repeat < 6; ++repeat) {
        const GemmShape shape = gram_of(side, side, device.is_cuda() ? 1'403 : 403, layout);
        SCOPED_TRACE(concat(text(shape), ", repeat ", repeat));
        DenseCase<T, TOut> dense(shape, Data::integers, 27, 1, 0);
        const auto row = static_cast<std::int64_t>(random() % 400);
        for (auto* const matrix : {&dense.a, &dense.b}) {
          for (std::int64_t p = 0; p < shape.k; ++p) {
            const bool large = p % 16 == (matrix == &dense.a ? 3 : 5) && p != row;
            for (std::int64_t j = 0; j < side; ++j) {
              const int exponent = static_cast<int>(random() % 7) - (large ? 0 : 7);
              matrix->at(p, j) = large || p == row ? element(exponent) : T{};
            }
          }
        }
        const HostMatrix<TOut> expected = dense.expected();
        run_every_choice<T, TOut>(stream, dense, false,
                                  [&](const auto& c) { dense.expect_equal(c, expected); });
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
      run_every_choice<T, TOut>(stream, dense, false, [&](const HostMatrix<TOut>& c) {
        for (std::int64_t i = 0; i < side; ++i) {
          for (std::int64_t j = 0; j < side; ++j) {
            const auto expected = static_cast<double>(dense.exact(i, j).value);
            ASSERT_EQ(std::isnan(c.at(i, j)), std::isnan(expected)) << i << ", " << j;
            if (!std::isnan(expected)) {
              ASSERT_EQ(c.at(i, j), expected) << i << ", " << j;
            }
          }
        }
      });
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
  EXPECT_TRUE(
      has(kernels(gram_of(7, 5, kLength, Layout::row), DType::bf16, false, true), "slices"));
  EXPECT_FALSE(has(kernels(gram_of(33, 3, kLength, Layout::row), DType::f32, false), "slices"));
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

/// What gram_slices_kernel makes of a float.
TEST(WideSlices, HoldEveryFloatOfTheirRangeExactly) {
  using namespace dense;
  std::mt19937_64 random(25);
  int fitting = 0;
  for (int test = 0; test < 1'000'000; ++test) {
    const auto bits = static_cast<std::uint32_t>(random());
    const auto value = std::bit_cast<float>(bits);
    const int exponent = slice_exponent(bits);
    // A base of a greater exponent, as slice_base() gives them, or of a smaller one.
    const int base = slice_base(std::clamp(exponent + static_cast<int>(random() % 40) - 8, 1, 254));
    const bool fits = SliceRange(base).has(value);
    const bool below = exponent < base;
    const bool above = exponent > base + kSliceSpan || exponent == 255;
    ASSERT_EQ(fits, value == 0 || (!below && !above)) << value << ", base " << base;
    if (!fits) continue;
    ++fitting;
    const std::int64_t integer = sliced(bits, base);
    ASSERT_LT(std::abs(integer), std::int64_t{1} << (8 * kSlices - 1));
    ASSERT_EQ(std::ldexp(static_cast<double>(integer), base - kSliceBias),
              static_cast<double>(value));
  }
  EXPECT_GT(fitting, 500'000);
}

TEST(WideSlices, BasesFitTheFloatsTheyAreChosenFor) {
  using namespace dense;
  for (int exponent = 1; exponent <= 255; ++exponent) {
    const SliceRange range(slice_base(exponent));
    for (const float value : {0.0F, -0.0F})
      EXPECT_TRUE(range.has(value));
    for (const float value :
         {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
      EXPECT_FALSE(range.has(value)) << exponent;
      EXPECT_FALSE(range.has(-value)) << exponent;
    }
    if (exponent == 255) continue;
    const auto greatest =
        std::bit_cast<float>((static_cast<std::uint32_t>(exponent) << 23) | 0x7fffffU);
    EXPECT_TRUE(range.has(greatest) && range.has(-greatest)) << exponent;
    // As far below as there is room.
    const int least = exponent - (kSliceSpan - kSliceHeadroom);
    if (exponent > 252 || least <= 1) continue;
    EXPECT_TRUE(range.has(std::ldexp(1.0F, least - 127))) << exponent;
    EXPECT_FALSE(range.has(std::ldexp(1.0F, least - 128))) << exponent;
  }
  const SliceRange least(slice_base(1));
  EXPECT_TRUE(least.has(std::numeric_limits<float>::denorm_min()));
  EXPECT_EQ(sliced(1, slice_base(1)), std::int64_t{1} << (1 - slice_base(1)));
  EXPECT_EQ(sliced(0x80000000U, slice_base(100)), 0);
}

bool sums_in_integers(const dense::Candidate& candidate) {
  const auto* const gram = std::get_if<dense::GramLaunch>(&candidate.launch);
  return gram != nullptr && std::holds_alternative<dense::GramSlices>(gram->kernel);
}

/// How long a launch takes follows from the rate at which a chip multiplies doubles.
TEST(WidePolicy, CostsKnowHowFastAChipMultipliesDoubles) {
  using namespace dense;
  const GemmShape shape = gram_of(32, 32, 10'000'000, Layout::row);
  const auto least = [&](const char* chip, DType out, bool by_doubles) {
    const Request request{canonical(with_leading_dimensions(shape)),
                          GemmFamily::gram,
                          {DType::f32, out},
                          known_machine(chip)};
    const std::vector<Candidate> all = candidates(request, {}, false);
    const auto found = std::find_if_not(all.begin(), all.end(), [by_doubles](const Candidate& c) {
      return by_doubles && sums_in_integers(c);
    });
    return found->us;
  };
  EXPECT_LT(least("H200", DType::f64, false), 1.5 * least("H200", DType::f32, false));
  EXPECT_GT(least("L40S", DType::f64, true), 3 * least("L40S", DType::f32, false));
}

/// What computes a Gram is chosen by the rates at which a chip multiplies doubles and bytes.
TEST(WidePolicy, SumsInIntegersWhereAChipMultipliesFewDoubles) {
  using namespace dense;
  for (const DType in : {DType::f32, DType::f16}) {
    for (const std::int64_t side : {8, 16, 32}) {
      for (const Layout layout : {Layout::col, Layout::row}) {
        const GemmShape shape = gram_of(side, side, 10'000'000, layout);
        for (const bool same : {false, true}) {
          for (const Machine& machine : known_machines()) {
            SCOPED_TRACE(concat(machine.chip, ", ", text(shape), ", ", to_string(in),
                                same ? ", A is B" : ""));
            const Request request{canonical(with_leading_dimensions(shape)),
                                  GemmFamily::gram,
                                  {in, DType::f64},
                                  machine};
            const std::vector<Candidate> all = candidates(request, {.same = same}, false);
            const bool few_doubles = 20 * machine.peak_f64 < machine.peak_f32;
            EXPECT_EQ(sums_in_integers(all.front()), few_doubles);
            if (!few_doubles) continue;
            const auto other = std::find_if_not(all.begin(), all.end(), sums_in_integers);
            ASSERT_NE(other, all.end());
            EXPECT_LT(1.9 * all.front().us, other->us) << "the next by the least predicted time";
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace lanky
