// lanky convert as a user meets it: files, what it prints, exit codes.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <lanky/io.hpp>
#include <sstream>
#include <string>
#include <thread>

#include "support/csr_text.hpp"
#include "support/program.hpp"
#include "support/random_csr.hpp"

namespace lanky {
namespace {

namespace fs = std::filesystem;
using testing::content;

class Convert : public testing::ProgramTest {
 protected:
  fs::path path(const std::string& name) const { return folder_ / name; }

  /// The exit code of `lanky convert arguments`.
  int convert(const std::string& arguments) {
    ran_ = lanky("convert " + arguments);
    return ran_.exit_code;
  }
  const std::string& out() const { return ran_.out; }
  const std::string& err() const { return ran_.err; }
  /// Names of the folder, but for what the program printed.
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {})) - 2;
  }

 private:
  testing::Ran ran_;
};

TEST_F(Convert, RoundTripsToTheBit) {
  std::mt19937_64 random(20261123);
  const auto a = testing::random_matrix<double>(random);
  io::write_matrix_market(path("a.mtx"), a.view());
  for (const char* step :
       {"a.mtx b.lanky", "b.lanky c.mtx.zst", "c.mtx.zst d.lanky", "d.lanky e.mtx"}) {
    std::string from = step;
    const std::string to = path(from.substr(from.find(' ') + 1)).string();
    from = path(from.substr(0, from.find(' '))).string();
    ASSERT_EQ(convert(from + " " + to), 0) << err();
  }
  EXPECT_EQ(content(path("a.mtx")), content(path("e.mtx")));
  EXPECT_EQ(content(path("b.lanky")), content(path("d.lanky")));
  EXPECT_TRUE(testing::same_bits(io::read_csr<double>(path("d.lanky")).values, a.values));
}

TEST_F(Convert, TellsWhatItRead) {
  ASSERT_EQ(convert("matrices/wave.mtx.xz " + path("a.lanky").string()), 0) << err();
  const io::Header header = io::read_header(path("a.lanky"));
  EXPECT_NE(out().find(std::to_string(header.rows) + " rows, " + std::to_string(header.cols) +
                       " columns, " + std::to_string(header.stored_entries) + " entries in f64"),
            std::string::npos)
      << out();
  EXPECT_NE(out().find("MB/s"), std::string::npos) << out();
}

TEST_F(Convert, WarnsOfAFileThatMayHaveBeenCutShort) {
  const std::string in =
      directory_.file("a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n3 3 1.2")
          .string();
  ASSERT_EQ(convert(in + " " + path("b.mtx").string()), 0) << err();
  EXPECT_EQ(err(), "lanky: warning: " + in +
                       ":3: the last line has no newline at its end: the file may have been cut "
                       "short\n");
  ASSERT_EQ(convert(path("b.mtx").string() + " " + path("c.mtx").string()), 0) << err();
  EXPECT_EQ(err(), "");
}

TEST_F(Convert, ReadsOtherFormats) {
  ASSERT_EQ(convert("tests/data/formats/scipy.rua " + path("a.mtx").string()), 0) << err();
  EXPECT_EQ(io::read_csr<double>(path("a.mtx")).nnz(), 19);
}

TEST_F(Convert, ReadsAPipe) {
  ASSERT_EQ(std::system(("mkfifo '" + path("pipe").string() + "'").c_str()), 0);
  std::thread writer([&] {
    std::ofstream(path("pipe")) << "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n";
  });
  EXPECT_EQ(convert(path("pipe").string() + " " + path("a.lanky").string()), 0) << err();
  writer.join();
  EXPECT_EQ(io::read_csr<double>(path("a.lanky")).values.at(0), 2);
}

TEST_F(Convert, TakesTypeAndDuplicates) {
  const std::string in = directory_
                             .file("a.mtx",
                                   "%%MatrixMarket matrix coordinate complex general\n1 1 2\n"
                                   "1 1 1 2\n1 1 3 4\n")
                             .string();
  ASSERT_EQ(convert(in + " " + path("b.mtx").string()), 0) << err();
  EXPECT_EQ(testing::csr_text(io::read_csr<std::complex<double>>(path("b.mtx"))), "1x1 (0,0)4+6i");
  ASSERT_EQ(convert("--dtype c64 --duplicates keep " + in + " " + path("b.lanky").string()), 0);
  EXPECT_NE(out().find("2 entries in c64"), std::string::npos) << out();
  EXPECT_EQ(convert("--duplicates reject " + in + " " + path("c.mtx").string()), 3);
  EXPECT_EQ(convert("--dtype f64 " + in + " " + path("c.mtx").string()), 3);
  EXPECT_NE(err().find("complex"), std::string::npos) << err();
  EXPECT_EQ(convert("--duplicates some " + in + " " + path("c.mtx").string()), 2);
}

TEST_F(Convert, ReplacesAFileOnlyByForce) {
  const std::string in =
      directory_.file("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n")
          .string();
  const std::string target = directory_.file("b.lanky", "precious").string();
  EXPECT_EQ(convert(in + " " + target), 3);
  EXPECT_NE(err().find("--force"), std::string::npos) << err();
  EXPECT_EQ(content(target), "precious");
  EXPECT_EQ(convert("--force " + in + " " + target), 0);
  EXPECT_EQ(io::read_csr<double>(target).values.at(0), 2);
}

TEST_F(Convert, ItsHelpFitsATerminal) {
  ASSERT_EQ(convert("--help"), 0);
  std::istringstream lines(out());
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 120U) << line;
}

TEST_F(Convert, LeavesNothingWhereItFails) {
  const std::string broken =
      directory_.file("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 2 2\n")
          .string();
  EXPECT_EQ(convert(broken + " " + path("b.lanky").string()), 3);
  EXPECT_NE(err().find("a.mtx:3:3"), std::string::npos) << err();
  EXPECT_EQ(convert(broken + " " + path("b.txt").string()), 2);
  EXPECT_NE(err().find(".lanky"), std::string::npos) << err();
  EXPECT_EQ(convert(broken), 2);
  EXPECT_EQ(files(), 1U);
}

}  // namespace
}  // namespace lanky
