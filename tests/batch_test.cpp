// Batches: nothing that befalls a matrix, or the program, costs more than that matrix.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/program.hpp"

namespace lanky::cli {
namespace {

using Json = nlohmann::json;
using testing::content;
using testing::Ran;

class Batch : public testing::ProgramTest {
 protected:
  Ran batch(const std::string& arguments, const std::string& through = "") const {
    return lanky("batch --device cpu --quick --json " + json() + " " + arguments, through);
  }
  bool a_worker_is_left() const {
    return shell("pgrep -f '" + folder_.string() + ".*[-]-worker'").exit_code == 0;
  }
  std::string peer(const std::string& name) const {
    return " --peer " + testing::beside_the_test("lib" + name + ".so") + " ";
  }
};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

TEST_F(Batch, ACrashCostsOneMatrix) {
  std::string files;
  for (const int rows : {10, 11, 12, 13, 14, 15, 16})
    files += " " + matrix("rows" + std::to_string(rows) + ".mtx", rows);
  const Ran ran = batch("--no-vendor --timeout 5 --memory 600M" + peer("bad_peer") + files);
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  const std::vector<Json> matrices = of_kind("matrix");
  ASSERT_EQ(matrices.size(), 7U);
  const char* status[] = {"ok", "crash", "timeout", "oom", "crash", "ok", "ok"};
  const char* reason[] = {"",
                          "signal 11 (Segmentation fault) during rows11 f64",
                          "took longer than 5 s during rows12 f64",
                          "more than 600.0 MB, during rows13 f64",
                          "the worker ended with code 7 during rows14 f64",
                          "",
                          ""};
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    EXPECT_EQ(matrices[i]["status"], status[i]) << matrices[i];
    EXPECT_EQ(matrices[i]["nnz"], 4) << "what was read is known";
    EXPECT_NE(matrices[i].value("reason", "").find(reason[i]), std::string::npos) << matrices[i];
  }
  EXPECT_EQ(matrices[1]["signal"], 11);
  EXPECT_GT(matrices[3]["memory_bytes"], 600'000'000);
  std::map<std::string, std::string> peers;  // what became of the contestant where there are lines
  for (const Json& line : of_kind("spmv")) {
    if (line["contestant"] == "bad") peers[line["case"]] = line["status"];
  }
  EXPECT_EQ(peers, (std::map<std::string, std::string>{
                       {"rows10", "wrong"}, {"rows15", "crash"}, {"rows16", "wrong"}}));
}

TEST_F(Batch, AFileThatMayHaveBeenCutShortIsMeasuredWithAWarning) {
  const std::string cut =
      write("cut.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n3 3 1.2");
  const std::string warning =
      cut + ":3: the last line has no newline at its end: the file may have been cut short";
  for (const char* command : {"batch", "spmv"}) {
    std::filesystem::remove(json());
    const Ran ran = lanky(std::string(command) + " --device cpu --quick --no-vendor --json " +
                          json() + " " + cut + (command[0] == 'b' ? " " + matrix("b.mtx") : ""));
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.err, "lanky: warning: " + warning + "\n");
    const std::vector<Json> matrices = of_kind("matrix");
    ASSERT_GE(matrices.size(), 1U);
    EXPECT_EQ(matrices[0].at("warnings"), Json{warning});
    if (matrices.size() == 2) {
      EXPECT_FALSE(matrices[1].contains("warnings"));
    }
  }
}

TEST_F(Batch, WhatAContestantWritesIntoThePipeCostsOneMatrix) {
  std::string files;
  for (const int rows : {10, 17, 18, 19, 20, 21, 22, 23, 24, 16})
    files += " " + matrix("rows" + std::to_string(rows) + ".mtx", rows);
  const double start = seconds_now();
  int unread[2];  // a contestant that could write to it would wait for ever
  ASSERT_EQ(pipe(unread), 0);
  const Ran ran = batch("--no-vendor --timeout 5" + peer("bad_peer") + files, "timeout 60");
  close(unread[0]);
  close(unread[1]);
  EXPECT_LT(seconds_now() - start, 25) << "no child and no flood is waited for";
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  const std::vector<Json> matrices = of_kind("matrix");
  ASSERT_EQ(matrices.size(), 10U);
  const char* forged = "something other than lanky wrote into the worker's pipe during rows";
  const std::pair<const char*, std::string> expected[] = {{"ok", ""},
                                                          {"crash", forged},
                                                          {"crash", forged},
                                                          {"crash", forged},
                                                          {"ok", ""},
                                                          {"crash", forged},
                                                          {"crash", forged},
                                                          {"crash", "closed its pipe"},
                                                          {"timeout", "took longer than 5 s"},
                                                          {"ok", ""}};
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    EXPECT_EQ(matrices[i]["status"], expected[i].first) << matrices[i];
    EXPECT_NE(matrices[i].value("reason", "").find(expected[i].second), std::string::npos)
        << matrices[i];
  }
  EXPECT_FALSE(a_worker_is_left());
}

