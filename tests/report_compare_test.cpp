// lanky compare: verdicts with noise and drift, what is missing, refusals, exit codes.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "bench/report/regressions.hpp"
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

std::string with_noise(double noise, double floor_us = 2) {
  return R"(,"noise":)" + std::to_string(noise) + R"(,"floor_us":)" + std::to_string(floor_us);
}

class Compare : public ::testing::Test {
 protected:
  Comparison run(const std::string& before, const std::string& after,
                 const CompareOptions& options = {}) const {
    return compare(read_results({folder_.file("before", env_line() + before)}),
                   read_results({folder_.file("after", env_line() + after)}), options);
  }
  Change verdict(const std::string& before, const std::string& after,
                 const CompareOptions& options = {}) const {
    const Comparison comparison = run(before, after, options);
    EXPECT_EQ(comparison.differences.size(), 1U);
    return comparison.differences.at(0).change;
  }
  /// Of lanky's times 100 and `after_us`, both with that noise and the floors of either side.
  Change times(double after_us, double noise, double floor_after = 2,
               const CompareOptions& options = {}) const {
    return verdict(spmv_line("a", "lanky", "auto", 100, with_noise(noise)),
                   spmv_line("a", "lanky", "auto", after_us, with_noise(noise, floor_after)),
                   options);
  }
  int exit_code(const std::string& arguments) const {
    const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "lanky";
    const std::string command =
        "'" + program.string() + "' compare " + arguments + " >'" + out().string() + "' 2>&1";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::filesystem::path out() const { return folder_.path() / "out"; }

  testing::TemporaryDirectory folder_;
};

TEST_F(Compare, NoiseAndToleranceBothCount) {
  EXPECT_EQ(times(101.9, 0.001), Change::same);
  EXPECT_EQ(times(102.1, 0.001), Change::slower);
  EXPECT_EQ(times(97.9, 0.001), Change::faster);
  EXPECT_EQ(times(98.1, 0.001), Change::same);
  EXPECT_EQ(times(105, 0.04), Change::same);  // sqrt(2) * 4 %
  EXPECT_EQ(times(106, 0.04), Change::slower);
  CompareOptions strict;
  strict.tolerance = 0;
  EXPECT_EQ(times(101.9, 0.001, 2, strict), Change::slower);
}

TEST_F(Compare, UnknownNoiseIsFivePercent) {
  const auto before = spmv_line("a", "lanky", "auto", 100, R"(,"noise":null)");
  EXPECT_EQ(verdict(before, spmv_line("a", "lanky", "auto", 107)), Change::same);
  EXPECT_EQ(verdict(before, spmv_line("a", "lanky", "auto", 107.2)), Change::slower);
}

TEST_F(Compare, ASlowerMachineIsNoRegression) {
  EXPECT_EQ(times(110, 0.001, 2.2), Change::same);    // the floor took 10 % longer too
  EXPECT_EQ(times(120, 0.001, 2.2), Change::slower);  // but not 20 %
  EXPECT_EQ(times(100, 0.001, 1.8), Change::same);    // a floor that got faster is no verdict
  EXPECT_EQ(times(90, 0.001, 2.2), Change::faster);
  EXPECT_EQ(times(90, 0.001, 1.8), Change::same);
  CompareOptions absolute;
  absolute.absolute = true;
  EXPECT_EQ(times(110, 0.001, 2.2, absolute), Change::slower);
}

TEST_F(Compare, DenseProductsByTheirBatches) {
  const std::string quiet = R"(,"noise":0.001)";
  EXPECT_EQ(verdict(gemm_line("g", "lanky", "auto", 10, quiet),
                    gemm_line("g", "lanky", "auto", 11, quiet)),
            Change::slower);
}

TEST_F(Compare, WhatIsGoneWrongOrNew) {
  const std::string common = spmv_line("a", "lanky", "auto", 10);
  const Comparison comparison =
      run(common + spmv_line("b", "lanky", "auto", 10) + spmv_line("c", "lanky", "auto", 10) +
              spmv_line("d", "lanky", "auto", 10, R"(,"status":"oom")"),
          common + spmv_line("b", "lanky", "auto", 1, R"(,"status":"wrong","message":"far off")") +
              spmv_line("d", "lanky", "auto", 10) + spmv_line("e", "lanky", "auto", 10) +
              R"({"kind":"matrix","case":"c","status":"crash","reason":"signal 11"})");
  ASSERT_EQ(comparison.differences.size(), 5U);
  EXPECT_EQ(comparison.differences[0].change, Change::same);
  EXPECT_EQ(comparison.differences[1].change, Change::failed);
  EXPECT_EQ(comparison.differences[1].reason, "wrong: far off");
  EXPECT_EQ(comparison.differences[2].change, Change::gone);
  EXPECT_EQ(comparison.differences[2].reason, "crash: signal 11");
  EXPECT_EQ(comparison.differences[3].change, Change::repaired);
  EXPECT_EQ(comparison.differences[4].change, Change::fresh);
  EXPECT_TRUE(comparison.worse());
  const std::string text = comparison_text(comparison, false);
  for (const char* part : {"failed   b f64 lanky/auto", "wrong: far off", "new      e f64",
                           "0 slower, 1 failed, 1 gone, 0 faster, 1 same, 1 repaired, 1 new"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  EXPECT_EQ(text.find("same     a"), std::string::npos) << text;
  EXPECT_NE(comparison_text(comparison, true).find("same     a"), std::string::npos);
}

TEST_F(Compare, WhatNeverHadATimeIsNotWorse) {
  const std::string failing = spmv_line("b", "lanky", "auto", 1, R"(,"status":"oom")");
  const std::string good = spmv_line("a", "lanky", "auto", 10);
  EXPECT_FALSE(run(good + failing, good + failing).worse());
  EXPECT_FALSE(run(good + failing, good).worse());
}

TEST_F(Compare, MatricesOfOneNameAreComparedEachWithItself) {
  const std::string a = R"(,"source":"A/twin.mtx","content":"xxh3:11aa")";
  const std::string b = R"(,"source":"B/twin.mtx","content":"xxh3:22bb")";
  const Comparison comparison =
      run(spmv_line("twin", "lanky", "auto", 100, a) + spmv_line("twin", "lanky", "auto", 39, b),
          spmv_line("twin", "lanky", "auto", 39, b) + spmv_line("twin", "lanky", "auto", 100, a));
  ASSERT_EQ(comparison.differences.size(), 2U);
  for (const Difference& difference : comparison.differences)
    EXPECT_EQ(difference.change, Change::same) << difference.name;
}

TEST_F(Compare, ColumnsAndLayoutsAreComparedEachWithItself) {
  const auto side = [](double by_rows, double by_columns, double wide) {
    return spmm_line("a", "lanky", "auto", by_rows, 2) +
           spmm_line("a", "lanky", "auto", by_columns, 2, "col") +
           spmm_line("a", "lanky", "auto", wide, 32) + spmv_line("a", "lanky", "auto", 10);
  };
  const Comparison comparison = run(side(100, 200, 300), side(100, 100, 600));
  ASSERT_EQ(comparison.differences.size(), 4U);
  EXPECT_EQ(comparison.differences[0].change, Change::same);
  EXPECT_EQ(comparison.differences[1].change, Change::faster);
  EXPECT_EQ(comparison.differences[2].change, Change::slower);
  EXPECT_EQ(comparison.differences[3].change, Change::same);
  EXPECT_EQ(comparison.differences[1].name, "a 2 columns, col f64 lanky/auto");
}

TEST_F(Compare, SampledProductsAreComparedWithEachOther) {
  const auto side = [](double sampled, double product) {
    return sddmm_line("a", "lanky", "auto", sampled, 8) +
           spmm_line("a", "lanky", "auto", product, 8);
  };
  const Comparison comparison = run(side(100, 100), side(200, 100));
  ASSERT_EQ(comparison.differences.size(), 2U);
  EXPECT_EQ(comparison.differences[0].change, Change::slower);
  EXPECT_EQ(comparison.differences[0].name, "a sampled 8 columns, row f64 lanky/auto");
  EXPECT_EQ(comparison.differences[1].change, Change::same);
}

TEST_F(Compare, AnotherMatrixOfTheNameIsNotCompared) {
  const std::string a = R"(,"source":"A/twin.mtx","content":"xxh3:11aa")";
  const std::string b = R"(,"source":"B/twin.mtx","content":"xxh3:22bb")";
  const std::string same = spmv_line("same", "lanky", "auto", 5);
  const Comparison comparison = run(spmv_line("twin", "lanky", "auto", 100, a) + same,
                                    spmv_line("twin", "lanky", "auto", 39, b) + same);
  EXPECT_EQ(comparison.count(Change::faster), 0U);
  EXPECT_EQ(comparison.count(Change::gone), 1U);
  ASSERT_EQ(comparison.notes.size(), 1U);
  EXPECT_NE(comparison.notes[0].find("twin: is another matrix before (content xxh3:11aa)"),
            std::string::npos)
      << comparison.notes[0];
  // Of a file that does not tell, the name has to do.
  EXPECT_EQ(
      verdict(spmv_line("twin", "lanky", "auto", 100), spmv_line("twin", "lanky", "auto", 39, b)),
      Change::faster);
}

TEST_F(Compare, OtherContestants) {
  const std::string before = spmv_line("a", "lanky", "auto", 10) +
                             spmv_line("a", "cusparse", "alg1", 10) +
                             spmv_line("a", "cusparse", "alg2", 10);
  const std::string after = spmv_line("a", "lanky", "auto", 10) +
                            spmv_line("a", "cusparse", "alg1", 20) +
                            spmv_line("a", "cusparse", "alg2", 10);
  EXPECT_FALSE(run(before, after).worse());
  CompareOptions options;
  options.contestant = "cusparse";
  EXPECT_EQ(run(before, after, options).count(Change::slower), 1U);
  options.contestant = "cusparse/alg2";
  EXPECT_EQ(verdict(before, after, options), Change::same);
  options.contestant = "nobody";
  expect_error([&] { run(before, after, options); }, ErrorCode::parse, {"nobody"});
}

TEST_F(Compare, OtherDevicesAndTypesAreRefused) {
  const auto here =
      read_results({folder_.file("a", env_line("A") + spmv_line("a", "lanky", "auto", 10))});
  const auto there =
      read_results({folder_.file("b", env_line("B") + spmv_line("a", "lanky", "auto", 20))});
  expect_error([&] { compare(here, there, {}); }, ErrorCode::unsupported,
               {"devices differ: A before, B after", "--any-hardware"});
  CompareOptions any;
  any.any_hardware = true;
  const Comparison comparison = compare(here, there, any);
  EXPECT_EQ(comparison.count(Change::slower), 1U);
  EXPECT_EQ(comparison.notes.size(), 1U);
  const std::string f64 = spmv_line("a", "lanky", "auto", 10);
  const std::string f32 = spmv_line("a", "lanky", "auto", 10, "", "f32");
  expect_error([&] { run(f64 + f32, f64); }, ErrorCode::unsupported,
               {"element types differ: f32, f64 before, f64 after"});
  EXPECT_FALSE(run(f64 + f32, f64, any).worse());
  expect_error([&] { run(f32, f64, any); }, ErrorCode::parse, {"nothing can be compared"});
}

TEST_F(Compare, ExitCodes) {
  const std::string fast = folder_.file("fast", env_line() + spmv_line("a", "lanky", "auto", 10));
  const std::string slow = folder_.file("slow", env_line() + spmv_line("a", "lanky", "auto", 20));
  const std::string other = folder_.file("other", env_line() + spmv_line("b", "lanky", "auto", 20));
  const std::string empty = folder_.file("empty", env_line());
  EXPECT_EQ(exit_code(fast + " " + fast), 0) << testing::content(out());
  EXPECT_EQ(exit_code(slow + " " + fast), 0) << testing::content(out());
  EXPECT_EQ(exit_code(fast + " " + slow), 1);
  EXPECT_NE(testing::content(out()).find("10.00 -> 20.00 us, +100.0 %"), std::string::npos)
      << testing::content(out());
  EXPECT_EQ(exit_code(fast + " " + slow + " --tolerance 1.5"), 0) << testing::content(out());
  EXPECT_EQ(exit_code(fast + " " + other), 3) << testing::content(out());
  EXPECT_EQ(exit_code(fast + " " + empty), 3) << testing::content(out());
  EXPECT_EQ(exit_code(fast), 2);
  EXPECT_EQ(exit_code(fast + " " + slow + " --tolerance -1"), 2);
}

}  // namespace
}  // namespace lanky::report
