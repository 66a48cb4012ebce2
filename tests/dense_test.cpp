// Dense products, one body per behaviour for every executor and type.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <lanky/lanky.hpp>
#include <string>
#include <thread>
#include <utility>

#include "core/text.hpp"
#include "support/counting_allocator.hpp"
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
using testing::same_bits;
using testing::text;

template <class Case>
class Dense : public ::testing::Test {};
TYPED_TEST_SUITE(Dense, testing::RealCases, testing::OnName);

/// One shape of each path: panel split and not, update, gram (one tile, and a tall one), tiny,
/// regular; and the same with the skinny side first.
constexpr GemmShape kShapes[] = {
    {.m = 300, .n = 5, .k = 700},  {.m = 150, .n = 40, .k = 140}, {.m = 3, .n = 260, .k = 300},
    {.m = 517, .n = 17, .k = 3},   {.m = 12, .n = 400, .k = 33},  {.m = 4, .n = 7, .k = 2100},
    {.m = 16, .n = 16, .k = 1500}, {.m = 100, .n = 30, .k = 900}, {.m = 2, .n = 3, .k = 4},
    {.m = 140, .n = 133, .k = 65}, {.m = 130, .n = 129, .k = 40}};

EXECUTOR_TEST(Dense, ShortExactInEveryOrientation) {
  LANKY_DENSE_BODY();
  for (const GemmShape& base :
       {GemmShape{.m = 140, .n = 9, .k = 131}, GemmShape{.m = 9, .n = 5, .k = 300},
        GemmShape{.m = 5, .n = 150, .k = 7}, GemmShape{.m = 131, .n = 130, .k = 20}}) {
    for (const Op op_a : {Op::none, Op::trans}) {
      for (const Op op_b : {Op::none, Op::conj_trans}) {
        for (const Layout layout : {Layout::col, Layout::row}) {
          GemmShape shape = base;
          shape.op_a = op_a;
          shape.op_b = op_b;
          shape.layout = layout;
          SCOPED_TRACE(text(shape));
          const DenseCase<T, TOut> dense(shape, Data::integers, 1, 1, 0, 3, 1);
          dense.expect_exact(multiply(stream, dense));
        }
      }
    }
  }
}

EXECUTOR_TEST(Dense, ExactInEveryOrientation) {
  LANKY_DENSE_BODY();
  for (const GemmShape& base : kShapes) {
    for (const Op op_a : {Op::none, Op::trans}) {
      for (const Op op_b : {Op::none, Op::trans}) {
        for (const Layout layout : {Layout::col, Layout::row}) {
          for (const std::int64_t padding : {0, 5}) {
            GemmShape shape = base;
            shape.op_a = op_a;
            shape.op_b = op_b;
            shape.layout = layout;
            SCOPED_TRACE(concat(text(shape), " padding ", padding));
            const DenseCase<T, TOut> dense(shape, Data::integers, 2, 1, 0, padding);
            dense.expect_exact(multiply(stream, dense));
          }
        }
      }
    }
  }
}

EXECUTOR_TEST(Dense, AlphaAndBetaFromHostOrDevice) {
  LANKY_DENSE_BODY();
  using Scalar = lanky::Scalar<Acc>;
  for (const GemmShape& shape : kShapes) {
    for (const auto& [alpha, beta] :
         {std::pair{0.0, 0.0}, {0.0, 2.0}, {1.0, 1.0}, {-2.0, 0.0}, {2.0, -1.0}, {-1.0, 0.5}}) {
      const DenseCase<T, TOut> dense(shape, Data::integers, 3, alpha, beta, 2);
      const HostMatrix<TOut> expected = dense.expected();
      const GemmPlan<T, TOut> plan(stream, dense.shape);
      const std::vector<Acc> values = {static_cast<Acc>(alpha), static_cast<Acc>(beta)};
      const auto scalars = Buffer<Acc>::from(stream, values);
      for (const int sides : {0, 1, 2, 3}) {
        SCOPED_TRACE(concat(text(shape), " alpha ", alpha, " beta ", beta, " sides ", sides));
        DeviceMatrix<T> a(stream, dense.a);
        DeviceMatrix<T> b(stream, dense.b);
        DeviceMatrix<TOut> c(stream, dense.c);
        plan.run(stream, sides & 1 ? Scalar::on_device(scalars.data()) : Scalar(values[0]),
                 a.view(), b.view(),
                 sides & 2 ? Scalar::on_device(scalars.data() + 1) : Scalar(values[1]), c.view());
        dense.expect_equal(c.download(), expected);
      }
    }
  }
}

