// The parser cases of other projects (tests/data/parser), and the larger shared sets of matrices
// and cases where this machine has them ($LANKY_SHARED_MATRICES, or ../shared/matrices).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <lanky/error.hpp>
#include <lanky/io.hpp>
#include <map>
#include <sstream>

#include "support/csr_text.hpp"
#include "support/executor.hpp"

namespace lanky {
namespace {

namespace fs = std::filesystem;
using Complex = std::complex<double>;
using Record = std::map<std::string, std::string>;

const fs::path kCases = "tests/data/parser";

fs::path shared_matrices() {
  const char* path = std::getenv("LANKY_SHARED_MATRICES");
  return path == nullptr ? "../shared/matrices" : path;
}

/// Fields of one line; quotes keep commas.
std::vector<std::string> split_csv(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

std::vector<Record> read_manifest(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = split_csv(line);
  std::vector<Record> records;
  while (std::getline(file, line)) {
    const std::vector<std::string> fields = split_csv(line);
    Record record;
    for (std::size_t i = 0; i < names.size(); ++i)
      record[names[i]] = fields.at(i);
    records.push_back(record);
  }
  return records;
}

/// The matrices of expected.txt, as csr_text.
std::map<std::string, std::string> read_expected() {
  std::map<std::string, std::string> expected;
  std::ifstream file(kCases / "expected.txt");
  std::string word, name, rows, cols;
  std::size_t entries = 0;
  while (file >> word >> name >> rows >> cols >> entries) {
    std::string text = rows + "x" + cols;
    for (std::size_t k = 0; k < entries; ++k) {
      std::string row, col, real, imag;
      file >> row >> col >> real >> imag;
      const Complex value(std::strtod(real.c_str(), nullptr), std::strtod(imag.c_str(), nullptr));
      text += " (" + row + "," + col + ")" + testing::number_text(value);
    }
    expected[name] = text;
  }
  return expected;
}

/// "" where the file is read, else the message of its Error; other exceptions pass.
std::string refusal(const fs::path& path) {
  try {
    io::read_csr<Complex>(path);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::parse) << error.what();
    EXPECT_TRUE(std::string(error.what()).starts_with(path.string() + ":")) << error.what();
    return error.what();
  }
}

void check_outcomes(const fs::path& folder) {
  const std::vector<Record> cases = read_manifest(folder / "MANIFEST.csv");
  ASSERT_GT(cases.size(), 30U);
  for (const Record& c : cases) {
    SCOPED_TRACE(c.at("file") + ": " + c.at("expected") + ", " + c.at("what"));
    const std::string message = refusal(folder / c.at("file"));
    if (c.at("expected") == "invalid") {
      EXPECT_NE(message, "");
    } else if (c.at("expected") != "permissive") {
      EXPECT_EQ(message, "");
    }
  }
}

TEST(ParserCases, AcceptedAndRefused) {
  check_outcomes(kCases);
}

TEST(ParserCases, ReadAsExpected) {
  const auto expected = read_expected();
  ASSERT_GT(expected.size(), 15U);
  for (const auto& [name, text] : expected) {
    auto a = io::read_csr<Complex>(kCases / name);
    for (Complex& value : a.values)
      value += Complex{};  // -0 is as good as 0: -(2 + 0i) is -2 - 0i
    EXPECT_EQ(testing::csr_text(a), text) << name;
  }
}

TEST(ParserCases, DuplicatesAreRejectedOnRequest) {
  std::size_t found = 0;
  for (const Record& c : read_manifest(kCases / "MANIFEST.csv")) {
    if (c.at("expected") != "valid-dup") continue;
    ++found;
    EXPECT_THROW(
        io::read_csr<double>(kCases / c.at("file"), {.duplicates = io::Duplicates::reject}), Error)
        << c.at("file");
  }
  EXPECT_GT(found, 0U);
}

TEST(SharedMatrices, ParserCases) {
  const fs::path folder = shared_matrices() / "parser";
  if (!fs::exists(folder)) GTEST_SKIP() << "there is no " << folder;
  check_outcomes(folder);
}

/// Share of the rows whose length is in least..most.
double share_of_rows(const CsrMatrix<Complex>& a, std::int64_t least, std::int64_t most) {
  std::int64_t count = 0;
  for (std::size_t i = 1; i < a.row_offsets.size(); ++i) {
    const std::int64_t length = a.row_offsets[i] - a.row_offsets[i - 1];
    count += length >= least && length <= most;
  }
  return static_cast<double>(count) / static_cast<double>(a.rows);
}

void check_facts(const Record& facts, const fs::path& path) {
  SCOPED_TRACE(path);
  const io::Header header = io::read_header(path);
  EXPECT_EQ(header.stored_entries, std::stoll(facts.at("stored_entries")));
  const auto a = io::read_csr<Complex>(path, {.duplicates = io::Duplicates::reject});
  EXPECT_EQ(a.rows, std::stoll(facts.at("m")));
  EXPECT_EQ(a.cols, std::stoll(facts.at("n")));
  EXPECT_EQ(a.nnz(), std::stoll(facts.at("nnz")));
  std::int64_t longest = 0;
  for (std::size_t i = 1; i < a.row_offsets.size(); ++i)
    longest = std::max(longest, a.row_offsets[i] - a.row_offsets[i - 1]);
  EXPECT_EQ(longest, std::stoll(facts.at("max_row")));
  EXPECT_NEAR(share_of_rows(a, 0, 0), std::stod(facts.at("frac_rows_0")), 6e-6);
  EXPECT_NEAR(share_of_rows(a, 1, 1), std::stod(facts.at("frac_rows_1")), 6e-6);
  EXPECT_NEAR(share_of_rows(a, 2, 4), std::stod(facts.at("frac_rows_2_4")), 6e-6);
}

TEST(SharedMatrices, AgreeWithTheirManifest) {
  const fs::path folder = shared_matrices();
  if (!fs::exists(folder)) GTEST_SKIP() << "there is no " << folder;
  const std::vector<Record> matrices = read_manifest(folder / "MANIFEST.csv");
  ASSERT_GT(matrices.size(), 50U);
  for (const Record& facts : matrices) {
    const fs::path file = folder / facts.at("file");
    if (!testing::kSanitized || fs::file_size(file) < 500'000) check_facts(facts, file);
  }
}

TEST(Matrices, ReadAsTheirReadmeSays) {
  // | file | Group/Name | class | rows | cols | nnz | storage | changed |
  std::ifstream file("matrices/README.md");
  std::size_t found = 0;
  for (std::string line; std::getline(file, line);) {
    std::replace(line.begin(), line.end(), ',', ';');
    std::replace(line.begin(), line.end(), '|', ',');
    const std::vector<std::string> cells = split_csv(line);
    if (cells.size() < 8 || cells[2].find('/') == std::string::npos || cells[2] == " Group/Name ")
      continue;
    ++found;
    const std::string name = cells[1].substr(1, cells[1].size() - 2);
    const auto a = io::read_csr<Complex>("matrices/" + name + ".mtx.xz");
    EXPECT_EQ(a.rows, std::stoll(cells[4])) << name;
    EXPECT_EQ(a.cols, std::stoll(cells[5])) << name;
    EXPECT_EQ(a.nnz(), std::stoll(cells[6])) << name;
  }
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator("matrices"))
    files += entry.path().extension() == ".xz";
  EXPECT_EQ(found, files);
  EXPECT_GE(files, 20U);
}

}  // namespace
}  // namespace lanky