TEST_F(Batch, WhatIsNoFileIsRefusedAtOnce) {
  const std::string pipe = (folder_ / "pipe.mtx").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string files = " " + pipe + " /dev/zero " + matrix("good.mtx");
  const double start = seconds_now();
  const Ran ran = batch("--no-vendor" + files, "timeout 60");
  EXPECT_LT(seconds_now() - start, 20);
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  const std::vector<Json> matrices = of_kind("matrix");
  ASSERT_EQ(matrices.size(), 3U);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(matrices[i]["status"], "unreadable");
    EXPECT_NE(matrices[i]["reason"].get<std::string>().find("is no regular file"),
              std::string::npos);
  }
  EXPECT_EQ(matrices[2]["status"], "ok");
  EXPECT_EQ(batch("--no-vendor --resume" + files, "timeout 60").exit_code, 0)
      << "they are told once";
  EXPECT_EQ(of_kind("matrix").size(), 3U);
  const Ran terminal = shell("timeout 60 script -qec '" + testing::beside_the_test("lanky") +
                             " batch --device cpu --quick --no-vendor" + files + "' /dev/null");
  EXPECT_NE(terminal.out.find("is no regular file"), std::string::npos) << terminal.out;
}

TEST_F(Batch, ReadingIsUnderTheLimitsToo) {
  const std::string huge = (folder_ / "huge.mtx").string();
  std::ofstream(huge) << "%%MatrixMarket matrix coordinate real general\n";
  std::filesystem::resize_file(huge, std::uintmax_t{1} << 40);  // takes minutes to be hashed
  const double start = seconds_now();
  const Ran ran = batch("--no-vendor --timeout 1 " + huge + " " + matrix("good.mtx"), "timeout 60");
  EXPECT_LT(seconds_now() - start, 20);
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  const std::vector<Json> matrices = of_kind("matrix");
  ASSERT_EQ(matrices.size(), 2U);
  EXPECT_EQ(matrices[0]["status"], "timeout");
  EXPECT_EQ(matrices[0]["reason"], "took longer than 1 s during reading huge");
  EXPECT_EQ(matrices[1]["status"], "ok");
  for (const auto& [name, number] :
       {std::pair{"INT", SIGINT}, {"TERM", SIGTERM}, {"HUP", SIGHUP}}) {
    const double began = seconds_now();
    const Ran stopped =
        batch("--no-vendor " + huge, "timeout -k 20 -s " + std::string(name) + " 2");
    EXPECT_LT(seconds_now() - began, 3.5) << name;
    EXPECT_EQ(stopped.exit_code, 124) << name << " " << stopped.err;
    EXPECT_NE(stopped.out.find("interrupted: 1 case left"), std::string::npos) << stopped.out;
  }
}

TEST_F(Batch, MatricesOfOneNameAreToldApart) {
  for (const char* group : {"A", "B"})
    std::filesystem::create_directory(folder_ / group);
  matrix("A/twin.mtx", 3);
  matrix("B/twin.mtx", 5);
  const std::string run = "--no-vendor --resume " + folder_.string();
  const Ran ran = batch(run);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* kind : {"spmv", "matrix"}) {
    const std::vector<Json> lines = of_kind(kind);
    ASSERT_EQ(lines.size(), 2U) << kind;
    EXPECT_EQ(lines[0]["case"], lines[1]["case"]);
    EXPECT_NE(lines[0]["content"], lines[1]["content"]);
    EXPECT_EQ(lines[0]["source"], (folder_ / "A/twin.mtx").string());
    EXPECT_EQ(lines[1]["source"], (folder_ / "B/twin.mtx").string());
  }
  EXPECT_EQ(of_kind("spmv")[0]["content"], of_kind("matrix")[0]["content"]);
  for (const char* name : {"A/twin ", "B/twin "})
    EXPECT_NE(ran.out.find(name), std::string::npos) << ran.out;
  EXPECT_EQ(batch(run).exit_code, 0);
  EXPECT_EQ(of_kind("matrix").size(), 2U);
  const Ran table = lanky("report " + json() + " -o - --csv - | grep ^spmv,");
  for (const char* row : {"spmv,A/twin,real,f64,,3,3,", "spmv,B/twin,real,f64,,5,3,"})
    EXPECT_NE(table.out.find(row), std::string::npos) << table.out;
}

