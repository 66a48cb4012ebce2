// Sampled dense-dense products, one body for every executor and type: against a compensated
// reference, with the same bits in every layout, alignment and workspace.
// For compute-sanitizer: --gtest_filter='Sddmm*Short*' runs in seconds.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <lanky/sddmm.hpp>
#include <utility>

#include "core/graph.hpp"
#include "support/columns.hpp"
#include "support/counting_allocator.hpp"
#include "support/expect_error.hpp"
#include "support/random_csr.hpp"

namespace lanky::testing {
namespace {

const std::vector<std::int64_t> kAllColumns = {0, 1, 2, 3, 7, 8, 17, 32, 64, 129, 300};

template <class Case>
class Sddmm : public ::testing::Test {
 protected:
  using T = typename Case::Element;
  using TOut = typename Case::Result;
  using Sum = Accumulator<T>;
  using Plan = SddmmPlan<T, TOut>;

  /// A pattern with dense rows for both of its sides, each [.., columns] by rows and tight, and the
  /// values that are there before.
  struct Problem {
    CsrMatrix<T> a;
    std::int64_t columns;
    std::vector<T> x;
    std::vector<T> y;
    std::vector<TOut> values;
    Sum alpha = 1;
    Sum beta = 0;
    bool conjugate_y = false;

    Dense<T> dense(const std::vector<T>& rows, Layout layout, std::int64_t padding) const {
      const std::int64_t count = &rows == &x ? a.rows : a.cols;
      Dense<T> made(layout, count, columns, padding, element<T>(kQuietNan));
      for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t c = 0; c < columns; ++c)
          made.at(i, c) = rows[i * columns + c];
      }
      return made;
    }
  };

  template <class Draw, class DrawOut>
  static Problem problem_of(const CsrMatrix<T>& a, std::int64_t columns, Random& random, Draw draw,
                            DrawOut draw_out) {
    Problem made{.a = a, .columns = columns, .x = {}, .y = {}, .values = {}};
    made.x = vector_of<T>(a.rows * columns, random, draw);
    made.y = vector_of<T>(a.cols * columns, random, draw);
    made.values = vector_of<TOut>(a.nnz(), random, draw_out);
    return made;
  }
  static Problem uniform_problem(const CsrMatrix<T>& a, std::int64_t columns, Random& random) {
    return problem_of(a, columns, random, uniform<T>, uniform<TOut>);
  }

  /// How operands stand: columns are not looked at; all of them begin `offset` elements behind the
  /// beginning of their memory.
  struct Place {
    Form form{0, Layout::row, Layout::row, 0};
    std::int64_t offset = 0;
    bool scalars = false;  // in device memory
  };

  /// A view of `data`, `offset` elements into a buffer that has nothing behind it.
  template <class E>
  static Buffer<E> buffer_of(const Stream& stream, const std::vector<E>& data,
                             std::int64_t offset) {
    std::vector<E> shifted(static_cast<std::size_t>(offset), element<E>(kQuietNan));
    shifted.insert(shifted.end(), data.begin(), data.end());
    return Buffer<E>::from(stream, shifted);
  }

  static std::vector<TOut> run(const Stream& stream, const Plan& plan, const Problem& problem,
                               const Place& place = {}) {
    const Form& form = place.form;
    const std::int64_t offset = place.offset;
    const Dense<T> x = problem.dense(problem.x, form.of_x, form.padding);
    const Dense<T> y = problem.dense(problem.y, form.of_y, form.padding);
    const Buffer<T> x_memory = buffer_of(stream, x.data, offset);
    const Buffer<T> y_memory = buffer_of(stream, y.data, offset);
    Buffer<TOut> memory = buffer_of(stream, problem.values, offset);
    const MatrixView<const T> x_view{x_memory.data() + offset, x.rows, x.cols, x.ld, x.layout};
    const MatrixView<const T> y_view{y_memory.data() + offset, y.rows, y.cols, y.ld, y.layout};
    const VectorView<TOut> values{memory.data() + offset, problem.a.nnz()};
    if (place.scalars) {
      const auto both = Buffer<Sum>::from(stream, std::vector<Sum>{problem.alpha, problem.beta});
      plan.run(stream, Scalar<Sum>::on_device(both.data()), x_view, y_view,
               Scalar<Sum>::on_device(both.data() + 1), values);
      stream.synchronize();
    } else {
      plan.run(stream, problem.alpha, x_view, y_view, problem.beta, values);
    }
    const std::vector<TOut> all = memory.to_host();
    return {all.begin() + offset, all.end()};
  }
  static std::vector<TOut> run_once(Device device, const Problem& problem) {
    const Stream stream(device);
    const Plan plan(stream, problem.a.view(), {.conjugate_y = problem.conjugate_y});
    return run(stream, plan, problem);
  }

