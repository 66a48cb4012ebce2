// The file of results: what is appended, what is known of earlier runs, what a kill leaves behind.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "bench/cases/gemm_case.hpp"
#include "bench/cases/grid.hpp"
#include "bench/records/journal.hpp"
#include "bench/records/matrix_record.hpp"
#include "bench/records/record.hpp"
#include "support/expect_error.hpp"

namespace lanky::bench {
namespace {

using Line = nlohmann::ordered_json;

class JournalTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  std::string text() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<Line> lines() const {
    std::istringstream stream(text());
    std::vector<Line> parsed;
    for (std::string line; std::getline(stream, line);)
      parsed.push_back(Line::parse(line));
    return parsed;
  }
  const std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                      ("lanky_journal_" + std::to_string(getpid()) + ".jsonl");
};

Line env_line(const std::string& config, std::uint64_t seed) {
  Environment environment;
  environment.config = config;
  environment.seed = seed;
  return to_json(environment);
}

Line gemm_line(GemmCase gemm, Status status) {
  gemm.name = gemm_case_name(gemm);
  Outcome outcome;
  outcome.contestant = "lanky";
  outcome.status = status;
  return to_json(CaseReport{gemm, {}, std::nullopt, std::nullopt, {outcome}})[0];
}

MatrixRecord matrix(const std::string& content, std::vector<DType> dtypes, Status status) {
  return {.name = "a",
          .matrix_class = "real",
          .origin = {.source = "a.mtx", .content = content},
          .stamp = FileStamp{12, 34},
          .dtypes = std::move(dtypes),
          .status = status};
}

TEST_F(JournalTest, AppendsOneLinePerRecordWhateverItHolds) {
  const SpmvCase odd{.name = "a\"b\\c\n\x01\xff", .dtype = DType::f32};
  Journal(path_).write(to_json(FailedCase{odd, Status::invalid, "line\nbreak"}));
  Journal(path_).write(to_json(FailedCase{SpmvCase{.name = "next"}, Status::oom, ""}));
  const std::vector<Line> parsed = lines();
  ASSERT_EQ(parsed.size(), 2U);
  EXPECT_EQ(parsed[0]["case"], "a\"b\\c\n\x01\xef\xbf\xbd");  // what is not UTF-8 is replaced
  EXPECT_EQ(parsed[0]["status"], "invalid");
  EXPECT_EQ(parsed[0]["dtype"], "f32");
  EXPECT_EQ(parsed[1]["status"], "oom");
}

TEST_F(JournalTest, KnowsWhatWasDoneInTheSameConfiguration) {
  const GemmCase first{.m = 8, .n = 8, .k = 1000, .op_a = Op::trans};
  GemmCase second = first;
  second.beta = 0.5;
  GemmCase third = first;
  third.type.math = Math::tf32;
  {
    Journal file(path_);
    file.write(env_line("1", 42));
    file.write(gemm_line(first, Status::ok));
    file.write(gemm_line(second, Status::crash));
    file.write(env_line("2", 43));
    file.write(gemm_line(third, Status::ok));
    file.write(to_json(matrix("x", {DType::bf16, DType::f64}, Status::unsupported)));
    file.write(to_json(matrix("y", {DType::f64}, Status::timeout)));
  }
  const EarlierRuns one = earlier_runs(path_, "1");
  EXPECT_EQ(one.seed, 42U);
  EXPECT_EQ(one.cases, (std::set<std::string>{done_key(first), done_key(second)}));
  EXPECT_EQ(one.failed, std::set<std::string>{done_key(second)});
  const EarlierRuns two = earlier_runs(path_, "2");
  EXPECT_EQ(two.seed, 43U);
  EXPECT_EQ(two.cases,
            (std::set<std::string>{done_key(third), done_key("x", DType::bf16),
                                   done_key("x", DType::f64), done_key("y", DType::f64)}));
  EXPECT_EQ(two.failed, std::set<std::string>{done_key("y", DType::f64)});
  EXPECT_EQ(one.contents.at("a.mtx"), std::pair(FileStamp(12, 34), std::string("y")));
  EXPECT_TRUE(earlier_runs("/no/such/file", "1").cases.empty());
}

TEST_F(JournalTest, WhatFailedIsNoFailureAnyMoreWhenDoneAgain) {
  {
    Journal file(path_);
    file.write(env_line("1", 1));
    file.write(to_json(matrix("y", {DType::f64}, Status::crash)));
    file.write(to_json(matrix("y", {DType::f64}, Status::ok)));
  }
  EXPECT_TRUE(earlier_runs(path_, "1").failed.empty());
}

TEST_F(JournalTest, CutsOffALineThatAKilledProgramTore) {
  const std::string whole = env_line("1", 1).dump() + "\n";
  for (const std::string& torn : {std::string("{\"kind\":\"spm"), std::string(100'000, 'x')}) {
    std::ofstream(path_) << whole << torn;
    Journal(path_).write(Line{{"kind", "next"}});
    const std::vector<Line> parsed = lines();
    ASSERT_EQ(parsed.size(), 2U);
    EXPECT_EQ(parsed[1]["kind"], "next");
  }
  std::ofstream(path_) << "{\"kind\":\"env";  // nothing but half a line
  Journal(path_).write(Line{{"kind", "next"}});
  EXPECT_EQ(lines().size(), 1U);
}

TEST_F(JournalTest, KeepsAWholeLastLineThatLacksItsNewline) {
  std::ofstream(path_) << env_line("1", 1).dump() << "\n"
                       << R"({"kind":"matrix","case":"a"})";
  const std::string before = text();
  {
    Journal file(path_);
    EXPECT_EQ(text(), before) << "nothing is written yet";
    file.write(Line{{"kind", "next"}});
  }
  const std::vector<Line> parsed = lines();
  ASSERT_EQ(parsed.size(), 3U);
  EXPECT_EQ(parsed[1]["case"], "a");
  EXPECT_EQ(parsed[2]["kind"], "next");
}

TEST_F(JournalTest, LeavesHalfALineWhereNothingIsWritten) {
  const std::string torn = env_line("1", 1).dump() + "\n{\"kind\":\"spm";
  std::ofstream(path_) << torn;
  { const Journal file(path_); }
  EXPECT_EQ(text(), torn);
}

TEST_F(JournalTest, LeavesOtherFilesAlone) {
  for (const std::string other :
       {"buy milk", "{\n  \"kind\": \"env\"\n}", "{}\n", "{\"a\":1}", "[1,2]\n", "{", "7\n",
        "\n\n{\"kind\":3}\n{\"kind\":\"env\"}\n"}) {
    std::ofstream(path_) << other;
    expect_error([&] { Journal file(path_); }, ErrorCode::io,
                 {path_.string(), "a record of lanky's"});
    EXPECT_EQ(text(), other);
  }
}

TEST_F(JournalTest, TakesALineThatAnotherProgramSpelled) {
  std::ofstream(path_) << "\xef\xbb\xbf\r\n{ \"utc\": \"\", \"kind\": \"env\" }\r\n";
  Journal(path_).write(Line{{"kind", "next"}});
  EXPECT_TRUE(text().ends_with("}\r\n{\"kind\":\"next\"}\n")) << text();
}

TEST_F(JournalTest, NamesEachLineThatItPassesOver) {
  std::ofstream(path_) << env_line("1", 1).dump() << "\n"
                       << "milk\n"
                       << R"({"kind":5})"
                       << "\n\n"
                       << R"({"kind":"matrix","content":"x","dtypes":["f65"],"status":"ok"})"
                       << "\n"
                       << R"({"kind":"matrix","content":"x","dtypes":7,"status":"ok"})"
                       << "\n"
                       << R"({"kind":"matrix","stamp":{"bytes":"a"},"dtypes":[]})"
                       << "\n"
                       << R"({"kind":"matrix","content":"y","dtypes":["f64"],"status":"ok"})"
                       << "\n"
                       << R"({"kind":)" << std::string(100'000, '[') << std::string(100'000, ']')
                       << "}\n"
                       << R"({"kind":"matr)";
  const EarlierRuns earlier = earlier_runs(path_, "1");
  EXPECT_EQ(earlier.cases, std::set<std::string>{done_key("y", DType::f64)});
  const std::vector<std::pair<int, std::string>> expected = {
      {2, "is no JSON object"}, {3, "kind is 5"},      {5, "f65"},
      {6, "dtypes is 7"},       {7, "bytes is \"a\""}, {9, "is no JSON object"}};
  ASSERT_EQ(earlier.notes.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& [line, reason] = expected[i];
    EXPECT_TRUE(earlier.notes[i].starts_with(path_.string() + ":" + std::to_string(line) + ": "))
        << earlier.notes[i];
    EXPECT_NE(earlier.notes[i].find(reason), std::string::npos) << earlier.notes[i];
  }
}

TEST_F(JournalTest, AFullDiskLeavesWholeLines) {
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &usual), 0);
  Journal file(path_);
  file.write(Line{{"kind", "env"}});
  const std::string before = text();
  rlimit full = usual;
  full.rlim_cur = before.size() + 10;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
  expect_error(
      [&] {
        file.write(Line{{"kind", "matrix"}, {"case", "much too long"}});
      },
      ErrorCode::io, {path_.string(), "File too large"});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &usual), 0);
  std::signal(SIGXFSZ, previous);
  EXPECT_EQ(text(), before);
}

