// The harness without a GPU: statistics, stopping, interleaving, verification, records, grids.
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <complex>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "bench/cases/case.hpp"
#include "bench/cases/full_grid.hpp"
#include "bench/cases/gemm_case.hpp"
#include "bench/cases/grid.hpp"
#include "bench/cases/operand.hpp"
#include "bench/cases/random.hpp"
#include "bench/cases/scattered_grid.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/memory_peak.hpp"
#include "bench/harness/oracle.hpp"
#include "bench/harness/statistics.hpp"
#include "bench/harness/stopwatch.hpp"
#include "bench/harness/verify.hpp"
#include "bench/records/record.hpp"
#include "bench/records/table.hpp"
#include "bench/rivals/vendor.hpp"
#include "support/expect_error.hpp"

namespace lanky::bench {
namespace {

using Json = nlohmann::json;

TEST(Statistics, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(Statistics, IntervalNeedsSixSamples) {
  EXPECT_TRUE(std::isinf(median_interval({1, 1, 1, 1, 1}).noise()));
  EXPECT_EQ(median_interval({1, 1, 1, 1, 1, 1}).noise(), 0);
}

TEST(Statistics, IntervalCoversTheMedianAsOftenAsPromised) {
  std::mt19937 generator(7);
  std::exponential_distribution<double> skewed(1.0);
  const double truth = std::log(2.0);
  for (const int size : {6, 15, 40}) {
    int covered = 0;
    constexpr int kTrials = 4000;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> samples;
      for (int i = 0; i < size; ++i)
        samples.push_back(skewed(generator));
      const MedianInterval interval = median_interval(samples);
      covered += interval.low <= truth && truth <= interval.high ? 1 : 0;
    }
    EXPECT_GE(covered, 0.94 * kTrials) << size << " samples";
  }
}

/// A clock that samplers turn.
struct FakeTime {
  double seconds = 0;
  Now now() {
    return [this] { return seconds; };
  }
};

TEST(Measure, StopsOnceQuiet) {
  FakeTime time;
  ClockWatch no_clock;
  const std::vector<Sampler> quiet = {[] { return 5.0; }};
  const auto estimates = measure(quiet, {.min_rounds = 7}, no_clock, time.now());
  EXPECT_EQ(estimates[0].samples, 7);
  EXPECT_EQ(estimates[0].median_us, 5);
  EXPECT_EQ(estimates[0].noise, 0);
  EXPECT_FALSE(estimates[0].throttled);
}

TEST(Measure, GoesOnWhileNoisy) {
  FakeTime time;
  ClockWatch no_clock;
  std::mt19937 generator(3);
  std::normal_distribution<double> noise(100, 10);
  const std::vector<Sampler> noisy = {[&] { return noise(generator); }};
  const MeasureOptions options{.target_noise = 0.02, .max_rounds = 100000, .max_seconds = 1e9};
  const auto estimates = measure(noisy, options, no_clock, time.now());
  EXPECT_GT(estimates[0].samples, 50);
  EXPECT_LT(estimates[0].noise, 0.02);
  EXPECT_NEAR(estimates[0].median_us, 100, 5);
}

TEST(Measure, StopsAtTheCapsWithTheNoiseItHas) {
  FakeTime time;
  ClockWatch no_clock;
  int calls = 0;
  const std::vector<Sampler> wild = {[&] { return ++calls % 2 == 0 ? 1.0 : 9.0; }};
  const auto by_rounds = measure(wild, {.max_rounds = 20}, no_clock, time.now());
  EXPECT_EQ(by_rounds[0].samples, 20);
  EXPECT_GT(by_rounds[0].noise, 0.1);

  const std::vector<Sampler> slow = {[&] {
    time.seconds += 10;
    return 1e7;
  }};
  const auto by_time = measure(slow, {.max_seconds = 1}, no_clock, time.now());
  EXPECT_EQ(by_time[0].samples, 3);
  EXPECT_TRUE(std::isinf(by_time[0].noise));
}

TEST(Measure, InterleavesContestants) {
  FakeTime time;
  ClockWatch no_clock;
  std::string order;
  const std::vector<Sampler> three = {[&] { return order += 'a', 1.0; },
                                      [&] { return order += 'b', 2.0; },
                                      [&] { return order += 'c', 3.0; }};
  measure(three, {.min_rounds = 7}, no_clock, time.now());
  EXPECT_EQ(order, "abcabcabcabcabcabcabc");
}

TEST(Measure, DriftMeetsAllContestantsAlike) {
  // The machine slows down steadily; one after the other, the second would look slower.
  FakeTime time;
  ClockWatch no_clock;
  double slowness = 1;
  const auto sample = [&] { return 10 * (slowness *= 1.001); };
  const std::vector<Sampler> equals = {sample, sample};
  const MeasureOptions options{.min_rounds = 100, .max_rounds = 100};
  const auto estimates = measure(equals, options, no_clock, time.now());
  EXPECT_NEAR(estimates[0].median_us / estimates[1].median_us, 1, 0.002);
}

TEST(Measure, RetakesRoundsAtALoweredClock) {
  FakeTime time;
  int reads = 0;
  ClockWatch clock([&] { return ++reads == 3 || reads == 4 ? 1500.0 : 1980.0; });
  int calls = 0;
  const std::vector<Sampler> sampler = {[&] { return calls++ == 2 || calls == 4 ? 99.0 : 5.0; }};
  const auto estimates = measure(sampler, {.min_rounds = 7}, clock, time.now());
  EXPECT_EQ(calls, 9);  // two rounds were thrown away
  EXPECT_EQ(estimates[0].samples, 7);
  EXPECT_EQ(estimates[0].noise, 0);
  EXPECT_FALSE(estimates[0].throttled);
  EXPECT_EQ(clock.highest_mhz(), 1980);
}

TEST(Measure, FlagsAClockThatStaysLow) {
  FakeTime time;
  int reads = 0;
  ClockWatch clock([&] { return reads++ == 0 ? 1980.0 : 1200.0; });
  const std::vector<Sampler> sampler = {[] { return 5.0; }};
  const MeasureOptions options{.min_rounds = 7, .max_retakes = 4};
  const auto estimates = measure(sampler, options, clock, time.now());
  EXPECT_TRUE(estimates[0].throttled);
  EXPECT_EQ(estimates[0].samples, 7);
  EXPECT_EQ(reads, 11);
}

TEST(Measure, ASmallDropOfTheClockIsNone) {
  int reads = 0;
  ClockWatch clock([&] { return reads++ == 0 ? 2000.0 : 1910.0; });
  EXPECT_FALSE(clock.dropped(0.05));
  EXPECT_FALSE(clock.dropped(0.05));
  EXPECT_TRUE(clock.dropped(0.04));
}

double rounded(DType dtype, double value) {
  switch (dtype) {
    case DType::f32:
      return static_cast<double>(static_cast<float>(value));
    case DType::f16:
      return static_cast<double>(half(value));
    case DType::bf16:
      return static_cast<double>(bfloat16(value));
    default:
      return value;
  }
}

TEST(Random, ElementsAreExactInTheirTypeAndZeroMean) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    double sum = 0;
    for (std::int64_t i = 0; i < 20000; ++i) {
      const double value = element(Fill::random, 5, i, significand_bits(dtype));
      ASSERT_LT(std::fabs(value), 1);
      ASSERT_NE(value, 0);
      ASSERT_EQ(rounded(dtype, value), value) << to_string(dtype);
      sum += value;
    }
    EXPECT_LT(std::fabs(sum / 20000), 5 * 0.577 / std::sqrt(20000.0)) << to_string(dtype);
  }
}