EXECUTOR_TEST(Dense, EmptySides) {
  LANKY_DENSE_BODY();
  for (const GemmShape& shape :
       {GemmShape{.m = 0, .n = 3, .k = 4}, GemmShape{.m = 3, .n = 0, .k = 4},
        GemmShape{.m = 5, .n = 3, .k = 0}, GemmShape{.m = 200, .n = 300, .k = 0},
        GemmShape{.m = 0, .n = 0, .k = 0}, GemmShape{.m = 1, .n = 1, .k = 0},
        GemmShape{.m = 7, .n = 0, .k = 5000}, GemmShape{.m = 0, .n = 0, .k = 5000},
        GemmShape{.m = 5000, .n = 0, .k = 8}, GemmShape{.m = 5000, .n = 0, .k = 500},
        GemmShape{.m = 0, .n = 100, .k = 5000}}) {
    for (const double beta : {0.0, 1.0, 2.0}) {
      for (const Layout layout : {Layout::col, Layout::row}) {
        GemmShape one = shape;
        one.layout = layout;
        SCOPED_TRACE(concat(text(one), " beta ", beta));
        const DenseCase<T, TOut> dense(one, Data::integers, 4, 1, beta);
        dense.expect_exact(multiply(stream, dense));
      }
    }
  }
}

EXECUTOR_TEST(Dense, NoTermsMeansThatAlphaIsNotUsed) {
  LANKY_DENSE_BODY();
  DenseCase<T, TOut> dense({.m = 4, .n = 3, .k = 0}, Data::integers, 4, 1, 2);
  const HostMatrix<TOut> finite = multiply(stream, dense);
  dense.alpha = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(same_bits(multiply(stream, dense).data, finite.data));
}

EXECUTOR_TEST(Dense, OneTermAndOneElement) {
  LANKY_DENSE_BODY();
  for (const GemmShape& shape :
       {GemmShape{.m = 1, .n = 1, .k = 1}, GemmShape{.m = 1000, .n = 4, .k = 1},
        GemmShape{.m = 150, .n = 140, .k = 1}, GemmShape{.m = 1, .n = 1, .k = 5000},
        GemmShape{.m = 1, .n = 900, .k = 1}, GemmShape{.m = 900, .n = 1, .k = 300}}) {
    for (const Layout layout : {Layout::col, Layout::row}) {
      for (const Op op : {Op::none, Op::trans}) {
        GemmShape one = shape;
        one.layout = layout;
        one.op_a = op;
        one.op_b = op;
        SCOPED_TRACE(text(one));
        const DenseCase<T, TOut> dense(one, Data::integers, 5);
        dense.expect_exact(multiply(stream, dense));
      }
    }
  }
}

EXECUTOR_TEST(Dense, NanAndInfReachTheirRowAndColumnOnly) {
  LANKY_DENSE_BODY();
  for (const GemmShape& shape : kShapes) {
    SCOPED_TRACE(text(shape));
    DenseCase<T, TOut> dense(shape, Data::integers, 6);
    const std::int64_t row = shape.m - 1;
    const std::int64_t column = shape.n - 1;
    dense.a.at(row, shape.k / 2) = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
    dense.b.at(shape.k - 1, column) = static_cast<T>(std::numeric_limits<float>::infinity());
    const HostMatrix<TOut> got = multiply(stream, dense);
    for (std::int64_t i = 0; i < shape.m; ++i) {
      for (std::int64_t j = 0; j < shape.n; ++j) {
        const auto value = static_cast<double>(got.at(i, j));
        const auto expected = static_cast<double>(dense.exact(i, j).value);
        ASSERT_EQ(std::isnan(value), std::isnan(expected)) << i << ", " << j;
        if (!std::isnan(expected)) {
          ASSERT_EQ(value, static_cast<double>(static_cast<TOut>(expected))) << i << ", " << j;
        }
      }
    }
  }
}

