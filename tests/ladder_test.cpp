// The ladders: every rung's product on every kind of shape, TSM2's model, the table and the plot.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <lanky/buffer.hpp>
#include <lanky/device.hpp>
#include <limits>
#include <nlohmann/json.hpp>

#include "bench/ladder/climb.hpp"
#include "bench/ladder/cpu_peak.hpp"
#include "bench/ladder/profile.hpp"
#include "support/executor.hpp"
#include "support/expect_error.hpp"

namespace lanky::ladder {

namespace {

using Json = nlohmann::ordered_json;

bench::MeasureOptions one_launch() {
  return {.min_rounds = 1, .max_rounds = 1, .max_seconds = 0, .batch_ms = 0};
}

const GemmLadder& ladder_named(std::string_view name) {
  const auto& all = gemm_ladders();
  return *std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == name; });
}

bench::GemmCase product(const GemmLadder& ladder, std::int64_t m, std::int64_t n, std::int64_t k,
                        DType dtype) {
  return {.m = m,
          .n = n,
          .k = k,
          .layout = ladder.layout,
          .type = bench::GemmType::same(dtype),
          .positive = ladder.positive};
}

std::string describe(const Json& line) {
  return line["case"].get<std::string>() + " " + line["dtype"].get<std::string>() + " " +
         line["rung"].get<std::string>() + " " + line.value("message", "");
}

/// The lines of the ladder's own rungs that are not ok.
std::vector<Json> expect_right(const std::vector<Json>& lines) {
  std::vector<Json> unsupported;
  EXPECT_FALSE(lines.empty());
  for (const Json& line : lines) {
    if (line["status"] == "unsupported") {
      unsupported.push_back(line);
      continue;
    }
    EXPECT_EQ(line["status"], "ok") << describe(line);
    EXPECT_TRUE(line["us"].is_number()) << describe(line);
    EXPECT_LE(line["error"].get<double>(), line["bound"].get<double>()) << describe(line);
  }
  return unsupported;
}

TEST(LadderGemmCpu, EveryRungIsRightOnEveryShape) {
  bench::Session session(Device::cpu(), one_launch());
  const GemmLadder& ladder = ladder_named("gemm-cpu");
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const auto& [m, n, k] : {std::array{64, 64, 64}, std::array{1, 1, 1},
                                  std::array{33, 70, 5}, std::array{5, 31, 99}}) {
      const auto lines = climb(session, ladder, product(ladder, m, n, k, dtype), {}, {});
      for (const Json& line : expect_right(lines))
        EXPECT_EQ(line["contestant"], "mkl") << describe(line);  // which may not be there
      EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                              [](const Json& line) { return line["contestant"] == "gemm-cpu"; }),
                6);
      EXPECT_EQ(lines[0]["speedup_first"], 1.0);
    }
  }
}

TEST(LadderGemmCpu, RefusesWhatThereIsNot) {
  bench::Session session(Device::cpu(), one_launch());
  const GemmLadder& ladder = ladder_named("gemm-cpu");
  expect_error(
      [&] {
        climb(session, ladder, product(ladder, 4, 4, 4, DType::f32), {}, {.rungs = {"leap"}});
      },
      ErrorCode::invalid_argument, {"gemm-cpu", "leap", "blocks-unrolled"});
  expect_error([&] { climb(session, ladder, product(ladder, 4, 4, 4, DType::c64), {}, {}); },
               ErrorCode::unsupported, {"gemm-cpu", "c64"});
}

TEST(LadderGemmCpu, TakesTheRungsAskedFor) {
  bench::Session session(Device::cpu(), one_launch());
  const GemmLadder& ladder = ladder_named("gemm-cpu");
  const auto lines =
      climb(session, ladder, product(ladder, 40, 40, 40, DType::f64), {},
            {.rungs = {"threads", "loops"}, .vendors = false, .checks = bench::Checks::none});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["rung"], "loops");
  EXPECT_EQ(lines[1]["rung"], "threads");
  EXPECT_FALSE(lines[1]["checked"].get<bool>());
  EXPECT_FALSE(lines[1].contains("error"));
}