TEST(Random, IntegersAreAllThreeAndSeedsDiffer) {
  int counts[3] = {};
  int differ = 0;
  for (std::int64_t i = 0; i < 3000; ++i) {
    const double value = element(Fill::integers, 1, i, 8);
    ASSERT_TRUE(value == -1 || value == 0 || value == 1);
    ++counts[static_cast<int>(value) + 1];
    differ += value != element(Fill::integers, 2, i, 8) ? 1 : 0;
  }
  for (const int count : counts)
    EXPECT_NEAR(count, 1000, 150);
  EXPECT_GT(differ, 1500);
}

TEST(Operand, FillDoesNotDependOnTheLayoutAndPoisonsThePadding) {
  const Stream stream(Device::cpu());
  Matrix<float> by_col(stream, 5, 3, Layout::col, 7);
  Matrix<float> by_row(stream, 5, 3, Layout::row, 4);
  fill_matrix(stream, by_col.view(), Fill::random, 9);
  fill_matrix(stream, by_row.view(), Fill::random, 9);
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 3; ++j) {
      EXPECT_EQ(by_col.view().data[i + j * 7], by_row.view().data[i * 4 + j]);
      EXPECT_EQ(by_col.view().data[i + j * 7],
                static_cast<float>(element(Fill::random, 9, i + j * 5, 24)));
    }
  }
  EXPECT_TRUE(std::isnan(by_col.view().data[5]));
  EXPECT_TRUE(std::isnan(by_row.view().data[3]));
}

TEST(Verify, InnerProductIsMoreExactThanDouble) {
  InnerProduct sum;
  for (const double a : {1e16, 1.0, -1e16})
    sum.add(a, 1);
  sum.add(1.0 + 0x1p-30, 1.0 - 0x1p-30);  // 1 - 2^-60: the product does not fit a double
  sum.add(-1, 1);
  EXPECT_EQ(sum.result().value, 1 - 0x1p-60);
  EXPECT_EQ(sum.result().terms, 5);
  EXPECT_GE(sum.result().magnitude, 2e16);
}

Reference dot(std::initializer_list<std::pair<double, double>> products) {
  InnerProduct sum;
  for (const auto& [a, x] : products)
    sum.add(a, x);
  return sum.result();
}

TEST(Verify, ExactMeansRoundedOnce) {
  const std::vector<Reference> expected = {dot({{2049, 1}})};  // between 2048 and 2050 in f16
  EXPECT_TRUE(check_exact(DType::f16, std::vector<double>{2048}, expected).right);
  EXPECT_FALSE(check_exact(DType::f16, std::vector<double>{2050}, expected).right);
  EXPECT_FALSE(check_exact(DType::f16, std::vector<double>{2049}, expected).right);
  EXPECT_TRUE(check_exact(DType::f32, std::vector<double>{2049}, expected).right);
  EXPECT_FALSE(check_exact(DType::f32, std::vector<double>{std::nan("")}, expected).right);
}

TEST(Verify, BoundAcceptsRoundingAndCatchesAWrongTerm) {
  std::vector<double> computed;
  std::vector<Reference> expected;
  for (int row = 0; row < 50; ++row) {
    InnerProduct exact;
    float sum = 0;
    for (int i = 0; i < 100; ++i) {
      const double a = element(Fill::random, 1, row * 100 + i, 24);
      const double x = element(Fill::random, 2, i, 24);
      exact.add(a, x);
      sum += static_cast<float>(a) * static_cast<float>(x);
    }
    computed.push_back(static_cast<double>(sum));
    expected.push_back(exact.result());
  }
  const Verdict right = check_bound(ErrorModel::ieee(DType::f32), computed, expected);
  EXPECT_TRUE(right.right) << right.message;
  EXPECT_GT(right.error, 0);
  EXPECT_LT(right.error, right.bound);

  computed[17] += 1e-4 * expected[17].magnitude;
  const Verdict wrong = check_bound(ErrorModel::ieee(DType::f32), computed, expected);
  EXPECT_FALSE(wrong.right);
  EXPECT_GT(wrong.error, wrong.bound);
  EXPECT_NE(wrong.message.find("element 17"), std::string::npos) << wrong.message;

  computed[17] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(check_bound(ErrorModel::ieee(DType::f32), computed, expected).right);
}

TEST(Verify, TensorCoresHaveBoundsOfTheirOwn) {
  std::vector<Reference> expected = {dot({{1, 1}, {1, -1}})};  // 0, of magnitude 2
  const auto allows = [&](Math math, double error) {
    return check_bound(ErrorModel::of(math, DType::f32, 0x1p-11), std::vector<double>{error},
                       expected)
        .right;
  };
  EXPECT_TRUE(allows(Math::ieee, 0x1p-22));
  EXPECT_FALSE(allows(Math::ieee, 0x1p-20));
  EXPECT_TRUE(allows(Math::tf32x3, 0x1p-20));
  EXPECT_FALSE(allows(Math::tf32x3, 0x1p-16));
  EXPECT_TRUE(allows(Math::tf32, 0x1p-10));
  EXPECT_FALSE(allows(Math::tf32, 0x1p-8));
}

TEST(Verify, OverflowIsRightWhereTheExactResultOverflows) {
  const std::vector<Reference> large = {dot({{300, 300}})};  // above 65504
  const std::vector<Reference> small = {dot({{200, 300}})};
  const double infinity = std::numeric_limits<double>::infinity();
  const ErrorModel model = ErrorModel::ieee(DType::f16);
  EXPECT_TRUE(check_bound(model, std::vector<double>{infinity}, large).right);
  EXPECT_FALSE(check_bound(model, std::vector<double>{-infinity}, large).right);
  EXPECT_FALSE(check_bound(model, std::vector<double>{infinity}, small).right);
  EXPECT_FALSE(check_bound(model, std::vector<double>{0}, large).right);
}

TEST(Verify, AVendorMayRoundTwice) {
  // 2049 + 0.5: once, 2050 (above the tie); rounded to 2048 first, 2048.
  std::vector<Reference> expected(1);
  expected[0] = {2049.5, 2049.5, 2, 2049};
  const std::vector<double> twice = {2048};
  EXPECT_FALSE(check_exact(DType::f16, twice, expected).right);
  EXPECT_TRUE(check_exact(DType::f16, twice, expected, Roundings::once_or_twice).right);
  EXPECT_TRUE(check_exact(DType::f16, std::vector<double>{2050}, expected).right);
  EXPECT_FALSE(
      check_exact(DType::f16, std::vector<double>{2046}, expected, Roundings::once_or_twice).right);
}

