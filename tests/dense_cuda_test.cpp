// Dense products on CUDA beyond what every executor is tested for: graph capture, every algorithm
// of the vendor for skinny shapes, and matrices of more than 2^31 elements (with LANKY_HUGE=1; they
// take up to 11 GB of device memory).
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <lanky/lanky.hpp>
#include <set>
#include <string>

#include "dense/cuda/vendor/cublaslt.hpp"
#include "support/dense_oracle.hpp"
#include "support/executor.hpp"

namespace lanky {
namespace {

using testing::Data;
using testing::DenseCase;
using testing::DeviceMatrix;

#define ASSERT_CUDA(call) ASSERT_EQ(call, cudaSuccess)

/// Captured once, replayed with another alpha in device memory; `shape` picks the kernel.
void replay(const GemmShape& shape) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  DenseCase<double, double> dense(shape, Data::integers, 1, 1, 0);
  const GemmPlan<double> plan(stream, dense.shape);
  DeviceMatrix<double> a(stream, dense.a);
  DeviceMatrix<double> b(stream, dense.b);
  DeviceMatrix<double> c(stream, dense.c);
  auto scalars = Buffer<double>::from(stream, std::vector<double>{1, 0});
  const auto alpha = GemmPlan<double>::Scalar::on_device(scalars.data());
  const auto beta = GemmPlan<double>::Scalar::on_device(scalars.data() + 1);
  stream.synchronize();

  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_CUDA(cudaStreamBeginCapture(stream.native(), cudaStreamCaptureModeThreadLocal));
  EXPECT_TRUE(stream.is_capturing());
  EXPECT_FALSE(Stream::wrap(nullptr, device).is_capturing());
  plan.run(stream, alpha, a.view(), b.view(), beta, c.view());
  ASSERT_CUDA(cudaStreamEndCapture(stream.native(), &graph));
  EXPECT_FALSE(stream.is_capturing());
  ASSERT_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  for (const double value : {1.0, -3.0}) {
    scalars.copy_from(std::vector<double>{value, 0});
    dense.alpha = value;
    ASSERT_CUDA(cudaGraphLaunch(executable, stream.native()));
    stream.synchronize();
    dense.expect_exact(c.download());
  }
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

TEST(DenseCuda, GraphOfPanel) {
  replay({.m = 300, .n = 5, .k = 2000});
}
TEST(DenseCuda, GraphOfUpdate) {
  replay({.m = 3000, .n = 5, .k = 7});
}
TEST(DenseCuda, GraphOfGram) {
  replay({.m = 8, .n = 5, .k = 30000, .op_a = Op::trans});
}
TEST(DenseCuda, GraphOfRegular) {
  replay({.m = 200, .n = 150, .k = 170});
}

/// Every way to compute a product, one plan each: the plan takes it, and the result is exact.
template <class T>
void run_every_choice(const GemmShape& given) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  const DenseCase<T, T> dense(given, Data::integers, 1);
  const GemmQuery query{device, dense.shape, kDType<T>, kDType<T>};
  const auto expected = dense.expected();
  const std::vector<GemmChoice> choices = gemm_choices(query, 8);
  std::set<std::string> names;
  for (const GemmChoice& choice : choices) {
    SCOPED_TRACE(concat(choice.vendor ? "vendor " : "lanky ", choice.algorithm));
    EXPECT_TRUE(names.insert(concat(choice.vendor, choice.algorithm)).second) << "names differ";
    GemmTuning tuning;
    tuning.set(query, choice);
    const GemmPlan<T> plan(stream, dense.shape, {.tuning = &tuning});
    const GemmRoute route = plan.info().routes.front();
    EXPECT_EQ(route.vendor, choice.vendor);
    if (!choice.algorithm.empty()) {
      EXPECT_EQ(route.algorithm, choice.algorithm);
      EXPECT_NE(route.configuration.find(choice.algorithm), std::string::npos);
    }
    DeviceMatrix<T> a(stream, dense.a);
    DeviceMatrix<T> b(stream, dense.b);
    DeviceMatrix<T> c(stream, dense.c);
    plan.run(stream, a.view(), b.view(), c.view());
    dense.expect_equal(c.download(), expected);
  }
}

/// In both layouts.
template <class T>
void run_every_choice_of_both(GemmShape shape) {
  for (const Layout layout : {Layout::col, Layout::row}) {
    shape.layout = layout;
    SCOPED_TRACE(layout == Layout::col ? "by columns" : "by rows");
    run_every_choice<T>(shape);
  }
}

template <class T>
class EveryChoice : public ::testing::Test {};
using ChoiceTypes = ::testing::Types<double, float, half, bfloat16>;  // complex: dense_bits
TYPED_TEST_SUITE(EveryChoice, ChoiceTypes);

TYPED_TEST(EveryChoice, OfPanelsIsRight) {
  for (const std::int64_t n : {1, 3, 8, 33})
    run_every_choice_of_both<TypeParam>({.m = 600, .n = n, .k = 640});
  run_every_choice_of_both<TypeParam>({.m = 1001, .n = 8, .k = 333});
}

TYPED_TEST(EveryChoice, OfUpdatesIsRight) {
  for (const std::int64_t n : {2, 4, 8, 16, 33})
    run_every_choice_of_both<TypeParam>({.m = 5000, .n = n, .k = n});
  run_every_choice_of_both<TypeParam>({.m = 5001, .n = 7, .k = 21});
  run_every_choice_of_both<TypeParam>({.m = 5000, .n = 8, .k = 16, .op_a = Op::trans});
}

TYPED_TEST(EveryChoice, OfGramsIsRight) {
  for (const std::int64_t n : {1, 2, 4, 8, 16, 24, 64})
    run_every_choice_of_both<TypeParam>({.m = n, .n = n, .k = 5000, .op_a = Op::trans});
  run_every_choice_of_both<TypeParam>({.m = 40, .n = 8, .k = 5000, .op_a = Op::trans});
  run_every_choice_of_both<TypeParam>({.m = 13, .n = 13, .k = 10'001, .op_a = Op::trans});
  run_every_choice_of_both<TypeParam>(
      {.m = 16, .n = 16, .k = 9000, .op_a = Op::trans, .op_b = Op::trans});
}

/// Every way to compute a product of positive numbers, whose sums of a part of k a half cannot hold
/// and a float can, gives all of the sum.
template <class T>
void expect_sums_of_floats(const GemmShape& shape) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream(device);
  std::vector<T> b_host;
  float expected = 0;
  for (std::int64_t p = 0; p < shape.k; ++p) {
    b_host.emplace_back(p % 3 == 0 ? 2.0F : 1.0F);
    expected += p % 3 == 0 ? 2 : 1;
  }
  const std::vector<T> ones(static_cast<std::size_t>(shape.m * shape.k), T(1.0F));
  std::vector<T> columns;
  for (std::int64_t j = 0; j < shape.n; ++j)
    columns.insert(columns.end(), b_host.begin(), b_host.end());
  const auto a = Buffer<T>::from(stream, ones);
  const auto b = Buffer<T>::from(stream, columns);
  Buffer<float> c(stream, shape.m * shape.n);
  const GemmQuery query{device, shape, kDType<T>, DType::f32};
  for (const GemmChoice& choice : gemm_choices(query)) {
    SCOPED_TRACE(concat(choice.vendor ? "vendor " : "lanky ", choice.algorithm));
    GemmTuning tuning;
    tuning.set(query, choice);
    const GemmPlan<T, float> plan(stream, shape, {.tuning = &tuning});
    const bool transposed = shape.op_a != Op::none;
    const std::int64_t rows = transposed ? shape.k : shape.m;
    plan.run(stream, {a.data(), rows, transposed ? shape.m : shape.k, rows},
             {b.data(), shape.k, shape.n, shape.k}, {c.data(), shape.m, shape.n, shape.m});
    std::int64_t wrong = 0;
    for (const float sum : c.to_host())
      wrong += sum == expected ? 0 : 1;
    EXPECT_EQ(wrong, 0) << "of " << shape.m * shape.n << " sums";
  }
}

// Of the last two, cuBLAS 13.1 offers ways that leave out the last 8 of k.
TEST(DenseCuda, EveryWaySumsAllOfKInFloat) {
  for (const GemmShape& shape :
       {GemmShape{.m = 520, .n = 112, .k = 20'000}, GemmShape{.m = 1320, .n = 112, .k = 13'000},
        GemmShape{.m = 16, .n = 16, .k = 1'000'000, .op_a = Op::trans},
        GemmShape{.m = 256, .n = 20, .k = 65'480, .op_a = Op::trans},
        GemmShape{.m = 40, .n = 8, .k = 49'928, .op_a = Op::trans}}) {
    SCOPED_TRACE(testing::text(shape));
    expect_sums_of_floats<half>(shape);
    expect_sums_of_floats<bfloat16>(shape);
  }
}

bool huge_wanted() {
  const char* value = std::getenv("LANKY_HUGE");
  return value != nullptr && std::string_view(value) == "1";
}

template <class T>
void put(Buffer<T>& buffer, std::int64_t index, float value) {
  const T element(value);
  ASSERT_CUDA(cudaMemcpy(buffer.data() + index, &element, sizeof element, cudaMemcpyHostToDevice));
}

template <class T>
float get(const Buffer<T>& buffer, std::int64_t index) {
  T element{};
  EXPECT_EQ(cudaMemcpy(&element, buffer.data() + index, sizeof element, cudaMemcpyDeviceToHost),
            cudaSuccess);
  return element;
}

TEST(DenseCuda, HugeGram) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  if (!huge_wanted()) GTEST_SKIP() << "needs LANKY_HUGE=1";
  const Stream stream(device);
  const std::int64_t k = 1'200'000'000;
  const std::int64_t samples[] = {0, 1'073'741'823, 1'073'741'824, k - 1};
  for (const Layout layout : {Layout::col, Layout::row}) {
    Buffer<half> q(stream, 2 * k);  // [k, 2], zero but for the samples
    q.fill_zero();
    stream.synchronize();
    for (const std::int64_t p : samples) {
      put(q, layout == Layout::col ? p : 2 * p, 1);
      put(q, layout == Layout::col ? k + p : 2 * p + 1, 3);
    }
    Buffer<float> g(stream, 4);
    const GemmPlan<half, float> plan(stream,
                                     {.m = 2, .n = 2, .k = k, .op_a = Op::trans, .layout = layout});
    const MatrixView<const half> view{q.data(), k, 2, layout == Layout::col ? k : 2, layout};
    plan.run(stream, view, view, {g.data(), 2, 2, 2, layout});
    EXPECT_EQ(g.to_host(), (std::vector<float>{4, 12, 12, 36}));
  }
}

TEST(DenseCuda, HugeUpdate) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  if (!huge_wanted()) GTEST_SKIP() << "needs LANKY_HUGE=1";
  const Stream stream(device);
  const std::int64_t m = 1'000'000'007;
  const std::int64_t samples[] = {0, 147'483'634, 715'827'883, m - 1};
  Buffer<half> a(stream, 2 * m);  // [m, 2], zero but for the samples
  a.fill_zero();
  stream.synchronize();
  for (const std::int64_t i : samples) {
    put(a, i, 1);
    put(a, m + i, 2);
  }
  const auto b = Buffer<half>::from(
      stream, std::vector<half>{half(1.F), half(2.F), half(3.F), half(4.F), half(5.F), half(6.F)});
  Buffer<half> c(stream, 3 * m);  // [m, 3], NaN
  ASSERT_CUDA(cudaMemset(c.data(), 0xff, static_cast<std::size_t>(3 * m) * sizeof(half)));
  const GemmPlan<half> plan(stream, {.m = m, .n = 3, .k = 2});
  plan.run(stream, {a.data(), m, 2, m}, {b.data(), 2, 3, 2}, {c.data(), m, 3, m});
  stream.synchronize();
  for (std::int64_t j = 0; j < 3; ++j) {
    for (const std::int64_t i : samples) {
      EXPECT_EQ(get(c, j * m + i), static_cast<float>(6 * j + 5)) << i << ", " << j;
      const std::int64_t neighbour = i == 0 ? 1 : i - 1;
      EXPECT_EQ(get(c, j * m + neighbour), 0) << neighbour << ", " << j;
    }
  }
}

}  // namespace
}  // namespace lanky