TEST_F(Batch, EachFileThatCannotBeReadIsTold) {
  const auto missing = [&](const char* name) { return (folder_ / name).string(); };
  EXPECT_EQ(batch("--no-vendor --resume " + missing("a.mtx")).exit_code, 1);
  EXPECT_EQ(batch("--no-vendor --resume " + missing("a.mtx") + " " + missing("b.mtx")).exit_code,
            1);
  ASSERT_EQ(of_kind("matrix").size(), 2U);
  EXPECT_EQ(of_kind("matrix")[1]["case"], "b");
}

TEST_F(Batch, AFullDiskLeavesWholeLines) {
  const Ran ran =
      batch("--no-vendor stencil5:5 stencil5:6 stencil5:7 stencil5:8 stencil5:9", "ulimit -f 4;");
  EXPECT_EQ(ran.exit_code, 3) << ran.err;
  EXPECT_NE(ran.err.find(json() + ": File too large"), std::string::npos) << ran.err;
  EXPECT_TRUE(content(json()).ends_with("}\n"));
  EXPECT_FALSE(of_kind("matrix").empty());
}

TEST_F(Batch, LinesThatAreNoneAreNamedAndPassedOver) {
  const std::string run = "--no-vendor --resume stencil5:5 ";
  EXPECT_EQ(batch(run).exit_code, 0);
  std::ofstream(json(), std::ios::app) << "milk\n{\"kind\":7}\n";
  const Ran ran = batch(run + "stencil5:6");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.err.find(json() + ":4: is no JSON object; the line is passed over"),
            std::string::npos)
      << ran.err;
  EXPECT_NE(ran.err.find(json() + ":5: kind is 7"), std::string::npos) << ran.err;
  EXPECT_NE(content(json()).find("milk\n"), std::string::npos) << "nothing is taken away";
}

TEST_F(Batch, APeerIsAContestantLikeOthers) {
  const Ran ran = batch("--dtype f64,f32,f16 stencil5:20" + peer("csr_peer"));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  std::map<std::string, Json> peers;
  for (const Json& line : of_kind("spmv")) {
    if (line["contestant"] == "csr-example") peers[line["dtype"]] = line;
  }
  ASSERT_EQ(peers.size(), 3U);
  for (const char* dtype : {"f64", "f32"}) {
    EXPECT_EQ(peers[dtype]["status"], "ok");
    EXPECT_EQ(peers[dtype]["variant"], "1.0");
    EXPECT_GT(peers[dtype]["warm_us"], 0);
    EXPECT_LE(peers[dtype]["error"], peers[dtype]["bound"]);
    EXPECT_EQ(peers[dtype]["plan_bytes"], 401 * 4 + 1920 * (4 + (dtype[1] == '6' ? 8 : 4)));
  }
  EXPECT_EQ(peers["f16"]["status"], "unsupported");
  EXPECT_NE(peers["f16"]["message"].get<std::string>().find("f16 on the host"), std::string::npos);
}

/// The lines of a contestant on several columns, by layout.
std::map<std::string, Json> by_layout(const std::vector<Json>& lines, const char* contestant) {
  std::map<std::string, Json> found;
  for (const Json& line : lines) {
    if (line["contestant"] == contestant) found[line["layout"]] = line;
  }
  return found;
}

TEST_F(Batch, APeerMultipliesSeveralColumns) {
  const Ran ran = batch("--no-vendor --columns 1,5 stencil5:20" + peer("csr_peer"));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const auto peers = by_layout(of_kind("spmm"), "csr-example");
  ASSERT_EQ(peers.size(), 2U);
  for (const auto& [layout, line] : peers) {
    EXPECT_EQ(line["status"], "ok") << layout;
    EXPECT_EQ(line["variant"], "1.0");
    EXPECT_EQ(line["columns"], 5);
    EXPECT_GT(line["warm_us"], 0);
  }
}