/// C = alpha op(A) op(B) + beta C written down once more, from operands in memory.
template <class T>
std::vector<double> product_in_memory(const DenseData& data, std::int64_t m, std::int64_t n) {
  using Complex = std::complex<double>;
  const Stream stream(Device::cpu());
  const auto operand = [&](std::uint64_t seed, std::int64_t rows, std::int64_t cols) {
    Matrix<T> matrix(stream, rows, cols);
    fill_matrix(stream, matrix.view(), data.fill, seed);
    std::vector<Complex> wide;
    for (const T& value : matrix.buffer().to_host())
      wide.emplace_back(value);
    return wide;
  };
  const auto columns = [&](Op op, std::int64_t inner, std::int64_t outer) {
    return op == Op::none ? outer : inner;
  };
  const std::vector<Complex> a =
      operand(DenseData::kSeedA, data.a_rows, columns(data.op_a, m, data.k));
  const std::vector<Complex> b =
      data.symmetric ? a : operand(DenseData::kSeedB, data.b_rows, columns(data.op_b, data.k, n));
  const std::vector<Complex> c = operand(DenseData::kSeedC, m, n);
  const auto at = [](const std::vector<Complex>& matrix, std::int64_t rows, Op op, std::int64_t i,
                     std::int64_t j) {
    if (op != Op::none) std::swap(i, j);
    const Complex value = matrix[static_cast<std::size_t>(i + j * rows)];
    return op == Op::conj_trans ? std::conj(value) : value;
  };
  std::vector<double> all;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < m; ++i) {
      Complex sum = data.beta * at(c, m, Op::none, i, j);
      for (std::int64_t l = 0; l < data.k; ++l)
        sum += data.alpha * at(a, data.a_rows, data.op_a, i, l) *
               at(b, data.symmetric ? data.a_rows : data.b_rows, data.op_b, l, j);
      all.push_back(sum.real());
      if (is_complex(data.in)) all.push_back(sum.imag());
    }
  }
  return all;
}

template <class T>
void expect_references(const DenseData& data, std::int64_t m, std::int64_t n) {
  std::vector<Place> places;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < m; ++i) {
      for (int part = 0; part < components(data.in); ++part)
        places.push_back({i, j, part});
    }
  }
  const std::vector<double> expected = product_in_memory<T>(data, m, n);
  const std::vector<Reference> found = references(Stream(Device::cpu()), data, places);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t p = 0; p < found.size(); ++p) {
    EXPECT_NEAR(found[p].value, expected[p], 1e-13) << p;
    EXPECT_GE(found[p].magnitude, std::fabs(expected[p]) - 1e-13);
  }
}

TEST(Oracle, KnowsTransposesConjugatesAndScalars) {
  const DenseData real{.fill = Fill::random,
                       .in = DType::f64,
                       .out = DType::f64,
                       .op_a = Op::trans,
                       .op_b = Op::trans,
                       .k = 9,
                       .a_rows = 9,
                       .b_rows = 5,
                       .c_rows = 4,
                       .alpha = 2,
                       .beta = 0.5};
  expect_references<double>(real, 4, 5);
  DenseData complex = real;
  complex.in = complex.out = DType::c128;
  expect_references<std::complex<double>>(complex, 4, 5);
  complex.op_a = Op::conj_trans;
  expect_references<std::complex<double>>(complex, 4, 5);
  complex.op_b = Op::conj_trans;
  complex.alpha = -3;
  complex.beta = 0;
  expect_references<std::complex<double>>(complex, 4, 5);
  const DenseData symmetric{.fill = Fill::integers,
                            .in = DType::c64,
                            .out = DType::c64,
                            .op_a = Op::none,
                            .op_b = Op::conj_trans,
                            .k = 7,
                            .a_rows = 6,
                            .b_rows = 6,
                            .c_rows = 6,
                            .symmetric = true};
  expect_references<std::complex<float>>(symmetric, 6, 6);
}

/// Judges OpenBLAS's product after `spoil` has been at it.
template <class Spoil>
CaseReport judge_openblas(const GemmCase& gemm, Spoil spoil) {
  Session session(Device::cpu(),
                  {.min_rounds = 6, .max_rounds = 6, .max_seconds = 0.05, .batch_ms = 0.05});
  const std::unique_ptr<Workload> real = make_gemm_workload(session, gemm);
  class Spoiled final : public Workload {
   public:
    Spoiled(Session& in, Workload& inner, Spoil what) : session_(in), inner_(inner), spoil_(what) {}
    std::variant<SpmvCase, GemmCase> subject() const override { return inner_.subject(); }
    Footprint footprint() const override { return inner_.footprint(); }
    int slots() const override { return inner_.slots(); }
    void fill(Fill fill) override { inner_.fill(fill); }
    std::vector<Contestant> contestants() override {
      std::vector<Contestant> all = inner_.contestants();
      all.erase(all.begin());  // lanky
      all[0].run = [this, run = all[0].run](const Stream& stream, int slot) {
        run(stream, slot);
        spoil_(session_.operands.reserve(0));
      };
      return all;
    }
    void poison(int slot) override { inner_.poison(slot); }
    bool repeatable() const override { return inner_.repeatable(); }
    Verdict check(Fill fill, const Contestant& contestant, int slot) override {
      return inner_.check(fill, contestant, slot);
    }

   private:
    Session& session_;
    Workload& inner_;
    Spoil spoil_;
  } spoiled(session, *real, spoil);
  return run_workload(session, spoiled);
}

TEST(Oracle, AWrongComplexProductIsFound) {
  if (openblas_version().empty()) GTEST_SKIP() << "there is no OpenBLAS";
  const GemmCase gemm{.m = 4,
                      .n = 3,
                      .k = 200,
                      .op_a = Op::conj_trans,
                      .alpha = 2,
                      .beta = 0.5,
                      .type = GemmType::same(DType::c128)};
  EXPECT_EQ(judge_openblas(gemm, [](char*) {}).outcomes[0].status, Status::ok);
  // The first set holds A (200 x 4), B (200 x 3), then C (4 x 3), each from a multiple of 256 on.
  constexpr std::size_t kC = 200 * 4 * 16 + (200 * 3 * 16 + 255) / 256 * 256;
  const auto conjugate_one = [](char* memory) {
    auto* c = reinterpret_cast<std::complex<double>*>(memory + kC);
    c[7] = std::conj(c[7]);
  };
  EXPECT_EQ(judge_openblas(gemm, conjugate_one).outcomes[0].status, Status::wrong);
  const auto forget_one = [](char* memory) {
    auto* c = reinterpret_cast<std::complex<double>*>(memory + kC);
    c[11] = {c[11].real(), std::numeric_limits<double>::quiet_NaN()};
  };
  EXPECT_EQ(judge_openblas(gemm, forget_one).outcomes[0].status, Status::wrong);
}

TEST(Oracle, OfATriangleTheRestIsNotAsked) {
  const Stream stream(Device::cpu());
  for (const Layout layout : {Layout::col, Layout::row}) {
    Matrix<std::complex<float>> c(stream, 3, 3, layout);
    fill_matrix(stream, c.view(), Fill::random, 1);
    const StoredArray array = StoredArray::of(c.view());
    EXPECT_EQ(count_nan(stream, array, false), 0);
    const std::complex<float> nan(0, std::numeric_limits<float>::quiet_NaN());
    c.view().data[layout == Layout::col ? 0 + 2 * 3 : 0 * 3 + 2] =
        nan;  // (0, 2): above the diagonal
    EXPECT_EQ(count_nan(stream, array, false), 1);
    EXPECT_EQ(count_nan(stream, array, true), 0);
    c.view().data[layout == Layout::col ? 2 + 1 * 3 : 2 * 3 + 1] = nan;  // (2, 1)
    EXPECT_EQ(count_nan(stream, array, true), 1);
  }
}

