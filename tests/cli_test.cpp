// The lanky program as a user meets it: output, JSON lines, exit codes.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <lanky/device.hpp>
#include <lanky/version.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/program.hpp"

namespace lanky::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::content;
using testing::Ran;

class Cli : public testing::ProgramTest {
 protected:
  std::string deep_folder() const {
    std::string path = (folder_ / "deep").string();
    while (path.size() < 5000)
      path.append("/").append(200, 'x');
    return path;
  }
};

TEST_F(Cli, HelpTeachesAndSucceeds) {
  const Ran ran = lanky("--help");
  EXPECT_EQ(ran.exit_code, 0);
  for (const char* word :
       {"Examples:", "Exit codes:", "info", "spmv", "spmm", "sddmm", "gemm", "batch"})
    EXPECT_NE(ran.out.find(word), std::string::npos) << word;
  for (const char* command : {"spmv", "spmm", "sddmm", "gemm", "batch", "info"})
    EXPECT_EQ(lanky(std::string(command) + " --help").exit_code, 0) << command;
}

TEST_F(Cli, AloneItShowsItsHelp) {
  const Ran ran = lanky("");
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("Examples:"), std::string::npos) << ran.err;
}

TEST_F(Cli, WhatItPrintsFitsATerminal) {
  std::string text = lanky("--help").out + lanky("info").out;
  for (const char* command : {"spmv", "spmm", "sddmm", "gemm", "batch"})
    text += lanky(std::string(command) + " --help").out;
  text += lanky("spmv --device cpu --quick --generate stencil27:4:5").out;
  text += lanky("spmm --device cpu --quick --generate uniform:100000:10 --columns 128").out;
  text += lanky("ladder --help").out + lanky("ladder gemm-cpu -M 20 --quick --transfers").out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 120U) << line;
}

TEST_F(Cli, IdleThreadsSleepUnlessTheUserSaysOtherwise) {
  const auto spins = [this](const std::string& environment) {
    const std::string shown =
        lanky("--version", "env -u OMP_WAIT_POLICY OMP_DISPLAY_ENV=verbose " + environment).err;
    const std::string name = "GOMP_SPINCOUNT = '";
    const std::size_t last = shown.rfind(name);  // it may have begun twice
    return last == std::string::npos ? -1 : std::stol(shown.substr(last + name.size()));
  };
  EXPECT_EQ(spins(""), 0);
  EXPECT_GT(spins("OMP_WAIT_POLICY=active"), 0);
  EXPECT_EQ(spins("GOMP_SPINCOUNT=12345"), 12345);
}

TEST_F(Cli, BoundThreadsStillHaveAllPlaces) {
  cpu_set_t cpus;
  ASSERT_EQ(sched_getaffinity(0, sizeof cpus, &cpus), 0);
  for (const char* waiting : {"-u OMP_WAIT_POLICY", "OMP_WAIT_POLICY=passive"}) {
    const std::string bound =
        std::string("env -u OMP_NUM_THREADS ") + waiting + " OMP_PROC_BIND=close";
    fs::remove(json());
    EXPECT_EQ(lanky("info --json " + json(), bound).exit_code, 0);
    EXPECT_EQ(lines().at(0)["threads"], CPU_COUNT(&cpus)) << waiting;
    fs::remove(json());
    EXPECT_EQ(lanky("batch --device cpu --quick stencil5:9 --json " + json(), bound).exit_code, 0);
    EXPECT_EQ(lines().at(0)["threads"], CPU_COUNT(&cpus)) << waiting << ", in a worker";
  }
}

TEST_F(Cli, TheVersionTellsHowItWasBuilt) {
  const std::string text = lanky("--version").out;
  EXPECT_EQ(text.rfind("lanky " + std::string(build_description()) + ", commit ", 0), 0U) << text;
}