  static ReferenceRow reference_of(const Problem& problem, std::int64_t row, std::int64_t entry) {
    ExactSum real;
    ExactSum imaginary;
    double magnitude = 0.0;
    for (std::int64_t c = 0; c < problem.columns; ++c) {
      const auto x = parts(problem.x[row * problem.columns + c]);
      auto y = parts(problem.y[problem.a.col_indices[entry] * problem.columns + c]);
      if (problem.conjugate_y) y = std::conj(y);
      real.add(x.real(), y.real());
      if constexpr (kIsComplex<T>) {
        real.add(-x.imag(), y.imag());
        imaginary.add(x.real(), y.imag());
        imaginary.add(x.imag(), y.real());
      }
      magnitude += std::sqrt(std::norm(x) * std::norm(y));
    }
    const auto alpha = parts(problem.alpha);
    const auto beta = parts(problem.beta);
    const auto scaled = product<T>(alpha, {real.value(), imaginary.value()});
    if (beta == 0.0) return {scaled, std::abs(alpha) * magnitude};
    const auto old = product<T>(beta, parts(problem.values[entry]));
    return {scaled + old, std::abs(alpha) * magnitude + std::abs(old)};
  }

  template <class Judge>
  static void judge_entries(const Problem& problem, const std::vector<TOut>& values, Judge judge) {
    ASSERT_EQ(static_cast<std::int64_t>(values.size()), problem.a.nnz());
    for (std::int64_t row = 0; row < problem.a.rows; ++row) {
      for (std::int64_t entry = problem.a.row_offsets[row]; entry < problem.a.row_offsets[row + 1];
           ++entry) {
        judge(reference_of(problem, row, entry), values[entry], entry);
        if (HasFatalFailure()) return;
      }
    }
  }
  static void expect_exact_values(const Problem& problem, const std::vector<TOut>& values) {
    judge_entries(problem, values,
                  [&](const ReferenceRow& reference, TOut value, std::int64_t entry) {
                    const auto expected = parts(element<TOut>(reference.value));
                    ASSERT_TRUE(same_number(parts(value).real(), expected.real()) &&
                                same_number(parts(value).imag(), expected.imag()))
                        << parts(value) << " instead of " << expected << " at entry " << entry
                        << " of " << problem.columns << " columns";
                  });
  }
  static void expect_close_values(const Problem& problem, const std::vector<TOut>& values) {
    const double unit = 2.0 * unit_roundoff(kDType<Sum>);
    const double subnormal = kDType<TOut> == DType::f16 ? 0x1p-25 : 0.0;
    const auto terms = static_cast<double>(problem.columns + 3);
    judge_entries(
        problem, values, [&](const ReferenceRow& reference, TOut value, std::int64_t entry) {
          const double bound = terms * unit * reference.magnitude + subnormal +
                               1.01 * unit_roundoff(kDType<TOut>) * std::abs(reference.value);
          ASSERT_LE(std::abs(parts(value) - reference.value), bound)
              << parts(value) << " instead of " << reference.value << " at entry " << entry
              << " of " << problem.columns << " columns";
        });
  }

