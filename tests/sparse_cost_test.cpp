// The predicted times of shapes of sparse matrices, and the choice by them.
#include "sparse/cost.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "core/text.hpp"
#include "sparse/policy.hpp"
#include "sparse/shapes.hpp"
#include "support/h200.hpp"
#include "support/sparse_oracle.hpp"

namespace lanky::testing {
namespace {

using sparse::RowFacts;
using sparse::Shape;

constexpr auto kTypes =
    std::array{DType::f64, DType::f32, DType::f16, DType::bf16, DType::c64, DType::c128};

/// Rows of one length whose columns are within `reach` of each other, in order.
RowFacts alike(std::int64_t rows, std::int64_t length, std::int64_t reach) {
  RowFacts facts{.rows = rows, .cols = rows, .nnz = rows * length, .longest = length};
  facts.pieces8 = rows * sparse::pieces_of(length, 8);
  facts.pieces16 = rows * sparse::pieces_of(length, 16);
  facts.reach = reach;
  if (length >= sparse::kLongRow) facts.long_rows[sparse::long_class(length)] = rows;
  for (int size = 0; size < sparse::kSampleSizes; ++size) {
    const std::int64_t sampled = sparse::sample_rows(size);
    const auto span = static_cast<double>(std::min(reach + sampled, rows));
    facts.locality[size].span = {0.95 * span, span, 1.05 * span};
    facts.locality[size].sectors = std::min(span / 4 / static_cast<double>(sampled * length), 1.0);
    facts.locality[size].entries_most = sampled * length;
  }
  return facts;
}

/// The same, and some rows of so many entries.
RowFacts with_hubs(RowFacts facts, std::int64_t rows, std::int64_t length) {
  facts.nnz += rows * length;
  facts.longest = length;
  facts.pieces8 += rows * sparse::pieces_of(length, 8);
  facts.pieces16 += rows * sparse::pieces_of(length, 16);
  facts.long_rows[sparse::long_class(length)] += rows;
  return facts;
}

sparse::ShapeChoice chosen(const RowFacts& facts, DType dtype) {
  return sparse::choose_shape(facts, dtype, testing::h200());
}

TEST(SparseCost, KernelsAreLikelyOnceInAll) {
  for (const RowFacts& facts : {alike(300, 5, 300), alike(40'000, 12, 900), alike(900, 200, 900),
                                with_hubs(alike(30'000, 6, 30'000), 9, 700),
                                with_hubs(alike(2'000'000, 9, 5000), 3, 90'000)}) {
    for (const DType dtype : kTypes) {
      for (const Shape& shape : sparse::candidates(facts, dtype, testing::h200())) {
        SCOPED_TRACE(concat(facts.rows, " rows, ", to_string(dtype), ", ", sparse::name_of(shape)));
        double likely = 0;
        for (const auto& expected : sparse::expected_terms(shape, facts, dtype, testing::h200()))
          likely += expected.weight;
        EXPECT_NEAR(likely, 1, 1e-9);
        const double us = sparse::predict_us({shape}, facts, dtype, testing::h200()).front();
        EXPECT_TRUE(std::isfinite(us) && us > 0.1) << us;
      }
    }
  }
}

// A large matrix streams: its time is that of its bytes, and a little more.
TEST(SparseCost, OfLargeMatricesIsThatOfTheirBytes) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16}) {
    SCOPED_TRACE(to_string(dtype));
    const RowFacts facts = alike(20'000'000, 10, 4000);
    const auto bytes = static_cast<double>(size_of(dtype));
    const double least = 1e6 * (bytes + 1) * static_cast<double>(facts.nnz) / h200().read_bandwidth;
    EXPECT_GT(chosen(facts, dtype).predicted_us, 0.8 * least);
    EXPECT_LT(chosen(facts, dtype).predicted_us, 3 * least);
  }
}

TEST(SparseCost, RisesWithEntriesAndWithTheDistanceOfColumns) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16}) {
    SCOPED_TRACE(to_string(dtype));
    double last = 0;
    for (const std::int64_t rows : {1000, 30'000, 300'000, 3'000'000, 30'000'000}) {
      const double us = chosen(alike(rows, 12, 1000), dtype).predicted_us;
      EXPECT_GT(us, last) << rows;
      last = us;
    }
    EXPECT_GT(chosen(alike(3'000'000, 12, 3'000'000), dtype).predicted_us,
              1.2 * chosen(alike(3'000'000, 12, 1000), dtype).predicted_us);
  }
}

TEST(SparseCost, FollowsTheMachine) {
  const RowFacts facts = alike(20'000'000, 10, 4000);
  Machine slower = h200();
  slower.read_bandwidth /= 2;
  const double us = chosen(facts, DType::f64).predicted_us;
  EXPECT_GT(sparse::choose_shape(facts, DType::f64, slower).predicted_us, 1.4 * us);
  for (const Machine& machine : known_machines()) {
    const double theirs = sparse::choose_shape(facts, DType::f64, machine).predicted_us;
    EXPECT_TRUE(std::isfinite(theirs) && theirs > us / 2) << machine.chip << ": " << theirs;
  }
}