TEST(Vendor, RoutinesThatExist) {
  const auto routines = [](GemmType type, const GemmShape& shape, bool symmetric, double beta) {
    std::set<VendorRoutine> all;
    for (const VendorRoutine routine : vendor_routines({type, shape, 1, beta, symmetric}))
      all.insert(routine);
    return all;
  };
  const auto has = [](const std::set<VendorRoutine>& all, VendorRoutine routine) {
    return all.count(routine) == 1;
  };
  const GemmShape gram{
      .m = 8, .n = 8, .k = 1000, .op_a = Op::trans, .lda = 1000, .ldb = 1000, .ldc = 8};
  const auto f64 = GemmType::same(DType::f64);
  EXPECT_TRUE(has(routines(f64, gram, true, 0), VendorRoutine::syrk));
  EXPECT_FALSE(has(routines(f64, gram, false, 0), VendorRoutine::syrk));
  EXPECT_FALSE(has(routines(GemmType::same(DType::f16), gram, true, 0), VendorRoutine::syrk));
  EXPECT_FALSE(has(routines(f64, gram, true, 0), VendorRoutine::gemv));
  const GemmType tf32{DType::f32, DType::f32, Math::tf32};
  EXPECT_FALSE(has(routines(tf32, gram, true, 0), VendorRoutine::syrk));
  EXPECT_TRUE(has(routines(tf32, gram, true, 0), VendorRoutine::lt_best));
  GemmShape hermitian = gram;
  hermitian.op_a = Op::conj_trans;
  EXPECT_TRUE(has(routines(GemmType::same(DType::c64), hermitian, true, 0), VendorRoutine::syrk));
  EXPECT_FALSE(
      has(routines(GemmType::same(DType::c64), hermitian, true, 0.5), VendorRoutine::syrk));
  GemmShape vector = gram;
  vector.n = 1;
  EXPECT_TRUE(has(routines(f64, vector, false, 0), VendorRoutine::gemv));
  EXPECT_FALSE(has(routines(GemmType::same(DType::bf16), vector, false, 0), VendorRoutine::gemv));
}

/// y = op(matrix) x as a gemv would read it, against the product's definition, element by element.
void expect_gemv(const GemmCall& gemm) {
  const GemvCall call = gemv_call(gemm);
  ASSERT_TRUE(call.exists);
  const GemmShape& s = gemm.shape;
  const auto index = [&](std::int64_t i, std::int64_t j, std::int64_t ld, Op op) {
    if (op != Op::none) std::swap(i, j);
    return s.layout == Layout::col ? i + j * ld : i * ld + j;
  };
  const std::int64_t outputs = call.op == Op::none ? call.rows : call.cols;
  const std::int64_t inner = call.op == Op::none ? call.cols : call.rows;
  EXPECT_EQ(outputs, s.m * s.n);
  EXPECT_EQ(inner, s.k);
  for (std::int64_t o = 0; o < outputs; ++o) {
    const std::int64_t i = call.swapped ? 0 : o;
    const std::int64_t j = call.swapped ? o : 0;
    EXPECT_EQ(o * call.stride_y, index(i, j, s.ldc, Op::none));
    for (std::int64_t l = 0; l < inner; ++l) {
      const std::int64_t matrix = call.op == Op::none ? o + l * call.ld : l + o * call.ld;
      const std::int64_t a = index(i, l, s.lda, s.op_a);
      const std::int64_t b = index(l, j, s.ldb, s.op_b);
      EXPECT_EQ(matrix, call.swapped ? b : a);
      EXPECT_EQ(l * call.stride_x, call.swapped ? a : b);
    }
  }
}

TEST(Vendor, GemvReadsWhatTheProductReads) {
  for (const Layout layout : {Layout::col, Layout::row}) {
    for (const Op op_a : {Op::none, Op::trans}) {
      for (const Op op_b : {Op::none, Op::trans}) {
        for (const auto& [m, n] : {std::pair{5, 1}, {1, 6}, {1, 1}}) {
          SCOPED_TRACE(testing::Message() << m << " " << n << " " << to_string(layout)
                                          << to_string(op_a) << to_string(op_b));
          expect_gemv({GemmType::same(DType::f64),
                       {.m = m,
                        .n = n,
                        .k = 4,
                        .op_a = op_a,
                        .op_b = op_b,
                        .layout = layout,
                        .lda = 11,
                        .ldb = 13,
                        .ldc = 17},
                       1,
                       0,
                       false});
        }
      }
    }
  }
}

TEST(Vendor, AConjugateThatNoGemvHasIsNone) {
  const auto exists = [](Layout layout, Op op_a, Op op_b) {
    return gemv_call({GemmType::same(DType::c64),
                      {.m = 5,
                       .n = 1,
                       .k = 4,
                       .op_a = op_a,
                       .op_b = op_b,
                       .layout = layout,
                       .lda = 11,
                       .ldb = 13,
                       .ldc = 17},
                      1,
                      0,
                      false})
        .exists;
  };
  EXPECT_TRUE(exists(Layout::col, Op::conj_trans, Op::none));
  EXPECT_FALSE(exists(Layout::row, Op::conj_trans, Op::none));
  EXPECT_FALSE(exists(Layout::col, Op::none, Op::conj_trans));
}

TEST(Verify, TellsWhatIsWrongAndWhatWouldBeRight) {
  const Reference half = dot({{0.5, 1.0}});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const ErrorModel model = ErrorModel::ieee(DType::f64);
  EXPECT_EQ(check_bound(model, std::vector<double>{nan}, std::vector{half}).message,
            "element 0 is nan, not 0.5 to within 1.67e-16");
  EXPECT_EQ(check_exact(DType::f64, std::vector<double>{0.25}, std::vector{half}).message,
            "element 0 is 0.25, not 0.5");
}

TEST(Verify, AnEmptySumIsZero) {
  const std::vector<Reference> empty(1);
  EXPECT_TRUE(check_bound(ErrorModel::ieee(DType::f64), std::vector<double>{0}, empty).right);
  EXPECT_FALSE(check_bound(ErrorModel::ieee(DType::f64), std::vector<double>{1e-300}, empty).right);
}

/// y = A x of a small diagonal "matrix", with contestants that are right or wrong in a known way.
class FakeWorkload : public Workload {
 public:
  explicit FakeWorkload(const Stream& stream) : y_(stream, kRows) {}