  /// Every place gives the bits of the first, with a workspace or without one.
  static void expect_places(Device device, const Problem& problem) {
    const Stream stream(device);
    std::vector<TOut> first;
    for (const std::int64_t expected : {std::int64_t{0}, problem.columns}) {
      const Plan plan(stream, problem.a.view(),
                      {.conjugate_y = problem.conjugate_y, .expected_columns = expected});
      bool scalars = false;
      for (const Form& form : forms_of({problem.columns})) {
        for (const std::int64_t offset : {0, 1}) {
          SCOPED_TRACE(::testing::Message() << text_of(form) << ", offset " << offset
                                            << ", plan for " << expected << " columns");
          const auto values = run(stream, plan, problem, {form, offset, scalars});
          if (first.empty()) first = values;
          ASSERT_TRUE(same_bits(values, first));
          scalars = !scalars;
        }
      }
    }
    expect_close_values(problem, first);
  }

  static CsrMatrix<T> some_pattern(Random& random) {
    return matrix_of<T>({0, 3, 0, 0, 17, 1, 1, 1, 1, 2, 40, 0, 5, 129, 4, 8, 0}, 23, random,
                        uniform<T>);
  }
};
TYPED_TEST_SUITE(Sddmm, PlanCases, OnName);

EXECUTOR_TEST(Sddmm, HasTheSameBitsInEveryFormWithinTheBound) {
  using T = typename TypeParam::Element;
  Random random(seed_or(1));
  auto lengths = boundary_lengths();
  std::erase_if(lengths, [](std::int64_t length) { return length > 300; });
  const auto a = matrix_of<T>(lengths, 300, random, uniform<T>);
  for (const std::int64_t columns : kAllColumns) {
    auto problem = TestFixture::uniform_problem(a, columns, random);
    problem.alpha = element<Accumulator<T>>(0.7);
    problem.beta = columns % 2 == 0 ? element<Accumulator<T>>(-0.3) : Accumulator<T>{0};
    TestFixture::expect_places(device, problem);
    if (TestFixture::HasFatalFailure()) return;
  }
}

EXECUTOR_TEST(Sddmm, ShortRunHasTheSameBitsInEveryForm) {
  Random random(seed_or(2));
  const auto a = TestFixture::some_pattern(random);
  for (const std::int64_t columns : {1, 5, 16, 33, 70}) {
    TestFixture::expect_places(device, TestFixture::uniform_problem(a, columns, random));
    if (TestFixture::HasFatalFailure()) return;
  }
}

EXECUTOR_TEST(Sddmm, ShortRunOfAnyAlphaAndBeta) {
  using T = typename TypeParam::Element;
  Random random(seed_or(3));
  const auto a = TestFixture::some_pattern(random);
  const std::complex<double> turn(1.0, kIsComplex<T> ? 0.25 : 0.0);
  for (const double alpha : {0.0, 1.0, -0.5, 0.3}) {
    for (const double beta : {0.0, 1.0, -0.5, 0.7}) {
      auto problem = TestFixture::uniform_problem(a, 12, random);
      problem.alpha = element<Accumulator<T>>(alpha * turn);
      problem.beta = element<Accumulator<T>>(beta * turn);
      TestFixture::expect_places(device, problem);
      if (TestFixture::HasFatalFailure()) return;
    }
  }
}

EXECUTOR_TEST(Sddmm, ShortRunIsExactOnSmallIntegers) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(seed_or(4));
  const auto a = TestFixture::some_pattern(random);
  for (const std::int64_t columns : {1, 4, 9, 31, 64}) {
    for (const bool conjugate_y : {false, true}) {
      auto problem =
          TestFixture::problem_of(a, columns, random, small_integer<T>, small_integer<TOut>);
      problem.alpha = 2;
      problem.beta = -1;
      problem.conjugate_y = conjugate_y;
      TestFixture::expect_exact_values(problem, TestFixture::run_once(device, problem));
      if (TestFixture::HasFatalFailure()) return;
    }
  }
}

