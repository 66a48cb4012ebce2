// What all plans promise alike: their own workspace serves one stream, and equal fingerprints are
// equal bits (docs/api_decisions.md).
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <lanky/lanky.hpp>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/executor.hpp"
#include "support/expect_error.hpp"
#include "support/random_numbers.hpp"

namespace lanky {
namespace {

class PlanContract : public ::testing::TestWithParam<DeviceKind> {};
INSTANTIATE_TEST_SUITE_P(On, PlanContract, ::testing::Values(DeviceKind::cpu, DeviceKind::cuda),
                         [](const auto& kind) {
                           return kind.param == DeviceKind::cpu ? "cpu" : "cuda";
                         });

using testing::random_numbers;

// Split rows have sums in the workspace.
constexpr const char* kSplit = "huge:3000:2,span=20000";

/// A product of any plan whose workspace is not empty: run() in the plan's own, or in the caller's.
struct Product {
  std::int64_t workspace_bytes;
  std::function<std::vector<double>(const Stream&, Workspace*)> run;
};

Product sparse_product(const Stream& stream) {
  const auto a = io::generate<double>(kSplit);
  const auto plan = std::make_shared<const SparsePlan<double>>(stream, a.view());
  const auto x =
      std::make_shared<Buffer<double>>(Buffer<double>::from(stream, random_numbers(a.cols, 1)));
  return {plan->workspace_bytes(), [=](const Stream& on, Workspace* workspace) {
            Buffer<double> y(on, plan->rows());
            if (workspace == nullptr) {
              plan->run(on, *x, y);
            } else {
              plan->run(on, 1.0, *x, 0.0, y, *workspace);
            }
            return y.to_host();
          }};
}

Product dense_product(const Stream& stream) {
  constexpr std::int64_t kLong = 40'000;
  constexpr std::int64_t kSide = 12;
  const auto plan = std::make_shared<const GemmPlan<double>>(
      stream, GemmShape{.m = kSide, .n = kSide, .k = kLong, .op_a = Op::trans});
  const auto q = std::make_shared<Matrix<double>>(stream, kLong, kSide);
  q->buffer().copy_from(random_numbers(kLong * kSide, 2));
  return {plan->workspace_bytes(), [=](const Stream& on, Workspace* workspace) {
            Matrix<double> g(on, kSide, kSide);
            if (workspace == nullptr) {
              plan->run(on, *q, *q, g);
            } else {
              plan->run(on, 1.0, *q, *q, 0.0, g, *workspace);
            }
            return g.buffer().to_host();
          }};
}

Product sampled_product(const Stream& stream) {
  const auto a = io::generate<double>("uniform:2000:9");
  const auto plan = std::make_shared<const SddmmPlan<double>>(stream, a.view(),
                                                              SddmmOptions{.expected_columns = 3});
  const auto x = std::make_shared<Matrix<double>>(stream, a.rows, 3);
  x->buffer().copy_from(random_numbers(a.rows * 3, 3));
  return {plan->workspace_bytes(), [=](const Stream& on, Workspace* workspace) {
            Buffer<double> values(on, plan->nnz());
            if (workspace == nullptr) {
              plan->run(on, *x, *x, values);
            } else {
              plan->run(on, 1.0, *x, *x, 0.0, values, *workspace);
            }
            return values.to_host();
          }};
}

std::vector<Product> products(const Stream& stream) {
  return {sparse_product(stream), dense_product(stream), sampled_product(stream)};
}

TEST_P(PlanContract, AnotherStreamNeedsAWorkspace) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const Stream stream(device);
  const Stream other(device);
  for (const Product& product : products(stream)) {
    const std::vector<double> expected = product.run(stream, nullptr);
    if (product.workspace_bytes == 0) {
      EXPECT_EQ(product.run(other, nullptr), expected) << "there is nothing to share";
      continue;
    }
    expect_error([&] { product.run(other, nullptr); }, ErrorCode::invalid_argument,
                 {"another stream", "Workspace of " + std::to_string(product.workspace_bytes)});
    Buffer<std::byte> memory(other, product.workspace_bytes);
    Workspace workspace = memory;
    EXPECT_EQ(product.run(other, &workspace), expected);
  }
}

// Kernels of two runs would mix in the workspace, if threads did not take turns.
TEST_P(PlanContract, ThreadsMayShareAPlanOnItsStream) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const Stream stream(device);
  for (const Product& product : products(stream)) {
    const std::vector<double> expected = product.run(stream, nullptr);
    constexpr int kThreads = 4;
    constexpr int kRuns = 25;
    std::vector<int> wrong(kThreads, 0);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int r = 0; r < kRuns; ++r)
          wrong[static_cast<std::size_t>(t)] += product.run(stream, nullptr) != expected;
      });
    }
    for (std::thread& thread : threads)
      thread.join();
    EXPECT_EQ(wrong, std::vector<int>(kThreads, 0));
  }
}

