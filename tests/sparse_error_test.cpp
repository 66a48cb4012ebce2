// Every misuse of SparsePlan is one Error with the values at fault.
#include <gtest/gtest.h>

#include <limits>

#include "support/expect_error.hpp"
#include "support/sparse_oracle.hpp"

namespace lanky::testing {
namespace {

// 3 x 4 with rows of 2, 0 and 1 entries.
struct SmallMatrix {
  std::vector<std::int64_t> offsets = {0, 2, 2, 3};
  std::vector<std::int32_t> columns = {0, 3, 1};
  std::vector<double> values = {1.0, 2.0, 3.0};

  CsrView<double> view(int base = 0) const {
    return {3, 4, 3, offsets.data(), columns.data(), values.data(), base};
  }
};

class SparseError : public ::testing::Test {
 protected:
  void expect_plan_error(ErrorCode code, const std::string& message, const CsrView<double>& view) {
    expect_error([&] { const SparsePlan<double> plan(stream_, view); }, code, {message});
  }

  Stream stream_{Device::cpu()};
  SmallMatrix a_;
};

TEST_F(SparseError, NegativeExtents) {
  CsrView<double> view = a_.view();
  view.rows = -3;
  expect_plan_error(ErrorCode::invalid_argument, "A is -3 x 4 with 3 entries: none can be negative",
                    view);
}

TEST_F(SparseError, NoneForNullArraysOfAnEmptyMatrix) {
  const SparsePlan<double> nothing(stream_, {0, 0, 0, nullptr, nullptr, nullptr, 0});
  nothing.run(stream_, {nullptr, 0}, {nullptr, 0});
  const SparsePlan<double> flat(stream_, {0, 5, 0, nullptr, nullptr, nullptr, 1});
  const std::vector<double> x(5);
  flat.run(stream_, {x.data(), 5}, {nullptr, 0});
  const std::vector<std::int64_t> offsets = {0, 0, 0};
  const SparsePlan<double> narrow(stream_, {2, 0, 0, offsets.data(), nullptr, nullptr, 0});
  std::vector<double> y = {3.0, 4.0};
  narrow.run(stream_, 1.0, {nullptr, 0}, 2.0, {y.data(), 2});
  EXPECT_EQ(y, (std::vector<double>{6.0, 8.0}));
}

TEST_F(SparseError, IndexBase) {
  expect_plan_error(ErrorCode::invalid_argument, "A has index base 2, which must be 0 or 1",
                    a_.view(2));
}

TEST_F(SparseError, TooManyColumns) {
  CsrView<double> view = a_.view();
  view.cols = std::int64_t{1} << 31;
  expect_plan_error(ErrorCode::unsupported,
                    "A is 3 x 2147483648, lanky packs up to 2147483647 rows and columns", view);
}

TEST_F(SparseError, OffsetsThatDoNotStartAtTheBase) {
  expect_plan_error(ErrorCode::invalid_argument,
                    "the row offsets of A start at 0, not at its index base 1", a_.view(1));
}

TEST_F(SparseError, OffsetsThatFall) {
  a_.offsets = {0, 2, 1, 3};
  expect_plan_error(ErrorCode::invalid_argument, "the row offsets of A fall from 2 to 1 at row 1",
                    a_.view());
}

TEST_F(SparseError, OffsetsThatEndElsewhere) {
  a_.offsets = {0, 2, 2, 2};
  expect_plan_error(ErrorCode::invalid_argument,
                    "the row offsets of A end at 2, but A has 3 entries and index base 0",
                    a_.view());
}

TEST_F(SparseError, OffsetsThatAreGarbage) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  a_.offsets = {kLeast, 2, 2, 3};
  expect_plan_error(ErrorCode::invalid_argument,
                    "the row offsets of A start at -9223372036854775808, not at its index base 1",
                    a_.view(1));
  a_.offsets = {1, kLeast, 2, 3};
  expect_plan_error(ErrorCode::invalid_argument,
                    "the row offsets of A fall from 1 to -9223372036854775808 at row 0",
                    a_.view(1));
  a_.offsets = {1, 2, 3, kMost};
  expect_plan_error(
      ErrorCode::invalid_argument,
      "the row offsets of A end at 9223372036854775807, but A has 3 entries and index "
      "base 1",
      a_.view(1));
}

TEST_F(SparseError, ColumnsOutOfRange) {
  a_.columns = {0, 3, 4};
  expect_plan_error(ErrorCode::invalid_argument,
                    "entry 2 of A, in row 2, has column 4; A has 4 columns and index base 0",
                    a_.view());
  a_.columns = {0, -1, 4};
  expect_plan_error(ErrorCode::invalid_argument,
                    "entry 1 of A, in row 0, has column -1; A has 4 columns and index base 0",
                    a_.view());
  a_.offsets = {1, 3, 3, 4};
  a_.columns = {1, 4, 0};
  expect_plan_error(ErrorCode::invalid_argument,
                    "entry 2 of A, in row 2, has column 0; A has 4 columns and index base 1",
                    a_.view(1));
}

TEST_F(SparseError, EntriesWhereThereAreNoColumns) {
  CsrView<double> view = a_.view();
  view.cols = 0;
  expect_plan_error(ErrorCode::invalid_argument,
                    "entry 0 of A, in row 0, has column 0; A has 0 columns and index base 0", view);
}

TEST_F(SparseError, EntriesWithoutRows) {
  CsrView<double> view = a_.view();
  view.rows = 0;
  expect_plan_error(ErrorCode::invalid_argument,
                    "the row offsets of A end at 0, but A has 3 entries and index base 0", view);
}

TEST_F(SparseError, NullArrays) {
  CsrView<double> view = a_.view();
  view.row_offsets = {};
  expect_plan_error(ErrorCode::invalid_argument,
                    "the row offsets of A: a null pointer to 4 elements", view);
  view = a_.view();
  view.col_indices = nullptr;
  expect_plan_error(ErrorCode::invalid_argument,
                    "the column indices of A: a null pointer to 3 elements", view);
  view = a_.view();
  view.values = nullptr;
  expect_plan_error(ErrorCode::invalid_argument, "the values of A: a null pointer to 3 elements",
                    view);
}

TEST_F(SparseError, OperandsOfATransposedPlan) {
  SparsePlan<double> plan(stream_, a_.view(), {.op = Op::trans});
  std::vector<double> x(4);
  std::vector<double> y(3);
  expect_error(
      [&] {
        plan.run(stream_, {x.data(), 4}, {y.data(), 3});
      },
      ErrorCode::size_mismatch, {"x has 4 entries, op(A) has 3 columns"});
  expect_error([&] { plan.update_values(a_.values); }, ErrorCode::unsupported,
               {"without SparseOptions::updates"});
}

TEST_F(SparseError, ExpectedColumns) {
  expect_error([&] { const SparsePlan<double> plan(stream_, a_.view(), {.expected_columns = 0}); },
               ErrorCode::invalid_argument, {"a plan for 0 columns; at least 1"});
}

TEST_F(SparseError, TensorCoresForFloat) {
  const std::vector<float> values = {1.0F, 2.0F, 3.0F};
  const CsrView<float> view{3, 4, 3, a_.offsets.data(), a_.columns.data(), values.data(), 0};
  expect_error(
      [&] { const SparsePlan<float> plan(stream_, view, {.engine = Engine::tensor_cores}); },
      ErrorCode::unsupported,
      {"tensor cores have no IEEE product of f32 for one vector; use "
       "Engine::automatic or cuda_cores, allow Math::tf32x3 or tf32, or expect 5 columns "
       "or more"});
  const SparsePlan<float> several(stream_, view,
                                  {.engine = Engine::tensor_cores, .expected_columns = 5});
  EXPECT_NE(several.explain().find("kernels   cpu"), std::string::npos);
  for (const Math math : {Math::tf32, Math::tf32x3}) {
    const SparsePlan<float> plan(Stream(Device::cpu()), view,
                                 {.engine = Engine::tensor_cores, .math = math});
    EXPECT_NE(plan.explain().find("kernels   cpu"), std::string::npos);
    expect_error([&] { const SparsePlan<double> other(stream_, a_.view(), {.math = math}); },
                 ErrorCode::unsupported,
                 {std::string(to_string(math)), "is for products of f32, not of f64"});
  }
}

TEST_F(SparseError, OperandsOfARun) {
  const SparsePlan<double> plan(stream_, a_.view());
  std::vector<double> x(5);
  std::vector<double> y(5);
  const auto run = [&](std::int64_t x_size, std::int64_t y_size) {
    plan.run(stream_, {x.data(), x_size}, VectorView<double>{y.data(), y_size});
  };
  expect_error([&] { run(5, 3); }, ErrorCode::size_mismatch, {"x has 5 entries, A has 4 columns"});
  expect_error([&] { run(4, 4); }, ErrorCode::size_mismatch, {"y has 4 entries, A has 3 rows"});
  expect_error(
      [&] {
        plan.run(stream_, {nullptr, 4}, VectorView<double>{y.data(), 3});
      },
      ErrorCode::invalid_argument, {"x: a null pointer to 4 elements"});
  expect_error(
      [&] {
        plan.run(stream_, {x.data(), 4}, VectorView<double>{nullptr, 3});
      },
      ErrorCode::invalid_argument, {"y: a null pointer to 3 elements"});
  expect_error(
      [&] {
        plan.run(stream_, {x.data(), 4}, VectorView<double>{x.data() + 2, 3});
      },
      ErrorCode::invalid_argument,
      {"x (4 entries) and y (3 entries) overlap: y is written while x is read"});
}

TEST_F(SparseError, WorkspaceOfARun) {
  Random random(1);
  const auto a = matrix_of<double>({20'000}, 4, random, uniform<double>);
  const SparsePlan<double> plan(stream_, a.view());
  const std::int64_t bytes = plan.workspace_bytes();
  ASSERT_GE(bytes, 16);
  const std::vector<double> x(4);
  std::vector<double> y(1);
  std::vector<double> memory(bytes / sizeof(double) + 1);
  const auto run = [&](Workspace workspace) {
    plan.run(stream_, 1.0, {x.data(), 4}, 0.0, VectorView<double>{y.data(), 1}, workspace);
  };
  expect_error(
      [&] {
        run({memory.data(), bytes - 1});
      },
      ErrorCode::size_mismatch,
      {"the workspace has " + std::to_string(bytes - 1) + " bytes, the plan needs " +
       std::to_string(bytes)});
  expect_error(
      [&] {
        run({nullptr, bytes});
      },
      ErrorCode::invalid_argument,
      {"the workspace: a null pointer to " + std::to_string(bytes) + " elements"});
  EXPECT_THROW(run({reinterpret_cast<char*>(memory.data()) + 4, bytes}), Error);
  run({memory.data(), bytes});
}

TEST_F(SparseError, NumberOfNewValues) {
  SparsePlan<double> plan(stream_, a_.view());
  const std::vector<double> values(4);
  expect_error(
      [&] {
        plan.update_values({values.data(), 4});
      },
      ErrorCode::size_mismatch, {"4 new values for a matrix of 3 entries"});
  expect_error(
      [&] {
        plan.update_values({nullptr, 3});
      },
      ErrorCode::invalid_argument, {"the new values of A: a null pointer to 3 elements"});
}

}  // namespace
}  // namespace lanky::testing
