// SparseOptions::tune: which shapes are measured, and that plans in any of them are right.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "sparse/cpu/chunk_cost.hpp"
#include "sparse/plan_info.hpp"
#include "sparse/shapes.hpp"
#include "sparse/tune.hpp"
#include "support/expect_error.hpp"
#include "support/h200.hpp"
#include "support/sparse_oracle.hpp"
#include "support/triangle.hpp"

namespace lanky::testing {
namespace {

using sparse::RowFacts;
using sparse::Shape;

const std::int64_t kShared = testing::h200().shared_bytes_per_block;

/// Row lengths of each class of matrices.
std::vector<std::vector<std::int64_t>> lengths_of_classes() {
  std::vector<std::int64_t> split = boundary_lengths();
  split.insert(split.end(), {9000, 20'000});
  std::vector<std::int64_t> hubs(2000, 3);
  hubs[700] = 4000;
  std::vector<std::int64_t> mostly_empty(3000, 0);
  for (std::size_t row = 0; row < mostly_empty.size(); row += 7)
    mostly_empty[row] = static_cast<std::int64_t>(row % 11);
  return {split,
          hubs,
          mostly_empty,
          std::vector<std::int64_t>(3000, 2),
          std::vector<std::int64_t>(2000, 27),
          std::vector<std::int64_t>(300, 100),
          {30'000},
          std::vector<std::int64_t>(50, 0)};
}

template <class T>
class SparseTune : public ::testing::Test {};
TYPED_TEST_SUITE(SparseTune, Elements, ElementName);

TYPED_TEST(SparseTune, EveryCandidateHoldsTheMatrix) {
  using T = TypeParam;
  Random random(1);
  for (const auto& lengths : lengths_of_classes()) {
    SCOPED_TRACE(::testing::Message() << lengths.size() << " rows, the first of " << lengths[0]);
    auto a = matrix_of<T>(lengths, 5000, random, small_integer<T>);
    draw_columns(a, random);
    const Operands<T, T> operands{1, 0, vector_of<T>(a.cols, random, small_integer<T>),
                                  std::vector<T>(a.rows)};
    const RowFacts facts = PackedOnHost<T>(a.view()).facts();
    const auto expect_held = [&](const Shape& shape) {
      SCOPED_TRACE(sparse::name_of(shape));
      const PackedOnHost<T> packed(a.view(), shape);
      ASSERT_EQ(packed.violation(), "");
      ASSERT_NO_FATAL_FAILURE(expect_exact(a, operands, packed.multiply(operands)));
    };
    const std::vector<Shape> all = sparse::candidates(facts, kDType<T>, testing::h200());
    for (const Shape& chosen : {sparse::single_shape(facts, kDType<T>, testing::h200()).value(),
                                sparse::choose_shape(facts, kDType<T>, testing::h200()).shape}) {
      const std::vector<Shape> shapes =
          sparse::shapes_near(chosen, facts, kDType<T>, testing::h200());
      EXPECT_EQ(shapes.front(), chosen);
      EXPECT_GE(shapes.size(), 4U);
      EXPECT_LE(shapes.size(), 12U);
      for (const Shape& shape : shapes)
        ASSERT_NO_FATAL_FAILURE(expect_held(shape));
    }
    const std::size_t step = all.size() / 10 + 1;  // a few, other ones for each type
    for (std::size_t i = sizeof(T) % step; i < all.size(); i += step)
      ASSERT_NO_FATAL_FAILURE(expect_held(all[i]));
  }
}

/// Of up to 2^30 entries: mostly alike, or some of them long.
RowFacts random_facts(Random& random) {
  RowFacts facts;
  facts.rows = std::int64_t{1} << random_int(random, 0, 24);
  facts.cols = std::int64_t{1} << random_int(random, 0, 24);
  facts.empty = random() % 2 == 0 ? 0 : random_int(random, 0, facts.rows - 1);
  const std::int64_t mean = std::int64_t{1} << random_int(random, 0, 6);
  facts.nnz = mean * (facts.rows - facts.empty);
  facts.longest = std::min(facts.nnz, mean << (random() % 2 == 0 ? 0 : random_int(random, 1, 20)));
  facts.reach = random_int(random, 0, facts.cols);
  facts.hot_least = static_cast<std::int32_t>(random_int(random, 0, 100));
  facts.hot_entries = facts.hot_least == 0 ? 0 : random_int(random, 0, facts.nnz);
  return facts;
}

/// What no packing of small matrices shows. At most as many cells as the sums that a block can hold
/// beside the columns that it stages.
void expect_limits(const Shape& shape, const RowFacts& facts, DType dtype) {
  const auto bytes = static_cast<std::int64_t>(size_of(dtype));
  ASSERT_GE(shape.piece_most, 4);
  ASSERT_LE(shape.piece_most, sparse::kPieceMostLimit);
  ASSERT_GE(shape.granule, 1);
  ASSERT_GE(shape.window_cost, shape.piece_most);
  ASSERT_EQ(shape.window_cost % shape.piece_most, 0);
  ASSERT_LE(shape.window_cost, sparse::kWindowCostMost);
  ASSERT_LE(shape.window_cost, sparse::window_cost_limit(facts, shape));
  ASSERT_TRUE(shape.lane_pieces == 1 ||
              shape.lane_pieces == sparse::lane_pieces_most(size_of(dtype)));
  const std::int64_t rows =
      std::max<std::int64_t>(shape.granule, shape.window_cost / (facts.longest + shape.row_cost));
  const std::int64_t sum_bytes = dtype == DType::f16 ? 4 : bytes;
  ASSERT_LE(shape.stage_most * bytes + rows * sum_bytes, kShared);
  ASSERT_TRUE(shape.hot_least == 0 || (shape.stage_most == 0 && shape.wide_fill == 100));
  ASSERT_EQ(sparse::shape_of(sparse::name_of(shape)), shape);
}

TEST(SparseTune, ShapesKeepTheLimitsOfAnyMatrix) {
  const std::uint64_t seed = seed_or(2);
  for (std::uint64_t round = 0; round < 3000; ++round) {
    SCOPED_TRACE(::testing::Message() << "LANKY_SEED=" << seed << ", round " << round);
    Random random(seed + 1000 * round);
    const RowFacts facts = random_facts(random);
    const DType dtype = std::array{DType::f64, DType::f16, DType::c128}[random() % 3];
    const Shape chosen = sparse::choose_shape(facts, dtype, testing::h200()).shape;
    const std::vector<Shape> shapes = sparse::shapes_near(chosen, facts, dtype, testing::h200());
    for (auto shape = shapes.begin() + 1; shape != shapes.end(); ++shape) {
      ASSERT_EQ(std::count(shapes.begin(), shapes.end(), *shape), 1);
      ASSERT_NO_FATAL_FAILURE(expect_limits(*shape, facts, dtype));
    }
    if (round % 10 != 0) continue;  // there are hundreds of shapes
    const std::vector<Shape> all = sparse::candidates(facts, dtype, testing::h200());
    ASSERT_FALSE(all.empty());
    ASSERT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());  // they are sorted
    for (const Shape& shape : all)
      ASSERT_NO_FATAL_FAILURE(expect_limits(shape, facts, dtype));
  }
}

TEST(SparseTune, ShapesHaveNoOtherNames) {
  const std::string name = sparse::name_of(Shape{});
  EXPECT_EQ(sparse::shape_of(name), Shape{});
  for (const std::string& other : {std::string(), name.substr(5), "lane x" + name.substr(6)})
    expect_error([&] { sparse::shape_of(other); }, ErrorCode::invalid_argument, {other});
}

TEST(SparseTune, StagesLessWhereSharedMemoryIsSmall) {
  const RowFacts facts{.rows = 1'000'000, .cols = 1'000'000, .nnz = 30'000'000, .longest = 60};
  const Shape chosen = {.lane_pieces = 2, .piece_most = 16, .window_cost = 8192};
  const auto most_staged = [&](std::int64_t shared_bytes) {
    Machine machine = testing::h200();
    machine.shared_bytes_per_block = shared_bytes;
    std::int32_t most = 0;
    for (const Shape& shape : sparse::shapes_near(chosen, facts, DType::f64, machine)) {
      if (shape != chosen) most = std::max(most, shape.stage_most);
    }
    return most;
  };
  EXPECT_EQ(most_staged(kShared), 16'384);
  EXPECT_EQ(most_staged(100 << 10), 8192);
}

template <class Case>
class SparseTunedPlan : public ::testing::Test {};
TYPED_TEST_SUITE(SparseTunedPlan, PlanCases, OnName);

EXECUTOR_TEST(SparseTunedPlan, IsRightBeforeAndAfterNewValues) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(3);
  const Stream stream(device);
  for (const auto& lengths : {boundary_lengths(), std::vector<std::int64_t>(3000, 7)}) {
    auto a = triangle_of<T>(lengths, true, random, small_integer<T>);
    for (const Symmetry symmetry : {Symmetry::general, Symmetry::symmetric}) {
      for (const Op op : {Op::none, Op::trans}) {
        SCOPED_TRACE(::testing::Message()
                     << a.rows << " rows, symmetry " << static_cast<int>(symmetry) << ", op "
                     << static_cast<int>(op));
        SparsePlan<T, TOut> plan(stream, a.view(),
                                 {.symmetry = symmetry, .op = op, .updates = true, .tune = true});
        EXPECT_NE(plan.explain().find("\n  tuned "), std::string::npos) << plan.explain();
        for (int round = 0; round < 2; ++round) {
          const auto given = symmetry == Symmetry::general ? a : full_of(a, symmetry);
          const auto expected = op == Op::none ? given : transpose_of(given, false);
          const Operands<T, TOut> operands{1, 0, vector_of<T>(a.cols, random, small_integer<T>),
                                           std::vector<TOut>(a.rows)};
          ASSERT_NO_FATAL_FAILURE(
              expect_exact(expected, operands, run_plan(stream, plan, operands)));
          a.values = vector_of<T>(a.nnz(), random, small_integer<T>);
          plan.update_values(a.values);
        }
      }
    }
  }
}

EXECUTOR_TEST(SparseTunedPlan, OfNothingIsOne) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  const Stream stream(device);
  const SparsePlan<T, TOut> none(stream, {0, 3, 0, nullptr, nullptr, nullptr, 0}, {.tune = true});
  EXPECT_NE(none.explain().find("nothing was measured"), std::string::npos) << none.explain();
  Random random(4);
  const auto empty = matrix_of<T>({0, 0, 0}, 3, random, small_integer<T>);
  const Operands<T, TOut> operands{1, 0, vector_of<T>(3, random, small_integer<T>),
                                   std::vector<TOut>(3)};
  expect_exact(
      empty, operands,
      run_plan(stream, SparsePlan<T, TOut>(stream, empty.view(), {.tune = true}), operands));
}

TEST(SparseTunedPlanOnCpu, MeasuresEveryCandidate) {
  Random random(5);
  const auto a = matrix_of<float>(boundary_lengths(), 90, random, small_integer<float>);
  const Operands<float, float> operands{1, 0, vector_of<float>(90, random, small_integer<float>),
                                        std::vector<float>(a.rows)};
  const Stream stream(Device::cpu());
  const SparsePlan<float> plan(stream, a.view(), {.tune = true});
  const SparseInfo info = plan.info();
  EXPECT_EQ(info.trials.size(), sparse::cpu::chunk_candidates(a.rows).size());
  ASSERT_LT(info.kept, info.trials.size());
  EXPECT_EQ(info.trials[0].ratio, 1);
  for (const SparseTrial& trial : info.trials) {
    EXPECT_EQ(trial.engine, Engine::automatic);
    EXPECT_NE(plan.explain().find("  " + trial.shape), std::string::npos) << plan.explain();
  }
  expect_exact(a, operands, run_plan(stream, plan, operands));
}

TEST(SparseExplain, TellsWhatWasMeasured) {
  Random random(6);
  const auto a = matrix_of<float>({1, 3, 9}, 100, random, uniform<float>);
  const PackedOnHost<float> packed(a.view());
  sparse::Tuning tuning{{{{.lane_pieces = 4, .window_cost = 8192}, sparse::Path::cuda, 1},
                         {{.piece_most = 16, .granule = 64, .window_cost = 4096, .stage_most = 512},
                          sparse::Path::mma,
                          0.875}},
                        1};
  const auto text = [&] {
    return sparse::explain({Device::cpu(),
                            DType::f32,
                            DType::f32,
                            Symmetry::general,
                            13,
                            Op::none,
                            {sparse::Path::mma, "the fastest measured"},
                            0,
                            1,
                            packed.packed.header,
                            {},
                            tuning});
  };
  const std::string head =
      "            time   window  from row  piece  staged    hot  lane  kernels\n";
  const std::string model = "            1.000    8192         1    255       0      0     4  cuda";
  const std::string other = "            0.875    4096        64     16     512      0     1  mma";
  for (const std::string& part :
       {"  tuned     the fastest of 2 measured, in 12.5% less than the model's choice\n" + head,
        head + model + "\n" + other + " (kept)\n"})
    EXPECT_NE(text().find(part), std::string::npos) << part << " is not in\n" << text();
  tuning.kept = 0;
  for (const std::string& part :
       {"  tuned     of 2 measured the model's choice is kept: none takes 2.0% less\n" + head,
        head + model + " (kept)\n" + other + "\n"})
    EXPECT_NE(text().find(part), std::string::npos) << part << " is not in\n" << text();
}

}  // namespace
}  // namespace lanky::testing