TEST_F(Cli, InfoNamesTheExecutors) {
  const Ran ran = lanky("info");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* word : {"cpu", "cuda", "OpenBLAS", "generators", "stencil27"})
    EXPECT_NE(ran.out.find(word), std::string::npos) << word;
}

TEST_F(Cli, InfoWritesTheEnvironmentOfAFile) {
  EXPECT_EQ(lanky("info --json " + json()).exit_code, 0);
  const std::vector<Json> all = lines();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]["kind"], "env");
  EXPECT_GT(all[0]["read_floor_tbs"], 0.0);
  EXPECT_EQ(all[0]["threads"], 1);  // as these tests set OMP_NUM_THREADS
}

TEST_F(Cli, ALadderIsMeasuredAndDrawnAgainFromItsLines) {
  EXPECT_NE(lanky("ladder").out.find("gemm-cpu"), std::string::npos);
  const std::string drawn = (folder_ / "drawn.svg").string();
  const Ran ran = lanky("ladder gemm-cpu -M 24,40 --dtype f64 -i 3 -k loops,threads --json " +
                        json() + " --plot " + drawn);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const std::vector<Json> all = lines();
  ASSERT_EQ(all.size(), 1U + 2 * 4);  // and OpenBLAS and MKL
  EXPECT_EQ(all[1]["kind"], "ladder");
  EXPECT_EQ(all[1]["rung"], "loops");
  EXPECT_EQ(all[5]["m"], 40);
  const Ran again = lanky("ladder --from " + json() + " --plot -");
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.out, content(drawn));
  EXPECT_LT(lanky("ladder -M 24 --from " + json() + " --plot -").out.size(), again.out.size());
  EXPECT_EQ(lanky("ladder tsm2 --from " + json() + " --plot -").exit_code, 3);
}