  std::variant<SpmvCase, GemmCase> subject() const override {
    return SpmvCase{"fake", kRows, kRows, kRows, DType::f64};
  }
  Footprint footprint() const override { return {2 * kRows * 8, kRows * 8, 2.0 * kRows}; }
  int slots() const override { return 1; }
  void fill(Fill fill) override {
    fill_ = fill;
    reference_.clear();
    for (int i = 0; i < kRows; ++i)
      reference_.push_back(dot({{value(1, i), value(2, i)}}));
  }
  std::vector<Contestant> contestants() override {
    const auto factors = [this](int skipped, double factor) {
      return [this, skipped, factor](const Stream&, int) {
        for (int i = 0; i < kRows; ++i) {
          if (i != skipped) y_.data()[i] = value(1, i) * value(2, i) * factor;
        }
      };
    };
    std::vector<Contestant> all(5);
    all[0].name = "lanky";
    all[0].run = factors(-1, 1);
    all[1].name = "forgets-a-row";
    all[1].run = factors(7, 1);
    all[2].name = "inexact";
    all[2].run = factors(-1, fill_ == Fill::random ? 1.0000001 : 1);
    all[3].name = "throws";
    all[3].run = [](const Stream&, int) { throw Error(ErrorCode::device, "it broke"); };
    all[4].name = "absent";
    all[4].status = Status::unsupported;
    all[4].message = "no such library";
    return all;
  }
  void poison(int /*slot*/) override {
    for (int i = 0; i < kRows; ++i)
      y_.data()[i] = std::numeric_limits<double>::quiet_NaN();
  }
  Verdict check(Fill fill, const Contestant& /*contestant*/, int /*slot*/) override {
    const std::vector<double> y = y_.to_host();
    return fill == Fill::integers ? check_exact(DType::f64, y, reference_)
                                  : check_bound(ErrorModel::ieee(DType::f64), y, reference_);
  }

 protected:
  static constexpr int kRows = 40;
  double value(std::uint64_t seed, int i) const { return element(fill_, seed, i, 53); }

  Buffer<double> y_;

 private:
  Fill fill_ = Fill::integers;
  std::vector<Reference> reference_;
};

/// The same with plans, which hold the values that they were made or updated with.
class FakePlans final : public FakeWorkload {
 public:
  using FakeWorkload::FakeWorkload;

  std::vector<Contestant> contestants() override {
    std::vector<Contestant> all;
    for (const char* name : {"takes-all", "forgets-one", "throws", "takes-none"}) {
      const auto held = std::make_shared<std::vector<double>>(values());
      all.emplace_back();
      all.back().name = name;
      all.back().run = [this, held](const Stream&, int) {
        for (int i = 0; i < kRows; ++i)
          y_.data()[i] = (*held)[static_cast<std::size_t>(i)] * value(2, i);
      };
      all.back().update = [this, held, forgets = all.size() == 2] {
        const double kept = held->at(5);
        *held = values();
        if (forgets) held->at(5) = kept;
      };
    }
    all[2].update = [] { throw Error(ErrorCode::device, "it broke"); };
    all[3].update = nullptr;
    return all;
  }

 private:
  std::vector<double> values() const {
    std::vector<double> all;
    for (int i = 0; i < kRows; ++i)
      all.push_back(value(1, i));
    return all;
  }
};

template <class Fake = FakeWorkload>
CaseReport run_fake() {
  Session session(Device::cpu(),
                  {.min_rounds = 6, .max_rounds = 6, .max_seconds = 0.05, .batch_ms = 0.05});
  Fake workload(session.stream);
  return run_workload(session, workload);
}

/// The same with contestants that are right at first, and then spare themselves the work.
class FakeCheats : public FakeWorkload {
 public:
  using FakeWorkload::FakeWorkload;

  Footprint footprint() const override { return {2 * kRows * 8, kRows * 8, 2.0 * kRows, least_}; }

  std::vector<Contestant> contestants() override {
    std::vector<Contestant> all;
    const auto add = [&](const char* name, std::function<bool(int call)> works) {
      Contestant honest = FakeWorkload::contestants()[0];
      honest.name = name;
      // One count for both of its plans, as a library has it.
      honest.run = [run = honest.run, works = std::move(works), calls = &calls_[name]](
                       const Stream& stream, int slot) {
        if (works((*calls)++)) run(stream, slot);
      };
      all.push_back(std::move(honest));
    };
    add("honest", [](int) { return true; });
    add("three-calls", [](int call) { return call < 3; });
    add("not-each-seventh", [](int call) { return call % 7 != 6; });
    add("stops-while-timed", [](int call) { return call < 40; });
    return all;
  }

 protected:
  std::int64_t least_ = kRows * 8;

 private:
  std::map<std::string, int> calls_;
};

TEST(Case, WhoSparesTheWorkWhileTimedHasNoTime) {
  const CaseReport report = run_fake<FakeCheats>();
  ASSERT_EQ(report.outcomes.size(), 4U);
  EXPECT_EQ(report.outcomes[0].status, Status::ok) << report.outcomes[0].message;
  EXPECT_TRUE(report.outcomes[0].timing.has_value());
  for (std::size_t i = 1; i < 4; ++i) {
    const Outcome& outcome = report.outcomes[i];
    EXPECT_EQ(outcome.status, Status::wrong) << outcome.contestant;
    EXPECT_FALSE(outcome.timing.has_value()) << outcome.contestant;
    EXPECT_NE(outcome.message.find("timed: element "), std::string::npos) << outcome.message;
  }
}

TEST(Case, ATimeThatNoDeviceReachesIsWrong) {
  class Impossible final : public FakeCheats {
   public:
    explicit Impossible(const Stream& stream) : FakeCheats(stream) {
      least_ = std::int64_t{1} << 40;
    }
  };
  const CaseReport report = run_fake<Impossible>();
  EXPECT_EQ(report.outcomes[0].status, Status::wrong);
  EXPECT_FALSE(report.outcomes[0].timing.has_value());
  EXPECT_NE(report.outcomes[0].message.find("to move the 1099511627776 bytes"), std::string::npos)
      << report.outcomes[0].message;
}

TEST(MemoryPeak, BoundsWhatEachByteMustPass) {
  const MemoryPeak peak{
      .processors_bytes_per_us = 1000, .memory_bytes_per_us = 100, .cache_bytes = 500};
  EXPECT_EQ(peak.least_us(0), 0);
  EXPECT_EQ(peak.least_us(500), 0.5);
  EXPECT_EQ(peak.least_us(1500), 10);
  EXPECT_EQ(MemoryPeak().least_us(std::int64_t{1} << 60), 0);
  const double least_us = memory_peak(Device::cpu()).least_us(std::int64_t{1} << 30);
  EXPECT_GT(least_us, 0);
  EXPECT_LT(least_us, 2000) << "a processor of one core may be as fast as this";
}

TEST(Case, WrongAndFailingContestantsGetNoTimes) {
  const CaseReport report = run_fake();
  ASSERT_EQ(report.outcomes.size(), 5U);
  const Status expected[] = {Status::ok, Status::wrong, Status::wrong, Status::crash,
                             Status::unsupported};
  for (std::size_t i = 0; i < 5; ++i) {
    const Outcome& outcome = report.outcomes[i];
    EXPECT_EQ(outcome.status, expected[i]) << outcome.contestant;
    EXPECT_EQ(outcome.timing.has_value(), outcome.status == Status::ok) << outcome.contestant;
    EXPECT_EQ(outcome.message.empty(), outcome.status == Status::ok) << outcome.contestant;
  }
  EXPECT_GT(report.outcomes[0].timing->warm.median_us, 0);
  EXPECT_TRUE(report.outcomes[0].timing->cold.has_value());
  EXPECT_FALSE(report.outcomes[0].timing->graph.has_value());
  ASSERT_TRUE(report.floor.has_value());
  EXPECT_FALSE(report.all_ok());
}