TEST_F(JournalTest, HasOneWriterAtATime) {
  const Journal first(path_);
  expect_error([&] { Journal second(path_); }, ErrorCode::io, {path_.string(), "another run"});
}

TEST_F(JournalTest, WaitsForAWriterThatIsDying) {
  auto dying = std::make_unique<Journal>(path_);
  std::thread death([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    dying.reset();
  });
  EXPECT_NO_THROW(Journal{path_});
  death.join();
}

TEST_F(JournalTest, SaysWhyItCannotWrite) {
  expect_error([] { Journal file("/no/such/folder/a.jsonl"); }, ErrorCode::io,
               {"/no/such/folder/a.jsonl", "No such file"});
}

TEST(ContentHash, IsThatOfTheBytes) {
  const auto path =
      std::filesystem::temp_directory_path() / ("lanky_hash_" + std::to_string(getpid()) + ".bin");
  std::ofstream(path) << std::string(3'000'000, 'a') << "b";
  const std::string hash = content_hash(path);
  const auto stamp = file_stamp(path);
  EXPECT_EQ(hash.size(), 5U + 32);
  EXPECT_EQ(content_hash(path), hash);
  std::ofstream(path) << std::string(3'000'000, 'a') << "c";
  EXPECT_NE(content_hash(path), hash);
  ASSERT_TRUE(stamp.has_value());
  EXPECT_EQ(stamp->bytes, 3'000'001);
  EXPECT_NE(file_stamp(path), stamp);
  std::filesystem::remove(path);
  EXPECT_EQ(content_hash(path), "");
  EXPECT_FALSE(file_stamp(path).has_value());
}