TEST_F(Cli, LinesOfALadderThatAreNoneAreNamedAndLeftOut) {
  const std::string fields =
      R"({"kind":"ladder","ladder":"tsm2","case":"c","dtype":"f64","contestant":"tsm2","rung":"v0",)"
      R"("idea":"i","status":"ok","m":8,"n":2,"flops":32,"floor_us":1,"gflops":)";
  const std::string deep(100'000, '[');
  const std::string file = write(
      "ladder.jsonl", "[1]\n{\"kind\":7}\n{\"kind\":\"ladder\"}\n" + fields + "1e308}\n" + fields +
                          "2}\n{\"kind\":" + deep + std::string(100'000, ']') + "}\nnull\n");
  const Ran ran = lanky("ladder --from " + file + " --plot -");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("tsm2, c, f64"), std::string::npos) << ran.out;
  for (const char* note :
       {":1: is no JSON object, and is left out", ":3: has no text \"ladder\"",
        ":4: gflops is 1e+308, which cannot be", ":6: is no JSON object", ":7: is no JSON object"})
    EXPECT_NE(ran.err.find(file + note), std::string::npos) << note << "\n" << ran.err;
  EXPECT_EQ(ran.err.find("json.exception"), std::string::npos) << ran.err;
}

TEST_F(Cli, UsageErrorsExitWithTwo) {
  for (const char* arguments : {"",
                                "frobnicate",
                                "spmv",
                                "spmv --dtype f8 a.mtx",
                                "gemm --m 3 --n 4",
                                "batch",
                                "gemm --m -3 --n 4 --k 5",
                                "spmv --device tpu --generate diagonal:5",
                                "gemm --m 3 --n 4 --k 5 --op-a x",
                                "gemm --m 99999999999999999999 --n 4 --k 5",
                                "gemm --m 1e6 --n 4 --k 5",
                                "batch --gemm core --shard 4/3",
                                "batch --gemm core --shard 3",
                                "batch --gemm sample --share 2",
                                "batch --gemm core --family square",
                                "batch --gemm core --type f8",
                                "gemm --m 3 --n 4 --k 5 --out bf16",
                                "spmv --dtype f64,f8 --generate diagonal:5",
                                "spmm",
                                "spmm --columns 0 --generate diagonal:5",
                                "spmm --columns 2,-8 --generate diagonal:5",
                                "spmm --columns 8x --generate diagonal:5",
                                "spmm --columns 99999999999 --generate diagonal:5",
                                "spmm --layout rows --generate diagonal:5",
                                "spmv --columns 2 --generate diagonal:5",
                                "sddmm",
                                "sddmm --columns 0 --generate diagonal:5",
                                "sddmm --layout rows --generate diagonal:5",
                                "sddmm --dtype f8 --generate diagonal:5",
                                "sddmm --path mma --generate diagonal:5",
                                "batch --columns 0 diagonal:5",
                                "ladder climb",
                                "ladder spmv",
                                "ladder spmm",
                                "ladder spmm --columns 1 --generate diagonal:5",
                                "ladder spmm -d cpu --generate diagonal:5",
                                "ladder gemm-cpu --block 3x",
                                "ladder gemm-cpu -k leap",
                                "ladder gemm-cpu -M 0",
                                "ladder tsm2 -d cpu -M 4"}) {
    const Ran ran = lanky(arguments);
    EXPECT_EQ(ran.exit_code, 2) << arguments << ": " << ran.err;
    EXPECT_FALSE(ran.err.empty()) << arguments;
    EXPECT_EQ(ran.out, "") << arguments;
  }
}

TEST_F(Cli, AWordThatIsMisspelledIsToldWithTheOneThatWasMeant) {
  for (const auto& [arguments, said] :
       {std::pair{"spvm a.mtx", "there is no command \"spvm\"; did you mean spmv?"},
        {"repotr", "did you mean report?"},
        {"frobnicate", "there is no command \"frobnicate\"\n"},
        {"spmv a.mtx --dtpye=f32", "spmv has no option --dtpye; did you mean --dtype?"},
        {"gemm --m 3 --n 4 --k 5 --opa t", "did you mean --op-a?"},
        {"gemm --m 3 --n 4 --kk 5", "gemm has no option --kk"},
        {"fetch --mirrow file:///x", "did you mean --mirror?"},
        {"batch --frobnicate", "batch has no option --frobnicate\n"}}) {
    const Ran ran = lanky(arguments);
    EXPECT_EQ(ran.exit_code, 2) << arguments;
    EXPECT_NE(ran.err.find(said), std::string::npos) << arguments << "\n" << ran.err;
    EXPECT_NE(ran.err.find("--help"), std::string::npos) << ran.err;
  }
  EXPECT_EQ(lanky("spmv --help --dtpye").exit_code, 0);
}

TEST_F(Cli, HelpAndOutputTellWhichValuesAreMultiplied) {
  for (const char* command : {"spmv", "spmm", "sddmm", "batch"}) {
    const std::string help = lanky(std::string(command) + " --help").out;
    EXPECT_NE(help.find("random numbers"), std::string::npos) << command << help;
    EXPECT_NE(help.find("read_csr"), std::string::npos) << command << help;
  }
  const std::string text = lanky("spmv --device cpu --quick --no-vendor " + matrix("a.mtx")).out;
  const std::size_t told = text.find("random numbers; a matrix file gives its pattern");
  ASSERT_NE(told, std::string::npos) << text;
  EXPECT_LT(told, text.find("%floor")) << text;
  EXPECT_NE(text.find("above 100"), std::string::npos) << text;
}

// A package has no folders of the sources: what help names is in the program, or is installed.
TEST_F(Cli, HelpNamesNothingThatAPackageLacks) {
  std::string text = lanky("--help").out;
  for (const char* command : {"info", "spmv", "spmm", "sddmm", "gemm", "batch", "merge", "fetch",
                              "convert", "report", "compare", "ladder", "tune"})
    text += lanky(std::string(command) + " --help").out;
  for (const char* folder : {"docs/batch", "docs/fetch", "docs/measuring", "bench/", "matrices/"})
    EXPECT_EQ(text.find(folder), std::string::npos) << folder;
  EXPECT_NE(text.find("share/doc/lanky"), std::string::npos);
  const Ran small =
      lanky("batch --device cpu --quick --no-vendor --gemm small --shard 0/128 --json " + json());
  EXPECT_EQ(small.exit_code, 0) << small.err;
  ASSERT_FALSE(of_kind("gemm").empty()) << small.out;
  EXPECT_EQ(of_kind("gemm")[0]["n"], 2);
  EXPECT_NE(lanky("batch --device cpu --gemm smal").err.find("demo and small"), std::string::npos);
}

TEST_F(Cli, ADeviceThatIsNotThereExitsWithFour) {
  const Ran ran = lanky("spmv --device cuda:977 --generate diagonal:5");
  EXPECT_EQ(ran.exit_code, 4) << ran.err;
  EXPECT_NE(ran.err.find("there is no CUDA device"), std::string::npos) << ran.err;
}

TEST_F(Cli, AMatrixThatCannotBeReadExitsWithThree) {
  const Ran missing = lanky("spmv --device cpu --quick " + (folder_ / "none.mtx").string());
  EXPECT_EQ(missing.exit_code, 3) << missing.err;
  EXPECT_NE(missing.err.find("none.mtx: cannot be opened"), std::string::npos) << missing.err;
  EXPECT_EQ(missing.out.find("measured"), std::string::npos) << missing.out;
  const std::string broken =
      write("broken.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 9 1.0\n");
  const Ran ran = lanky("spmv --device cpu --quick " + broken);
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_NE(ran.err.find("broken.mtx:3"), std::string::npos) << ran.err;
  const Ran grid = lanky("batch --device cpu --gemm " + write("grid.json", "{\"cases\": [{}]}"));
  EXPECT_EQ(grid.exit_code, 3);
  EXPECT_NE(grid.err.find("cases[0]"), std::string::npos) << grid.err;
  EXPECT_EQ(lanky("spmv --device cpu --quick --generate nonsense:3").exit_code, 3);
}

TEST_F(Cli, OneMatrixInEveryType) {
  const Ran ran =
      lanky("spmv --device cpu --quick --explain --dtype f64,f32,f16,bf16,c64,c128 --json " +
            json() + " " + matrix("tiny.mtx"));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out.find("no GPU is used: ") != std::string::npos, Device::cuda_count() == 0);
  const std::vector<Json> all = lines();
  // lanky, the plain loop in three ways and MKL, which may not be there; and the matrix
  ASSERT_EQ(all.size(), 1U + 6 * 5 + 1);
  EXPECT_EQ(all[0]["kind"], "env");
  EXPECT_EQ(all[0]["gpu"], "");
  EXPECT_FALSE(all[0]["cpu"].get<std::string>().empty());
  EXPECT_EQ(all[0]["sources_hash"].get<std::string>().size(), 64U);
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_EQ(all[i]["case"], "tiny");
    EXPECT_EQ(all[i]["nnz"], 4);
    if (all[i]["kind"] == "spmv" && all[i]["contestant"] == "mkl" &&
        all[i]["status"] == "unsupported") {
      EXPECT_NE(all[i]["message"].get<std::string>().find("MKL"), std::string::npos) << all[i];
      continue;
    }
    EXPECT_EQ(all[i]["status"], "ok") << all[i];
    if (all[i]["kind"] == "matrix") continue;
    EXPECT_TRUE(all[i]["warm_us"].is_number());
    EXPECT_LE(all[i]["error"], all[i]["bound"]);
  }
}