TEST_F(Batch, APeerOfVectorsAloneMultipliesColumnAfterColumn) {
  const Ran ran = batch("--no-vendor --columns 3 stencil5:20" + peer("bad_peer"));
  EXPECT_EQ(ran.exit_code, 1) << ran.err;  // it leaves Y as it is
  auto peers = by_layout(of_kind("spmm"), "bad");
  EXPECT_EQ(peers["col"]["status"], "wrong");
  EXPECT_EQ(peers["col"]["variant"], "1 mv");
  EXPECT_EQ(peers["row"]["status"], "unsupported");
  EXPECT_NE(peers["row"]["message"].get<std::string>().find("lanky_peer_run_columns"),
            std::string::npos);
}

TEST_F(Batch, APeerThatErrsInOneOfSeveralColumnsIsWrong) {
  const std::string arguments =
      "--no-vendor --columns 3 " + matrix("rows66.mtx", 66) + peer("hostile_peer");
  const Ran sound = batch(arguments, "timeout 60");
  EXPECT_EQ(sound.exit_code, 0) << sound.err;
  auto peers = by_layout(of_kind("spmm"), "hostile");
  EXPECT_EQ(peers["row"]["status"], "ok");
  EXPECT_EQ(peers["col"]["status"], "ok");
  std::filesystem::remove(json());
  const Ran ran = batch(arguments, "LANKY_HOSTILE='run slightly 2' timeout 60");
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  peers = by_layout(of_kind("spmm"), "hostile");
  for (const auto& [layout, line] : peers) {
    EXPECT_EQ(line["status"], "wrong") << layout;
    EXPECT_TRUE(line["warm_us"].is_null()) << layout;
  }
}

TEST_F(Batch, APeerThatIsNoneEndsTheBatchAtOnce) {
  const Ran ran = batch("stencil5:20 --peer " + write("notes.so", "no library"));
  EXPECT_EQ(ran.exit_code, 3) << ran.err;
  EXPECT_NE(ran.err.find("notes.so"), std::string::npos) << ran.err;
}

TEST_F(Batch, AMatrixIsKnownByWhatItHoldsWhateverItIsCalled) {
  const std::string first = matrix("first.mtx");
  EXPECT_EQ(batch("--no-vendor --resume " + first).exit_code, 0);
  std::filesystem::rename(first, folder_ / "second.mtx");
  const std::string second = (folder_ / "second.mtx").string();
  EXPECT_EQ(batch("--no-vendor --resume " + second).exit_code, 0);
  EXPECT_EQ(of_kind("matrix").size(), 1U);
  matrix("second.mtx", 4);
  EXPECT_EQ(batch("--no-vendor --resume " + second).exit_code, 0);
  EXPECT_EQ(of_kind("matrix").size(), 2U);
}

TEST_F(Batch, WhatIsKnownIsNotReadAgain) {
  const std::string file = matrix("a.mtx");
  EXPECT_EQ(batch("--no-vendor --resume " + file).exit_code, 0);
  const auto changed = std::filesystem::last_write_time(file);
  std::string other = content(file);
  other[other.find("2.5")] = '3';
  write("a.mtx", other);
  std::filesystem::last_write_time(file, changed);  // nothing but the bytes tells
  EXPECT_EQ(batch("--no-vendor --resume " + file).exit_code, 0);
  EXPECT_EQ(of_kind("matrix").size(), 1U);
  std::filesystem::last_write_time(file, changed + std::chrono::seconds(1));
  EXPECT_EQ(batch("--no-vendor --resume " + file).exit_code, 0);
  EXPECT_EQ(of_kind("matrix").size(), 2U);
}

TEST_F(Batch, AWorkerEndsWithItsBatch) {
  const Ran ran = batch("--no-vendor " + matrix("rows12.mtx", 12) + peer("bad_peer"),
                        "timeout -s KILL 2");  // its setup sleeps
  EXPECT_EQ(ran.exit_code, 128 + SIGKILL) << ran.err;
  for (int tenths = 0; tenths < 20 && a_worker_is_left(); ++tenths)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(a_worker_is_left());
}

