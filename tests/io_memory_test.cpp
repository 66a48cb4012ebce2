// How much memory reading takes, of a process of its own.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <lanky/io.hpp>
#include <nlohmann/json.hpp>

#include "io/archive_writer.hpp"
#include "support/temporary_directory.hpp"

namespace lanky {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryDirectory;

constexpr double kMiB = 1 << 20;

struct ChildResult {
  int status;
  std::string output;
};

/// Runs `lanky_read_speed read FILE 1` with two threads, within `most_kib` of address space.
ChildResult read_in_child(const fs::path& path, const std::string& most_kib = "unlimited") {
  const std::string command =
      "ulimit -v " + most_kib + "; OMP_NUM_THREADS=2 " +
      (fs::read_symlink("/proc/self/exe").parent_path() / "lanky_read_speed").string() + " read " +
      path.string() + " 1 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;)
    output += static_cast<char>(c);
  const int status = pclose(pipe);
  return {WEXITSTATUS(status), output};
}

/// Peak of the resident memory over that of the matrix. Beside it stand the program itself and the
/// pieces of text under way, more of them where threads have to wait for a processor (9 MB were
/// seen).
void expect_peak_within(const fs::path& path, double share) {
  const ChildResult child = read_in_child(path);
  ASSERT_EQ(child.status, 0) << child.output;
  const auto result = nlohmann::json::parse(child.output);
  const double csr = result.at("csr_bytes");
  const double peak = result.at("peak_bytes");
  EXPECT_GT(csr, 20 * kMiB);  // else the few megabytes of buffers would decide
  EXPECT_GT(peak, csr);
  EXPECT_LT(peak, share * csr + 12 * kMiB) << path;
}

TEST(ReaderMemory, IsThatOfTheMatrixAndHalf) {
  const TemporaryDirectory directory;
  const auto a = io::generate<double>("uniform:120000:16");
  for (const char* name : {"a.mtx", "a.mtx.gz"}) {
    io::write_matrix_market(directory.path() / name, a.view());
    expect_peak_within(directory.path() / name, 1.5);
  }
}

TEST(ReaderMemory, IsThatOfTheMatrixAndHalfByColumns) {
  // A symmetric file whose entries come column by column, as SuiteSparse writes them.
  const TemporaryDirectory directory;
  constexpr int kSide = 500'000;
  io::ArchiveWriter writer(directory.path() / "a.mtx");
  writer.write("%%MatrixMarket matrix coordinate real symmetric\n500000 500000 1500000\n");
  for (int col = 1; col <= kSide; ++col) {
    std::string lines;
    for (const int step : {0, 1, 1000}) {
      lines += std::to_string(std::min(col + step, kSide)) + " " + std::to_string(col) + " 1.25\n";
    }
    writer.write(lines);
  }
  writer.commit();
  expect_peak_within(directory.path() / "a.mtx", 1.5);
}

TEST(ReaderMemory, OfALyingHeaderIsWhatArrives) {
  const TemporaryDirectory directory;
  io::ArchiveWriter writer(directory.path() / "a.mtx.gz");
  writer.write("%%MatrixMarket matrix coordinate real general\n9 9 1000000000000000\n1 1 1\n");
  writer.commit();
  const ChildResult child = read_in_child(directory.path() / "a.mtx.gz", "400000");
  EXPECT_EQ(child.status, 1);
  EXPECT_NE(child.output.find("after 1 of 1000000000000000 entries"), std::string::npos)
      << child.output;
}

}  // namespace
}  // namespace lanky
