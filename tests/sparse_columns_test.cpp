// Sparse products of several columns, one body for every executor and type: each column of Y has
// the bits that a product of that column alone gives.
// For compute-sanitizer: --gtest_filter='*Short*' runs in seconds.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "support/columns.hpp"
#include "support/expect_error.hpp"
#include "support/triangle.hpp"

namespace lanky::testing {
namespace {

constexpr std::int64_t kColumnsMost = 100;

std::vector<Form> all_forms() {
  return forms_of({0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 33, 64, 65, kColumnsMost});
}
std::vector<Form> some_forms() {
  return {{1, Layout::row, Layout::row, 3},  {2, Layout::row, Layout::row, 0},
          {3, Layout::row, Layout::row, 1},  {7, Layout::col, Layout::row, 0},
          {8, Layout::row, Layout::col, 0},  {13, Layout::row, Layout::row, 0},
          {16, Layout::col, Layout::col, 1}, {33, Layout::row, Layout::row, 0},
          {35, Layout::col, Layout::col, 0}};
}

/// Paths whose product of one vector has the bits of several.
std::vector<Engine> column_engines(Device device) {
  if (!device.is_cuda()) return {Engine::automatic};
  return {Engine::automatic, Engine::cuda_cores};
}

/// Whether plans of several columns may have tiles, which multiply in an order of their own.
template <class T>
bool may_be_tiled(Device device, Engine engine) {
  return device.is_cuda() && engine == Engine::automatic && sparse::kHasTiles<T>;
}

template <class Case>
class SparseColumns : public ColumnsTest<Case> {};
TYPED_TEST_SUITE(SparseColumns, PlanCases, OnName);

EXECUTOR_TEST(SparseColumns, HaveTheBitsOfOneInEveryForm) {
  using T = typename TypeParam::Element;
  Random random(seed_or(1));
  const Stream stream(device);
  const auto a = matrix_of<T>(boundary_lengths(), 300, random, uniform<T>);
  for (const Engine engine : column_engines(device)) {
    SCOPED_TRACE(to_string(engine));
    for (const std::int64_t expected : {1, 2, 9}) {
      if (may_be_tiled<T>(device, engine) && expected > 2) continue;
      const typename TestFixture::Plan plan(stream, a.view(),
                                            {.engine = engine, .expected_columns = expected});
      const auto columns = TestFixture::uniform_columns(plan, kColumnsMost, random);
      TestFixture::expect_forms(stream, plan, columns, all_forms(), element<Accumulator<T>>(0.7),
                                element<Accumulator<T>>(-0.3));
    }
  }
}

// Plans by tensor cores multiply matrices on CUDA cores, a single contiguous column as well.
EXECUTOR_TEST(SparseColumns, ShortRunOfTensorCoresGivesBitsThatLayoutsDoNotChange) {
  using T = typename TypeParam::Element;
  Random random(seed_or(12));
  const Stream stream(device);
  const auto a = matrix_of<T>(boundary_lengths(), 60, random, uniform<T>);
  const bool tf32 = kDType<T> == DType::f32;
  const typename TestFixture::Plan plan(
      stream, a.view(),
      {.engine = kIsComplex<T> ? Engine::automatic : Engine::tensor_cores,
       .math = tf32 ? Math::tf32 : Math::ieee});
  const auto columns = TestFixture::uniform_columns(plan, 3, random);
  const auto alpha = element<Accumulator<T>>(0.7);
  const auto beta = element<Accumulator<T>>(-0.3);
  const auto all =
      TestFixture::run_form(stream, plan, columns, {3, Layout::row, Layout::row, 0}, alpha, beta);
  std::vector<std::vector<typename TypeParam::Result>> expected(3);
  for (std::int64_t j = 0; j < all.cols; ++j) {
    for (std::int64_t i = 0; i < all.rows; ++i)
      expected[j].push_back(all.at(i, j));
  }
  for (const Form& form : forms_of({1, 2, 3})) {
    SCOPED_TRACE(text_of(form));
    TestFixture::expect_bits(TestFixture::run_form(stream, plan, columns, form, alpha, beta),
                             expected);
    if (TestFixture::HasFatalFailure()) return;
  }
}

EXECUTOR_TEST(SparseColumns, ShortRunHasTheBitsOfOneWithAnyAlphaAndBeta) {
  using T = typename TypeParam::Element;
  using Sum = Accumulator<T>;
  Random random(seed_or(2));
  const Stream stream(device);
  const auto a = matrix_of<T>(boundary_lengths(), 60, random, uniform<T>);
  for (const Engine engine : column_engines(device)) {
    SCOPED_TRACE(to_string(engine));
    const typename TestFixture::Plan plan(stream, a.view(), {.engine = engine});
    const auto columns = TestFixture::uniform_columns(plan, 35, random);
    for (const std::complex<double> alpha : {0.0, 1.0, -0.5, 0.3}) {
      for (const std::complex<double> beta : {0.0, 1.0, -0.5, 0.7}) {
        const std::complex<double> turn(1.0, kIsComplex<T> ? 0.25 : 0.0);
        TestFixture::expect_forms(stream, plan, columns, some_forms(), element<Sum>(alpha * turn),
                                  element<Sum>(beta * turn));
      }
    }
  }
}

EXECUTOR_TEST(SparseColumns, HaveTheBitsOfOneInSplitRows) {
  using T = typename TypeParam::Element;
  Random random(seed_or(3));
  const Stream stream(device);
  const auto a = matrix_of<T>({3, 100'000, 0, 17, 20'000, 16'384, 1}, 2000, random, uniform<T>);
  for (const Engine engine : column_engines(device)) {
    SCOPED_TRACE(to_string(engine));
    auto forms = some_forms();
    // More than a workspace has room for at once, of either plan and all types.
    constexpr std::int64_t kColumns = 300;
    forms.push_back({kColumns, Layout::row, Layout::row, 0});
    forms.push_back({64, Layout::col, Layout::col, 2});
    for (const std::int64_t expected : {1, 33}) {
      if (may_be_tiled<T>(device, engine) && expected > 1) continue;
      const typename TestFixture::Plan plan(stream, a.view(),
                                            {.engine = engine, .expected_columns = expected});
      const auto columns = TestFixture::uniform_columns(plan, kColumns, random);
      TestFixture::expect_forms(stream, plan, columns, forms, Accumulator<T>{1},
                                element<Accumulator<T>>(0.5));
    }
  }
}

// Rows of several pieces are shared by teams of groups of lanes where they do not fill the device
// (SparseLaunch.OfRowsHasTeamsWhereTheyDoNotFillTheDevice).
EXECUTOR_TEST(SparseColumns, ShortRunHasTheBitsOfOneWhereTeamsShareRows) {
  using T = typename TypeParam::Element;
  Random random(seed_or(15));
  const Stream stream(device);
  std::vector<std::int64_t> lengths(4100);
  for (std::size_t row = 0; row < lengths.size(); ++row)
    lengths[row] = static_cast<std::int64_t>(16 + row * 89 % 17);
  lengths[7] = 0;
  lengths[4099] = 100;
  const auto a = matrix_of<T>(lengths, 500, random, uniform<T>);
  for (const std::int64_t expected : {9, 40}) {
    const typename TestFixture::Plan plan(
        stream, a.view(), {.engine = column_engines(device).back(), .expected_columns = expected});
    const auto columns = TestFixture::uniform_columns(plan, expected, random);
    TestFixture::expect_forms(stream, plan, columns,
                              {{expected, Layout::row, Layout::row, 0},
                               {expected, Layout::row, Layout::col, 0},
                               {7, Layout::row, Layout::row, 1}},
                              element<Accumulator<T>>(0.7), element<Accumulator<T>>(-0.3));
  }
}

// Uneven rows near the diagonal, and more of X than a cache holds: so few of those beside each
// other are sorted by their lengths as keep to a part of X.
EXECUTOR_TEST(SparseColumns, HaveTheBitsOfOneWhereRowsAreSortedByParts) {
  using T = typename TypeParam::Element;
  Random random(seed_or(16));
  const Stream stream(device);
  constexpr std::int64_t kSize = 20'000;
  std::vector<std::int64_t> lengths(kSize);
  for (std::int64_t& length : lengths)
    length = random_int(random, 1, 8) == 1 ? random_int(random, 0, 200) : 3;
  auto a = matrix_of<T>(lengths, kSize, random, uniform<T>);
  for (std::int64_t row = 0; row < kSize; ++row) {
    const std::int64_t first = std::min(row, kSize - lengths[row]);
    for (std::int64_t i = 0; i < lengths[row]; ++i)
      a.col_indices[a.row_offsets[row] + i] = static_cast<std::int32_t>(first + i);
  }
  constexpr std::int64_t kExpected = 512;
  const typename TestFixture::Plan plan(
      stream, a.view(), {.engine = column_engines(device).back(), .expected_columns = kExpected});
  const auto columns = TestFixture::uniform_columns(plan, 20, random);
  TestFixture::expect_forms(stream, plan, columns,
                            {{20, Layout::row, Layout::row, 0}, {20, Layout::row, Layout::col, 0}},
                            element<Accumulator<T>>(0.7), element<Accumulator<T>>(-0.3));
}

EXECUTOR_TEST(SparseColumns, HaveTheBitsOfOneInRandomShapes) {
  using T = typename TypeParam::Element;
  const std::uint64_t seed = seed_or(4);
  const Stream stream(device);
  for (std::uint64_t round = 0; round < 40; ++round) {
    SCOPED_TRACE(::testing::Message() << "LANKY_SEED=" << seed << ", round " << round);
    Random random(seed + 1000 * round);
    auto a = matrix_of<T>(random_lengths(random), random_int(random, 1, 500), random, uniform<T>);
    draw_columns(a, random);
    for (const Engine engine : column_engines(device)) {
      SparseOptions options{.engine = engine};
      if (!may_be_tiled<T>(device, engine)) {
        options.expected_columns = random_int(random, 1, 70);
        options.expected_layout = random() % 2 == 0 ? Layout::row : Layout::col;
      }
      SCOPED_TRACE(::testing::Message() << "expected columns: " << options.expected_columns);
      const typename TestFixture::Plan plan(stream, a.view(), options);
      const auto columns = TestFixture::uniform_columns(plan, 35, random);
      TestFixture::expect_forms(stream, plan, columns, some_forms(),
                                uniform<Accumulator<T>>(random), uniform<Accumulator<T>>(random));
      if (TestFixture::HasFatalFailure()) return;
    }
  }
}

EXECUTOR_TEST(SparseColumns, ShortRunHasTheBitsOfOneOfTransposesAndTriangles) {
  using T = typename TypeParam::Element;
  Random random(seed_or(5));
  const Stream stream(device);
  const auto a = matrix_of<T>(boundary_lengths(), 70, random, uniform<T>);
  const auto triangle = triangle_of<T>(boundary_lengths(), true, random, uniform<T>);
  const auto expect = [&](const CsrMatrix<T>& matrix, const SparseOptions& options) {
    const typename TestFixture::Plan plan(stream, matrix.view(), options);
    const auto columns = TestFixture::uniform_columns(plan, 35, random);
    TestFixture::expect_forms(stream, plan, columns, some_forms(), Accumulator<T>{1},
                              Accumulator<T>{0});
  };
  expect(a, {.op = Op::trans});
  expect(a, {.op = Op::conj_trans});
  for (const Symmetry symmetry : kSymmetries)
    expect(triangle, {.symmetry = symmetry});
}

EXECUTOR_TEST(SparseColumns, ShortRunOfShapesWithoutEntriesScalesY) {
  using T = typename TypeParam::Element;
  Random random(seed_or(6));
  const Stream stream(device);
  for (const std::int64_t rows : {0, 1, 7, 1000}) {
    for (const std::int64_t cols : {0, 5}) {
      SCOPED_TRACE(::testing::Message() << rows << " x " << cols);
      CsrMatrix<T> a;
      a.rows = rows;
      a.cols = cols;
      a.row_offsets.assign(rows + 1, 0);
      const typename TestFixture::Plan plan(stream, a.view());
      const auto columns = TestFixture::uniform_columns(plan, 35, random);
      for (const double beta : {0.0, 2.0}) {
        TestFixture::expect_forms(stream, plan, columns, some_forms(), Accumulator<T>{1},
                                  element<Accumulator<T>>(beta));
      }
    }
  }
}

EXECUTOR_TEST(SparseColumns, ShortRunIsExactOnSmallIntegers) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(seed_or(7));
  const Stream stream(device);
  const auto a = matrix_of<T>(boundary_lengths(), 90, random, small_integer<T>);
  for (const Engine engine : column_engines(device)) {
    SCOPED_TRACE(to_string(engine));
    const typename TestFixture::Plan plan(stream, a.view(), {.engine = engine});
    const auto columns = TestFixture::columns_of(plan.rows(), plan.cols(), 35, random,
                                                 small_integer<T>, small_integer<TOut>);
    const Accumulator<T> alpha = 2;
    const Accumulator<T> beta = -1;
    for (const Form& form : some_forms()) {
      const auto y = TestFixture::run_form(stream, plan, columns, form, alpha, beta);
      for (std::int64_t j = 0; j < form.columns; ++j) {
        std::vector<TOut> column;
        for (std::int64_t i = 0; i < y.rows; ++i)
          column.push_back(y.at(i, j));
        expect_exact(a, Operands<T, TOut>{alpha, beta, columns.x[j], columns.y[j]}, column);
      }
    }
  }
}

// A column of NaN or Inf reaches the rows that IEEE says, and no other column; -0 stays.
EXECUTOR_TEST(SparseColumns, ShortRunOfNanAndInfKeepsToTheirColumns) {
  using T = typename TypeParam::Element;
  Random random(seed_or(8));
  const Stream stream(device);
  auto a = matrix_of<T>(boundary_lengths(), 50, random, uniform<T>);
  for (std::int64_t entry = 0; entry < a.nnz(); entry += 5)
    a.values[entry] = element<T>(entry % 2 == 0 ? 0.0 : -0.0);
  for (const Engine engine : column_engines(device)) {
    SCOPED_TRACE(to_string(engine));
    const typename TestFixture::Plan plan(stream, a.view(), {.engine = engine});
    auto columns = TestFixture::uniform_columns(plan, 35, random);
    for (std::size_t j = 0; j < columns.x.size(); ++j) {
      const std::array<double, 5> special = {kQuietNan, kInfinity, -kInfinity, -0.0, 1.0};
      columns.x[j][random() % 50] = element<T>(special[j % 5]);
      if (j % 7 == 3) columns.x[j].assign(50, element<T>(-0.0));
      for (auto& y : columns.y[j])
        y = element<typename TypeParam::Result>(special[random() % 5]);
    }
    for (const double beta : {0.0, 1.0}) {
      TestFixture::expect_forms(stream, plan, columns, some_forms(), Accumulator<T>{1},
                                element<Accumulator<T>>(beta));
    }
  }
}

EXECUTOR_TEST(SparseColumns, ShortRunNeverReadsYWhereBetaIsZero) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(seed_or(9));
  const Stream stream(device);
  const auto a = matrix_of<T>(boundary_lengths(), 50, random, small_integer<T>);
  const typename TestFixture::Plan plan(stream, a.view());
  auto columns = TestFixture::columns_of(plan.rows(), plan.cols(), 35, random, small_integer<T>,
                                         small_integer<TOut>);
  for (auto& y : columns.y)
    y.assign(y.size(), element<TOut>(kQuietNan));
  for (const Form& form : some_forms()) {
    for (const bool scalars : {false, true}) {
      const auto y = TestFixture::run_form(stream, plan, columns, form, Accumulator<T>{1},
                                           Accumulator<T>{0}, scalars);
      for (std::int64_t j = 0; j < form.columns; ++j) {
        for (std::int64_t i = 0; i < y.rows; ++i)
          ASSERT_FALSE(std::isnan(parts(y.at(i, j)).real())) << i << ", " << j;
      }
    }
  }
}

EXECUTOR_TEST(SparseColumns, ShortRunInEitherWorkspaceGivesTheSameBitsAgain) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(seed_or(10));
  const Stream stream(device);
  const auto a = matrix_of<T>({5000, 3, 20'000, 40, 33'333}, 90, random, uniform<T>);
  const typename TestFixture::Plan plan(stream, a.view());
  ASSERT_GT(plan.workspace_bytes(), 0);
  Buffer<std::byte> workspace(stream, plan.workspace_bytes());
  const auto x = Buffer<T>::from(stream, vector_of<T>(90 * 40, random, uniform<T>));
  const MatrixView<const T> x_view{x.data(), 90, 40, 40, Layout::row};
  std::vector<TOut> first;
  for (int round = 0; round < 8; ++round) {
    Buffer<TOut> y(stream, 5 * 40);
    const MatrixView<TOut> y_view{y.data(), 5, 40, 40, Layout::row};
    if (round % 2 == 0) {
      plan.run(stream, x_view, y_view);
    } else {
      plan.run(stream, Accumulator<T>{1}, x_view, Accumulator<T>{0}, y_view,
               {workspace.data(), workspace.size()});
    }
    const std::vector<TOut> found = y.to_host();
    if (round == 0) first = found;
    ASSERT_EQ(std::memcmp(found.data(), first.data(), found.size() * sizeof(TOut)), 0) << round;
  }
}

EXECUTOR_TEST(SparseColumns, ShortRunAfterUpdateOfValues) {
  using T = typename TypeParam::Element;
  Random random(seed_or(11));
  const Stream stream(device);
  auto a = matrix_of<T>(boundary_lengths(), 90, random, uniform<T>);
  typename TestFixture::Plan plan(stream, a.view());
  plan.update_values(vector_of<T>(a.nnz(), random, uniform<T>));
  const auto columns = TestFixture::uniform_columns(plan, 35, random);
  TestFixture::expect_forms(stream, plan, columns, some_forms(), Accumulator<T>{1},
                            Accumulator<T>{0});
}

// X in columns 0 .. 3 and Y in columns 4 .. 7 of one matrix by rows.
EXECUTOR_TEST(SparseColumns, ShortRunOfViewsInsideOneMatrix) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  if constexpr (std::is_same_v<T, TOut>) {
    Random random(seed_or(12));
    const Stream stream(device);
    const std::vector<std::int64_t> lengths(60, 6);
    const auto a = matrix_of<T>(lengths, 60, random, small_integer<T>);
    const typename TestFixture::Plan plan(stream, a.view());
    const std::vector<T> before = vector_of<T>(60 * 9, random, small_integer<T>);
    auto both = Buffer<T>::from(stream, before);
    plan.run(stream, Accumulator<T>{1}, MatrixView<T>{both.data(), 60, 4, 9, Layout::row},
             Accumulator<T>{1}, MatrixView<T>{both.data() + 4, 60, 4, 9, Layout::row});
    const std::vector<T> after = both.to_host();
    for (std::int64_t j = 0; j < 4; ++j) {
      Operands<T, T> operands{1, 1, std::vector<T>(60), std::vector<T>(60)};
      std::vector<T> y(60);
      for (std::int64_t i = 0; i < 60; ++i) {
        operands.x[i] = before[i * 9 + j];
        operands.y[i] = before[i * 9 + 4 + j];
        y[i] = after[i * 9 + 4 + j];
        EXPECT_EQ(after[i * 9 + j], before[i * 9 + j]);
        EXPECT_EQ(after[i * 9 + 8], before[i * 9 + 8]);
      }
      expect_exact(a, operands, y);
    }
  }
}