TEST_F(Cli, OneMatrixTimesSeveralVectors) {
  const Ran ran =
      lanky("spmm --device cpu --quick --columns 1,2,8 --layout row,col --dtype f64,f16,c64 " +
            ("--json " + json() + " " + matrix("tiny.mtx")));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  // Of a vector lanky, the plain loop in three ways and MKL; by rows lanky, MKL and, but for
  // halves, the loop in two ways; by columns lanky, its columns one by one, and MKL.
  EXPECT_EQ(of_kind("spmv").size(), 3U * 5);
  const std::vector<Json> several = of_kind("spmm");
  EXPECT_EQ(several.size(), 2U * (3 * 2 + 2 * 2 + 3 * 3));
  for (const Json& line : several) {
    EXPECT_TRUE(line["columns"] == 2 || line["columns"] == 8) << line;
    EXPECT_TRUE(line["layout"] == "row" || line["layout"] == "col") << line;
    if (line["contestant"] == "mkl") continue;  // may not be there
    EXPECT_EQ(line["status"], "ok") << line;
    EXPECT_EQ(line["reproducible"], true) << line;
    EXPECT_LE(line["error"], line["bound"]) << line;
  }
  EXPECT_NE(ran.out.find(" 3x3 x8 row "), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find(" 3x3 x2 col "), std::string::npos) << ran.out;
}