TEST(Case, ProductsMustBeRightAfterAnUpdate) {
  const CaseReport report = run_fake<FakePlans>();
  ASSERT_EQ(report.outcomes.size(), 4U);
  const Status expected[] = {Status::ok, Status::wrong, Status::crash, Status::ok};
  for (std::size_t i = 0; i < 4; ++i) {
    const Outcome& outcome = report.outcomes[i];
    EXPECT_EQ(outcome.status, expected[i]) << outcome.contestant << " " << outcome.message;
    EXPECT_EQ(outcome.timing.has_value(), outcome.status == Status::ok) << outcome.contestant;
    EXPECT_EQ(outcome.update_us.has_value(), i == 0) << outcome.contestant;
  }
  EXPECT_GT(*report.outcomes[0].update_us, 0);
  EXPECT_NE(report.outcomes[1].message.find("given new values: element 5"), std::string::npos)
      << report.outcomes[1].message;
  EXPECT_EQ(report.outcomes[2].message, "given new values: it broke");
}

TEST(Record, WhatWasNotMeasuredIsNull) {
  CaseReport report = run_fake<FakePlans>();
  report.outcomes[0].setup_bytes = 0;
  const std::vector<nlohmann::ordered_json> lines = to_json(report);
  EXPECT_TRUE(lines[0]["update_us"].is_number());
  EXPECT_EQ(lines[0]["setup_bytes"], 0);
  for (const char* key : {"update_us", "setup_bytes"}) {
    ASSERT_TRUE(lines[3].contains(key)) << key;
    EXPECT_TRUE(lines[3][key].is_null()) << key;
  }
}

TEST(Record, LinesHoldTheFixedNames) {
  const std::vector<nlohmann::ordered_json> lines = to_json(run_fake());
  ASSERT_EQ(lines.size(), 5U);
  for (const auto& line : lines) {
    for (const char* key :
         {"kind",     "case",       "class",          "m",      "n",       "nnz",        "dtype",
          "op",       "contestant", "variant",        "status", "warm_us", "graph_us",   "cold_us",
          "setup_us", "floor_us",   "floor_batch_us", "bytes",  "flops",   "plan_bytes", "error",
          "bound",    "update_us",  "setup_bytes",    "gflops", "gbs",     "floor_share"})
      EXPECT_TRUE(line.contains(key)) << key << " is not in " << line.dump();
  }
  EXPECT_EQ(lines[4]["kind"], "spmv");
  EXPECT_EQ(lines[4]["contestant"], "lanky") << "the line that ends a case";
  EXPECT_TRUE(lines[4]["warm_us"].is_number());
  EXPECT_TRUE(lines[4]["gflops"].is_number());
  EXPECT_TRUE(lines[4]["graph_us"].is_null());
  EXPECT_EQ(lines[0]["status"], "wrong");
  EXPECT_TRUE(lines[0]["warm_us"].is_null());
  EXPECT_TRUE(lines[0]["gflops"].is_null());
  EXPECT_EQ(lines[2]["status"], "crash");
  EXPECT_EQ(lines[2]["message"], "it broke");
}

TEST(Record, LinesOfSeveralColumnsHoldTheseToo) {
  CaseReport report{SpmvCase{"fake", 4, 4, 4, DType::f64}, {}, std::nullopt, {}, {Outcome{}}};
  const nlohmann::ordered_json vector = to_json(report)[0];
  for (const char* key : {"columns", "layout", "reproducible"})
    EXPECT_FALSE(vector.contains(key)) << key;
  std::get<SpmvCase>(report.subject).columns = {8, Layout::row};
  nlohmann::ordered_json line = to_json(report)[0];
  EXPECT_EQ(line["kind"], "spmm");
  EXPECT_EQ(line["columns"], 8);
  EXPECT_EQ(line["layout"], "row");
  EXPECT_TRUE(line["reproducible"].is_null());
  report.outcomes[0].reproducible = false;
  EXPECT_EQ(to_json(report)[0]["reproducible"], false);
  for (const auto& [key, value] : vector.items())
    EXPECT_TRUE(line.contains(key)) << key;
  EXPECT_NE(table_line(report).find(" 4x4 x8 row "), std::string::npos) << table_line(report);
  std::get<SpmvCase>(report.subject).sampled = true;
  line = to_json(report)[0];
  EXPECT_EQ(line["kind"], "sddmm");
  for (const auto& [key, value] : vector.items())
    EXPECT_TRUE(line.contains(key)) << key;
  std::get<SpmvCase>(report.subject).columns = {};
  EXPECT_EQ(to_json(report)[0]["kind"], "sddmm");
  EXPECT_EQ(to_json(report)[0]["columns"], 1);
}

TEST(Record, SparseLinesHoldWhatThePlanDecided) {
  CaseReport report{
      SpmvCase{"fake", 4, 4, 4, DType::f64}, {}, std::nullopt, 12.5, {Outcome{}, Outcome{}}};
  for (Outcome& outcome : report.outcomes)
    outcome.contestant = "lanky";
  report.outcomes[0].decision.sparse = SparseInfo{.engine = Engine::tensor_cores, .padding = 0.125};
  const nlohmann::ordered_json lines = to_json(report);
  EXPECT_EQ(lines[0]["path"], "mma");
  EXPECT_EQ(lines[0]["padding"], 0.125);
  EXPECT_FALSE(lines[1].contains("path"));  // no plan was made
  EXPECT_FALSE(lines[1].contains("padding"));
}

TEST(Record, DenseLinesHoldTheFixedNames) {
  CaseReport report{GemmCase{.name = "update-100x4",
                             .m = 100,
                             .n = 4,
                             .k = 4,
                             .op_b = Op::trans,
                             .layout = Layout::row,
                             .padded = true,
                             .alpha = 2,
                             .type = {DType::bf16, DType::f32, Math::ieee}},
                    {},
                    std::nullopt,
                    12.5,
                    {Outcome{}, Outcome{}}};
  report.outcomes[0].decision.kernel = "direct, 4 rows a lane";
  const nlohmann::ordered_json line = to_json(report)[0];
  EXPECT_EQ(line["kind"], "gemm");
  EXPECT_EQ(line["op_a"], "n");
  EXPECT_EQ(line["op_b"], "t");
  EXPECT_EQ(line["layout"], "row");
  EXPECT_EQ(line["ld"], "padded");
  EXPECT_EQ(line["dtype"], "bf16");
  EXPECT_EQ(line["out"], "f32");
  EXPECT_EQ(line["alpha"], 2);
  EXPECT_EQ(line["beta"], 0);
  EXPECT_EQ(line["peak_us"], 12.5);
  EXPECT_EQ(line["kernel"], "direct, 4 rows a lane");
  EXPECT_FALSE(to_json(report)[1].contains("kernel"));
  for (const char* key : {"family", "m", "n", "k", "warm_us", "graph_us", "cold_us", "floor_us"})
    EXPECT_TRUE(line.contains(key)) << key;
}