TEST(MatrixFacts, CountsRowsByLength) {
  CsrMatrix<double> a;
  a.rows = 7;
  a.cols = 1000;
  for (const std::int64_t length : {0, 1, 4, 5, 255, 256, 1000})
    a.row_offsets.push_back(a.row_offsets.back() + length);
  const MatrixFacts facts = facts_of(a);
  EXPECT_EQ(facts.empty_rows, 1);
  EXPECT_EQ(facts.short_rows, 2);
  EXPECT_EQ(facts.medium_rows, 2);
  EXPECT_EQ(facts.long_rows, 2);
  EXPECT_EQ(facts.longest_row, 1000);
  EXPECT_EQ(to_json(matrix_facts(to_json(facts))), to_json(facts));
}

TEST(Grid, OneCaseTravelsWhole) {
  GemmCase gemm{.m = 300,
                .n = 3,
                .k = 70,
                .op_a = Op::conj_trans,
                .op_b = Op::trans,
                .layout = Layout::row,
                .padded = true,
                .alpha = 0.1,
                .beta = 1.0 / 3,
                .type = {DType::bf16, DType::f32, Math::ieee}};
  EXPECT_EQ(done_key(parse_grid(to_grid(gemm), "").at(0)), done_key(gemm));
  const GemmCase gram{.m = 3, .n = 3, .k = 70, .op_a = Op::trans, .symmetric = true};
  const std::vector<GemmCase> read = parse_grid(to_grid(gram), "");
  ASSERT_EQ(read.size(), 1U);
  EXPECT_TRUE(read[0].symmetric);
  EXPECT_EQ(done_key(read[0]), done_key(gram));
}

}  // namespace
}  // namespace lanky::bench
