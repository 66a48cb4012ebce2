// Sparse products of several columns on tensor cores (sparse/tiles.hpp), on a GPU: against the
// reference, and the same bits of a column whatever stands beside it and however. What the tiles
// hold is read back.
// For compute-sanitizer: --gtest_filter='*Short*' runs in seconds.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <utility>

#include "core/machine.hpp"
#include "sparse/cuda/steps.hpp"
#include "sparse/cuda/tiles/steps.hpp"
#include "sparse/cuda/tiles/strip.hpp"
#include "sparse/load.hpp"
#include "support/columns.hpp"
#include "support/triangle.hpp"

namespace lanky::testing {
namespace {

using TileCases =
    ::testing::Types<On<DeviceKind::cuda, double>, On<DeviceKind::cuda, float>,
                     On<DeviceKind::cuda, half>, On<DeviceKind::cuda, half, float>,
                     On<DeviceKind::cuda, bfloat16>, On<DeviceKind::cuda, bfloat16, float>>;

constexpr std::int64_t kTiledMost = 100;

/// Numbers of columns on both sides of the widths of strips.
std::vector<Form> tiled_forms() {
  std::vector<Form> forms =
      forms_of({5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 63, 64, 65, kTiledMost});
  // Rows of X that words of 16 bytes fill, and some that end within one.
  for (const std::int64_t n : {5, 9, 12, 20, 28, 31, 44, 60, 62, 63, 76, 97, 98}) {
    for (const std::int64_t aligned : {2, 4, 8})
      forms.push_back({n, Layout::row, Layout::row, sparse::round_up(n, aligned) - n});
  }
  return forms;
}
std::vector<Form> wide_forms() {
  return {{31, Layout::row, Layout::row, 1}, {32, Layout::row, Layout::row, 0},
          {33, Layout::row, Layout::row, 3}, {60, Layout::col, Layout::col, 1},
          {64, Layout::row, Layout::row, 0}, {98, Layout::row, Layout::row, 2},
          {98, Layout::row, Layout::row, 6}, {100, Layout::row, Layout::row, 1}};
}
std::vector<Form> few_tiled_forms() {
  return {{5, Layout::row, Layout::row, 1},  {8, Layout::col, Layout::row, 0},
          {9, Layout::row, Layout::col, 0},  {12, Layout::row, Layout::row, 4},
          {16, Layout::col, Layout::col, 1}, {24, Layout::row, Layout::row, 0},
          {31, Layout::row, Layout::row, 1}, {40, Layout::row, Layout::row, 0}};
}

/// Rows of which the warps of a thread block share some blocks, or all: one long block, all long
/// ones with and without whole blocks at the end, long, short and empty ones beside each other.
std::vector<std::vector<std::int64_t>> shared_lengths() {
  std::vector<std::int64_t> one(203, 9);
  one[100] = 2000;
  std::vector<std::int64_t> mixed(11 * sparse::kBlockRows + 3, 0);
  for (std::size_t row = 0; row < mixed.size(); ++row) {
    const std::size_t kind = row / sparse::kBlockRows % 3;
    if (kind > 0 && row % 3 != 1) mixed[row] = (kind == 1 ? 170 : 3) + row % 2;
  }
  return {one, std::vector<std::int64_t>(48, 150), std::vector<std::int64_t>(45, 150), mixed};
}

template <class Case>
class SparseTiles : public ColumnsTest<Case> {
 protected:
  using Fixture = ColumnsTest<Case>;
  using typename Fixture::Columns;
  using typename Fixture::Plan;
  using typename Fixture::Sum;
  using typename Fixture::T;
  using typename Fixture::TOut;

  static SparseOptions options() {
    return {.engine = Engine::tensor_cores, .expected_columns = 16};
  }
  static bool tiled(const Form& form) {
    return form.columns >= sparse::tiled_columns_least(kDType<T>);
  }
  static std::vector<TOut> column_of(const Dense<TOut>& y, std::int64_t j) {
    std::vector<TOut> column;
    for (std::int64_t i = 0; i < y.rows; ++i)
      column.push_back(y.at(i, j));
    return column;
  }

