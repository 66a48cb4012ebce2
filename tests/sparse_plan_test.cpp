// SparsePlan as an object: what it tells of itself, moves, allocators, threads.
#include <gtest/gtest.h>
#include <omp.h>

#include <cstring>
#include <iomanip>
#include <sstream>
#include <thread>
#include <utility>

#include "sparse/launch.hpp"
#include "sparse/plan_info.hpp"
#include "support/counting_allocator.hpp"
#include "support/expect_error.hpp"
#include "support/sparse_oracle.hpp"

namespace lanky::testing {
namespace {

template <class Case>
class SparsePlans : public ::testing::Test {};
TYPED_TEST_SUITE(SparsePlans, PlanCases, OnName);

EXECUTOR_TEST(SparsePlans, TellsItsExtentsClassesAndBytes) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(1);
  const auto a = matrix_of<T>({1, 3, 0, 9, 300, 3000, 12, 2, 4}, 60, random, uniform<T>);
  const SparsePlan<T, TOut> plan(Stream(device), a.view());
  EXPECT_EQ(plan.rows(), 9);
  EXPECT_EQ(plan.cols(), 60);
  EXPECT_EQ(plan.nnz(), 3331);
  EXPECT_EQ(plan.device(), device);
  if (device.is_cuda()) {
    const PackedOnHost<T> packed(a.view());
    const auto sum_bytes = static_cast<std::int64_t>(sizeof(Accumulator<T>));
    const auto& header = packed.packed.header;
    EXPECT_GT(header.partials, 0);
    // The sums of a strip of 16 words of X, and a counter of each of 16 strips.
    EXPECT_EQ(plan.workspace_bytes(),
              header.partials * sum_bytes * 16 * sparse::word_columns(sizeof(T)) +
                  header.split_rows * 16 * 4);
    EXPECT_EQ(plan.device_bytes(), packed.packed.bytes() + plan.workspace_bytes());
  } else {
    EXPECT_EQ(plan.workspace_bytes(), 0);  // no row is long enough to be cut
    EXPECT_GE(plan.device_bytes(), 3331 * static_cast<std::int64_t>(sizeof(T) + 1));
  }
  const std::string text = plan.explain();
  for (const std::string& part :
       {std::string("spmv 9 x 60, 3331 entries, ") + std::string(to_string(kDType<T>)),
        device.name(), std::string("short            4             10"),
        std::string("empty            1              0"), std::to_string(plan.device_bytes()),
        std::string("CSR takes ") + std::to_string(3331 * (sizeof(T) + 4) + 40)}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
}

TEST(SparseExplain, TellsHotColumns) {
  Random random(7);
  auto a = matrix_of<float>(std::vector<std::int64_t>(100, 20), 100'000, random, uniform<float>);
  for (std::int64_t entry = 0; entry < a.nnz(); entry += 8)
    a.col_indices[entry] = entry % 16 == 0 ? 99'999 : 5;
  for (std::int64_t entry = 0; entry < 800; entry += 8)
    a.col_indices[entry] = static_cast<std::int32_t>(entry);  // leaves 75 of 250 to each of two
  const auto text = [&](int hot_least) {
    const PackedOnHost<float> packed(a.view(), {.hot_least = hot_least});
    return sparse::explain({Device::cpu(),
                            DType::f32,
                            DType::f32,
                            Symmetry::general,
                            a.nnz(),
                            Op::none,
                            {sparse::Path::cuda, "asked for"},
                            0,
                            packed.packed.bytes(),
                            packed.packed.header});
  };
  const std::string line =
      "  hot       2 columns, with 60 of the sampled entries or more each, about 60.0% of all\n";
  EXPECT_NE(text(60).find(line), std::string::npos) << text(60);
  EXPECT_EQ(text(0).find("  hot "), std::string::npos) << text(0);
}

TEST(SparseExplain, TellsClassesColumnsAndShape) {
  Random random(6);
  auto a = matrix_of<float>({1, 3, 0, 9, 300, 3000, 12, 2, 4}, 100'000, random, uniform<float>);
  for (std::int64_t entry = 0; entry < 1000; ++entry)
    a.col_indices[entry] %= 256;
  const PackedOnHost<float> packed(
      a.view(),
      {.lane_pieces = 4, .piece_most = 100, .row_cost = 4, .granule = 1, .window_cost = 1000});
  const std::string text = sparse::explain({Device::cpu(),
                                            DType::f32,
                                            DType::f32,
                                            Symmetry::hermitian,
                                            1700,
                                            Op::trans,
                                            {sparse::Path::cuda, "asked for"},
                                            12,
                                            packed.packed.bytes() + 12,
                                            packed.packed.header});
  const auto& kinds = packed.packed.header.kind_entries;
  for (const int kind : {2, 3, 4})
    ASSERT_GT(kinds[kind], 0);
  std::ostringstream columns;
  columns << std::fixed << std::setprecision(1) << "  columns   1-byte offsets "
          << 100.0 * static_cast<double>(kinds[2]) / 3331 << "%, 2-byte offsets "
          << 100.0 * static_cast<double>(kinds[3]) / 3331 << "%, 4 bytes "
          << 100.0 * static_cast<double>(kinds[4]) / 3331 << "%\n";
  const std::int64_t slots = packed.packed.header.slots;
  ASSERT_GT(slots, 3331);
  std::ostringstream padding;
  padding << std::fixed << std::setprecision(1) << "  padding   "
          << 100.0 * (1 - 3331 / static_cast<double>(slots)) << "% of " << slots << " slots\n";
  for (const std::string& part :
       {std::string(", f32, hermitian from a triangle of 1700, transposed, on cpu"),
        std::string("  long             2           3300  cut into pieces of up to 100\n"
                    "  medium           2             21  up to 100 entries\n"
                    "  short            4             10  1 to 4 entries\n"
                    "  empty            1              0\n"),
        columns.str(),
        std::string(
            "  windows   5, of about 1000 in entries plus 4 a row; 3 of split rows (1), "
            "whose sums the last of them adds up\n"
            "  slices    up to 1 a window, of 32 pieces, or of 128 where lengths are equal\n"),
        padding.str(), std::string("  kernels   cpu: asked for\n")}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
}

EXECUTOR_TEST(SparsePlans, MovesWithItsMatrix) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(2);
  const auto a = matrix_of<T>(boundary_lengths(), 60, random, small_integer<T>);
  const auto b = matrix_of<T>({1, 2}, 60, random, small_integer<T>);
  const Operands<T, TOut> operands{1, 0, vector_of<T>(60, random, small_integer<T>),
                                   std::vector<TOut>(a.rows)};
  const Stream stream(device);
  SparsePlan<T, TOut> first(stream, a.view());
  SparsePlan<T, TOut> second(stream, b.view());
  second = std::move(first);
  const SparsePlan<T, TOut> third(std::move(second));
  expect_exact(a, operands, run_plan(stream, third, operands));
}

EXECUTOR_TEST(SparsePlans, HoldsItsMemoryInTheCallersAllocator) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(3);
  const auto a = matrix_of<T>(boundary_lengths(), 60, random, small_integer<T>);
  CountingAllocator allocator;
  {
    const SparsePlan<T, TOut> plan(Stream(device), a.view(), {.allocator = &allocator});
    EXPECT_EQ(allocator.live_bytes(), plan.device_bytes());
  }
  EXPECT_EQ(allocator.live_bytes(), 0);
  EXPECT_EQ(allocator.returned_wrong(), 0);
}

// Whichever request for memory fails, the constructor gives back what it had, and throws that
// error.
EXECUTOR_TEST(SparsePlans, LeavesNothingBehindWhereMemoryEnds) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(3);
  const auto a = matrix_of<T>({1, 9, 300, 3000}, 60, random, small_integer<T>);
  CountingAllocator all;
  { const SparsePlan<T, TOut> plan(Stream(device), a.view(), {.allocator = &all}); }
  ASSERT_GT(all.requests(), 1);
  for (int most = 0; most < all.requests(); ++most) {
    CountingAllocator few;
    few.most_requests = most;
    expect_error([&] { SparsePlan<T, TOut>(Stream(device), a.view(), {.allocator = &few}); },
                 ErrorCode::out_of_memory, {"no more requests"});
    EXPECT_EQ(few.requests(), most);
    EXPECT_EQ(few.live_bytes(), 0);
    EXPECT_EQ(few.returned_wrong(), 0);
  }
}

// Two threads, each with its own stream and plan.
EXECUTOR_TEST(SparsePlans, ThreadsMayMakeAndRunPlansOfTheirOwn) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  std::vector<std::string> failures(2);
  const auto work = [&](std::size_t index) {
    Random random(4 + index);
    const auto a = matrix_of<T>(boundary_lengths(), 80, random, small_integer<T>);
    const Operands<T, TOut> operands{1, 0, vector_of<T>(80, random, small_integer<T>),
                                     std::vector<TOut>(a.rows)};
    for (int round = 0; round < 20; ++round) {
      const Stream stream(device);
      const SparsePlan<T, TOut> plan(stream, a.view());
      const std::vector<TOut> y = run_plan(stream, plan, operands);
      for (std::int64_t row = 0; row < a.rows; ++row) {
        if (parts(y[row]) != parts(element<TOut>(reference_row(a, operands, row).value))) {
          failures[index] = "row " + std::to_string(row) + " in round " + std::to_string(round);
        }
      }
    }
  };
  std::thread first(work, 0);
  std::thread second(work, 1);
  first.join();
  second.join();
  EXPECT_EQ(failures[0], "");
  EXPECT_EQ(failures[1], "");
}

TEST(SparsePlanOnCpu, GivesEqualBitsForAnyNumberOfThreads) {
  Random random(5);
  std::vector<std::int64_t> lengths = boundary_lengths();
  lengths.insert(lengths.end(), {20'000, 333'333});
  const auto a = matrix_of<float>(lengths, 1000, random, uniform<float>);
  const Operands<float, float> operands{1, 0, vector_of<float>(1000, random, uniform<float>),
                                        std::vector<float>(a.rows)};
  ASSERT_GE(a.nnz(), sparse::kThreadsLeast);
  const Stream stream(Device::cpu());
  const int threads = omp_get_max_threads();
  std::vector<std::vector<float>> results;
  for (const int count : {1, 2, 5}) {
    omp_set_num_threads(count);
    EXPECT_EQ(PackedOnHost<float>(a.view()).violation(), "");
    results.push_back(run_plan(stream, SparsePlan<float>(stream, a.view()), operands));
  }
  omp_set_num_threads(threads);
  EXPECT_EQ(std::memcmp(results[0].data(), results[1].data(), a.rows * sizeof(float)), 0);
  EXPECT_EQ(std::memcmp(results[0].data(), results[2].data(), a.rows * sizeof(float)), 0);
}

}  // namespace
}  // namespace lanky::testing