TEST_F(Cli, SampledProductsAreCheckedAndTimed) {
  const Ran ran = lanky(
      "sddmm --device cpu --generate mixed:300 --columns 4,9 --quick --dtype f64,bf16 --json " +
      json() + " " + matrix("tiny.mtx"));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const std::vector<Json> all = of_kind("sddmm");
  ASSERT_EQ(all.size(), 2U * 2 * 2 * 2 * 2);  // matrices, types, columns, layouts, contestants
  std::set<std::string> seen;
  for (const Json& line : all) {
    seen.insert(line["case"].get<std::string>() + line["dtype"].get<std::string>() +
                line["columns"].dump() + line["layout"].get<std::string>() +
                line["contestant"].get<std::string>() + line["variant"].get<std::string>());
    const bool own = line["contestant"] == "lanky";
    EXPECT_EQ(line["variant"], own ? "auto" : "guided") << line;
    EXPECT_EQ(line["status"], "ok") << line;
    EXPECT_EQ(line["reproducible"], true) << line;
    EXPECT_LE(line["error"], line["bound"]) << line;
    EXPECT_TRUE(line["warm_us"].is_number()) << line;
    EXPECT_TRUE(line["floor_batch_us"].is_number()) << line;
    const std::int64_t size = line["dtype"] == "f64" ? 8 : 2;
    const std::int64_t m = line["m"];
    const std::int64_t n = line["n"];
    const std::int64_t nnz = line["nnz"];
    const std::int64_t columns = line["columns"];
    EXPECT_EQ(line["bytes"], 4 * (nnz + m + 1) + (nnz + (m + n) * columns) * size) << line;
    EXPECT_EQ(line["flops"], 2.0 * static_cast<double>(nnz * columns)) << line;
  }
  EXPECT_EQ(seen.size(), all.size());
  EXPECT_NE(ran.out.find(" 3x3 x9 col "), std::string::npos) << ran.out;
  const std::string page = (folder_ / "page.html").string();
  EXPECT_EQ(lanky("report " + json() + " -o " + page).exit_code, 0);
  EXPECT_NE(content(page).find("<section id=\"sddmm\">"), std::string::npos);
  EXPECT_EQ(lanky("compare " + json() + " " + json()).exit_code, 0);
  const std::string merged = (folder_ / "merged.jsonl").string();
  EXPECT_EQ(lanky("merge " + json() + " -o " + merged).exit_code, 0);
  EXPECT_EQ(content(merged), content(json()));
}

TEST_F(Cli, AFileMayFollowAnyOption) {
  const Ran ran =
      lanky("spmv --device cpu --quick --no-vendor --json " + json() +
            " --path auto --generate diagonal:5 --generate diagonal:6 --dtype f32,f64 " +
            matrix("tiny.mtx"));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(lines().size(), 1U + 3 * (2 + 1));
}