EXECUTOR_TEST(Sddmm, ConjugatesYInEveryForm) {
  Random random(seed_or(5));
  const auto a = TestFixture::some_pattern(random);
  for (const std::int64_t columns : {3, 8, 40, 300}) {
    auto problem = TestFixture::uniform_problem(a, columns, random);
    problem.conjugate_y = true;
    TestFixture::expect_places(device, problem);
    if (TestFixture::HasFatalFailure()) return;
  }
}

// Rows that no group of lanes, block or thread has alone, and many rows without entries.
EXECUTOR_TEST(Sddmm, OfLongRowsAndManyEmptyOnes) {
  using T = typename TypeParam::Element;
  Random random(seed_or(7));
  std::vector<std::int64_t> lengths(20'000);
  lengths[3] = 50'000;
  lengths[9'999] = 1;
  lengths[10'000] = 20'000;
  lengths[19'990] = 7;
  const auto a = matrix_of<T>(lengths, 500, random, uniform<T>);
  for (const std::int64_t columns : {4, 24}) {
    const auto problem = TestFixture::uniform_problem(a, columns, random);
    TestFixture::expect_close_values(problem, TestFixture::run_once(device, problem));
  }
}

// The bits of an entry are those that it has in any other pattern.
EXECUTOR_TEST(Sddmm, ShortRunOfOneEntryHasItsBits) {
  Random random(seed_or(8));
  const auto a = TestFixture::some_pattern(random);
  for (const std::int64_t columns : {2, 8, 33, 150}) {
    const auto problem = TestFixture::uniform_problem(a, columns, random);
    const auto values = TestFixture::run_once(device, problem);
    for (std::int64_t row = 0; row < a.rows; row += 2) {
      for (std::int64_t entry = a.row_offsets[row]; entry < a.row_offsets[row + 1]; entry += 5) {
        auto alone = problem;
        alone.a.col_indices = {a.col_indices[entry]};
        alone.a.values = {a.values[entry]};
        alone.values = {problem.values[entry]};
        for (std::int64_t i = 0; i <= a.rows; ++i)
          alone.a.row_offsets[i] = i <= row ? 0 : 1;
        const auto value = TestFixture::run_once(device, alone);
        ASSERT_EQ(std::memcmp(value.data(), values.data() + entry, sizeof(value[0])), 0)
            << "entry " << entry << ", " << columns << " columns";
      }
    }
  }
}

EXECUTOR_TEST(Sddmm, ShortRunTakesNanAndInfToTheirEntries) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(seed_or(9));
  const auto a = TestFixture::some_pattern(random);
  for (const std::int64_t columns : {1, 6, 20, 65}) {
    auto problem =
        TestFixture::problem_of(a, columns, random, small_integer<T>, small_integer<TOut>);
    const std::array<double, 4> special = {kQuietNan, kInfinity, -kInfinity, -0.0};
    for (std::int64_t i = 0; i < a.rows; i += 3)
      problem.x[i * columns + static_cast<std::int64_t>(random() % columns)] =
          element<T>(special[(i / 3) % 4]);
    for (std::int64_t j = 0; j < a.cols; j += 4)
      problem.y[j * columns + static_cast<std::int64_t>(random() % columns)] =
          element<T>(special[(j / 4) % 4]);
    for (auto& value : problem.values)
      value = element<TOut>(special[random() % 4]);
    for (const double beta : {0.0, 1.0}) {
      problem.beta = element<Accumulator<T>>(beta);
      TestFixture::expect_exact_values(problem, TestFixture::run_once(device, problem));
      if (TestFixture::HasFatalFailure()) return;
    }
  }
}

EXECUTOR_TEST(Sddmm, ShortRunNeverReadsValuesWhereBetaIsZero) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(seed_or(10));
  const auto a = TestFixture::some_pattern(random);
  const Stream stream(device);
  const typename TestFixture::Plan plan(stream, a.view());
  for (const std::int64_t columns : {0, 3, 16}) {
    auto problem =
        TestFixture::problem_of(a, columns, random, small_integer<T>, small_integer<TOut>);
    problem.values.assign(problem.values.size(), element<TOut>(kQuietNan));
    for (const bool scalars : {false, true}) {
      const auto values =
          TestFixture::run(stream, plan, problem, {.offset = 0, .scalars = scalars});
      TestFixture::expect_exact_values(problem, values);
    }
  }
}

EXECUTOR_TEST(Sddmm, ShortRunOfNoColumnsScalesValues) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(seed_or(11));
  auto problem = TestFixture::problem_of(TestFixture::some_pattern(random), 0, random,
                                         small_integer<T>, small_integer<TOut>);
  problem.alpha = 3;
  problem.beta = 2;
  TestFixture::expect_exact_values(problem, TestFixture::run_once(device, problem));
}

EXECUTOR_TEST(Sddmm, ShortRunOfPatternsWithoutEntries) {
  using T = typename TypeParam::Element;
  Random random(seed_or(12));
  for (const std::int64_t rows : {0, 1, 7}) {
    for (const std::int64_t cols : {0, 5}) {
      CsrMatrix<T> a;
      a.rows = rows;
      a.cols = cols;
      a.row_offsets.assign(rows + 1, 0);
      const auto problem = TestFixture::uniform_problem(a, 6, random);
      EXPECT_TRUE(TestFixture::run_once(device, problem).empty());
    }
  }
}

EXECUTOR_TEST(Sddmm, ShortRunInEitherWorkspaceGivesTheSameBitsAgain) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(seed_or(13));
  const Stream stream(device);
  const auto problem = TestFixture::uniform_problem(TestFixture::some_pattern(random), 9, random);
  const typename TestFixture::Plan plan(stream, problem.a.view(), {.expected_columns = 9});
  ASSERT_GE(plan.workspace_bytes(),
            static_cast<std::int64_t>((plan.rows() + plan.cols()) * 9 * sizeof(T)));
  Buffer<std::byte> workspace(stream, plan.workspace_bytes());
  const auto x = Buffer<T>::from(stream, problem.dense(problem.x, Layout::col, 0).data);
  const auto y = Buffer<T>::from(stream, problem.dense(problem.y, Layout::col, 0).data);
  const MatrixView<const T> x_view{x.data(), plan.rows(), 9, plan.rows()};
  const MatrixView<const T> y_view{y.data(), plan.cols(), 9, plan.cols()};
  std::vector<TOut> first;
  for (int round = 0; round < 8; ++round) {
    Buffer<TOut> values(stream, plan.nnz());
    if (round % 2 == 0) {
      plan.run(stream, x_view, y_view, values.view());
    } else {
      plan.run(stream, Accumulator<T>{1}, x_view, y_view, Accumulator<T>{0}, values.view(),
               {workspace.data(), workspace.size()});
    }
    const std::vector<TOut> found = values.to_host();
    if (round == 0) first = found;
    ASSERT_TRUE(same_bits(found, first)) << round;
  }
  TestFixture::expect_close_values(problem, first);
}

