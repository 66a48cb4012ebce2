// lanky report: lines that are odd, figures, statistics, charts' axes, tables, the program.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "bench/report/axis.hpp"
#include "bench/report/chart.hpp"
#include "bench/report/markup.hpp"
#include "bench/report/number_text.hpp"
#include "bench/report/output_file.hpp"
#include "bench/report/page.hpp"
#include "bench/report/plain_tables.hpp"
#include "bench/report/summary.hpp"
#include "bench/report/unmeasured.hpp"
#include "core/text.hpp"
#include "support/expect_error.hpp"
#include "support/result_lines.hpp"
#include "support/temporary_directory.hpp"

namespace lanky::report {
namespace {

using testing::env_line;
using testing::gemm_line;
using testing::sddmm_line;
using testing::spmm_line;
using testing::spmv_line;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Report : public ::testing::Test {
 protected:
  Results read(const std::string& text) const {
    return read_results({folder_.file("results.jsonl", text)});
  }
  Figures only_figures(const std::string& text) const {
    results_ = read(text);
    EXPECT_EQ(results_.cases.size(), 1U);
    return figures_of(results_.cases.at(0));
  }
  /// Of the program beside this test.
  int exit_code(const std::string& arguments) const {
    const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "lanky";
    const std::string command = "'" + program.string() + "' " + arguments + " >'" + out().string() +
                                "' 2>'" + err().string() + "'";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::filesystem::path out() const { return folder_.path() / "out"; }
  std::filesystem::path err() const { return folder_.path() / "err"; }

  testing::TemporaryDirectory folder_;
  mutable Results results_;  // what figures point into
};

TEST_F(Report, HalfALineAtTheEndIsPassedOver) {
  const Results results = read(env_line() + spmv_line("a", "lanky", "auto", 2) +
                               R"({"kind":"spmv","case":"b","contes)");
  ASSERT_EQ(results.cases.size(), 1U);
  ASSERT_EQ(results.notes.size(), 1U);
  EXPECT_TRUE(contains(results.notes[0], "results.jsonl:3: half a line")) << results.notes[0];
}

TEST_F(Report, AWholeLastLineNeedsNoLineBreak) {
  std::string text = spmv_line("a", "lanky", "auto", 2);
  text.pop_back();
  const Results results = read(text);
  EXPECT_EQ(results.cases.size(), 1U);
  EXPECT_TRUE(results.notes.empty());
}

TEST_F(Report, OddLinesAreNotedAndCounted) {
  std::string text = "\xef\xbb\xbf" + env_line() + "\r\n\n[1,2]\n{\"kind\":\"spmv\"}\n";
  text +=
      "{\"kind\":\"spmv\",\"case\":\"x\"}\n{\"kind\":\"of later versions\"}\nno json\n\"\xff\"\n";
  const Results results = read(text + spmv_line("a", "lanky", "auto", 2));
  EXPECT_EQ(results.cases.size(), 1U);
  EXPECT_EQ(results.environments.size(), 1U);
  ASSERT_EQ(results.notes.size(), 4U);  // three in full, the rest as a number
  EXPECT_TRUE(contains(results.notes[0], ":4: no JSON object")) << results.notes[0];
  EXPECT_TRUE(contains(results.notes[1], ":5: spmv line without a case")) << results.notes[1];
  EXPECT_TRUE(contains(results.notes[3], "2 more")) << results.notes[3];
}

TEST_F(Report, FieldsOfAnotherTypeAreNotKnown) {
  const Results results = read(spmv_line(
      "a", "lanky", "auto", 2,
      R"(,"setup_us":"long","flops":null,"bytes":-5,"warm_us":0,"noise":[1],"nnz":true,"extra":1)"));
  const Line& line = results.cases[0].lines[0];
  EXPECT_EQ(line.graph_us, 2.0);
  for (const Quantity& unknown : {line.setup_us, line.flops, line.bytes, line.warm_us, line.noise})
    EXPECT_FALSE(unknown.has_value());
  EXPECT_FALSE(results.cases[0].nnz.has_value());
}

TEST_F(Report, FiguresThatCannotBeAreNamedAndLeftOut) {
  const Results results =
      read(env_line() + spmv_line("a", "lanky", "auto", 2, R"(,"warm_us":1e308,"nnz":1e300)") +
           spmv_line("b", "lanky", "auto", 2, R"(,"graph_us":-3)") +
           spmv_line("c", "lanky", "auto", 2, R"(,"bytes":1e300)") +
           spmv_line("d", "lanky", "auto", 2, R"(,"bytes":1e300)"));
  const Line& line = results.cases[0].lines[0];
  EXPECT_FALSE(line.warm_us.has_value());
  EXPECT_FALSE(results.cases[0].nnz.has_value());
  EXPECT_EQ(line.graph_us, 2.0);
  ASSERT_EQ(results.notes.size(), 4U);  // three in full, the rest as a number
  EXPECT_TRUE(contains(results.notes[0],
                       "results.jsonl:2: nnz is 1e+300, warm_us is 1e+308, which cannot be"))
      << results.notes[0];
  EXPECT_TRUE(contains(results.notes[1], "results.jsonl:3: graph_us is -3")) << results.notes[1];
  EXPECT_TRUE(contains(results.notes[3], "1 more line")) << results.notes[3];
}

TEST_F(Report, NestingWithoutEndIsNoRecord) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const Results results = read(env_line() + spmv_line("a", "lanky", "auto", 2, ",\"nnz\":" + deep) +
                               spmv_line("b", "lanky", "auto", 2, R"(,"note":"[[[[{{")"));
  ASSERT_EQ(results.cases.size(), 1U);
  EXPECT_EQ(results.cases[0].name, "b");
  ASSERT_EQ(results.notes.size(), 1U);
  EXPECT_TRUE(contains(results.notes[0], "results.jsonl:2: ")) << results.notes[0];
}

TEST_F(Report, AbsurdFiguresEndInAPage) {
  std::string lines = env_line();
  for (const char* absurd : {"1e308", "1e300", "5e-324", "1e-300", "-1e308", "1e999", "0"}) {
    for (const char* field : {"graph_us", "warm_us", "floor_us", "nnz", "m", "bytes", "flops",
                              "setup_us", "plan_bytes", "noise", "padding"}) {
      const std::string more = concat(",\"", field, "\":", absurd);
      lines += spmv_line(concat(field, absurd), "lanky", "auto", 2, more) +
               spmv_line(concat(field, absurd), "peer", "x", 3, more) +
               gemm_line(concat(field, absurd), "lanky", "auto", 2, more);
    }
  }
  const std::string page = html_page(read(lines));
  EXPECT_TRUE(contains(page, "</html>"));
  EXPECT_LT(page.size(), std::size_t{1} << 21);
}

TEST_F(Report, MatricesOfOneNameAreTwoCases) {
  const auto line = [](const char* source, const char* content, double us) {
    return spmv_line("twin", "lanky", "auto", us,
                     concat(R"(,"source":")", source, R"(","content":")", content, "\""));
  };
  const Results results =
      read(env_line() + line("/a/A/twin.mtx.xz", "xxh3:11aa", 2) +
           line("/a/B/twin.mtx.xz", "xxh3:22bb", 3) + line("/a/moved/twin.mtx.xz", "xxh3:11aa", 4));
  ASSERT_EQ(results.cases.size(), 2U);
  EXPECT_EQ(results.cases[0].lines[0].graph_us, 4.0) << "the content is the matrix";
  EXPECT_EQ(results.cases[1].lines[0].graph_us, 3.0);
  EXPECT_EQ(results.cases[0].name, "A/twin");
  EXPECT_EQ(results.cases[1].name, "B/twin");
}

TEST_F(Report, LinesWithoutContentAreOfTheOnlyMatrixOfTheirName) {
  const std::string content = R"(,"source":"A/twin.mtx","content":"xxh3:11aa")";
  const std::string other = R"(,"source":"B/twin.mtx","content":"xxh3:22bb")";
  const std::string old = spmv_line("twin", "peer", "x", 5);
  const Results one = read(env_line() + spmv_line("twin", "lanky", "auto", 2, content) + old);
  ASSERT_EQ(one.cases.size(), 1U);
  EXPECT_EQ(one.cases[0].lines.size(), 2U);
  const Results two = read(env_line() + spmv_line("twin", "lanky", "auto", 2, content) +
                           spmv_line("twin", "lanky", "auto", 2, other) + old);
  EXPECT_EQ(two.cases.size(), 3U);
  ASSERT_EQ(two.notes.size(), 1U);
  EXPECT_TRUE(contains(two.notes[0], "twin: several matrices have this name")) << two.notes[0];
}

TEST_F(Report, ALineWithoutStatusIsNotRight) {
  const Results results =
      read(R"({"kind":"spmv","case":"a","dtype":"f64","contestant":"lanky","graph_us":1})");
  EXPECT_EQ(results.cases[0].lines[0].status, "unknown");
  EXPECT_TRUE(measured_cases(results, Product::spmv).empty());
}

TEST_F(Report, LaterLinesReplaceEarlierOnesOfAllFiles) {
  const auto first = folder_.file(
      "a", env_line() + spmv_line("a", "lanky", "auto", 2) + gemm_line("g", "lanky", "auto", 5));
  const auto second = folder_.file("b", env_line() + spmv_line("a", "lanky", "auto", 3) +
                                            gemm_line("g", "lanky", "auto", 6, R"(,"beta":0.5)"));
  const Results results = read_results({first, second});
  ASSERT_EQ(results.cases.size(), 3U);  // another beta is another case
  EXPECT_EQ(results.cases[0].lines.size(), 1U);
  EXPECT_EQ(results.cases[0].lines[0].graph_us, 3.0);
  EXPECT_EQ(results.cases[2].way, "col tn beta 0.5");
  EXPECT_EQ(results.environments[0].lines, 2U);
}

TEST_F(Report, DevicesAreNeverMixedInACase) {
  const Results results = read(env_line("A") + spmv_line("a", "lanky", "auto", 2) + env_line("B") +
                               spmv_line("a", "cusparse", "alg1", 3));
  EXPECT_EQ(results.cases.size(), 2U);
  ASSERT_FALSE(results.notes.empty());
  EXPECT_TRUE(contains(results.notes.back(), "several devices")) << results.notes.back();
}

TEST_F(Report, AVoidRunIsSaid) {
  const Results results = read(R"({"kind":"env","gpu":"NVIDIA H200","void":true})"
                               "\n" +
                               spmv_line("a", "lanky", "auto", 2));
  ASSERT_EQ(results.notes.size(), 1U);
  EXPECT_TRUE(contains(results.notes[0], "void")) << results.notes[0];
  EXPECT_TRUE(contains(html_page(results), html(results.notes[0])));
}

TEST_F(Report, FilesThatCannotBeUsed) {
  expect_error([this] { read(env_line()); }, ErrorCode::parse,
               {"no line of results", "results.jsonl"});
  expect_error([this] { read("not\nours\n"); }, ErrorCode::parse, {"results.jsonl:1: no JSON"});
  expect_error([] { read_results({"none.jsonl"}); }, ErrorCode::io, {"none.jsonl"});
  expect_error([this] { read_results({folder_.path()}); }, ErrorCode::io, {"cannot be opened"});
}

TEST_F(Report, TheFastestRightRivalIsCompared) {
  const Figures figures = only_figures(
      env_line() + spmv_line("a", "lanky", "auto", 2) + spmv_line("a", "lanky", "mma", 1) +
      spmv_line("a", "cusparse", "alg1", 5) + spmv_line("a", "cusparse", "sell", 4) +
      spmv_line("a", "cusparse", "bsr2", 1, R"(,"status":"wrong")") +
      spmv_line("a", "somebody's", "own", 6));
  EXPECT_EQ(figures.lanky->variant, "auto");  // though mma is faster
  EXPECT_EQ(figures.rival->name(), "cusparse/sell");
  EXPECT_DOUBLE_EQ(*figures.speedup, 2);
  EXPECT_DOUBLE_EQ(*figures.floor_share, 1);
  EXPECT_DOUBLE_EQ(*figures.gflops, 1);  // 2000 flops in 2 us
  EXPECT_DOUBLE_EQ(*figures.gbs, 6);
  EXPECT_DOUBLE_EQ(*figures.setup_runs, 50);
}

TEST_F(Report, WithoutAutoTheFastestOfFullPrecisionCounts) {
  const std::string others = spmv_line("a", "lanky", "cuda", 4) + spmv_line("a", "lanky", "mma", 3);
  EXPECT_EQ(only_figures(others).lanky->variant, "mma");
  EXPECT_EQ(only_figures(spmv_line("a", "lanky", "tf32", 1) + others).lanky->variant, "mma");
  EXPECT_EQ(only_figures(spmv_line("a", "lanky", "tf32", 1)).lanky->variant, "tf32");
}

TEST_F(Report, AWrongAutoIsNoTime) {
  const Figures figures = only_figures(spmv_line("a", "lanky", "auto", 1, R"(,"status":"wrong")") +
                                       spmv_line("a", "lanky", "mma", 3));
  EXPECT_EQ(figures.lanky, nullptr);
  const auto found = unmeasured_cases(results_);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].status, "wrong");
}

TEST_F(Report, GraphsAreComparedWithGraphsAlone) {
  const std::string without = R"(,"graph_us":null)";
  const Figures figures =
      only_figures(spmv_line("a", "lanky", "auto", 2) + spmv_line("a", "peer", "", 10, without));
  EXPECT_EQ(figures.rival->name(), "peer");
  EXPECT_DOUBLE_EQ(*figures.time_us, 4);  // both in batches
  EXPECT_DOUBLE_EQ(*figures.speedup, 3);
  EXPECT_DOUBLE_EQ(*figures.floor_share, 1);  // lanky's own floor is still the graph's
}

TEST_F(Report, DenseProductsAreComparedInBatches) {
  const Figures figures =
      only_figures(gemm_line("g", "lanky", "auto", 8) + gemm_line("g", "cublas", "gemmex", 12));
  EXPECT_DOUBLE_EQ(*figures.speedup, 1.5);
  EXPECT_DOUBLE_EQ(*figures.floor_share, 0.5);
}

TEST_F(Report, NoiseTellsATie) {
  const std::string rival = spmv_line("a", "cusparse", "alg1", 2.1, R"(,"noise":0.04)");
  EXPECT_TRUE(
      only_figures(spmv_line("a", "lanky", "auto", 2, R"(,"noise":0.03)") + rival).within_noise);
  EXPECT_FALSE(
      only_figures(spmv_line("a", "lanky", "auto", 2, R"(,"noise":0.02)") + rival).within_noise);
  EXPECT_FALSE(only_figures(spmv_line("a", "lanky", "auto", 2, R"(,"noise":null)") +
                            spmv_line("a", "cusparse", "alg1", 2.1))
                   .within_noise);
}

TEST_F(Report, BreakEven) {
  const auto products = [this](double lanky_us, double lanky_setup, double rival_setup) {
    const auto setup = [](double us) { return R"(,"setup_us":)" + std::to_string(us); };
    return only_figures(spmv_line("a", "lanky", "auto", lanky_us, setup(lanky_setup)) +
                        spmv_line("a", "cusparse", "alg1", 4, setup(rival_setup)))
        .break_even;
  };
  EXPECT_DOUBLE_EQ(*products(2, 205, 100), 52.5);
  EXPECT_EQ(*products(2, 100, 100), 0);
  EXPECT_EQ(*products(4, 90, 100), 0);
  EXPECT_TRUE(std::isinf(*products(4, 110, 100)));
  EXPECT_TRUE(std::isinf(*products(5, 90, 100)));
  EXPECT_EQ(break_even_text(52.5), "53");
  EXPECT_EQ(break_even_text(0), "at once");
  EXPECT_EQ(break_even_text(std::numeric_limits<double>::infinity()), "never");
  const Figures unknown = only_figures(spmv_line("a", "lanky", "auto", 2, R"(,"setup_us":null)") +
                                       spmv_line("a", "cusparse", "alg1", 4));
  EXPECT_FALSE(unknown.break_even.has_value());
}

TEST(ReportStatistics, MeansAndMedians) {
  EXPECT_NEAR(*geometric_mean({1, 10, 100}), 10, 1e-12);
  EXPECT_FALSE(geometric_mean({}).has_value());
  EXPECT_EQ(median({3, 1, 2}), 2.0);
  EXPECT_EQ(median({1, 2, 3, 4}), 2.5);
  EXPECT_FALSE(median({}).has_value());
}

TEST(ReportStatistics, TheBootstrapFindsTheSpreadOfTheMean) {
  std::vector<std::vector<double>> clusters;
  for (int i = 0; i < 400; ++i)
    clusters.push_back({i % 2 == 0 ? std::exp(1.0) : std::exp(-1.0)});
  const auto interval = bootstrap_interval(clusters);
  // The logarithms have deviation 1, their mean of 400 one of 0.05.
  EXPECT_NEAR(std::log(interval->low), -1.96 * 0.05, 0.012);
  EXPECT_NEAR(std::log(interval->high), 1.96 * 0.05, 0.012);
  const auto again = bootstrap_interval(clusters);
  EXPECT_EQ(interval->low, again->low);
  EXPECT_FALSE(bootstrap_interval({{2.0}}).has_value());
}

TEST(ReportStatistics, AMatrixInSeveralTypesIsOneCluster) {
  std::vector<std::vector<double>> together;
  std::vector<std::vector<double>> apart;
  for (int i = 0; i < 100; ++i) {
    const double value = i % 2 == 0 ? 1 : 3;
    together.push_back(std::vector<double>(4, value));
    for (int type = 0; type < 4; ++type)
      apart.push_back({value});
  }
  const auto wide = bootstrap_interval(together);
  const auto narrow = bootstrap_interval(apart);
  EXPECT_NEAR(std::log(wide->high / wide->low) / std::log(narrow->high / narrow->low), 2, 0.2);
}

TEST_F(Report, SummaryCountsWinsLossesAndNoise) {
  std::string text;
  const double speedups[] = {2, 0.5, 1, 1.01, 4};
  for (int i = 0; i < 5; ++i) {
    const std::string name = "m" + std::to_string(i);
    const std::string noise = i < 2 ? R"(,"noise":0.01)" : R"(,"noise":0.02)";
    text += spmv_line(name, "lanky", "auto", 2, noise) +
            spmv_line(name, "cusparse", "alg1", 2 * speedups[i], noise);
  }
  text += spmv_line("alone", "lanky", "auto", 2);
  const Results results = read(text);
  const auto cases = measured_cases(results, Product::spmv);
  const Summary summary = summarize(of_type(cases, ""));
  EXPECT_EQ(summary.cases, 6U);
  EXPECT_EQ(summary.compared, 5U);
  EXPECT_EQ(summary.wins, 3U);
  EXPECT_EQ(summary.losses, 1U);
  EXPECT_EQ(summary.within_noise, 2U);
  EXPECT_NEAR(*summary.speedup, std::pow(2 * 0.5 * 1.01 * 4, 0.2), 1e-12);
  const Cases worst = worst_cases(of_type(cases, ""), 2);
  ASSERT_EQ(worst.size(), 2U);
  EXPECT_EQ(worst[0]->product->name, "m1");
  EXPECT_EQ(worst[1]->product->name, "m2");
}

TEST_F(Report, PerformanceProfile) {
  const Results results =
      read(spmv_line("a", "lanky", "auto", 1) + spmv_line("a", "cusparse", "alg1", 2) +
           spmv_line("b", "lanky", "auto", 3) + spmv_line("b", "cusparse", "alg1", 2) +
           spmv_line("c", "lanky", "auto", 1, R"(,"status":"wrong")") +
           spmv_line("c", "cusparse", "alg1", 2) + spmv_line("c", "cusparse", "sell", 8));
  const auto profiles = performance_profiles(results, Product::spmv, "");
  ASSERT_EQ(profiles.size(), 3U);
  EXPECT_EQ(profiles[0].contestant, "lanky");
  EXPECT_DOUBLE_EQ(profiles[0].share_within(1), 1.0 / 3);
  EXPECT_DOUBLE_EQ(profiles[0].share_within(1.5), 2.0 / 3);
  EXPECT_DOUBLE_EQ(profiles[0].share_within(1e9), 2.0 / 3);  // wrong once
  EXPECT_EQ(profiles[1].contestant, "cusparse/alg1");
  EXPECT_DOUBLE_EQ(profiles[1].share_within(1), 2.0 / 3);
  EXPECT_DOUBLE_EQ(profiles[1].share_within(2), 1);
  EXPECT_DOUBLE_EQ(profiles[2].share_within(3.99), 0);
  EXPECT_DOUBLE_EQ(profiles[2].share_within(4), 1.0 / 3);
}

TEST(ReportText, Escaping) {
  EXPECT_EQ(html("<a href='x'>&\"\x01"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;\uFFFD");
  EXPECT_EQ(csv_cell("a,\"b\"\n"), "\"a,\"\"b\"\"\n\"");
  EXPECT_EQ(csv_cell("plain"), "plain");
  EXPECT_EQ(markdown_cell("a|b*<c>\n"), "a\\|b\\*\\<c\\> ");
  EXPECT_EQ(terminal_text("a\x1b[31m\n"), "a?[31m?");
}

TEST(ReportText, Numbers) {
  EXPECT_EQ(significant(107.247, 4), "107.2");
  EXPECT_EQ(significant(15512.9, 4), "15513");
  EXPECT_EQ(significant(0.01234567, 4), "0.01235");
  EXPECT_EQ(significant(0, 4), "0");
  EXPECT_EQ(grouped(1784), "1784");
  EXPECT_EQ(grouped(49430863), "49\u2009430\u2009863");
  EXPECT_EQ(byte_text(999), "999 B");
  EXPECT_EQ(byte_text(408877268), "409 MB");
  EXPECT_EQ(percent(0.984, 1), "98.4 %");
}

TEST(ReportChart, LogarithmicAxis) {
  Axis axis = Axis::logarithmic(1, 1000);
  axis.place(0, 300);
  EXPECT_NEAR(axis.at(10), 100, 1e-9);
  EXPECT_EQ(axis.at(0.1), 0);
  EXPECT_EQ(axis.at(1e9), 300);
  std::vector<std::string> labels;
  for (const Tick& tick : axis.ticks())
    labels.push_back(tick.label);
  EXPECT_EQ(labels, (std::vector<std::string>{"1", "10", "100", "1000"}));
  EXPECT_EQ(Axis::logarithmic(1e3, 1e7).ticks().at(1).label, "10⁴");
  for (const Tick& tick : Axis::logarithmic(0.0011, 0.0029).ticks())
    EXPECT_LE(tick.label.size(), 5U) << tick.label;
  for (const Tick& tick : Axis::logarithmic(0.11, 0.99).ticks())
    EXPECT_LE(tick.label.size(), 3U) << tick.label;
  const Axis point = Axis::logarithmic(5, 5);
  EXPECT_LT(point.low(), 5);
  EXPECT_GT(point.high(), 5);
  Range none;
  none.add(0);
  none.add(std::numeric_limits<double>::infinity());
  EXPECT_TRUE(none.empty());
  EXPECT_FALSE(none.axis().ticks().empty());
}

TEST(ReportChart, AxisOfWholeNumbers) {
  const auto labels = [](double high) {
    std::string text;
    for (const Tick& tick : Axis::count(high).ticks())
      text += tick.label + " ";
    return text;
  };
  EXPECT_EQ(labels(0), "0 1 ");
  EXPECT_EQ(labels(7), "0 1 2 3 4 5 6 7 ");
  EXPECT_EQ(labels(251), "0 50 100 150 200 250 ");
  EXPECT_EQ(labels(2000), "0 200 400 600 800 1000 1200 1400 1600 1800 2000 ");
  Axis axis = Axis::count(200);
  axis.place(100, 300);
  EXPECT_EQ(axis.at(50), 150);
  EXPECT_EQ(axis.at(1e9), 300);
}

TEST(ReportChart, TypesOfOthersHaveAColourToo) {
  EXPECT_EQ(type_class("f16"), "type type-f16");
  EXPECT_EQ(type_class("\"><script>"), "type type-other");
}

TEST_F(Report, ThePageHoldsNothingOfTheFilesAsMarkup) {
  const std::string evil = "</script><b>&'";
  const std::string lines =
      env_line(evil) + spmv_line(evil, "lanky", "auto", 2, "", evil) +
      spmv_line(evil, "c<i>", "<u>", 3, "", evil) +
      gemm_line(evil, "lanky", "auto", 2, R"(,"layout":"<s>","family":"<q>")") +
      gemm_line(evil, "peer", "auto", 2, R"(,"layout":"<s>","family":"<q>")");
  const std::string page = html_page(read(lines));
  for (const char* markup : {"</script><b>", "<i>c", "c<i>", "<u>", "<s>", "<q>"})
    EXPECT_FALSE(contains(page, markup)) << markup;
  EXPECT_TRUE(contains(page, "&lt;/script&gt;&lt;b&gt;&amp;&#39;"));
}

TEST_F(Report, SectionsWithoutResultsAreAbsent) {
  const std::string sparse = html_page(read(spmv_line("a", "lanky", "auto", 2)));
  EXPECT_TRUE(contains(sparse, "<section id=\"spmv\">"));
  EXPECT_FALSE(contains(sparse, "<section id=\"gemm\">"));
  EXPECT_FALSE(contains(sparse, "<section id=\"unmeasured\">"));
  const std::string dense = html_page(read(gemm_line("a", "lanky", "auto", 2)));
  EXPECT_FALSE(contains(dense, "<section id=\"spmv\">"));
}

TEST_F(Report, ColumnsAndLayoutTellCasesApart) {
  const Results results =
      read(env_line() + spmv_line("a", "lanky", "auto", 2) + spmm_line("a", "lanky", "auto", 4, 2) +
           spmm_line("a", "lanky", "auto", 8, 8) + spmm_line("a", "lanky", "auto", 9, 8, "col") +
           spmm_line("a", "lanky", "columns", 7, 8, "col") +
           spmm_line("a", "cusparse", "alg1", 18, 8, "col"));
  ASSERT_EQ(results.cases.size(), 4U);
  EXPECT_EQ(results.cases[0].product, Product::spmv);
  EXPECT_EQ(results.cases[1].way, "2 columns, row");
  EXPECT_EQ(results.cases[3].way, "8 columns, col");
  EXPECT_EQ(results.cases[3].name, "a");
  EXPECT_EQ(figures_of(results.cases[3]).speedup, 2);  // of auto, by graphs
  EXPECT_EQ(measured_cases(results, Product::spmm).size(), 3U);
  const std::string page = html_page(results);
  EXPECT_TRUE(contains(page, "<section id=\"spmm\">"));
  EXPECT_TRUE(contains(page, "8 columns, col"));
  EXPECT_TRUE(contains(csv_table(results), "spmm,a,real,f64,\"8 columns, col\",100,100,,1000,"))
      << csv_table(results);
  const std::string tables = markdown_tables(results);
  EXPECT_TRUE(contains(tables, "### Sparse products of several columns")) << tables;
  EXPECT_TRUE(contains(tables, "| a 8 columns, col | f64 | 2.00 | cusparse/alg1 |")) << tables;
}

TEST_F(Report, SampledProductsAreCasesOfTheirOwn) {
  const Results results =
      read(env_line() + spmm_line("a", "lanky", "auto", 4, 8) +
           sddmm_line("a", "lanky", "auto", 5, 8) + sddmm_line("a", "cusparse", "default", 15, 8) +
           sddmm_line("a", "lanky", "auto", 5, 8, "col"));
  ASSERT_EQ(results.cases.size(), 3U);
  EXPECT_EQ(results.cases[1].product, Product::sddmm);
  EXPECT_EQ(results.cases[1].way, "8 columns, row");
  EXPECT_EQ(figures_of(results.cases[1]).speedup, 3);
  EXPECT_EQ(measured_cases(results, Product::sddmm).size(), 2U);
  const std::string page = html_page(results);
  EXPECT_TRUE(contains(page, "<section id=\"sddmm\">"));
  EXPECT_TRUE(contains(page, "Sampled dense products"));
  EXPECT_TRUE(contains(csv_table(results), "sddmm,a,real,f64,\"8 columns, col\",100,100,,1000,"))
      << csv_table(results);
  const std::string tables = markdown_tables(results);
  EXPECT_TRUE(contains(tables, "### Sampled dense products")) << tables;
  EXPECT_TRUE(contains(tables, "| a 8 columns, row | f64 | 3.00 | cusparse/default |")) << tables;
}

TEST_F(Report, WhatWasNotMeasuredHasItsReason) {
  const Results results = read(
      spmv_line("a", "lanky", "auto", 2) + spmv_line("a", "lanky", "tuned", 2) +
      spmv_line("a", "cusparse", "sell", 2, R"(,"status":"unsupported","message":"too wide")") +
      R"({"kind":"spmv","case":"bad","contestant":"lanky","status":"invalid","message":"no"})"
      "\n"
      R"({"kind":"matrix","case":"a","status":"ok"})"
      "\n"
      R"({"kind":"matrix","case":"big","status":"oom","reason":"90 GB","dtypes":["f64","f32"]})"
      "\n"
      R"({"kind":"matrix","case":"bad","status":"unreadable","reason":"told already"})");
  const auto cases = unmeasured_cases(results);
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0].name + ": " + cases[0].reason, "bad: no");
  EXPECT_EQ(cases[1].status + " " + cases[1].dtype, "oom f64 f32");
  const auto rivals = rival_failures(results);
  ASSERT_EQ(rivals.size(), 1U);
  EXPECT_EQ(rivals[0].rival + ": " + rivals[0].example, "cusparse/sell: too wide");
}

TEST_F(Report, CsvHasARowACaseAndType) {
  const std::string table = csv_table(
      read(env_line() + spmv_line("a,b", "lanky", "auto", 2) + spmv_line("a,b", "peer", "x", 5) +
           spmv_line("c", "lanky", "auto", 2, R"(,"status":"oom")")));
  std::vector<std::string> rows;
  std::istringstream stream(table);
  for (std::string row; std::getline(stream, row);)
    rows.push_back(row);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].rfind("product,case,class,dtype,", 0), 0U);
  EXPECT_TRUE(contains(rows[1],
                       "spmv,\"a,b\",real,f64,,100,100,,1000,NVIDIA H200,ok,auto,2,peer/x,5,"
                       "2.5,0,"))
      << rows[1];
  EXPECT_TRUE(contains(rows[2], ",oom,,,,,,,")) << rows[2];
}

TEST_F(Report, MarkdownHasClassesTypesAndTheWorst) {
  const std::string tables =
      markdown_tables(read(spmv_line("a", "lanky", "auto", 2) + spmv_line("a", "peer", "x", 5) +
                           spmv_line("b|c", "lanky", "auto", 2, "", "f32") +
                           spmv_line("b|c", "peer", "x", 1, "", "f32")));
  EXPECT_TRUE(contains(tables, "| real | f64 | 1 | 2.50 | - | 1 | 0 | 0 | 100 % |")) << tables;
  EXPECT_TRUE(contains(tables, "| all | all | 2 | 1.12 | ")) << tables;
  EXPECT_TRUE(contains(tables, "| b\\|c | f32 | 0.50 | peer/x |")) << tables;
}

TEST_F(Report, AFileIsWrittenWholeOrNotAtAll) {
  const auto target = folder_.file("page.html", "before");
  write_whole(target, "after");
  EXPECT_EQ(testing::content(target), "after");
  const auto link = folder_.path() / "link.html";
  std::filesystem::create_symlink("page.html", link);
  write_whole(link, "through the link");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(testing::content(target), "through the link");
  write_whole("/dev/null", "nothing");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const std::string missing = folder_.path() / "none" / "page.html";
  expect_error([&missing] { write_whole(missing, "x"); }, ErrorCode::io,
               {missing, "cannot be written"});
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 2);
}

TEST_F(Report, TheProgramWritesAllThree) {
  const std::string lines =
      folder_.file("results.jsonl", env_line() + spmv_line("a", "lanky", "auto", 2));
  const std::string page = folder_.path() / "page.html";
  const std::string table = folder_.path() / "table.csv";
  EXPECT_EQ(exit_code("report " + lines + " -o " + page + " --csv " + table + " --markdown -"), 0)
      << testing::content(err());
  EXPECT_EQ(testing::content(page).rfind("<!DOCTYPE html>", 0), 0U);
  EXPECT_EQ(testing::content(table).rfind("product,", 0), 0U);
  EXPECT_EQ(testing::content(out()).rfind("### Sparse products", 0), 0U);
  EXPECT_EQ(exit_code("report " + lines + " -o -"), 0);
  EXPECT_EQ(testing::content(out()), testing::content(page));
}

TEST_F(Report, NothingThatIsReadIsReplaced) {
  const std::string text = env_line() + spmv_line("a", "lanky", "auto", 2);
  const std::string lines = folder_.file("r.jsonl", text);
  const std::string link = folder_.path() / "link.jsonl";
  const std::string twin = folder_.path() / "twin.jsonl";
  std::filesystem::create_symlink("r.jsonl", link);
  std::filesystem::create_hard_link(lines, twin);
  const std::string spelt = folder_.path() / "." / "r.jsonl";
  for (const std::string& output : {lines, link, twin, spelt}) {
    for (const char* option : {" -o ", " -o - --csv ", " -o - --markdown "}) {
      EXPECT_EQ(exit_code("report --force " + lines + option + output), 3) << option << output;
      EXPECT_TRUE(contains(testing::content(err()), output + ": is read by this command"))
          << testing::content(err());
    }
    EXPECT_EQ(exit_code("merge --force " + lines + " -o " + output), 3) << output;
    EXPECT_EQ(testing::content(lines), text);
  }
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST_F(Report, OtherFilesAreReplacedOnlyByForce) {
  const std::string lines =
      folder_.file("r.jsonl", env_line() + spmv_line("a", "lanky", "auto", 2));
  for (const char* option : {"report -o ", "report -o - --csv ", "merge -o "}) {
    const std::string thesis = folder_.file("thesis", "ten years of work");
    EXPECT_EQ(exit_code(option + thesis + " " + lines), 3) << option;
    EXPECT_TRUE(contains(testing::content(err()), "--force")) << testing::content(err());
    EXPECT_EQ(testing::content(thesis), "ten years of work");
    EXPECT_EQ(exit_code(option + thesis + " --force " + lines), 0) << option;
    EXPECT_NE(testing::content(thesis), "ten years of work");
  }
  const std::string one = folder_.path() / "one";
  EXPECT_EQ(exit_code("report " + lines + " -o " + one + " --csv " + one), 3);
  EXPECT_TRUE(contains(testing::content(err()), "another output")) << testing::content(err());
  EXPECT_FALSE(std::filesystem::exists(one));
  EXPECT_EQ(exit_code("report " + lines + " -o " + folder_.path().string()), 3);
  EXPECT_TRUE(contains(testing::content(err()), "is a folder")) << testing::content(err());
  EXPECT_EQ(exit_code("merge " + lines + " -o " + (folder_.path() / "none" / "x").string()), 3);
  EXPECT_TRUE(contains(testing::content(err()), "there is no folder")) << testing::content(err());
}

TEST_F(Report, WhatCannotBeReadIsSaidBeforeWhatCannotBeWritten) {
  const std::string absent = folder_.path() / "absent.jsonl";
  for (const char* command : {"report ", "merge "}) {
    EXPECT_EQ(exit_code(command + absent + " -o /no/such/folder/x"), 3) << command;
    const std::string said = testing::content(err());
    EXPECT_TRUE(contains(said, absent)) << said;
    EXPECT_FALSE(contains(said, "/no/such/folder")) << said;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  }
}

TEST_F(Report, HelpFitsATerminal) {
  for (const char* command : {"report", "compare"}) {
    EXPECT_EQ(exit_code(std::string(command) + " --help"), 0);
    std::istringstream help(testing::content(out()));
    for (std::string line; std::getline(help, line);)
      EXPECT_LE(line.size(), 120U) << line;
  }
}

TEST_F(Report, ACaseThatWasNeverSetUpKeepsItsName) {
  const Results results = read(R"({"kind":"gemm","case":"g","dtype":"f64","contestant":"lanky",)"
                               R"("status":"oom","message":"9 TB"})");
  const auto cases = unmeasured_cases(results);
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].name + ": " + cases[0].reason, "g: 9 TB");
}

TEST_F(Report, TheProgramSaysWhatIsWrong) {
  const std::string empty = folder_.file("empty.jsonl", env_line());
  const std::string page = folder_.path() / "page.html";
  EXPECT_EQ(exit_code("report " + empty + " -o " + page), 3);
  EXPECT_TRUE(contains(testing::content(err()), "no line of results")) << testing::content(err());
  EXPECT_FALSE(std::filesystem::exists(page));
  EXPECT_EQ(exit_code("report"), 2);
}

}  // namespace
}  // namespace lanky::report