TEST_F(Cli, ABadFileNeverEndsTheBatch) {
  matrix("a.mtx");
  write("b.mtx", "not a matrix\n");
  write("c.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 3 4\n");
  matrix("d.mtx");
  write("ignored.txt", "no matrix either\n");
  write("ignored.gz", "nor this\n");
  const Ran ran = lanky("batch --device cpu --quick --no-vendor --json " + json() + " '" +
                        folder_.string() + "' " + (folder_ / "nowhere.mtx").string());
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  const std::vector<Json> all = of_kind("matrix");
  ASSERT_EQ(all.size(), 5U);
  const char* cases[] = {"a", "b", "c", "d", "nowhere"};
  const char* status[] = {"ok", "unreadable", "skipped", "ok", "unreadable"};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(all[i]["case"], cases[i]);
    EXPECT_EQ(all[i]["status"], status[i]) << all[i];
    EXPECT_EQ(all[i].contains("reason"), std::string(status[i]) != "ok");
  }
}

TEST_F(Cli, AFolderThatCannotBeReadNeverEndsTheBatch) {
  matrix("a.mtx");
  matrix("z.mtx");
  // Too deep to be opened by its name, which stops the superuser too; only tools that step in can.
  const std::string remove = "rm -rf '" + (folder_ / "deep").string() + "'";
  ASSERT_EQ(std::system((remove + " && mkdir -p '" + deep_folder() + "'").c_str()), 0);
  const Ran ran = lanky("batch --device cpu --quick --no-vendor --json " + json() + " '" +
                        folder_.string() + "'");
  EXPECT_EQ(std::system(remove.c_str()), 0);
  EXPECT_EQ(ran.exit_code, 1) << ran.err;
  EXPECT_NE(ran.out.find(": cannot be read: File name too long"), std::string::npos) << ran.out;
  const std::vector<Json> all = of_kind("matrix");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0]["status"], "unreadable");
  EXPECT_EQ(all[1]["case"], "a");
  EXPECT_EQ(all[2]["case"], "z");
}

TEST_F(Cli, LinksThatLeadNowhereOrBackDoNotMatter) {
  matrix("a.mtx");
  fs::create_symlink("/no/such/file", folder_ / "broken.mtx");
  fs::create_directory_symlink(folder_, folder_ / "again");
  const Ran ran =
      lanky("batch --device cpu --quick --no-vendor --json " + json() + " " + folder_.string());
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(of_kind("matrix").size(), 1U);
}

TEST_F(Cli, AFullDiskIsNotTakenForSuccess) {
  std::string command(1, '\'');
  command.append(testing::beside_the_test("lanky")).append("' info >/dev/full 2>/dev/null");
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 5);
}

TEST_F(Cli, WhatIsNotSupportedDoesNotFailABatch) {
  write("c.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 3 4\n");
  EXPECT_EQ(lanky("batch --device cpu --quick '" + folder_.string() + "'").exit_code, 0);
  EXPECT_EQ(lanky("spmv --device cpu --quick '" + (folder_ / "c.mtx").string() + "'").exit_code, 3);
}

TEST_F(Cli, ProductsOfEveryFamilyAndJsonOnStandardOutput) {
  const std::string grid = write("grid.json", R"({"cases": [
      {"family": "panel", "m": 300, "n": 3},
      {"family": "update", "m": 3000, "n": 3, "layout": "row", "ld": "padded", "beta": 1},
      {"family": "gram", "k": 3000, "n": 3, "dtype": "f16"},
      {"m": 0, "n": 5, "k": 3}, {"m": 4, "n": 5, "k": 0}]})");
  const Ran ran = lanky("batch --device cpu --quick --json - --gemm " + grid);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const std::vector<Json> all = parse(ran.out);  // nothing but JSON lines
  ASSERT_EQ(all.size(), 1U + 5 * 3);
  EXPECT_EQ(all[3]["family"], "panel");
  EXPECT_EQ(all[1]["contestant"], "openblas");
  EXPECT_EQ(all[2]["contestant"], "mkl");  // which may not be there
  EXPECT_EQ(all[6]["family"], "update");
  EXPECT_EQ(all[6]["ld"], "padded");
  EXPECT_EQ(all[9]["op_a"], "t");
  EXPECT_EQ(all[7]["status"], "unsupported");  // OpenBLAS has no f16
  for (const std::size_t i : {3, 6, 9, 12, 15})
    EXPECT_EQ(all[i]["status"], "ok") << all[i];
  EXPECT_NE(ran.err.find("err/bnd"), std::string::npos) << "the table goes to standard error";
}