// Offsets of 32 bits, indices from 1, no values; X and Y are the same memory.
EXECUTOR_TEST(Sddmm, ShortRunOfAPatternInAnotherForm) {
  using T = typename TypeParam::Element;
  using TOut = typename TypeParam::Result;
  Random random(seed_or(14));
  auto a = matrix_of<T>({4, 0, 7, 9, 1, 2, 30}, 7, random, uniform<T>);
  auto problem = TestFixture::uniform_problem(a, 18, random);
  problem.y = problem.x;
  std::vector<std::int32_t> offsets;
  for (const std::int64_t offset : a.row_offsets)
    offsets.push_back(static_cast<std::int32_t>(offset + 1));
  for (std::int32_t& column : a.col_indices)
    ++column;
  const Stream stream(device);
  for (const bool on_device : {false, true}) {
    const auto device_offsets = Buffer<std::int32_t>::from(stream, offsets);
    const auto device_columns = Buffer<std::int32_t>::from(stream, a.col_indices);
    CsrView<T> view{a.rows, a.cols, a.nnz(), offsets.data(), a.col_indices.data(), nullptr, 1};
    if (on_device) {
      view.row_offsets = device_offsets.data();
      view.col_indices = device_columns.data();
    }
    const typename TestFixture::Plan plan(stream, view);
    const auto x = Buffer<T>::from(stream, problem.x);
    Buffer<TOut> values(stream, plan.nnz());
    const MatrixView<const T> rows{x.data(), 7, 18, 18, Layout::row};
    plan.run(stream, rows, rows, values.view());
    TestFixture::expect_close_values(problem, values.to_host());
    values.fill_zero();
    sddmm<T, TOut>(stream, Accumulator<T>{1}, view, rows, rows, Accumulator<T>{0}, values.view());
    TestFixture::expect_close_values(problem, values.to_host());
  }
}