TEST_P(PlanContract, StreamsAreEqualWhereTheyAreTheSame) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const Stream stream(device);
  const Stream copy = stream;
  EXPECT_EQ(stream, copy);
  EXPECT_NE(stream, Stream(device));
  EXPECT_FALSE(stream.is_per_thread_default());
  if (!device.is_cuda()) return;
  EXPECT_EQ(stream, Stream::wrap(stream.native(), device));
  const auto special = [&](std::uintptr_t handle) {
    return Stream::wrap(reinterpret_cast<CUstream_st*>(handle), device);
  };
  EXPECT_EQ(special(0), special(1)) << "the legacy default stream has two names";
  EXPECT_NE(special(1), special(2));
  EXPECT_TRUE(special(2).is_per_thread_default());
}

TEST(PlanStreams, ThePerThreadDefaultStreamIsAnotherInEachThread) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  const Stream stream = Stream::wrap(reinterpret_cast<CUstream_st*>(2), device);
  const Product product = sparse_product(stream);
  ASSERT_GT(product.workspace_bytes, 0);
  product.run(stream, nullptr);
  std::thread([&] {
    expect_error([&] { product.run(stream, nullptr); }, ErrorCode::invalid_argument,
                 {"the default stream of another thread"});
  }).join();
}

TEST_P(PlanContract, EqualFingerprintsAreEqualBits) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const Stream stream(device);
  const auto a = io::generate<double>(kSplit);
  const auto x = Buffer<double>::from(stream, random_numbers(a.cols, 1));
  SparsePlan<double> plan(stream, a.view());
  const SparsePlan<double> again(stream, a.view(), {.engine = Engine::cuda_cores});
  EXPECT_EQ(plan.fingerprint(), again.fingerprint()) << "the same kernels, asked for or not";
  Buffer<double> y(stream, a.rows);
  Buffer<double> z(stream, a.rows);
  plan.run(stream, x, y);
  again.run(stream, x, z);
  EXPECT_EQ(y.to_host(), z.to_host());

  const std::uint64_t before = plan.fingerprint();
  plan.update_values(random_numbers(a.nnz(), 4));
  EXPECT_EQ(plan.fingerprint(), before) << "values are operands";
}

TEST_P(PlanContract, FingerprintsTellWhatChangesBits) {
  LANKY_DEVICE_OR_SKIP(device, GetParam());
  const Stream stream(device);
  const auto a = io::generate<double>("band:500:3:4");
  const auto narrow = io::generate<float>("band:500:3:4");
  constexpr GemmShape kGram{.m = 12, .n = 12, .k = 40'000, .op_a = Op::trans};
  GemmShape longer = kGram;
  longer.k = 40'001;
  GemmShape by_rows = kGram;
  by_rows.layout = Layout::row;
  const std::vector<std::uint64_t> all = {
      SparsePlan<double>(stream, a.view()).fingerprint(),
      SparsePlan<float>(stream, narrow.view()).fingerprint(),
      SparsePlan<double>(stream, a.view(), {.op = Op::trans}).fingerprint(),
      GemmPlan<double>(stream, kGram).fingerprint(),
      GemmPlan<float>(stream, kGram).fingerprint(),
      GemmPlan<double>(stream, longer).fingerprint(),
      GemmPlan<double>(stream, by_rows).fingerprint(),
      GemmPlan<float>(stream, kGram, {.math = Math::tf32}).fingerprint(),
      SddmmPlan<double>(stream, a.view()).fingerprint(),
      SddmmPlan<float>(stream, narrow.view()).fingerprint()};
  EXPECT_EQ(std::set<std::uint64_t>(all.begin(), all.end()).size(), all.size());
  EXPECT_EQ(GemmPlan<double>(stream, kGram).fingerprint(), all[3]);
  EXPECT_EQ(SddmmPlan<double>(stream, a.view(), {.expected_columns = 8}).fingerprint(), all[8])
      << "a workspace changes no bits";
  if (!device.is_cuda()) return;
  EXPECT_NE(SparsePlan<double>(stream, a.view(), {.engine = Engine::tensor_cores}).fingerprint(),
            all[0]);
}

}  // namespace
}  // namespace lanky