TEST(Ladder, CpuPeakIsThatOfFmas) {
  double f32 = 0;
  double f64 = 0;
  // Other programs may have the processor for some rounds; 8 were too few beside other tests.
  for (int round = 0; round < 8 || (round < 60 && f32 <= 1.2 * f64); ++round) {
    f32 = std::max(f32, cpu_peak_flops(DType::f32));
    f64 = std::max(f64, cpu_peak_flops(DType::f64));
  }
  EXPECT_GT(f64, 1e8);
  EXPECT_GT(f32, 1.2 * f64);  // twice as many in a vector
}

Json sample_line(const char* rung, const char* contestant, double gflops) {
  return {{"kind", "ladder"},        {"case", "gemm-64x64x64"},  {"dtype", "f32"},
          {"ladder", "gemm-cpu"},    {"contestant", contestant}, {"rung", rung},
          {"idea", "a < b & \"c\""}, {"status", "ok"},           {"us", 100.0},
          {"transfer_us", 50.0},     {"gflops", gflops},         {"peak_gflops", 8.0},
          {"floor_us", 50.0},        {"speedup_first", 3.0},     {"speedup_vendor", 0.5},
          {"reads", nullptr},        {"predicted_us", nullptr},  {"flops", 4e5},
          {"bytes", 6.3e6},          {"checked", true}};
}

TEST(Ladder, TableCountsTransfers) {
  const std::vector<Json> lines = {sample_line("loops", "gemm-cpu", 4)};
  const std::string text = table(lines);
  EXPECT_NE(text.find("0.15 "), std::string::npos) << text;   // ms: 100 + 50 us
  EXPECT_NE(text.find("2.33"), std::string::npos) << text;    // (300 + 50) / (100 + 50)
  EXPECT_NE(text.find("0.67"), std::string::npos) << text;    // (50 + 50) / (100 + 50)
  EXPECT_NE(text.find("33.3"), std::string::npos) << text;    // floor: 50 of 150
  EXPECT_NE(text.find(" 42.0 "), std::string::npos) << text;  // GB/s: 6.3 MB in 150 us
}

