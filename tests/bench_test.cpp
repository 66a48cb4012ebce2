// The harness without a GPU: statistics, stopping, interleaving, verification, records, grids.
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "bench/case.hpp"
#include "bench/gemm_case.hpp"
#include "bench/grid.hpp"
#include "bench/measure.hpp"
#include "bench/operand.hpp"
#include "bench/random.hpp"
#include "bench/record.hpp"
#include "bench/statistics.hpp"
#include "bench/stopwatch.hpp"
#include "bench/table.hpp"
#include "bench/verify.hpp"
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
      ASSERT_EQ(rounded(dtype, value), value) << name(dtype);
      sum += value;
    }
    EXPECT_LT(std::fabs(sum / 20000), 5 * 0.577 / std::sqrt(20000.0)) << name(dtype);
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
  const Verdict right = check_bound(DType::f32, computed, expected);
  EXPECT_TRUE(right.right) << right.message;
  EXPECT_GT(right.error, 0);
  EXPECT_LT(right.error, right.bound);

  computed[17] += 1e-4 * expected[17].magnitude;
  const Verdict wrong = check_bound(DType::f32, computed, expected);
  EXPECT_FALSE(wrong.right);
  EXPECT_GT(wrong.error, wrong.bound);
  EXPECT_NE(wrong.message.find("element 17"), std::string::npos) << wrong.message;

  computed[17] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(check_bound(DType::f32, computed, expected).right);
}

TEST(Verify, AnEmptySumIsZero) {
  const std::vector<Reference> empty(1);
  EXPECT_TRUE(check_bound(DType::f64, std::vector<double>{0}, empty).right);
  EXPECT_FALSE(check_bound(DType::f64, std::vector<double>{1e-300}, empty).right);
}

/// y = A x of a small diagonal "matrix", with contestants that are right or wrong in a known way.
class FakeWorkload final : public Workload {
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
  void poison() override {
    for (int i = 0; i < kRows; ++i)
      y_.data()[i] = std::numeric_limits<double>::quiet_NaN();
  }
  Verdict check(Fill fill) override {
    const std::vector<double> y = y_.to_host();
    return fill == Fill::integers ? check_exact(DType::f64, y, reference_)
                                  : check_bound(DType::f64, y, reference_);
  }

 private:
  static constexpr int kRows = 40;
  double value(std::uint64_t seed, int i) const { return element(fill_, seed, i, 53); }

  Buffer<double> y_;
  Fill fill_ = Fill::integers;
  std::vector<Reference> reference_;
};

CaseReport run_fake() {
  Session session(Device::cpu(),
                  {.min_rounds = 6, .max_rounds = 6, .max_seconds = 0.05, .batch_ms = 0.05});
  FakeWorkload workload(session.stream);
  return run_workload(session, workload);
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

TEST(Record, LinesHoldTheFixedNames) {
  const std::vector<nlohmann::ordered_json> lines = to_json(run_fake());
  ASSERT_EQ(lines.size(), 5U);
  for (const auto& line : lines) {
    for (const char* key :
         {"kind",       "case",           "m",      "n",       "nnz",        "dtype",   "op",
          "contestant", "variant",        "status", "warm_us", "graph_us",   "cold_us", "setup_us",
          "floor_us",   "floor_batch_us", "bytes",  "flops",   "plan_bytes", "error",   "bound"})
      EXPECT_TRUE(line.contains(key)) << key << " is not in " << line.dump();
  }
  EXPECT_EQ(lines[0]["kind"], "spmv");
  EXPECT_TRUE(lines[0]["warm_us"].is_number());
  EXPECT_TRUE(lines[0]["graph_us"].is_null());
  EXPECT_EQ(lines[1]["status"], "wrong");
  EXPECT_TRUE(lines[1]["warm_us"].is_null());
  EXPECT_EQ(lines[3]["status"], "crash");
  EXPECT_EQ(lines[3]["message"], "it broke");
}

TEST(Record, DenseLinesHoldTheFixedNames) {
  CaseReport report{
      GemmCase{"update-100x4", 100, 4, 4, Op::none, Op::trans, Layout::row, true, 0, DType::bf16},
      {},
      std::nullopt,
      {Outcome{}}};
  const nlohmann::ordered_json line = to_json(report)[0];
  EXPECT_EQ(line["kind"], "gemm");
  EXPECT_EQ(line["op_a"], "n");
  EXPECT_EQ(line["op_b"], "t");
  EXPECT_EQ(line["layout"], "row");
  EXPECT_EQ(line["ld"], "padded");
  EXPECT_EQ(line["dtype"], "bf16");
  EXPECT_EQ(line["beta"], 0);
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
}

TEST(Environment, ASlowH200IsVoid) {
  EXPECT_TRUE(floor_is_void("NVIDIA H200", 4.39));
  EXPECT_FALSE(floor_is_void("NVIDIA H200", 4.41));
  EXPECT_FALSE(floor_is_void("NVIDIA A100-SXM4-80GB", 1.7));
  EXPECT_FALSE(floor_is_void("", 0.01));
}

class RecordFileTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  std::string text() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  const std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                      ("lanky_record_" + std::to_string(getpid()) + ".jsonl");
};