// Kernels of a product start before those ahead of them have ended: Y of one is X of the next, by
// way of two buffers, and long rows have a kernel of their own.
EXECUTOR_TEST(SparseColumns, ShortRunOfProductsInARowReadsWhatTheOneBeforeWrote) {
  using T = typename TypeParam::Element;
  if constexpr (std::is_same_v<T, typename TypeParam::Result>) {
    Random random(seed_or(14));
    const Stream stream(device);
    constexpr std::int64_t kSize = 1500;
    std::vector<std::int64_t> lengths(kSize, 5);
    for (std::int64_t row = 0; row < kSize; row += 37)
      lengths[row] = 200;
    lengths[3] = 9000;
    lengths[701] = 2000;
    const auto a = matrix_of<T>(lengths, kSize, random, uniform<T>);
    for (const std::int64_t count : {12, 64}) {
      for (const Layout layout : {Layout::row, Layout::col}) {
        SCOPED_TRACE(::testing::Message()
                     << count << " columns, layout " << static_cast<int>(layout));
        const typename TestFixture::Plan plan(stream, a.view(),
                                              {.engine = column_engines(device).back(),
                                               .expected_columns = count,
                                               .expected_layout = layout});
        const std::vector<T> start = vector_of<T>(kSize * count, random, uniform<T>);
        const std::int64_t leading = layout == Layout::row ? count : kSize;
        const auto powers = [&](bool waits) {
          auto from = Buffer<T>::from(stream, start);
          Buffer<T> to(stream, kSize * count);
          for (int round = 0; round < 12; ++round) {
            plan.run(stream, element<Accumulator<T>>(0.02),
                     MatrixView<const T>{from.data(), kSize, count, leading, layout},
                     Accumulator<T>{0}, MatrixView<T>{to.data(), kSize, count, leading, layout});
            if (waits) stream.synchronize();
            std::swap(from, to);
          }
          return from.to_host();
        };
        const std::vector<T> expected = powers(true);
        for (int round = 0; round < 3; ++round) {
          EXPECT_EQ(std::memcmp(powers(false).data(), expected.data(), expected.size() * sizeof(T)),
                    0);
        }
      }
    }
  }
}