EXECUTOR_TEST(Dense, AlphaZeroReadsNeitherAnorB) {
  LANKY_DENSE_BODY();
  for (const GemmShape& shape : kShapes) {
    SCOPED_TRACE(text(shape));
    DenseCase<T, TOut> dense(shape, Data::integers, 7, 0, 2);
    const HostMatrix<TOut> expected = multiply(stream, dense);
    std::fill(dense.a.data.begin(), dense.a.data.end(), dense.template nan<T>());
    std::fill(dense.b.data.begin(), dense.b.data.end(), dense.template nan<T>());
    EXPECT_TRUE(same_bits(multiply(stream, dense).data, expected.data));
    dense.expect_exact(expected);
  }
}

EXECUTOR_TEST(Dense, UnalignedPointers) {
  LANKY_DENSE_BODY();
  for (const GemmShape& shape : kShapes) {
    for (const std::int64_t padding : {0, 3}) {
      SCOPED_TRACE(text(shape));
      const DenseCase<T, TOut> dense(shape, Data::integers, 8, 1, 1, padding, 1);
      dense.expect_exact(multiply(stream, dense));
    }
  }
}

EXECUTOR_TEST(Dense, NanForAScalarReachesAllOfC) {
  LANKY_DENSE_BODY();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const GemmShape& shape : kShapes) {
    SCOPED_TRACE(text(shape));
    for (const auto& [alpha, beta] : {std::pair{kNan, 0.0}, std::pair{1.0, kNan}}) {
      const DenseCase<T, TOut> dense(shape, Data::integers, 15, alpha, beta);
      const HostMatrix<TOut> got = multiply(stream, dense);
      EXPECT_TRUE(std::all_of(got.data.begin(), got.data.end(),
                              [](TOut value) { return std::isnan(static_cast<double>(value)); }))
          << "alpha " << alpha << ", beta " << beta;
    }
  }
}

// One term counts: the least number of T times 1 is not flushed to 0, and twice the greatest
// overflows where the type of C does.
EXECUTOR_TEST(Dense, KeepsSubnormalsAndOverflowsToInf) {
  LANKY_DENSE_BODY();
  T least{};
  reinterpret_cast<unsigned char*>(&least)[0] = 1;  // little-endian: the bits of integer 1
  ASSERT_GT(static_cast<double>(least), 0.0);
  const auto greatest =
      static_cast<T>(kDType<T> == DType::f16    ? 65504.0
                     : kDType<T> == DType::bf16 ? 0x1.fep127
                     : kDType<T> == DType::f32  ? std::numeric_limits<float>::max()
                                                : std::numeric_limits<double>::max());
  for (const GemmShape& shape : kShapes) {
    SCOPED_TRACE(text(shape));
    DenseCase<T, TOut> dense(shape, Data::integers, 16);
    const auto run_with = [&](T value, T factor) {
      std::fill(dense.a.data.begin(), dense.a.data.end(), T{});
      std::fill(dense.b.data.begin(), dense.b.data.end(), T{});
      for (std::int64_t i = 0; i < shape.m; ++i)
        dense.a.at(i, shape.k / 2) = value;
      for (std::int64_t j = 0; j < shape.n; ++j)
        dense.b.at(shape.k / 2, j) = factor;
      dense.expect_exact(multiply(stream, dense));
    };
    run_with(least, static_cast<T>(1.0F));
    run_with(greatest, static_cast<T>(2.0F));
  }
}

EXECUTOR_TEST(Dense, EqualPlansGiveEqualBits) {
  LANKY_DENSE_BODY();
  for (const GemmShape& shape : kShapes) {
    SCOPED_TRACE(text(shape));
    const DenseCase<T, TOut> dense(shape, Data::random, 9, 0.3, 0.7);
    const HostMatrix<TOut> first = multiply(stream, dense);
    for (int again = 0; again < 3; ++again)
      ASSERT_TRUE(same_bits(multiply(stream, dense).data, first.data));
    EXPECT_EQ((GemmPlan<T, TOut>(stream, dense.shape).explain()),
              (GemmPlan<T, TOut>(stream, dense.shape).explain()));
  }
}