TEST_F(Cli, OneProduct) {
  const Ran ran =
      lanky("gemm --device cpu --quick --m 4 --n 4 --k 5000 --op-a t --dtype f32 --layout row");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("gram-5000x4"), std::string::npos) << ran.out;
}

TEST_F(Cli, TuningKeepsTheFastestAndRefusesOtherFiles) {
  const std::string file = (folder_ / "kept" / "tuning.jsonl").string();
  const std::string tune =
      "tune --device cpu --quick --m 4 --n 3 --k 5000 --op-a t --dtype f32,f64";
  const Ran ran = lanky(tune + " --file '" + file + "'");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const std::vector<Json> kept = parse(content(file));
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept[0].at("format"), "lanky gemm tuning 3");
  EXPECT_NE(kept[1].at("class").get<std::string>().find("f32 ieee"), std::string::npos);
  const Ran foreign = lanky(tune + " --file '" + write("notes.txt", "buy milk\n") + "'");
  EXPECT_EQ(foreign.exit_code, 3);
  EXPECT_NE(foreign.err.find("notes.txt: is no file of lanky tune"), std::string::npos)
      << foreign.err;
  EXPECT_EQ(content(folder_ / "notes.txt"), "buy milk\n");
  EXPECT_EQ(lanky("tune --device cpu --m 4").exit_code, 2);
}

TEST_F(Cli, OneShardOfTheGrid) {
  // The first of the core's gram products: 1e4 x 1, f64.
  const Ran core = lanky(
      "batch --device cpu --quick --gemm core --family gram --type f64 --shard 0/999 --json " +
      json());
  EXPECT_EQ(core.exit_code, 0) << core.err;
  std::vector<Json> all = lines();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_FALSE(all[0].contains("seed"));
  EXPECT_EQ(all[1]["case"], "gram-1e4x1");
  EXPECT_EQ(all[1]["dtype"], "f64");

  const Ran none =
      lanky("batch --device cpu --quick --gemm sample --seed 5 --share 0 --json " + json());
  EXPECT_EQ(none.exit_code, 0) << none.err;
  EXPECT_EQ(lines().back()["kind"], "env");
  EXPECT_EQ(lines().back()["seed"], 5);
}

TEST_F(Cli, AGridIsTakenUpWhereItStopped) {
  const std::string grid = write("grid.json", R"({"cases": [
      {"family": "gram", "k": [2000, 3000, 4000], "n": 3, "dtype": ["f64", "f32"]}]})");
  const std::string run =
      "batch --device cpu --quick --no-vendor --resume --json " + json() + " --gemm " + grid;
  const Ran first = lanky(run + " --seconds 0.001");  // the floor alone takes longer
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_NE(first.out.find("6 cases left"), std::string::npos) << first.out;
  write("half.json",
        R"({"cases": [{"family": "gram", "k": [2000, 4000], "n": 3, "dtype": "f64"}]})");
  EXPECT_EQ(lanky("batch --device cpu --quick --no-vendor --json " + json() + " --gemm " +
                  (folder_ / "half.json").string())
                .exit_code,
            0);
  EXPECT_NE(lanky(run).out.find("4 cases measured"), std::string::npos);
  EXPECT_EQ(lanky(run).out.find("measured"), std::string::npos);
  std::size_t measured = 0;
  for (const Json& line : lines())
    measured += line["kind"] == "gemm" ? 1 : 0;
  EXPECT_EQ(measured, 6U);
}