EXECUTOR_TEST(Sddmm, TellsOfItselfAndMoves) {
  using T = typename TypeParam::Element;
  Random random(seed_or(15));
  const Stream stream(device);
  const auto problem = TestFixture::uniform_problem(TestFixture::some_pattern(random), 5, random);
  CountingAllocator allocator;
  {
    typename TestFixture::Plan plan(stream, problem.a.view(),
                                    {.expected_columns = 8, .allocator = &allocator});
    EXPECT_EQ(plan.rows(), 17);
    EXPECT_EQ(plan.cols(), 23);
    EXPECT_EQ(plan.nnz(), problem.a.nnz());
    EXPECT_EQ(plan.device(), device);
    EXPECT_EQ(plan.device_bytes(), allocator.live_bytes());
    EXPECT_EQ(plan.workspace_bytes(), static_cast<std::int64_t>((17 + 23) * 8 * sizeof(T)));
    for (const std::string& part :
         {std::string(to_string(kDType<T>)), std::string("17 x 23 with 212 entries"), device.name(),
          std::string("up to 8 columns")})
      EXPECT_NE(plan.explain().find(part), std::string::npos) << part << "\n" << plan.explain();
    const int requests = allocator.requests();
    typename TestFixture::Plan moved(std::move(plan));
    plan = std::move(moved);
    TestFixture::expect_close_values(problem, TestFixture::run(stream, plan, problem));
    EXPECT_EQ(allocator.requests(), requests);  // run never allocates
  }
  EXPECT_EQ(allocator.live_bytes(), 0);
  EXPECT_EQ(allocator.returned_wrong(), 0);
}

// Misuse, on the CPU: what is checked is the same everywhere.
class SddmmError : public ::testing::Test {
 protected:
  using View = MatrixView<const double>;

  void expect(ErrorCode code, const std::string& message, const View& x, const View& y,
              std::int64_t count = 3) {
    expect_error([&] { plan_.run(stream_, x, y, {values_.data(), count}); }, code, {message});
  }

  Stream stream_{Device::cpu()};
  std::vector<std::int64_t> offsets_ = {0, 2, 2, 3};
  std::vector<std::int32_t> indices_ = {0, 3, 1};
  CsrView<double> a_{3, 4, 3, offsets_.data(), indices_.data(), nullptr, 0};
  SddmmPlan<double> plan_{stream_, a_};
  std::vector<double> x_ = std::vector<double>(100, 1.0);
  std::vector<double> values_ = std::vector<double>(100, 1.0);
};

TEST_F(SddmmError, Extents) {
  double* const x = x_.data();
  expect(ErrorCode::size_mismatch, "X has 4 rows, A has 3 rows", {x, 4, 2, 4}, {x, 4, 2, 4});
  expect(ErrorCode::size_mismatch, "Y has 3 rows, A has 4 columns", {x, 3, 2, 4}, {x, 3, 2, 4});
  expect(ErrorCode::size_mismatch, "X has 2 columns, Y has 3 columns", {x, 3, 2, 3}, {x, 4, 3, 4});
  expect(ErrorCode::size_mismatch, "4 values for a pattern of 3 entries", {x, 3, 2, 3},
         {x, 4, 2, 4}, 4);
  expect(ErrorCode::invalid_argument, "X has -1 columns", {x, 3, -1, 3}, {x, 4, -1, 4});
}