TEST(Record, EnvironmentComesWithItsNames) {
  Environment environment;
  environment.gpu = "NVIDIA H200";
  environment.is_void = true;
  environment.read_floor_tbs = std::numeric_limits<double>::infinity();
  const nlohmann::ordered_json line = to_json(environment);
  for (const char* key : {"kind", "schema", "gpu", "driver", "cuda", "cublas", "cusparse", "lanky",
                          "commit", "argv", "utc", "sm_clock_mhz", "l2_bytes", "read_floor_tbs",
                          "void", "cpu", "sources_hash", "binary_hash"})
    EXPECT_TRUE(line.contains(key)) << key;
  EXPECT_EQ(line["kind"], "env");
  EXPECT_EQ(line["schema"], 1);
  EXPECT_EQ(line["void"], true);
  EXPECT_TRUE(line["read_floor_tbs"].is_null());  // JSON has no infinity
  EXPECT_FALSE(line.contains("seed"));
  environment.seed = 7;
  EXPECT_EQ(to_json(environment)["seed"], 7);
}

TEST(Environment, ASlowH200IsVoid) {
  EXPECT_TRUE(floor_is_void("NVIDIA H200", 4.39));
  EXPECT_FALSE(floor_is_void("NVIDIA H200", 4.41));
  EXPECT_FALSE(floor_is_void("NVIDIA A100-SXM4-80GB", 1.7));
  EXPECT_FALSE(floor_is_void("", 0.01));
}

TEST(Grid, EveryCombination) {
  const auto cases = parse_grid(R"({"cases": [
      {"family": "gram", "k": [1000, 2000], "n": [2, 8], "dtype": ["f64", "bf16"]},
      {"family": "panel", "m": 64, "n": 4, "layout": "row", "ld": "padded", "beta": 1},
      {"family": "update", "m": 64, "n": 4},
      {"m": 3, "n": 4, "k": 5, "op_b": "t"},
      {"family": "syrk", "k": 64, "n": 4, "dtype": ["tf32", "f16"], "out": "f32", "alpha": 2}]})",
                                "inline");
  ASSERT_EQ(cases.size(), 13U);
  EXPECT_EQ(cases[0].k, 1000);
  EXPECT_EQ(cases[0].m, 2);
  EXPECT_EQ(cases[0].op_a, Op::trans);
  EXPECT_EQ(cases[7].type, GemmType::same(DType::bf16));
  EXPECT_EQ(cases[7].k, 2000);
  EXPECT_EQ(cases[7].n, 8);
  EXPECT_EQ(cases[8].k, 64);
  EXPECT_EQ(cases[8].layout, Layout::row);
  EXPECT_TRUE(cases[8].padded);
  EXPECT_EQ(cases[8].beta, 1);
  EXPECT_EQ(cases[9].k, 4);
  EXPECT_EQ(cases[10].op_b, Op::trans);
  EXPECT_TRUE(cases[11].symmetric);
  EXPECT_EQ(cases[11].m, 4);
  EXPECT_EQ(cases[11].alpha, 2);
  EXPECT_EQ(cases[11].type, (GemmType{DType::f32, DType::f32, Math::tf32}));
  EXPECT_EQ(cases[12].type, (GemmType{DType::f16, DType::f32, Math::ieee}));
}

std::string described(const GemmCase& gemm) {
  std::ostringstream text;
  text << gemm_case_name(gemm) << " " << to_string(gemm.type) << " " << to_string(gemm.type.out)
       << " " << to_string(gemm.op_a) << to_string(gemm.op_b) << " " << to_string(gemm.layout)
       << " " << gemm.padded << " " << gemm.alpha << " " << gemm.beta;
  return text.str();
}

std::set<std::string> described(const std::vector<GemmCase>& cases) {
  std::set<std::string> all;
  for (const GemmCase& gemm : cases)
    all.insert(described(gemm));
  return all;
}

TEST(Grid, TheCoreHasEveryShapeInEveryType) {
  const std::vector<GemmCase> core = core_grid();
  // (60 panel + 52 update + 52 gram + 36 syrk) x 8 types, and 3 of them row-major too.
  EXPECT_EQ(core.size(), 200U * 11U);
  EXPECT_EQ(described(core).size(), core.size());
  std::map<std::string, int> families;
  std::map<std::string, int> types;
  for (const GemmCase& gemm : core) {
    ++families[family_name(gemm)];
    ++types[std::string(to_string(gemm.type)) + " " + std::string(to_string(gemm.layout))];
    EXPECT_EQ(gemm.type.in, gemm.type.out);
    EXPECT_EQ(gemm.alpha, 1);
    EXPECT_EQ(gemm.beta, 0);
    EXPECT_FALSE(gemm.padded);
  }
  const std::map<std::string, int> expected_families = {
      {"panel", 60 * 11}, {"update", 52 * 11}, {"gram", 52 * 11}, {"syrk", 36 * 11}};
  EXPECT_EQ(families, expected_families);
  EXPECT_EQ(types.size(), 11U);
  for (const auto& [type, count] : types)
    EXPECT_EQ(count, 200) << type;
}

TEST(Grid, NoCombinationIsForgotten) {
  const std::vector<GemmCase> full = full_grid();
  EXPECT_EQ(described(full).size(), full.size());
  const std::set<std::string> all = described(full);
  for (const char* one :
       {"gram-1e7x16 f16 f32 nt row 1 2 0.5", "panel-1e6x1024x48 c128 c128 cn col 0 2 0.5",
        "update-1e6x128x16 tf32 f32 tn col 1 1 0", "syrk-1e5x3 c64 c64 nc row 0 1 0",
        "gram-1e4x1x64 tf32x3 f32 tn row 0 1 0"})
    EXPECT_EQ(all.count(one), 1U) << one;
}

TEST(Grid, TheSampleFollowsFromItsSeed) {
  const std::set<std::string> first = described(sample_grid(1, 0.05));
  EXPECT_EQ(first, described(sample_grid(1, 0.05)));
  const std::set<std::string> second = described(sample_grid(2, 0.05));
  const std::size_t others = full_grid().size() - core_grid().size();
  EXPECT_EQ(first.size(),
            static_cast<std::size_t>(std::lround(0.05 * static_cast<double>(others))));
  EXPECT_EQ(second.size(), first.size());
  std::size_t common = 0;
  for (const std::string& each : first)
    common += second.count(each);
  EXPECT_LT(common, first.size() / 10);  // 5 % are expected
  for (const std::string& each : described(core_grid()))
    EXPECT_EQ(first.count(each), 0U) << each;
  EXPECT_EQ(sample_grid(1, 1).size(), others);
  EXPECT_TRUE(sample_grid(1, 0).empty());
}

TEST(Grid, ScatteredCasesFollowFromTheirSeed) {
  const std::vector<GemmCase> cases = scattered_grid(5, 400);
  EXPECT_EQ(described(cases), described(scattered_grid(5, 400)));
  EXPECT_NE(described(cases), described(scattered_grid(6, 400)));
  std::map<std::string, int> families;
  std::set<std::string> types;
  for (const GemmCase& gemm : cases) {
    ++families[family_name(gemm)];
    types.emplace(to_string(gemm.type));
    EXPECT_GT(std::min({gemm.m, gemm.n, gemm.k}), 0);
    const auto most = static_cast<double>(std::max(gemm.m * gemm.k, gemm.k * gemm.n));
    EXPECT_LT(most * static_cast<double>(size_of(gemm.type.in)), 1.2e9) << gemm_case_name(gemm);
    EXPECT_TRUE(!gemm.symmetric ||
                (gemm.m == gemm.n && (gemm.op_a == Op::none) != (gemm.op_b == Op::none)));
  }
  for (const char* family : {"panel", "update", "gram", "syrk", "regular"})
    EXPECT_GT(families[family], 5) << family;
  EXPECT_EQ(types.size(), 8U);
}