// Gathers wait for lines of the L1. Where the sums of large windows leave few lines, gathers from
// anywhere take longer than in small windows, and gathers from nearby columns hardly do.
TEST(SparseCost, GathersWaitForLinesOfTheFirstCache) {
  const Shape lean{.lane_pieces = 2, .wide_fill = 75, .piece_most = 16, .window_cost = 8192};
  Shape full = lean;  // 48 KB of sums in each of four blocks
  full.window_cost = 65'536;
  full.warps = 8;
  const auto slowed = [&](const RowFacts& facts) {
    const auto us = sparse::predict_us({full, lean}, facts, DType::f64, testing::h200());
    return us[0] / us[1];
  };
  const double anywhere = slowed(alike(4'000'000, 20, 4'000'000));
  EXPECT_GT(anywhere, 1.3);
  EXPECT_LT(anywhere, 1.6);  // 1.85 if lines' time were added
  EXPECT_LT(slowed(alike(4'000'000, 20, 100)), 1.3);
}

TEST(SparseChoice, IsTheLeastPredictedCandidate) {
  const RowFacts facts = with_hubs(alike(200'000, 9, 5000), 3, 20'000);
  const sparse::ShapeChoice choice = chosen(facts, DType::f32);
  const std::vector<Shape> all = sparse::candidates(facts, DType::f32, h200());
  EXPECT_EQ(choice.of, all.size());
  EXPECT_EQ(choice.predicted_us,
            sparse::predict_us({choice.shape}, facts, DType::f32, h200()).front());
  for (const double us : sparse::predict_us(all, facts, DType::f32, h200()))
    EXPECT_GE(us, choice.predicted_us);
}

TEST(SparseChoice, OfFewEntriesIsTheShapeOfSmallMatrices) {
  for (const DType dtype : kTypes) {
    const RowFacts facts = alike(5000, 8, 5000);
    EXPECT_EQ(chosen(facts, dtype).of, 1U);
    EXPECT_EQ(chosen(facts, dtype).shape, sparse::single_shape(facts, dtype, h200()).value());
    EXPECT_EQ(chosen(RowFacts{}, dtype).predicted_us, 0);
  }
}

TEST(SparseChoice, IsOfWideSlicesWhereThereAreManyEntries) {
  EXPECT_FALSE(sparse::single_shape(alike(4'000'000, 27, 5000), DType::f32, h200()));
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::c64})
    EXPECT_GT(chosen(alike(4'000'000, 8, 5000), dtype).shape.lane_pieces, 1) << to_string(dtype);
}

// Long rows that reach far, of which a window reads each column many times; and columns from
// anywhere, which no window can hold.
TEST(SparseChoice, StagesColumnsThatAreReadAgain) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16}) {
    SCOPED_TRACE(to_string(dtype));
    EXPECT_GT(chosen(alike(1'000'000, 64, 4000), dtype).shape.stage_most, 4000);
    const Shape far = chosen(alike(1'000'000, 8, 1'000'000), dtype).shape;
    EXPECT_EQ(far.stage_most, 0);
  }
}

TEST(SparseChoice, HoldsHotColumnsThatHaveMostEntries) {
  RowFacts facts = with_hubs(alike(4'000'000, 12, 4'000'000), 20, 200'000);
  facts.hot_least = 50;
  facts.hot_entries = facts.nnz * 4 / 5;
  EXPECT_EQ(chosen(facts, DType::f64).shape.hot_least, 50);
  facts.hot_entries = facts.nnz / 50;
  EXPECT_EQ(chosen(facts, DType::f64).shape.hot_least, 0);
}

// What a matrix is asked for before its shape is chosen.
TEST(SparseHotColumns, AreLookedForInLargeMatricesOfUnevenRows) {
  const RowFacts facts = with_hubs(alike(4'000'000, 12, 4'000'000), 20, 200'000);
  EXPECT_TRUE(sparse::may_have_hot_columns(facts));
  EXPECT_FALSE(sparse::may_have_hot_columns(alike(4'000'000, 12, 4'000'000)));
  EXPECT_FALSE(sparse::may_have_hot_columns(with_hubs(alike(40'000, 12, 40'000), 20, 20'000)));
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::c128}) {
    const std::int64_t most = sparse::hot_columns_most(dtype, h200());
    EXPECT_LE(most * static_cast<std::int64_t>(size_of(dtype)), 194 << 10);
    EXPECT_LT(sparse::hot_columns_most(dtype, known_machine("A100")), most);
    EXPECT_EQ(sparse::hot_columns_most(dtype, Machine()), 0);
  }
}

}  // namespace
}  // namespace lanky::testing