// Misuse, on the CPU: what is checked is the same everywhere.
class SparseColumnsError : public ::testing::Test {
 protected:
  void expect(ErrorCode code, const std::string& message, const MatrixView<double>& x,
              const MatrixView<double>& y) {
    expect_error([&] { plan_.run(stream_, x, y); }, code, {message});
  }

  Stream stream_{Device::cpu()};
  std::vector<std::int64_t> offsets_ = {0, 2, 2, 3};
  std::vector<std::int32_t> indices_ = {0, 3, 1};
  std::vector<double> values_ = {1.0, 2.0, 3.0};
  SparsePlan<double> plan_{stream_, {3, 4, 3, offsets_.data(), indices_.data(), values_.data(), 0}};
  std::vector<double> x_ = std::vector<double>(100, 1.0);
  std::vector<double> y_ = std::vector<double>(100, 1.0);
};

TEST_F(SparseColumnsError, Extents) {
  double* const x = x_.data();
  double* const y = y_.data();
  expect(ErrorCode::size_mismatch, "X has 5 rows, A has 4 columns", {x, 5, 2, 5}, {y, 3, 2, 3});
  expect(ErrorCode::size_mismatch, "Y has 4 rows, A has 3 rows", {x, 4, 2, 4}, {y, 4, 2, 4});
  expect(ErrorCode::size_mismatch, "X has 2 columns, Y has 3 columns", {x, 4, 2, 4}, {y, 3, 3, 3});
  expect(ErrorCode::invalid_argument, "X has -1 columns", {x, 4, -1, 4}, {y, 3, -1, 3});
}