TEST(Ladder, PlotDrawsEachCaseOnce) {
  std::vector<Json> lines = {sample_line("loops", "gemm-cpu", 4),
                             sample_line("openblas gemm", "openblas", 7),
                             sample_line("loops", "gemm-cpu", 3), Json{{"kind", "env"}}};
  lines[2]["case"] = "gemm-8x8x8";
  lines[2]["columns"] = 32;
  lines[1]["status"] = "unsupported";
  lines[1]["gflops"] = nullptr;
  const std::string svg = plot(lines);
  const auto count = [&](const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = svg.find(what); at != std::string::npos; at = svg.find(what, at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(count("class=\"title\""), 2U);
  EXPECT_EQ(count("f32, 32 columns: GFLOP/s"), 1U);
  EXPECT_EQ(count("<rect class=\"rung\""), 2U);
  EXPECT_EQ(count("<rect class=\"vendor\""), 0U);
  EXPECT_EQ(count(">unsupported<"), 1U);
  EXPECT_EQ(count("a &lt; b &amp;"), 2U);
}

TEST(Ladder, ProfileTakesItsCountsByName) {
  const std::string text =
      "==PROF== Connected to process 1\n"
      "\"ID\",\"Kernel Name\",\"dram__bytes_read.sum\","
      "\"l1tex__m_xbar2l1tex_read_bytes_mem_lg_op_ld.sum\","
      "\"sm__sass_data_bytes_mem_global_op_ld.sum\"\n"
      "\"\",\"\",\"byte\",\"byte\",\"byte\"\n"
      "\"0\",\"gemm_naive_kernel(Product<float>, int)\",\"1,024\",\"2048\",\"4096.5\"\n";
  const ReadBytes bytes = parse_profile(text);
  EXPECT_EQ(bytes.from_dram, 1024);
  EXPECT_EQ(bytes.from_l2, 2048);
  EXPECT_EQ(bytes.by_warps, 4096.5);
  expect_error([] { parse_profile("sh: 1: ncu: not found\n"); }, ErrorCode::unsupported,
               {"ncu: not found"});
}

/// About the paper's Tesla P100: 56 SMs, 720 GB/s, 4.7 TFLOP/s in f64.
Tsm2Card small_card() {
  return {.multiprocessors = 56,
          .threads_per_multiprocessor = 2048,
          .blocks_per_multiprocessor = 32,
          .registers_per_multiprocessor = 65536,
          .shared_bytes_per_multiprocessor = 65536,
          .clock_hz = 1.3e9,
          .bytes_per_second = 550e9,
          .flops_per_second = 4.7e12,
          .memory_latency = 600,
          .arithmetic_latency = 8};
}

TEST(Tsm2Model, DescentFindsNearlyTheBestOfAllChoices) {
  const Tsm2Card card = small_card();
  for (const std::int64_t n : {2, 4, 8, 16}) {
    for (const std::int64_t m : {10240, 30720}) {
      const Tsm2Product product{m, n, m, 8};
      const Tsm2Choice found = descend_tsm2(card, product, 128);
      const double seconds = estimate_tsm2(card, product, 128, found.t2, found.t3).seconds();
      double least = seconds;
      for (const int t2 : kTsm2T2) {
        for (const int t3 : kTsm2T3)
          least = std::min(least, estimate_tsm2(card, product, 128, t2, t3).seconds());
      }
      EXPECT_LE(seconds, 1.05 * least)
          << m << " " << n << ": t2 " << found.t2 << " t3 " << found.t3;
      EXPECT_GE(found.t2, 2);
      EXPECT_LE(found.t2, n);
    }
  }
}

TEST(Tsm2Model, LittlesLawBoundsBothShares) {
  const Tsm2Card card = small_card();
  const Tsm2Product product{10240, 16, 10240, 8};
  const Tsm2Estimate few = estimate_tsm2(card, product, 128, 2, 1);
  const Tsm2Estimate more = estimate_tsm2(card, product, 128, 2, 8);
  EXPECT_LT(few.memory_share, more.memory_share);
  EXPECT_LE(more.memory_share, 1);
  // 80 blocks of 128 rows on 56 multiprocessors.
  EXPECT_NEAR(few.threads, 80.0 / 56 * 128, 1e-9);
  // Eight passes over A against one.
  EXPECT_GT(few.memory_seconds, more.memory_seconds);
  // 4.7e12 flops and 550e9 bytes a second: an element of A may meet 34 columns.
  EXPECT_NEAR(tsm2_threshold(card, 8), 34.2, 0.1);
  EXPECT_TRUE(estimate_tsm2(card, {1 << 20, 2, 1 << 14, 8}, 128, 2, 8).memory_bound());
}

/// Every ladder of a GPU on shapes with and without edges.
class LadderGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (Device::cuda_count() > 0) return;
    if (testing::gpu_required()) FAIL() << "there is no GPU";
    GTEST_SKIP() << "needs a GPU: " << Device::cuda_absence();
  }
};

TEST_F(LadderGpu, GemmIsRightInEveryBlock) {
  bench::Session session(Device::cuda(), one_launch());
  const GemmLadder& ladder = ladder_named("gemm-gpu");
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const Block block : {Block{4, 4}, Block{16, 16}, Block{8, 32}, Block{32, 32}}) {
      const auto whole =
          climb(session, ladder, product(ladder, 256, 384, 128, dtype), {.block = block}, {});
      EXPECT_TRUE(expect_right(whole).empty());
      // 17 columns hold no whole words.
      const auto edges =
          climb(session, ladder, product(ladder, 131, 17, 77, dtype), {.block = block}, {});
      const auto left_out = expect_right(edges);
      ASSERT_EQ(left_out.size(), 2U);
      EXPECT_EQ(left_out[0]["rung"], "registers-words");
      EXPECT_EQ(left_out[1]["rung"], "tensor");
      expect_right(
          climb(session, ladder, product(ladder, 131, 20, 76, dtype), {.block = block}, {}));
    }
  }
}