TEST(Grid, ScatteredCasesOfCpusAreSmallerAndOfTypesThatBlasHas) {
  const GridRun run = choose_cases({.grid = "scattered-cpu", .seed = 5});
  EXPECT_EQ(described(run.cases), described(scattered_grid(5, 480, scale_of_cpus())));
  std::set<std::string> types;
  for (const GemmCase& gemm : run.cases) {
    types.emplace(to_string(gemm.type));
    const auto most = static_cast<double>(std::max(gemm.m * gemm.k, gemm.k * gemm.n));
    EXPECT_LT(most * static_cast<double>(size_of(gemm.type.in)), 2.4e8) << gemm_case_name(gemm);
  }
  EXPECT_EQ(types, (std::set<std::string>{"f32", "f64"}));
}

TEST(Grid, ShardsTogetherAreTheWhole) {
  GridChoice choice{.grid = "core", .families = {"gram"}, .types = {"f64", "tf32x3"}};
  const std::vector<GemmCase> whole = choose_cases(choice).cases;
  EXPECT_EQ(whole.size(), 52U * 3U);
  std::set<std::string> together;
  choice.shards = 7;
  for (choice.shard = 0; choice.shard < 7; ++choice.shard)
    together.merge(described(choose_cases(choice).cases));
  EXPECT_EQ(together, described(whole));
}

TEST(Grid, ADrawnSeedIsTold) {
  const GridRun run = choose_cases({.grid = "sample", .share = 0.001});
  ASSERT_TRUE(run.seed.has_value());
  EXPECT_EQ(described(run.cases), described(sample_grid(*run.seed, 0.001)));
  EXPECT_FALSE(choose_cases({.grid = "core"}).seed.has_value());
}

TEST(Grid, SaysWhatIsWrongAndWhere) {
  const auto fails = [](const char* grid, const std::vector<std::string>& fragments) {
    expect_error([&] { parse_grid(grid, "g.json"); }, ErrorCode::parse, fragments);
  };
  fails("{", {"g.json", "not JSON"});
  fails("[]", {"g.json", "cases"});
  fails(R"({"cases": [{"m": 1, "n": 1, "k": 1}, 7]})", {"cases[1]", "object"});
  fails(R"({"cases": [{"m": 1, "n": 1, "kk": 1}]})", {"cases[0]", "unknown key \"kk\""});
  fails(R"({"cases": [{"m": 1, "n": 1}]})", {"cases[0]", "needs the key \"k\""});
  fails(R"({"cases": [{"m": -1, "n": 1, "k": 1}]})", {"\"m\"", "-1"});
  fails(R"({"cases": [{"m": 1.5, "n": 1, "k": 1}]})", {"\"m\"", "1.5"});
  fails(R"({"cases": [{"m": 1, "n": 1, "k": 1, "dtype": "f8"}]})", {"dtype", "f8"});
  fails(R"({"cases": [{"m": 1, "n": 1, "k": 1, "op_a": "x"}]})", {"op_a", "\"x\""});
  fails(R"({"cases": [{"family": "square", "n": 1}]})", {"family", "square"});
  expect_error([] { read_grid("no/such/grid.json"); }, ErrorCode::io, {"no/such/grid.json"});
}

TEST(Grid, TheCommittedGridsAreRead) {
  EXPECT_EQ(read_grid("bench/grids/demo.json").size(), 28U);
  EXPECT_EQ(read_grid("bench/grids/small.json").size(), 128U);
}

TEST(Table, LinesFitATerminal) {
  EXPECT_LE(table_heading().size(), 120U);
  CaseReport report = run_fake();
  report.outcomes.resize(1);
  const std::string line = table_line(report);
  EXPECT_LE(line.size(), 120U) << line;
  EXPECT_NE(line.find("fake"), std::string::npos) << line;
  EXPECT_NE(line.find(" ok"), std::string::npos) << line;
  report.floor->warm.noise = report.outcomes[0].timing->warm.noise = 0.01;
  EXPECT_EQ(table_line(report).find("noisy"), std::string::npos);
  report.outcomes[0].timing->warm.noise = 0.5;
  EXPECT_NE(table_line(report).find("ok, noisy"), std::string::npos);
  report.outcomes[0].status = Status::wrong;
  EXPECT_NE(table_line(report).find("lanky wrong"), std::string::npos);
}

TEST(Stopwatch, WhoIsTwentyTimesSlowerIsMeasuredOnce) {
  Session session(Device::cpu(),
                  {.min_rounds = 7, .max_rounds = 7, .max_seconds = 9, .batch_ms = 0.1});
  const auto quick = [](const Stream&, int) {};
  const auto slow = [](const Stream&, int) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  };
  const Lap laps[] = {{.product = quick, .cold = false},
                      {.product = slow, .cold = false},
                      {.product = quick, .cold = false}};
  const std::vector<Timing> timings = time_laps(session, laps);
  EXPECT_EQ(timings[0].warm.samples, 7);
  EXPECT_EQ(timings[1].warm.samples, 1);
  EXPECT_GT(timings[1].warm.median_us, 25e3);
  EXPECT_EQ(timings[2].warm.samples, 7);
}

TEST(Stopwatch, TheSamplesThatCountAreJudged) {
  Session session(Device::cpu(),
                  {.min_rounds = 4, .max_rounds = 4, .max_seconds = 9, .batch_ms = 0.1});
  bool poisoned = false;
  int judged = 0;
  const auto product = [&](const Stream&, int) {
    if (poisoned) std::this_thread::sleep_for(std::chrono::milliseconds(30));
    poisoned = false;
  };
  const auto judge = [&](int) {
    EXPECT_FALSE(poisoned) << "no product between poison() and judge()";
    ++judged;
  };
  const Lap lap{
      .product = product, .cold = false, .poison = [&](int) { poisoned = true; }, .judge = judge};
  const Timing timing = time_laps(session, {&lap, 1}).front();
  EXPECT_EQ(judged, 3);  // samples 1, 2 and 4
  EXPECT_EQ(timing.warm.samples, 4);
  EXPECT_GT(timing.warm.median_us, 14);  // 30 ms over no more than 2,048 products
}

TEST(Stopwatch, RotatesThroughTheSlots) {
  const Stream stream(Device::cpu());
  std::string order;
  const Lap lap{.product = [&](const Stream&, int slot) { order += std::to_string(slot); },
                .slots = 3};
  std::int64_t turn = 0;
  batch_us(stream, lap, 4, turn);
  batch_us(stream, lap, 2, turn);
  EXPECT_EQ(order, "012012");  // the second batch goes on where the first ended
}

}  // namespace
}  // namespace lanky::bench