EXECUTOR_TEST(Dense, LentWorkspace) {
  LANKY_DENSE_BODY();
  const DenseCase<T, TOut> dense({.m = 6, .n = 5, .k = 40000, .op_a = Op::trans}, Data::random, 10);
  const GemmPlan<T, TOut> plan(stream, dense.shape);
  ASSERT_GT(plan.workspace_bytes(), 0);
  Buffer<std::byte> lent(stream, plan.workspace_bytes());
  DeviceMatrix<T> a(stream, dense.a);
  DeviceMatrix<T> b(stream, dense.b);
  DeviceMatrix<TOut> c(stream, dense.c);
  plan.run(stream, Acc(1), a.view(), b.view(), Acc(0), c.view(), {lent.data(), lent.size()});
  const HostMatrix<TOut> got = c.download();
  dense.expect_within_bound(got);
  EXPECT_TRUE(same_bits(got.data, multiply(stream, dense).data));
  expect_error(
      [&] {
        plan.run(stream, Acc(1), a.view(), b.view(), Acc(0), c.view(),
                 {lent.data(), lent.size() - 1});
      },
      ErrorCode::size_mismatch,
      {std::to_string(plan.workspace_bytes()), std::to_string(plan.workspace_bytes() - 1)});
}

EXECUTOR_TEST(Dense, LentWorkspaceMustBeAligned) {
  LANKY_DENSE_BODY();
  const DenseCase<T, TOut> dense({.m = 6, .n = 5, .k = 40000, .op_a = Op::trans}, Data::integers,
                                 10);
  const GemmPlan<T, TOut> plan(stream, dense.shape);
  Buffer<std::byte> lent(stream, plan.workspace_bytes() + 16);
  DeviceMatrix<T> a(stream, dense.a);
  DeviceMatrix<T> b(stream, dense.b);
  DeviceMatrix<TOut> c(stream, dense.c);
  const Workspace off{lent.data() + 16, plan.workspace_bytes()};
  expect_error([&] { plan.run(stream, Acc(1), a.view(), b.view(), Acc(0), c.view(), off); },
               ErrorCode::invalid_argument, {"workspace", "16", "256"});
}

EXECUTOR_TEST(Dense, RunsOverlapOnTwoStreamsAndTwoThreads) {
  LANKY_DENSE_BODY();
  const DenseCase<T, TOut> dense({.m = 9, .n = 8, .k = 30000, .op_a = Op::trans}, Data::random, 11);
  const HostMatrix<TOut> expected = multiply(stream, dense);
  const GemmPlan<T, TOut> plan(stream, dense.shape);
  std::vector<TOut> results[2];
  const auto work = [&](int who) {
    const Stream own(device);
    Buffer<std::byte> lent(own, plan.workspace_bytes());
    DeviceMatrix<T> a(own, dense.a);
    DeviceMatrix<T> b(own, dense.b);
    DeviceMatrix<TOut> c(own, dense.c);
    for (int repeat = 0; repeat < 10; ++repeat)
      plan.run(own, Acc(1), a.view(), b.view(), Acc(0), c.view(), {lent.data(), lent.size()});
    results[who] = c.download().data;
  };
  std::thread other(work, 1);
  work(0);
  other.join();
  EXPECT_TRUE(same_bits(results[0], expected.data));
  EXPECT_TRUE(same_bits(results[1], expected.data));
}