TEST_F(RecordFileTest, AppendsOneLinePerRecordWhateverItHolds) {
  RecordFile(path_).write(
      to_json(FailedCase{"spmv", "a\"b\\c\n\x01\xff", "", Status::invalid, "line\nbreak"}));
  RecordFile(path_).write(to_json(FailedCase{"spmv", "next", "f64", Status::oom, ""}));
  std::istringstream lines(text());
  std::vector<Json> parsed;
  for (std::string line; std::getline(lines, line);)
    parsed.push_back(Json::parse(line));
  ASSERT_EQ(parsed.size(), 2U);
  EXPECT_EQ(parsed[0]["case"], "a\"b\\c\n\x01\xef\xbf\xbd");  // what is not UTF-8 is replaced
  EXPECT_EQ(parsed[0]["status"], "invalid");
  EXPECT_FALSE(parsed[0].contains("dtype"));
  EXPECT_EQ(parsed[1]["status"], "oom");
  EXPECT_EQ(parsed[1]["dtype"], "f64");
}

TEST_F(RecordFileTest, RefusesToContinueHalfALine) {
  std::ofstream(path_) << "{\"kind\":\"spm";
  expect_error([&] { RecordFile file(path_); }, ErrorCode::io, {path_.string(), "incomplete"});
  EXPECT_EQ(text(), "{\"kind\":\"spm");
}

TEST_F(RecordFileTest, SaysWhyItCannotWrite) {
  expect_error([] { RecordFile file("/no/such/folder/a.jsonl"); }, ErrorCode::io,
               {"/no/such/folder/a.jsonl", "No such file"});
}

TEST(Grid, EveryCombination) {
  const auto cases = parse_grid(R"({"cases": [
      {"family": "gram", "k": [1000, 2000], "n": [2, 8], "dtype": ["f64", "bf16"]},
      {"family": "panel", "m": 64, "n": 4, "layout": "row", "ld": "padded", "beta": 1},
      {"family": "update", "m": 64, "n": 4},
      {"m": 3, "n": 4, "k": 5, "op_b": "t"}]})",
                                "inline");
  ASSERT_EQ(cases.size(), 11U);
  EXPECT_EQ(cases[0].k, 1000);
  EXPECT_EQ(cases[0].m, 2);
  EXPECT_EQ(cases[0].op_a, Op::trans);
  EXPECT_EQ(cases[7].dtype, DType::bf16);
  EXPECT_EQ(cases[7].k, 2000);
  EXPECT_EQ(cases[7].n, 8);
  EXPECT_EQ(cases[8].k, 64);
  EXPECT_EQ(cases[8].layout, Layout::row);
  EXPECT_TRUE(cases[8].padded);
  EXPECT_EQ(cases[8].beta, 1);
  EXPECT_EQ(cases[9].k, 4);
  EXPECT_EQ(cases[10].op_b, Op::trans);
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