TEST_F(Cli, TheSparseSetIsTakenUpWhereItStopped) {
  // The first of the 95.
  const std::string run =
      "batch --device cpu --quick --no-vendor --resume --spmv core --json " + json();
  const Ran late = lanky(run + " --seconds 0.001 --shard 0/95 --dtype f64,f32");
  EXPECT_EQ(late.exit_code, 0) << late.err;
  EXPECT_NE(late.out.find("2 cases left"), std::string::npos) << late.out;
  EXPECT_NE(lanky(run + " --shard 0/95").out.find("1 case measured"), std::string::npos);
  EXPECT_NE(lanky(run + " --shard 0/95 --dtype f64,f32").out.find("1 case measured"),
            std::string::npos);
  std::vector<Json> measured = lines();
  std::erase_if(measured, [](const Json& line) { return line["kind"] != "spmv"; });
  ASSERT_EQ(measured.size(), 2U);
  for (const Json& line : measured) {
    EXPECT_EQ(line["case"], "stencil5:100");
    EXPECT_EQ(line["class"], "stencil");
  }
  EXPECT_EQ(measured[1]["dtype"], "f32");
  EXPECT_EQ(lanky("batch --spmv all").exit_code, 2);
}

TEST_F(Cli, DrawnMatricesFollowFromTheirSeed) {
  const Ran ran =
      lanky("batch --device cpu --quick --no-vendor --spmv drawn --seed 3 --shard 0/99 " +
            ("--json " + json()));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(lines()[0]["seed"], 3);
  EXPECT_EQ(lines()[1]["class"], "stencil");
}

TEST_F(Cli, AProductOfATypeWithItsOwnResult) {
  const Ran ran = lanky(
      "gemm --device cpu --quick --m 3 --n 3 --k 900 --op-a t --dtype f16 --out f32 --alpha 2 "
      "--beta 0.5 --symmetric --json " +
      json());
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const Json line = lines().back();
  EXPECT_EQ(line["family"], "syrk");
  EXPECT_EQ(line["dtype"], "f16");
  EXPECT_EQ(line["out"], "f32");
  EXPECT_EQ(line["alpha"], 2);
  EXPECT_EQ(line["beta"], 0.5);
  EXPECT_EQ(line["status"], "ok") << line;
  EXPECT_EQ(lanky("gemm --device cpu --quick --m 3 --n 3 --k 9 --dtype tf32x3,c64").exit_code, 0);
}

TEST_F(Cli, WhatFitsNoMemoryExitsWithFive) {
  const Ran product = lanky("gemm --device cpu --quick --m 4611686018427387904 --n 4 --k 4");
  EXPECT_EQ(product.exit_code, 5) << product.err;
  EXPECT_NE(product.err.find("4611686018427387904 x 4 elements fits no memory"), std::string::npos)
      << product.err;
  const Ran matrix = lanky("spmv --device cpu --quick --generate uniform:1099511627776:1:1");
  EXPECT_EQ(matrix.exit_code, 5) << matrix.err;
  EXPECT_NE(matrix.err.find("this machine has"), std::string::npos) << matrix.err;
}

TEST_F(Cli, AnInterruptEndsWithOneMessage) {
  const Ran ran =
      lanky("spmv --device cpu --generate rmat:24", "timeout --preserve-status -s INT 1");
  EXPECT_EQ(ran.exit_code, 128 + SIGINT);
  EXPECT_NE(ran.err.find("lanky: interrupted during "), std::string::npos) << ran.err;
}

TEST_F(Cli, AnUnwritableRecordIsSaidBeforeAnyWork) {
  const Ran ran = lanky("spmv --generate diagonal:5 --json /no/such/folder/a.jsonl");
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_NE(ran.err.find("/no/such/folder/a.jsonl"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace lanky::cli