EXECUTOR_TEST(Dense, LongSumsLoseLittle) {
  LANKY_DENSE_BODY();
  constexpr std::int64_t kLong = 1 << 20;
  for (const GemmShape& shape :
       {GemmShape{.m = 1, .n = 1, .k = kLong, .op_a = Op::trans},
        GemmShape{.m = 3, .n = 2, .k = kLong, .op_a = Op::trans, .layout = Layout::row}}) {
    SCOPED_TRACE(text(shape));
    DenseCase<T, TOut> dense(shape, Data::integers, 12);
    std::fill(dense.a.data.begin(), dense.a.data.end(), static_cast<T>(0.1F));
    std::fill(dense.b.data.begin(), dense.b.data.end(), static_cast<T>(0.1F));
    const long double exact = dense.exact(0, 0).value;
    const double got = static_cast<double>(multiply(stream, dense).at(0, 0));
    // A single running sum in float is off by 1e-3 here; chunks keep the error near their length.
    const double tolerance = 3000 * unit_roundoff(kDType<Acc>) + unit_roundoff(kDType<TOut>);
    EXPECT_LE(std::fabs(static_cast<double>((got - exact) / exact)), tolerance);
  }
}

EXECUTOR_TEST(Dense, GemmTakesItsShapeFromTheViews) {
  LANKY_DENSE_BODY();
  const GemmShape shape{.m = 40, .n = 7, .k = 30, .op_a = Op::trans, .layout = Layout::row};
  const DenseCase<T, TOut> dense(shape, Data::integers, 13, 2, -1, 2);
  DeviceMatrix<T> a(stream, dense.a);
  DeviceMatrix<T> b(stream, dense.b);
  DeviceMatrix<TOut> c(stream, dense.c);
  gemm<T, TOut>(stream, Op::trans, Op::none, Acc(2), a.view(), b.view(), Acc(-1), c.view());
  dense.expect_exact(c.download());
}