TEST_F(Batch, WhatAContestantForksEndsWithTheWorker) {
  const std::string arguments = "--no-vendor " + matrix("rows66.mtx", 66) + peer("hostile_peer");
  const Ran own_session = batch(arguments, "LANKY_HOSTILE='setup session-child' timeout 60");
  EXPECT_EQ(own_session.exit_code, 0) << own_session.err;
  EXPECT_FALSE(a_worker_is_left()) << "it has the command line of the worker that it is a copy of";
  std::filesystem::remove(json());
  const Ran killed = batch(arguments, "LANKY_HOSTILE='setup child-and-hang' timeout -s KILL 2");
  EXPECT_EQ(killed.exit_code, 128 + SIGKILL) << killed.err;
  for (int tenths = 0; tenths < 20 && a_worker_is_left(); ++tenths)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(a_worker_is_left());
}

TEST_F(Batch, AFileMayHaveAnyName) {
  const std::string file = matrix("\xff 'quoted\" .mtx");
  std::filesystem::create_directory(folder_ / "below");
  std::filesystem::rename(file, folder_ / "below" / "\xff 'quoted\" .mtx");
  EXPECT_EQ(batch("--no-vendor " + (folder_ / "below").string()).exit_code, 0);
  ASSERT_EQ(of_kind("matrix").size(), 1U);
  EXPECT_EQ(of_kind("matrix")[0]["case"], "\xef\xbf\xbd 'quoted\" ");
}

TEST_F(Batch, AnotherConfigurationIsMeasuredAnew) {
  const std::string run = "--no-vendor --resume stencil5:20 ";
  EXPECT_EQ(batch(run).exit_code, 0);
  EXPECT_EQ(batch(run + "--path auto,cuda").exit_code, 0);
  EXPECT_EQ(of_kind("matrix").size(), 2U);
  EXPECT_EQ(batch(run + peer("bad_peer")).exit_code, 1);
  EXPECT_EQ(batch(run + peer("bad_peer")).exit_code, 0) << "done";
  EXPECT_EQ(of_kind("matrix").size(), 3U);
  batch(run + peer("bad_peer"), "LANKY_BAD_PEER_VERSION=2");
  EXPECT_EQ(of_kind("matrix").size(), 4U);
  EXPECT_EQ(batch(run + "--dtype f64,f32").exit_code, 0);
  EXPECT_EQ(of_kind("matrix").back()["dtypes"], Json({"f32"}));
}

TEST_F(Batch, ColumnsAreOfTheConfiguration) {
  const std::string run = "--no-vendor --resume stencil5:20 ";
  EXPECT_EQ(batch(run + "--columns 1,2,8 --layout row").exit_code, 0);
  EXPECT_EQ(of_kind("spmv").size(), 1U);
  EXPECT_EQ(of_kind("spmm").size(), 2U);
  EXPECT_EQ(batch(run + "--columns 1,2,8 --layout row").exit_code, 0);
  EXPECT_EQ(of_kind("matrix").size(), 1U) << "done";
  EXPECT_EQ(batch(run + "--columns 1,2,8 --layout col").exit_code, 0);
  EXPECT_EQ(of_kind("matrix").size(), 2U);
  EXPECT_EQ(of_kind("spmm").size(), 2U + 2 * 2);  // by columns also column after column
  EXPECT_EQ(batch(run).exit_code, 0);
  EXPECT_EQ(of_kind("matrix").size(), 3U);
  EXPECT_EQ(of_kind("spmm").size(), 6U);
}

TEST_F(Batch, WhatFailedIsDoneAgainOnlyWhereAsked) {
  const std::string run =
      "--no-vendor --resume " + matrix("a.mtx", 14) + " " + matrix("b.mtx") + peer("bad_peer");
  EXPECT_EQ(batch(run).exit_code, 1);
  EXPECT_EQ(batch(run).exit_code, 0);
  EXPECT_EQ(of_kind("matrix").size(), 2U);
  EXPECT_EQ(batch(run + "--retry").exit_code, 1);
  ASSERT_EQ(of_kind("matrix").size(), 3U);
  EXPECT_EQ(of_kind("matrix")[2]["case"], "a");
}