TEST_F(SparseColumnsError, LeadingDimensions) {
  double* const x = x_.data();
  double* const y = y_.data();
  expect(ErrorCode::invalid_argument, "X has leading dimension 3, but its columns have 4 elements",
         {x, 4, 2, 3}, {y, 3, 2, 3});
  expect(ErrorCode::invalid_argument, "Y has leading dimension 1, but its rows have 2 elements",
         {x, 4, 2, 4}, {y, 3, 2, 1, Layout::row});
}

TEST_F(SparseColumnsError, NullOperands) {
  expect(ErrorCode::invalid_argument, "X: a null pointer to 8 elements", {nullptr, 4, 2, 4},
         {y_.data(), 3, 2, 3});
  expect(ErrorCode::invalid_argument, "Y: a null pointer to 6 elements", {x_.data(), 4, 2, 4},
         {nullptr, 3, 2, 3});
  plan_.run(stream_, MatrixView<double>{nullptr, 4, 0, 4}, MatrixView<double>{nullptr, 3, 0, 3});
}

TEST_F(SparseColumnsError, Overlap) {
  double* const x = x_.data();
  const std::string message = "X (4 x 2) and Y (3 x 2) overlap: Y is written while X is read";
  expect(ErrorCode::invalid_argument, message, {x, 4, 2, 4}, {x + 7, 3, 2, 3});
  expect(ErrorCode::invalid_argument, message, {x, 4, 2, 6, Layout::row},
         {x + 1, 3, 2, 6, Layout::row});
  expect(ErrorCode::invalid_argument, message, {x, 4, 2, 6, Layout::row},
         {x + 5, 3, 2, 6, Layout::row});
  expect(ErrorCode::invalid_argument, message, {x, 4, 2, 6, Layout::row},
         {x + 2, 3, 2, 7, Layout::row});
  for (const int column : {2, 3, 4}) {
    plan_.run(stream_, MatrixView<double>{x, 4, 2, 6, Layout::row},
              MatrixView<double>{x + column, 3, 2, 6, Layout::row});
  }
}

}  // namespace
}  // namespace lanky::testing