TEST_F(SddmmError, LeadingDimensions) {
  double* const x = x_.data();
  expect(ErrorCode::invalid_argument, "X has leading dimension 2, but its columns have 3 elements",
         {x, 3, 2, 2}, {x, 4, 2, 4});
  expect(ErrorCode::invalid_argument, "Y has leading dimension 1, but its rows have 2 elements",
         {x, 3, 2, 3}, {x, 4, 2, 1, Layout::row});
}

TEST_F(SddmmError, NullOperands) {
  expect(ErrorCode::invalid_argument, "X: a null pointer to 6 elements", {nullptr, 3, 2, 3},
         {x_.data(), 4, 2, 4});
  expect(ErrorCode::invalid_argument, "Y: a null pointer to 8 elements", {x_.data(), 3, 2, 3},
         {nullptr, 4, 2, 4});
  const View x{x_.data(), 3, 2, 3};
  const View y{x_.data(), 4, 2, 4};
  expect_error(
      [&] {
        plan_.run(stream_, x, y, {nullptr, 3});
      },
      ErrorCode::invalid_argument, {"the array of values: a null pointer to 3 elements"});
  plan_.run(stream_, {nullptr, 3, 0, 3}, {nullptr, 4, 0, 4}, {values_.data(), 3});
  EXPECT_EQ(values_[2], 0.0);
}

TEST_F(SddmmError, Overlap) {
  double* const x = x_.data();
  const auto expect_overlap = [&](double* values, const View& of_x, const View& of_y,
                                  const std::string& message) {
    expect_error(
        [&] {
          plan_.run(stream_, of_x, of_y, {values, 3});
        },
        ErrorCode::invalid_argument, {message});
  };
  const std::string of_x = "X (3 x 2) and the values (3 entries) overlap: values are written while";
  expect_overlap(x + 5, {x, 3, 2, 3}, {x + 10, 4, 2, 4}, of_x);
  expect_overlap(x + 17, {x + 50, 3, 2, 3}, {x + 10, 4, 2, 4},
                 "Y (4 x 2) and the values (3 entries) overlap: values are written while Y");
  expect_overlap(x + 6, {x, 3, 2, 8, Layout::row}, {x + 50, 4, 2, 4}, of_x);
  // Between the rows of X, and behind Y:
  plan_.run(stream_, {x, 3, 2, 8, Layout::row}, {x + 50, 4, 2, 4}, {x + 5, 3});
  plan_.run(stream_, {x, 3, 2, 3}, {x + 50, 4, 2, 4}, {x + 58, 3});
}

TEST_F(SddmmError, Workspaces) {
  const SddmmPlan<double> plan(stream_, a_, {.expected_columns = 2});
  const View x{x_.data(), 3, 2, 3};
  const View y{x_.data() + 10, 4, 2, 4};
  const auto run = [&](Workspace workspace) {
    plan.run(stream_, 1.0, x, y, 0.0, {values_.data(), 3}, workspace);
  };
  expect_error(
      [&] {
        run({x_.data(), 8});
      },
      ErrorCode::size_mismatch, {"the workspace has 8 bytes, the plan needs 112"});
  Buffer<double> memory(stream_, 20);
  expect_error(
      [&] {
        run({memory.data() + 1, 112});
      },
      ErrorCode::invalid_argument, {"is not aligned to 16 bytes"});
  run({memory.data(), 112});
}