  /// judge(operands, y) of each column of a product of op(A), which is `a`.
  template <class Judge>
  static void for_each_column(const Stream& stream, const Plan& plan, const Columns& columns,
                              const Form& form, Sum alpha, Sum beta, Judge judge) {
    SCOPED_TRACE(text_of(form));
    const Dense<TOut> y = Fixture::run_form(stream, plan, columns, form, alpha, beta);
    for (std::int64_t j = 0; j < form.columns; ++j) {
      SCOPED_TRACE(::testing::Message() << "column " << j);
      judge(Operands<T, TOut>{alpha, beta, columns.x[j], columns.y[j]}, column_of(y, j));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }

  static bool shares_blocks(const Plan& plan) {
    return plan.explain().find(" blocks are shared by several warps") != std::string::npos;
  }

  /// All columns at once within the bound, and forms of as many columns as tiles take with the same
  /// bits.
  static void expect_same(const Stream& stream, const Plan& plan, const CsrMatrix<T>& a,
                          const std::vector<Form>& forms, Sum alpha, Sum beta, Random& random) {
    const Columns columns = Fixture::uniform_columns(plan, kTiledMost, random);
    const Form all{kTiledMost, Layout::row, Layout::row, 0};
    std::vector<std::vector<TOut>> expected;
    for_each_column(stream, plan, columns, all, alpha, beta,
                    [&](const Operands<T, TOut>& operands, const std::vector<TOut>& y) {
                      expect_within_bound(a, operands, y);
                      expected.push_back(y);
                    });
    if (::testing::Test::HasFatalFailure()) return;
    bool scalars = true;
    for (const Form& form : forms) {
      if (!tiled(form)) continue;
      SCOPED_TRACE(text_of(form));
      Fixture::expect_bits(Fixture::run_form(stream, plan, columns, form, alpha, beta, scalars),
                           expected);
      if (::testing::Test::HasFatalFailure()) return;
      scalars = !scalars;
    }
  }

  /// Products of small integers with NaN and Inf in X, then in `a` as well.
  static void expect_specials(const Stream& stream, CsrMatrix<T> a, Random& random) {
    for (const bool of_a : {false, true}) {
      if (of_a) a.values[7] = element<T>(kInfinity);
      const Plan plan(stream, a.view(), options());
      auto columns = Fixture::columns_of(plan.rows(), plan.cols(), 40, random, small_integer<T>,
                                         small_integer<TOut>);
      for (std::size_t j = 0; j < columns.x.size(); ++j) {
        const std::array<double, 5> special = {kQuietNan, kInfinity, -kInfinity, 1.0, 2.0};
        columns.x[j][random() % plan.cols()] = element<T>(special[j % 5]);
        columns.x[j][random() % plan.cols()] = element<T>(special[random() % 5]);
        if (j == 13) columns.x[j].assign(plan.cols(), element<T>(kInfinity));
      }
      for (const double beta : {0.0, 1.0}) {
        for (const Form& form : few_tiled_forms()) {
          for_each_column(
              stream, plan, columns, form, Sum{1}, element<Sum>(beta),
              [&](const auto& operands, const auto& y) { expect_exact(a, operands, y); });
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
};
TYPED_TEST_SUITE(SparseTiles, TileCases, OnName);

EXECUTOR_TEST(SparseTiles, HaveTheSameBitsInEveryForm) {
  using T = typename TypeParam::Element;
  Random random(seed_or(1));
  const Stream stream(device);
  const auto a = matrix_of<T>(boundary_lengths(), 300, random, uniform<T>);
  const typename TestFixture::Plan plan(stream, a.view(), TestFixture::options());
  TestFixture::expect_same(stream, plan, a, tiled_forms(), element<Accumulator<T>>(0.7),
                           element<Accumulator<T>>(-0.3), random);
}

// So many blocks that strips are as wide as they get.
EXECUTOR_TEST(SparseTiles, HaveTheSameBitsInWideStrips) {
  using T = typename TypeParam::Element;
  Random random(seed_or(2));
  const Stream stream(device);
  const std::int64_t warps = std::int64_t{32} * machine_of(device).multiprocessors;
  std::vector<std::int64_t> lengths(sparse::kBlockRows * (warps + 20) + 5, 0);
  for (std::size_t row = 0; row < lengths.size(); row += 41)
    lengths[row] = static_cast<std::int64_t>(row % 70);
  const auto a = matrix_of<T>(lengths, 400, random, uniform<T>);
  const typename TestFixture::Plan plan(stream, a.view(), TestFixture::options());
  TestFixture::expect_same(stream, plan, a, wide_forms(), Accumulator<T>{1}, Accumulator<T>{0},
                           random);
}

EXECUTOR_TEST(SparseTiles, SharedBlocksHaveTheSameBitsInEveryForm) {
  using T = typename TypeParam::Element;
  Random random(seed_or(16));
  const Stream stream(device);
  for (const auto& lengths : shared_lengths()) {
    const auto a = matrix_of<T>(lengths, 500, random, uniform<T>);
    const typename TestFixture::Plan plan(stream, a.view(), TestFixture::options());
    EXPECT_TRUE(TestFixture::shares_blocks(plan));
    TestFixture::expect_same(stream, plan, a, tiled_forms(), element<Accumulator<T>>(0.7),
                             element<Accumulator<T>>(-0.3), random);
    if (TestFixture::HasFatalFailure()) return;
  }
}

// As many warps share blocks as the device holds, so that strips are as wide as they get.
EXECUTOR_TEST(SparseTiles, SharedBlocksHaveTheSameBitsInWideStrips) {
  using T = typename TypeParam::Element;
  Random random(seed_or(17));
  const Stream stream(device);
  const std::int64_t blocks = std::int64_t{4} * machine_of(device).multiprocessors + 37;
  std::vector<std::int64_t> lengths(sparse::kBlockRows * blocks + 5, 2);
  for (std::size_t row = 3; row < lengths.size(); row += sparse::kBlockRows)
    lengths[row] = 300 + static_cast<std::int64_t>(row % 70);
  const auto a = matrix_of<T>(lengths, 400, random, uniform<T>);
  const typename TestFixture::Plan plan(stream, a.view(), TestFixture::options());
  EXPECT_TRUE(TestFixture::shares_blocks(plan));
  TestFixture::expect_same(stream, plan, a, wide_forms(), Accumulator<T>{1}, Accumulator<T>{0},
                           random);
}

EXECUTOR_TEST(SparseTiles, ShortRunOfSharedBlocksWithAnyAlphaAndBeta) {
  using T = typename TypeParam::Element;
  using Sum = Accumulator<T>;
  Random random(seed_or(18));
  const Stream stream(device);
  for (const auto& lengths : shared_lengths()) {
    const auto a = matrix_of<T>(lengths, 60, random, uniform<T>);
    const typename TestFixture::Plan plan(stream, a.view(), TestFixture::options());
    EXPECT_TRUE(TestFixture::shares_blocks(plan));
    for (const auto& [alpha, beta] :
         {std::pair{0.0, 0.7}, std::pair{1.0, 0.0}, std::pair{-0.5, 1.0}}) {
      TestFixture::expect_same(stream, plan, a, few_tiled_forms(), element<Sum>(alpha),
                               element<Sum>(beta), random);
      if (TestFixture::HasFatalFailure()) return;
    }
  }
}

EXECUTOR_TEST(SparseTiles, ShortRunHasTheSameBitsWithAnyAlphaAndBeta) {
  using T = typename TypeParam::Element;
  using Sum = Accumulator<T>;
  Random random(seed_or(3));
  const Stream stream(device);
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < 77; ++i)
    lengths.push_back(i % 5 == 0 ? 0 : i % 40);
  const auto a = matrix_of<T>(lengths, 60, random, uniform<T>);
  const typename TestFixture::Plan plan(stream, a.view(), TestFixture::options());
  for (const double alpha : {0.0, 1.0, -0.5}) {
    for (const double beta : {0.0, 1.0, 0.7})
      TestFixture::expect_same(stream, plan, a, few_tiled_forms(), element<Sum>(alpha),
                               element<Sum>(beta), random);
  }
}

EXECUTOR_TEST(SparseTiles, ShortRunOfAnyNumberOfColumnsIsExactOnSmallIntegers) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  const std::uint64_t seed = seed_or(4);
  const Stream stream(device);
  for (std::uint64_t round = 0; round < 12; ++round) {
    SCOPED_TRACE(::testing::Message() << "LANKY_SEED=" << seed << ", round " << round);
    Random random(seed + 1000 * round);
    auto a =
        matrix_of<T>(random_lengths(random), random_int(random, 1, 500), random, small_integer<T>);
    draw_columns(a, random);
    const typename TestFixture::Plan plan(stream, a.view(), TestFixture::options());
    const auto columns = TestFixture::columns_of(plan.rows(), plan.cols(), 40, random,
                                                 small_integer<T>, small_integer<TOut>);
    auto forms = few_tiled_forms();
    forms.push_back({4, Layout::row, Layout::row, 0});
    for (const Form& form : forms) {
      TestFixture::for_each_column(
          stream, plan, columns, form, Accumulator<T>{2}, Accumulator<T>{-1},
          [&](const auto& operands, const auto& y) { expect_exact(a, operands, y); });
      if (TestFixture::HasFatalFailure()) return;
    }
  }
}

EXECUTOR_TEST(SparseTiles, LongRowsAreWithinTheBound) {
  using T = typename TypeParam::Element;
  Random random(seed_or(5));
  const Stream stream(device);
  const auto a = matrix_of<T>({3, 0, 100'000, 17, 0, 0, 1, 9, 20'000}, 3000, random, uniform<T>);
  const typename TestFixture::Plan plan(stream, a.view(), TestFixture::options());
  TestFixture::expect_same(stream, plan, a, few_tiled_forms(), Accumulator<T>{1},
                           element<Accumulator<T>>(0.5), random);
}

EXECUTOR_TEST(SparseTiles, ShortRunOfTransposesAndTriangles) {
  using T = typename TypeParam::Element;
  Random random(seed_or(6));
  const Stream stream(device);
  const std::vector<std::int64_t> lengths = {3, 0, 40, 17, 1, 2, 2, 9, 33, 5, 0, 64, 7};
  const auto expect = [&](const CsrMatrix<T>& given, const CsrMatrix<T>& full,
                          const SparseOptions& options) {
    const typename TestFixture::Plan plan(stream, given.view(), options);
    TestFixture::expect_same(stream, plan, full, few_tiled_forms(), Accumulator<T>{1},
                             Accumulator<T>{0}, random);
  };
  SparseOptions options = TestFixture::options();
  const auto a = matrix_of<T>(lengths, 70, random, uniform<T>);
  options.op = Op::trans;
  expect(a, transpose_of(a, false), options);
  options.op = Op::none;
  const auto triangle = triangle_of<T>(lengths, true, random, uniform<T>);
  for (const Symmetry symmetry : kSymmetries) {
    options.symmetry = symmetry;
    expect(triangle, full_of(triangle, symmetry), options);
  }
}

EXECUTOR_TEST(SparseTiles, ShortRunOfShapesOfAnyRows) {
  using T = typename TypeParam::Element;
  Random random(seed_or(7));
  const Stream stream(device);
  for (const std::int64_t rows : {0, 1, 7, 8, 9, 1000}) {
    for (const std::int64_t length : {0, 1, 20}) {
      SCOPED_TRACE(::testing::Message() << rows << " rows of " << length);
      const auto a = matrix_of<T>(std::vector<std::int64_t>(rows, length), 5, random, uniform<T>);
      const typename TestFixture::Plan plan(stream, a.view(), TestFixture::options());
      TestFixture::expect_same(stream, plan, a, few_tiled_forms(), Accumulator<T>{1},
                               Accumulator<T>{2}, random);
    }
  }
}

// Of one row of X they reach the rows of Y that have an entry there, as IEEE says.
EXECUTOR_TEST(SparseTiles, ShortRunOfNanAndInfKeepsToTheirEntries) {
  using T = typename TypeParam::Element;
  Random random(seed_or(8));
  const Stream stream(device);
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < 61; ++i)
    lengths.push_back(i % 11);
  TestFixture::expect_specials(stream, matrix_of<T>(lengths, 50, random, small_integer<T>), random);
  for (std::int64_t& length : lengths)
    length = 10 * length + 20;
  const auto shared = matrix_of<T>(lengths, 400, random, small_integer<T>);
  EXPECT_TRUE(TestFixture::shares_blocks({stream, shared.view(), TestFixture::options()}));
  TestFixture::expect_specials(stream, shared, random);
}

// What is not finite is summed anew; its neighbours keep the bits that they have without it.
EXECUTOR_TEST(SparseTiles, ShortRunOfInfLeavesTheBitsOfOtherElements) {
  using T = typename TypeParam::Element;
  Random random(seed_or(9));
  const Stream stream(device);
  for (const std::int64_t length : {30, 200}) {
    const auto a = matrix_of<T>(std::vector<std::int64_t>(50, length), 90, random, uniform<T>);
    const typename TestFixture::Plan plan(stream, a.view(), TestFixture::options());
    auto columns = TestFixture::uniform_columns(plan, 40, random);
    const Form form{40, Layout::row, Layout::row, 0};
    const auto before =
        TestFixture::run_form(stream, plan, columns, form, Accumulator<T>{1}, Accumulator<T>{0});
    columns.x[3][17] = element<T>(kInfinity);
    const auto after =
        TestFixture::run_form(stream, plan, columns, form, Accumulator<T>{1}, Accumulator<T>{0});
    std::vector<std::vector<typename TypeParam::Result>> expected;
    for (std::int64_t j = 0; j < 40; ++j)
      expected.push_back(TestFixture::column_of(j == 3 ? after : before, j));
    TestFixture::expect_bits(after, expected);
  }
}

EXECUTOR_TEST(SparseTiles, ShortRunNeverReadsYWhereBetaIsZero) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(seed_or(10));
  const Stream stream(device);
  const auto a = matrix_of<T>({3, 0, 40, 17, 1, 2, 2, 9, 33, 5, 0}, 50, random, small_integer<T>);
  const typename TestFixture::Plan plan(stream, a.view(), TestFixture::options());
  auto columns = TestFixture::columns_of(plan.rows(), plan.cols(), 40, random, small_integer<T>,
                                         small_integer<TOut>);
  for (auto& y : columns.y)
    y.assign(y.size(), element<TOut>(kQuietNan));
  for (const Form& form : few_tiled_forms()) {
    TestFixture::for_each_column(
        stream, plan, columns, form, Accumulator<T>{1}, Accumulator<T>{0},
        [&](const auto& operands, const auto& y) { expect_exact(a, operands, y); });
  }
}

EXECUTOR_TEST(SparseTiles, ShortRunAfterUpdateOfValuesIsThatOfANewPlan) {
  using T = typename TypeParam::Element;
  Random random(seed_or(11));
  const Stream stream(device);
  auto all_lengths = shared_lengths();
  all_lengths.push_back({3, 0, 40, 17, 1, 2, 2, 9, 33, 5, 0, 64, 7});
  for (const auto& lengths : all_lengths) {
    auto a = matrix_of<T>(lengths, 13, random, uniform<T>);
    for (const Op op : {Op::none, Op::trans}) {
      SparseOptions options = TestFixture::options();
      options.op = op;
      options.updates = true;
      typename TestFixture::Plan plan(stream, a.view(), options);
      a.values = vector_of<T>(a.nnz(), random, uniform<T>);
      plan.update_values(a.values);
      TestFixture::expect_same(stream, plan, op == Op::none ? a : transpose_of(a, false),
                               few_tiled_forms(), Accumulator<T>{1}, Accumulator<T>{0}, random);
    }
  }
}

// Also from plans that list shared blocks in another order.
EXECUTOR_TEST(SparseTiles, ShortRunGivesTheSameBitsAgain) {
  using T = typename TypeParam::Element;
  Random random(seed_or(12));
  const Stream stream(device);
  for (const std::int64_t length : {25, 300}) {
    const auto a = matrix_of<T>(std::vector<std::int64_t>(300, length), 90, random, uniform<T>);
    std::optional<typename TestFixture::Plan> plan(std::in_place, stream, a.view(),
                                                   TestFixture::options());
    const auto columns = TestFixture::uniform_columns(*plan, 40, random);
    const Form form{40, Layout::col, Layout::row, 0};
    const auto run = [&] {
      return TestFixture::run_form(stream, *plan, columns, form, Accumulator<T>{1},
                                   Accumulator<T>{0});
    };
    const auto first = run();
    for (int round = 0; round < 6; ++round) {
      if (round == 3) plan.emplace(stream, a.view(), TestFixture::options());
      EXPECT_EQ(std::memcmp(first.data.data(), run().data.data(),
                            first.data.size() * sizeof(first.data[0])),
                0);
    }
  }
}

EXECUTOR_TEST(SparseTiles, ShortRunOfPlansThatHaveThem) {
  using T = typename TypeParam::Element;
  Random random(seed_or(13));
  const Stream stream(device);
  const auto tells = [&](const CsrMatrix<T>& a, const SparseOptions& options) {
    const typename TestFixture::Plan plan(stream, a.view(), options);
    return plan.explain().find("\n  tiles ") != std::string::npos;
  };
  auto band = matrix_of<T>(std::vector<std::int64_t>(4000, 9), 4010, random, uniform<T>);
  for (std::int64_t entry = 0; entry < band.nnz(); ++entry)
    band.col_indices[entry] = static_cast<std::int32_t>(entry / 9 + entry % 9);
  const auto scattered =
      matrix_of<T>(std::vector<std::int64_t>(16'000, 9), 4000, random, uniform<T>);
  EXPECT_TRUE(tells(band, {.expected_columns = 16}));
  EXPECT_FALSE(tells(scattered, {.expected_columns = 128}));
  EXPECT_TRUE(tells(scattered, {.engine = Engine::tensor_cores, .expected_columns = 16}));
  EXPECT_FALSE(tells(band, {.engine = Engine::cuda_cores, .expected_columns = 16}));
  // Floats have no other kernels of tensor cores: such plans are refused.
  if constexpr (!std::is_same_v<T, float>) {
    EXPECT_FALSE(tells(band, {.engine = Engine::tensor_cores}));
  }
  // One block that is much longer than the others would end long after them.
  auto lengths = std::vector<std::int64_t>(4000, 9);
  lengths[100] = 4000;
  EXPECT_FALSE(tells(matrix_of<T>(lengths, 20, random, uniform<T>), {.expected_columns = 16}));
}

/// Parts must cut each block of more than the limit's steps once into parts of equal lengths, and
/// tell the unit where each begins.
template <class T>
void expect_parts_of(const sparse::Tiles<T>& tiles, const std::vector<sparse::TileStart>& starts,
                     const std::vector<std::int64_t>& units_before) {
  constexpr int kParts = sparse::cuda::kTileWarps;
  const std::vector<sparse::TilePart> parts = tiles.parts.to_host();
  std::vector<std::int64_t> cut(tiles.header.blocks, 0);
  ASSERT_EQ(std::ssize(parts), tiles.header.shared_blocks * kParts);
  for (std::size_t first = 0; first < parts.size(); first += kParts) {
    const std::uint32_t block = parts[first].block;
    ASSERT_LT(block, cut.size());
    ++cut[block];
    std::uint32_t step = starts[block].step;
    const std::uint32_t steps = starts[block + 1].step - step;
    for (int i = 0; i < kParts; ++i) {
      const sparse::TilePart& part = parts[first + i];
      ASSERT_EQ(part.block, block);
      ASSERT_EQ(part.step, step);
      ASSERT_EQ(part.unit, units_before[step]);
      ASSERT_TRUE((part.end - step) == steps / kParts || (part.end - step) == steps / kParts + 1);
      step = part.end;
    }
    ASSERT_EQ(step, starts[block + 1].step);
  }
  for (std::int64_t block = 0; block < tiles.header.blocks; ++block) {
    const std::uint32_t steps = starts[block + 1].step - starts[block].step;
    ASSERT_EQ(cut[block], steps > tiles.header.share_above ? 1 : 0) << "block " << block;
  }
}

/// Rows as tiles hold them must be those of the CSR, entry by entry; all else follows.
template <class T>
void expect_tiles_of(const Stream& stream, const CsrMatrix<T>& a) {
  const sparse::LoadedCsr<T> loaded = sparse::load(stream, a.view(), sparse::cuda::kExamination);
  const auto tiles = sparse::cuda::make_tiles(stream, loaded.csr, loaded.facts, {},
                                              {.engine = Engine::tensor_cores});
  ASSERT_TRUE(tiles);
  const auto starts = tiles->starts.to_host();
  const auto entries = tiles->entries.to_host();
  const auto columns = tiles->columns.to_host();
  const auto masks = tiles->masks.to_host();
  const auto values = tiles->values.to_host();
  constexpr int kUnit = sparse::unit_values(sizeof(T));
  const sparse::TileFacts& facts = tiles->header.facts;
  const std::int64_t blocks = (a.rows + sparse::kBlockRows - 1) / sparse::kBlockRows;
  ASSERT_EQ(tiles->header.blocks, blocks);
  ASSERT_EQ(starts.size(), blocks + 1);
  std::int64_t step = 0;
  std::int64_t unit = 0;
  std::int64_t vectors = 0;
  std::int64_t steps_most = 0;
  std::vector<std::int64_t> units_before;  // [step]
  for (std::int64_t block = 0; block < blocks; ++block) {
    SCOPED_TRACE(::testing::Message() << "block " << block);
    ASSERT_EQ(starts[block].step, step);
    ASSERT_EQ(starts[block].unit, unit);
    const std::int64_t first_row = block * sparse::kBlockRows;
    ASSERT_EQ(entries[block], a.row_offsets[first_row]);
    steps_most = std::max<std::int64_t>(steps_most, starts[block + 1].step - step);
    std::array<std::vector<std::pair<std::int32_t, T>>, sparse::kBlockRows> rows;
    for (; step < starts[block + 1].step; ++step) {
      units_before.push_back(unit);
      const std::uint32_t* const mask = &masks[step * sparse::kLaneVectors];
      std::array<T, 32 * sparse::kLaneVectors> held{};  // [lane][j]
      const auto take = [&](int lane, int j) {
        for (int i = 0; i < kUnit; ++i)
          held[lane * sparse::kLaneVectors + j + i] = values[unit * kUnit + i];
        ++unit;
      };
      for (int j = 0; kUnit == 1 && j < sparse::kLaneVectors; ++j) {
        for (int lane = 0; lane < 32; ++lane)
          if ((mask[j] >> lane & 1U) != 0) take(lane, j);
      }
      for (int lane = 0; kUnit > 1 && lane < 32; ++lane)
        if (((mask[0] | mask[1] | mask[2] | mask[3]) >> lane & 1U) != 0) take(lane, 0);
      for (int vector = 0; vector < sparse::kStepVectors; ++vector) {
        const int place = sparse::place_of_vector(vector, kUnit > 1);
        const int t = place / sparse::kLaneVectors;
        const int j = place % sparse::kLaneVectors;
        const std::int32_t column = columns[step * sparse::kStepVectors + place];
        ASSERT_TRUE(column >= 0 && column < a.cols) << column;
        bool any = false;
        for (int row = 0; row < sparse::kBlockRows; ++row) {
          const int lane = row * 4 + t;
          const T value = held[lane * sparse::kLaneVectors + j];
          if ((mask[j] >> lane & 1U) != 0) {
            rows[row].emplace_back(column, value);
            any = true;
          } else {
            ASSERT_EQ(static_cast<double>(value), 0.0);
          }
        }
        vectors += any ? 1 : 0;
      }
    }
    for (int i = 0; i < sparse::kBlockRows; ++i) {
      std::vector<std::pair<std::int32_t, T>> expected;
      if (first_row + i < a.rows) {
        for (std::int64_t k = a.row_offsets[first_row + i]; k < a.row_offsets[first_row + i + 1];
             ++k)
          expected.emplace_back(a.col_indices[k], a.values[k]);
      }
      ASSERT_EQ(rows[i].size(), expected.size()) << "row " << i;
      for (std::size_t k = 0; k < expected.size(); ++k) {
        ASSERT_EQ(rows[i][k].first, expected[k].first) << "row " << i << ", entry " << k;
        ASSERT_EQ(static_cast<double>(rows[i][k].second), static_cast<double>(expected[k].second))
            << "row " << i << ", entry " << k;
      }
    }
  }
  EXPECT_EQ(facts.steps, step);
  EXPECT_EQ(facts.units, unit);
  EXPECT_EQ(facts.vectors, vectors);
  EXPECT_EQ(facts.steps_most, steps_most);
  EXPECT_EQ(starts[blocks].step, step);
  EXPECT_EQ(starts[blocks].unit, unit);
  units_before.push_back(unit);
  expect_parts_of(*tiles, starts, units_before);
}

EXECUTOR_TEST(SparseTiles, ShortRunOfTunedPlansHasOneOfTheCopies) {
  using T = typename TypeParam::Element;
  Random random(seed_or(15));
  const Stream stream(device);
  const auto a = matrix_of<T>(std::vector<std::int64_t>(3000, 9), 3000, random, uniform<T>);
  for (const Layout layout : {Layout::row, Layout::col}) {
    const typename TestFixture::Plan plan(
        stream, a.view(), {.tune = true, .expected_columns = 16, .expected_layout = layout});
    const std::string text = plan.explain();
    EXPECT_NE(text.find("\n  tiles     a second copy") == std::string::npos,
              text.find("\n  rows      a second copy") == std::string::npos);
    const auto columns = TestFixture::uniform_columns(plan, 16, random);
    TestFixture::for_each_column(
        stream, plan, columns, {16, layout, layout, 0}, element<Accumulator<T>>(0.7),
        element<Accumulator<T>>(-0.3),
        [&](const auto& operands, const auto& y) { expect_within_bound(a, operands, y); });
  }
}

EXECUTOR_TEST(SparseTiles, ShortRunOfPackingKeepsEveryEntry) {
  using T = typename TypeParam::Element;
  const std::uint64_t seed = seed_or(14);
  const Stream stream(device);
  for (std::uint64_t round = 0; round < 20; ++round) {
    SCOPED_TRACE(::testing::Message() << "LANKY_SEED=" << seed << ", round " << round);
    Random random(seed + 1000 * round);
    auto lengths = round == 0 ? boundary_lengths() : random_lengths(random);
    lengths.push_back(1);
    auto a = matrix_of<T>(lengths, random_int(random, 1, 300), random, uniform<T>);
    draw_columns(a, random);
    if (round % 2 == 1) sort_rows(a);
    expect_tiles_of(stream, a);
    if (TestFixture::HasFatalFailure()) return;
  }
  for (const auto& lengths : shared_lengths()) {
    Random random(seed);
    expect_tiles_of(stream, matrix_of<T>(lengths, 500, random, uniform<T>));
    if (TestFixture::HasFatalFailure()) return;
  }
}

EXECUTOR_TEST(SparseTiles, PackingOfManyBlocksKeepsEveryEntry) {
  using T = typename TypeParam::Element;
  Random random(seed_or(15));
  const Stream stream(device);
  std::vector<std::int64_t> lengths(200'003);
  for (std::int64_t& length : lengths)
    length = random_int(random, 0, 9);
  expect_tiles_of(stream, matrix_of<T>(lengths, 5000, random, uniform<T>));
}

}  // namespace
}  // namespace lanky::testing