TEST_F(Batch, AnInterruptEndsItCleanly) {
  const Ran ran = batch("--no-vendor stencil5:20 dense:4000 stencil5:21 --dtype f64,f32",
                        "timeout --preserve-status -s INT 3");
  if (ran.exit_code == 0) GTEST_SKIP() << "needs a slower machine: it was through in 3 s";
  EXPECT_EQ(ran.exit_code, 128 + SIGINT) << ran.err;
  EXPECT_NE(ran.out.find("interrupted: "), std::string::npos) << ran.out;
  for (const Json& line : lines())
    EXPECT_TRUE(line.contains("kind"));
}

/// Lines that are whole; the last may be torn.
std::vector<Json> whole_lines(const std::string& text) {
  std::vector<Json> all;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    all.push_back(Json::parse(text.substr(begin, end - begin)));
  return all;
}

TEST_F(Batch, AKillAtAnyMomentLosesAtMostTheMatrixAtWork) {
  constexpr int kKills = 50;
  constexpr int kMatrices = 30;
  std::string specs;
  for (int i = 0; i < kMatrices; ++i)
    specs += " stencil5:" + std::to_string(5 + i);
  const std::string run = "--no-vendor --resume --dtype f64,f32" + specs;
  std::mt19937 random(1);
  std::set<std::string> done;
  int kills = 0;
  for (int i = 0; i < kKills; ++i) {
    const double seconds = std::uniform_real_distribution<double>(0.1, 0.5)(random);
    if (done.size() == kMatrices) {  // from the beginning
      std::filesystem::remove(json());
      done.clear();
    }
    const Ran ran = batch(run, "timeout -s KILL " + std::to_string(seconds));
    kills += ran.exit_code == 128 + SIGKILL ? 1 : 0;
    std::set<std::string> now;
    for (const Json& line : whole_lines(content(json()))) {
      if (line["kind"] != "matrix") continue;
      EXPECT_TRUE(now.insert(line["case"]).second) << line;
    }
    for (const std::string& name : done)
      EXPECT_EQ(now.count(name), 1U) << name << " was lost";
    done = now;
  }
  EXPECT_GT(kills, 0) << "all runs came to their end";
  EXPECT_EQ(batch(run).exit_code, 0);
  std::map<std::string, std::set<std::string>> types;
  for (const Json& line : lines()) {
    if (line["kind"] == "spmv") types[line["case"]].insert(line["dtype"]);
    if (line["kind"] != "matrix") continue;
    EXPECT_EQ(line["status"], "ok") << line;
  }
  EXPECT_EQ(of_kind("matrix").size(), static_cast<std::size_t>(kMatrices));
  EXPECT_EQ(types.size(), static_cast<std::size_t>(kMatrices));
  for (const auto& [name, of_matrix] : types)
    EXPECT_EQ(of_matrix.size(), 2U) << name;
}

TEST_F(Batch, ShardsAreJoinedAgain) {
  const std::string joined = (folder_ / "joined.jsonl").string();
  std::string parts;
  for (const char* shard : {"0/3", "1/3", "2/3"}) {
    const std::string part = (folder_ / ("part" + std::string(1, shard[0]) + ".jsonl")).string();
    const Ran ran = lanky(
        "batch --device cpu --quick --no-vendor stencil5:5 stencil5:6 stencil5:7 "
        "stencil5:8 --shard " +
        std::string(shard) + " --json " + part);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    parts += " " + part;
  }
  write("torn.jsonl", content(folder_ / "part0.jsonl") + "{\"kind\":\"spm");
  const Ran ran =
      lanky("merge " + parts + " " + (folder_ / "torn.jsonl").string() + " -o " + joined);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  std::multiset<std::string> names;
  for (const Json& line : parse(content(joined))) {
    if (line["kind"] == "matrix") names.insert(line["case"]);
  }
  EXPECT_EQ(names, (std::multiset<std::string>{"stencil5:5", "stencil5:5", "stencil5:6",
                                               "stencil5:7", "stencil5:8", "stencil5:8"}));
}