TEST_F(SddmmError, Patterns) {
  const auto expect_plan = [&](ErrorCode code, const std::string& message,
                               const SddmmOptions& options = {}) {
    expect_error([&] { const SddmmPlan<double> plan(stream_, a_, options); }, code, {message});
  };
  expect_plan(ErrorCode::invalid_argument, "a plan for -1 columns; at least 0",
              {.expected_columns = -1});
  indices_[1] = 4;
  expect_plan(ErrorCode::invalid_argument, "entry 1 of A, in row 0, has column 4");
  offsets_[3] = 2;
  expect_plan(ErrorCode::invalid_argument, "the row offsets of A end at 2, but A has 3 entries");
  a_.index_base = 2;
  expect_plan(ErrorCode::invalid_argument, "A has index base 2, which must be 0 or 1");
  a_.cols = std::int64_t{1} << 31;
  a_.index_base = 0;
  expect_plan(ErrorCode::unsupported, "A is 3 x 2147483648");
}

// What only a GPU has.
TEST(SddmmCuda, ShortRunIsCapturedInAGraph) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  Random random(seed_or(16));
  const Stream stream(device);
  const auto a = matrix_of<double>({3, 0, 9, 2, 1}, 6, random, small_integer<double>);
  const SddmmPlan<double> plan(stream, a.view(), {.expected_columns = 5});
  const auto host_x = vector_of<double>(5 * 5, random, small_integer<double>);
  const auto host_y = vector_of<double>(6 * 5, random, small_integer<double>);
  auto x = Buffer<double>::from(stream, host_x);
  auto y = Buffer<double>::from(stream, host_y);
  auto alpha = Buffer<double>::from(stream, std::vector<double>{1.0});
  Buffer<double> values(stream, a.nnz());
  values.fill_zero();
  runtime::Graph graph(stream, [&] {
    plan.run(stream, Scalar<double>::on_device(alpha.data()), {x.data(), 5, 5, 5},
             {y.data(), 6, 5, 5, Layout::row}, 1.0, values.view());
  });
  graph.launch(stream);
  const std::vector<double> once = values.to_host();
  alpha.copy_from(std::vector<double>{2.0});
  graph.launch(stream);
  const std::vector<double> thrice = values.to_host();
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t entry = a.row_offsets[row]; entry < a.row_offsets[row + 1]; ++entry) {
      double sum = 0;
      for (std::int64_t c = 0; c < 5; ++c)
        sum += host_x[row + 5 * c] * host_y[a.col_indices[entry] * 5 + c];
      EXPECT_EQ(once[entry], sum) << entry;
      EXPECT_EQ(thrice[entry], 3 * sum) << entry;
    }
  }
}

TEST(SddmmCuda, ShortRunRefusesWhatKernelsCannotLoad) {
  LANKY_DEVICE_OR_SKIP(device, DeviceKind::cuda);
  using T = std::complex<float>;
  const Stream stream(device);
  const std::vector<std::int64_t> offsets = {0, 1};
  const std::vector<std::int32_t> columns = {0};
  const SddmmPlan<T> plan(stream, {1, 1, 1, offsets.data(), columns.data(), nullptr, 0});
  Buffer<T> memory(stream, 8);
  memory.fill_zero();
  const MatrixView<const T> x{memory.data(), 1, 2, 2, Layout::row};
  const VectorView<T> values{memory.data() + 4, 1};
  const MatrixView<const T> odd{
      reinterpret_cast<const T*>(reinterpret_cast<const float*>(memory.data()) + 1), 1, 2, 2,
      Layout::row};
  expect_error([&] { plan.run(stream, x, odd, values); }, ErrorCode::invalid_argument,
               {"Y is not aligned to the 8 bytes of an element of c64"});
  const MatrixView<const T> far{memory.data(), 1, 2, std::int64_t{1} << 29, Layout::row};
  expect_error([&] { plan.run(stream, far, x, values); }, ErrorCode::unsupported,
               {"rows of X are 4294967296 bytes apart"});
  const std::vector<T> on_host(2);
  expect_error(
      [&] {
        plan.run(stream, {on_host.data(), 1, 2, 2, Layout::row}, x, values);
      },
      ErrorCode::wrong_memory, {"X is in host memory"});
}

}  // namespace
}  // namespace lanky::testing