// Shapes large enough for threads: with A packed and read in place, whole k and chunks of it.
TEST(DenseOnCpu, GivesEqualBitsForAnyNumberOfThreads) {
  const Stream stream(Device::cpu());
  const int threads = omp_get_max_threads();
  for (const GemmShape& shape :
       {GemmShape{.m = 4, .n = 3, .k = 300'000, .op_a = Op::trans},
        GemmShape{.m = 16, .n = 9, .k = 20'000, .op_a = Op::trans},
        GemmShape{.m = 20'000, .n = 9, .k = 7}, GemmShape{.m = 1500, .n = 2, .k = 1200},
        GemmShape{.m = 60'000, .n = 2, .k = 40, .layout = Layout::row}}) {
    SCOPED_TRACE(text(shape));
    const DenseCase<float, float> dense(shape, Data::random, 17);
    omp_set_num_threads(1);
    const HostMatrix<float> alone = multiply(stream, dense);
    dense.expect_within_bound(alone);
    for (const int count : {2, 5}) {
      omp_set_num_threads(count);
      EXPECT_TRUE(same_bits(multiply(stream, dense).data, alone.data)) << count << " threads";
    }
  }
  omp_set_num_threads(threads);
}

EXECUTOR_TEST(Dense, HoldsItsMemoryInTheCallersAllocator) {
  LANKY_DENSE_BODY();
  for (const GemmShape& shape : kShapes) {
    SCOPED_TRACE(text(shape));
    testing::CountingAllocator allocator;
    {
      const GemmPlan<T, TOut> plan(stream, shape, {.allocator = &allocator});
      EXPECT_EQ(allocator.live_bytes(), plan.workspace_bytes());
      allocator.most_requests = 0;
      if (plan.workspace_bytes() > 0) {
        expect_error([&] { GemmPlan<T, TOut>(stream, shape, {.allocator = &allocator}); },
                     ErrorCode::out_of_memory, {"no more requests"});
      }
      EXPECT_EQ(allocator.live_bytes(), plan.workspace_bytes());
    }
    EXPECT_EQ(allocator.live_bytes(), 0);
    EXPECT_EQ(allocator.returned_wrong(), 0);
  }
}

EXECUTOR_TEST(Dense, ErrorsNameOperandAndValues) {
  LANKY_DENSE_BODY();
  using Plan = GemmPlan<T, TOut>;
  const auto make = [&](const GemmShape& shape, const GemmOptions& options = {}) {
    return [&, shape, options] { Plan(stream, shape, options); };
  };
  expect_error(make({.m = -3, .n = 1, .k = 1}), ErrorCode::invalid_argument, {"m", "-3"});
  expect_error(make({.m = 3, .n = -4, .k = 1}), ErrorCode::invalid_argument, {"n", "-4"});
  expect_error(make({.m = 3, .n = 1, .k = -5}), ErrorCode::invalid_argument, {"k", "-5"});
  expect_error(make({.m = 30, .n = 10, .k = 20, .lda = 29}), ErrorCode::invalid_argument,
               {"lda", "29", "30"});
  expect_error(make({.m = 30, .n = 10, .k = 20, .op_b = Op::trans, .ldb = 9}),
               ErrorCode::invalid_argument, {"ldb", "9", "10"});
  expect_error(make({.m = 30, .n = 10, .k = 20, .layout = Layout::row, .ldc = 8}),
               ErrorCode::invalid_argument, {"ldc", "8", "10"});
  expect_error(make({.m = 30, .n = 10, .k = 20, .lda = std::numeric_limits<std::int64_t>::max()}),
               ErrorCode::invalid_argument, {"lda", "52 bits of addresses"});
  if (kDType<T> != DType::f32) {
    expect_error(make({.m = 3, .n = 1, .k = 1}, {.math = Math::tf32}), ErrorCode::unsupported,
                 {"tf32", std::string(to_string(kDType<T>))});
    expect_error(make({.m = 3, .n = 1, .k = 1}, {.math = Math::tf32x3}), ErrorCode::unsupported,
                 {"tf32x3"});
  }

  const DenseCase<T, TOut> dense({.m = 30, .n = 10, .k = 20}, Data::integers, 14, 1, 0, 2);
  const Plan plan(stream, dense.shape);
  DeviceMatrix<T> a(stream, dense.a);
  DeviceMatrix<T> b(stream, dense.b);
  DeviceMatrix<TOut> c(stream, dense.c);
  const auto run = [&](MatrixView<const T> x, MatrixView<const T> y, MatrixView<TOut> z) {
    return [&, x, y, z] { plan.run(stream, x, y, z); };
  };
  MatrixView<const T> bad_a = a.view();
  bad_a.rows = 31;
  expect_error(run(bad_a, b.view(), c.view()), ErrorCode::size_mismatch,
               {"A is 31 x 20", "30 x 20"});
  MatrixView<const T> bad_b = b.view();
  bad_b.ld = 21;
  expect_error(run(a.view(), bad_b, c.view()), ErrorCode::size_mismatch, {"B", "21", "22"});
  MatrixView<TOut> bad_c = c.view();
  bad_c.layout = Layout::row;
  expect_error(run(a.view(), b.view(), bad_c), ErrorCode::size_mismatch,
               {"C is row-major", "column-major"});
  bad_c = c.view();
  bad_c.data = nullptr;
  expect_error(run(a.view(), b.view(), bad_c), ErrorCode::invalid_argument, {"C", "null"});
  if (device.is_cuda()) {
    HostMatrix<T> host = dense.a;
    bad_a = a.view();
    bad_a.data = host.data.data();
    expect_error(run(bad_a, b.view(), c.view()), ErrorCode::wrong_memory, {"A", "host memory"});
    const Stream other(Device::cpu());
    expect_error([&] { plan.run(other, a.view(), b.view(), c.view()); }, ErrorCode::wrong_memory,
                 {"cpu", "cuda:0"});
  }
}

EXECUTOR_TEST(Dense, ExplainTellsFamilyKernelAndBound) {
  LANKY_DENSE_BODY();
  const auto explain = [&](const GemmShape& shape) {
    return GemmPlan<T, TOut>(stream, shape).explain();
  };
  const std::string gram = explain({.m = 4, .n = 4, .k = 100000, .op_a = Op::trans});
  for (const char* part : {"family: gram", "chunks of", "workspace: ", "bound: ", "memory"})
    EXPECT_NE(gram.find(part), std::string::npos) << part << " is not in\n" << gram;
  EXPECT_NE(explain({.m = 4, .n = 4000, .k = 4}).find("A = op(B)^T"), std::string::npos);
  EXPECT_NE(explain({.m = 400, .n = 400, .k = 400}).find("family: regular"), std::string::npos);
}

}  // namespace
}  // namespace lanky