/// Every rung once on small numbers, whose sums are exact, and nothing else: for compute-sanitizer.
template <class T>
void expect_exact(const Stream& stream, const GemmLadder& ladder, std::int64_t m, std::int64_t n,
                  std::int64_t k, const Settings& settings) {
  const bench::GemmCase gemm = product(ladder, m, n, k, kDType<T>);
  const bool row = gemm.layout == Layout::row;
  const auto at = [row](std::int64_t i, std::int64_t j, std::int64_t rows, std::int64_t cols) {
    return static_cast<std::size_t>(row ? i * cols + j : i + j * rows);
  };
  std::vector<T> a(static_cast<std::size_t>(m * k));
  std::vector<T> b(static_cast<std::size_t>(k * n));
  std::vector<T> c(static_cast<std::size_t>(m * n));
  for (std::size_t e = 0; e < a.size(); ++e)
    a[e] = static_cast<T>(static_cast<int>(e * 7 % 5) - 2);
  for (std::size_t e = 0; e < b.size(); ++e)
    b[e] = static_cast<T>(static_cast<int>(e * 11 % 7) - 3);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t l = 0; l < k; ++l)
        c[at(i, j, m, n)] += a[at(i, l, m, k)] * b[at(l, j, k, n)];
    }
  }
  const auto on_device_a = Buffer<T>::from(stream, a);
  const auto on_device_b = Buffer<T>::from(stream, b);
  const bench::GemmCall call{.type = gemm.type,
                             .shape = {.m = m,
                                       .n = n,
                                       .k = k,
                                       .layout = gemm.layout,
                                       .lda = row ? k : m,
                                       .ldb = row ? n : k,
                                       .ldc = row ? n : m}};
  for (const GemmRung& rung : ladder.rungs(gemm, settings)) {
    auto result =
        Buffer<T>::from(stream, std::vector<T>(c.size(), std::numeric_limits<T>::quiet_NaN()));
    const bench::GemmOperands operands{on_device_a.data(), on_device_b.data(), result.data()};
    rung.build(stream, call, {&operands, 1}).run(stream, operands);
    EXPECT_EQ(result.to_host(), c) << rung.rung.name << " " << to_string(kDType<T>);
  }
}

TEST_F(LadderGpu, ShortProducts) {
  const Stream stream(Device::cuda());
  const Settings settings{.block = {4, 8}, .tsm2 = {64, 4, 2}};
  for (const char* name : {"gemm-gpu", "tsm2"}) {
    expect_exact<float>(stream, ladder_named(name), 35, 36, 28, settings);
    expect_exact<double>(stream, ladder_named(name), 70, 12, 68, settings);
  }
}

TEST_F(LadderGpu, BlocksThatNoCardTakesAreReported) {
  bench::Session session(Device::cuda(), one_launch());
  const GemmLadder& ladder = ladder_named("gemm-gpu");
  const auto lines = climb(session, ladder, product(ladder, 256, 256, 256, DType::f32),
                           {.block = {64, 64}}, {.vendors = false});
  const auto left_out = expect_right(lines);
  EXPECT_EQ(left_out.size(), 7U);
  EXPECT_NE(left_out[0]["message"].get<std::string>().find("4096 threads"), std::string::npos);
}

TEST_F(LadderGpu, Tsm2IsRightWithEveryChoice) {
  bench::Session session(Device::cuda(), one_launch());
  const GemmLadder& ladder = ladder_named("tsm2");
  for (const DType dtype : {DType::f32, DType::f64}) {
    Settings settings;
    settings.card = measure_card(session, dtype);
    EXPECT_GT(settings.card->memory_latency, 100);
    EXPECT_GT(settings.card->arithmetic_latency, 1);
    for (const int t2 : kTsm2T2) {
      for (const int t3 : kTsm2T3) {
        settings.tsm2 = {t2 == 16 ? 0 : 128, t2, t3};
        const auto lines = climb(session, ladder, product(ladder, 777, 11, 517, dtype), settings,
                                 {.vendors = false});
        EXPECT_TRUE(expect_right(lines).empty());
        EXPECT_EQ(lines.size(), 8U);
        EXPECT_TRUE(lines[6]["predicted_us"].is_number());
      }
    }
  }
}

}  // namespace

}  // namespace lanky::ladder