TEST_F(Batch, OtherHardwareIsNotJoinedUnlessTold) {
  const std::string one = write("one.jsonl", R"({"kind":"env","gpu":"NVIDIA H200"})"
                                             "\n");
  const std::string two = write("two.jsonl", R"({"kind":"env","gpu":"NVIDIA H100"})"
                                             "\n");
  const std::string joined = (folder_ / "joined.jsonl").string();
  const std::string run = "merge " + one + " " + two + " -o " + joined;
  const Ran refused = lanky(run);
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_NE(refused.err.find("two.jsonl:1: was measured on NVIDIA H100"), std::string::npos)
      << refused.err;
  EXPECT_FALSE(std::filesystem::exists(joined));
  EXPECT_EQ(lanky(run + " --mixed-hardware").exit_code, 0);
  EXPECT_EQ(parse(content(joined)).size(), 2U);
}

TEST_F(Batch, MergeNamesLinesThatAreNone) {
  const std::string joined = (folder_ / "joined.jsonl").string();
  const Ran none = lanky("merge " + write("none.jsonl", "[1,2]\nbutter\n") + " -o " + joined);
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_NE(none.err.find("none.jsonl:1: is no line of results"), std::string::npos) << none.err;
  EXPECT_FALSE(std::filesystem::exists(joined));
  const std::string env = R"({"kind":"env","gpu":"NVIDIA H200","threads":"many"})";
  const Ran some =
      lanky("merge " + write("some.jsonl", env + "\nmilk\n{\"kind\":7}\n" + env) + " " +
            write("torn.jsonl", env + "\r\n" + R"({"kind":"sp)") + " -o " + joined);
  EXPECT_EQ(some.exit_code, 0) << some.err;
  for (const char* note :
       {"some.jsonl:2: is no JSON, and is left out",
        "some.jsonl:3: is no line of results, and is left out", "torn.jsonl:2: is half a line"})
    EXPECT_NE(some.err.find(note), std::string::npos) << some.err;
  EXPECT_EQ(content(joined), env + "\n" + env + "\n" + env + "\n");
}

TEST_F(Batch, AFilterTakesWhatTheCacheHas) {
  const std::filesystem::path cache = folder_ / "cache";
  std::filesystem::create_directories(cache / "suitesparse" / "HB");
  write("cache/suitesparse/ssstats.csv",
        "3\n31-Oct-2026\n"
        "HB,small,3,3,4,1,0,0,0,0,0,structural problem,4\n"
        "HB,absent,3,3,4,1,0,0,0,0,0,structural problem,4\n"
        "HB,other,3,3,4,1,0,0,0,0,0,circuit simulation problem,4\n");
  std::filesystem::create_directory(folder_ / "small");
  matrix("small/small.mtx");
  ASSERT_EQ(shell("tar czf " + (cache / "suitesparse/HB/small.tar.gz").string() + " -C " +
                  folder_.string() + " small")
                .exit_code,
            0);
  const std::string from = " --cache " + cache.string();
  const Ran ran = batch("--no-vendor --where 'kind ~ structural'" + from);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const std::vector<Json> matrices = of_kind("matrix");
  ASSERT_EQ(matrices.size(), 2U);
  EXPECT_EQ(matrices[0]["case"], "absent");
  EXPECT_EQ(matrices[0]["status"], "skipped");
  EXPECT_NE(matrices[0]["reason"].get<std::string>().find("lanky fetch HB/absent"),
            std::string::npos);
  EXPECT_EQ(matrices[1]["case"], "small");
  EXPECT_EQ(matrices[1]["status"], "ok");
  batch("--no-vendor --resume --where 'kind ~ structural'" + from);
  EXPECT_EQ(of_kind("matrix").size(), 2U) << "it is told once";
  const Ran wrong = batch("--where 'nzn > 5'" + from);
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("did you mean nnz?"), std::string::npos) << wrong.err;
  EXPECT_EQ(batch("--where square --cache " + (folder_ / "nowhere").string()).exit_code, 3);
}

TEST_F(Batch, ATerminalHasAProgressLine) {
  const std::string command = "batch --device cpu --quick --no-vendor stencil5:20 stencil5:300";
  EXPECT_EQ(lanky(command).out.find("0/2"), std::string::npos) << "not where it is piped";
  const Ran ran =
      shell("script -qec '" + testing::beside_the_test("lanky") + " " + command + "' /dev/null");
  for (const char* text : {"[....................] 0/2", "] 1/2, ", " left", "stencil5:300 f64"})
    EXPECT_NE(ran.out.find(text), std::string::npos) << text << " is not in " << ran.out;
}

}  // namespace
}  // namespace lanky::cli
