// Rutherford-Boeing and Harwell-Boeing files: formats, types, and what is said of malformed ones.
#include <gtest/gtest.h>

#include <lanky/error.hpp>
#include <lanky/io.hpp>
#include <ostream>
#include <string>

#include "io/fortran_format.hpp"
#include "support/csr_text.hpp"
#include "support/expect_error.hpp"
#include "support/expected_matrix.hpp"
#include "support/temporary_directory.hpp"

namespace lanky {
namespace {

using testing::content;
using testing::csr_text;
using testing::TemporaryDirectory;
using Complex = std::complex<double>;

/// 5 x 5 with 11 entries, fields of values without blanks between.
constexpr const char* kExample =
    "Unsymmetric assembled matrix                                            KEY     \n"
    "             5             1             1             3\n"
    "rua                        5             5            11             0\n"
    "(6I3)           (11I3)          (4D10.3)            \n"
    "  1  4  6  8 10 12\n"
    "  1  3  5  1  4  2  5  1  4  2  5\n"
    " 1.000D+00 2.000D+00 5.000D+00-3.000D+00\n"
    " 4.000D+00-2.000D+00-5.000D+00-1.000D+00\n"
    "-4.000D+00 3.000D+00 6.000D+00\n";
constexpr const char* kExampleMatrix =
    "5x5 (0,0)1 (0,1)-3 (0,3)-1 (1,2)-2 (1,4)3 (2,0)2 (3,1)4 (3,3)-4 (4,0)5 (4,2)-5 (4,4)6";

/// A file of one line a section, but its first two lines.
std::string boeing(const std::string& type, const std::string& counts, const std::string& formats,
                   const std::string& rest) {
  return "title\n 4 1 1 1\n" + type + "           " + counts + " 0\n" + formats + "\n" + rest;
}

template <class T = double>
std::string read_boeing(const std::string& text, const io::ReadOptions& options = {}) {
  const TemporaryDirectory directory;
  return csr_text(io::read_csr<T>(directory.file("a.rb", text), options));
}

TEST(RutherfordBoeing, CutsFieldsWithoutBlanks) {
  EXPECT_EQ(read_boeing(kExample), kExampleMatrix);
}

TEST(RutherfordBoeing, TellsItsHeader) {
  const TemporaryDirectory directory;
  const io::Header header = io::read_header(directory.file("a.mtx", kExample));
  EXPECT_EQ(header.field, io::Field::real);
  EXPECT_EQ(header.symmetry, Symmetry::general);
  EXPECT_EQ(header.rows, 5);
  EXPECT_EQ(header.cols, 5);
  EXPECT_EQ(header.stored_entries, 11);
}

TEST(RutherfordBoeing, PassesOverRightHandSides) {
  std::string text = kExample;
  const std::string counts = "             5             1             1             3\n";
  text.replace(text.find(counts), counts.size(), " 7 1 1 3 2\n");
  text.insert(text.find("  1  4  6"), "F                          1             0\n");
  EXPECT_EQ(read_boeing(text + " 1.000D+00\n and whatever follows\n"), kExampleMatrix);
}

TEST(RutherfordBoeing, TakesLineEndsOfDos) {
  std::string text;
  for (const char* c = kExample; *c != '\0'; ++c)
    text += *c == '\n' ? std::string("\r\n") : std::string(1, *c);
  EXPECT_EQ(read_boeing(text), kExampleMatrix);
}

TEST(RutherfordBoeing, ReadsWhatSciPyWrites) {
  const auto expected = testing::expected_matrix("tests/data/formats/real.txt");
  EXPECT_EQ(csr_text(io::read_csr<Complex>("tests/data/formats/scipy.rua")), expected);
}

TEST(RutherfordBoeing, IsFoundInSuiteSparsesArchive) {
  EXPECT_EQ(csr_text(io::read_csr<double>("tests/data/formats/example.tar.gz")), kExampleMatrix);
}

struct BoeingCase {
  const char* name;
  std::string text;
  const char* expected;  // csr_text of the matrix read as c128
};
void PrintTo(const BoeingCase& c, std::ostream* out) {
  *out << c.name;
}
class BoeingFile : public ::testing::TestWithParam<BoeingCase> {};
TEST_P(BoeingFile, ReadsAsComplex) {
  EXPECT_EQ(read_boeing<Complex>(GetParam().text), GetParam().expected);
}
INSTANTIATE_TEST_SUITE_P(
    Rules, BoeingFile,
    ::testing::Values(
        BoeingCase{"pattern", boeing("pua", "2 2 1", "(3I2)           (2I2)", " 1 2 2\n 1\n"),
                   "2x2 (0,0)1+0i"},
        BoeingCase{"symmetric_pattern",
                   boeing("PSA", "2 2 2", "(3I2)           (2I2)", " 1 3 3\n 1 2\n"),
                   "2x2 (0,0)1+0i (0,1)1+0i (1,0)1+0i"},
        BoeingCase{"values_elsewhere",
                   boeing("qra", "3 1 2", "(3I2)           (2I2)", " 1 3\n 1 3\n"),
                   "3x1 (0,0)1+0i (2,0)1+0i"},
        BoeingCase{"integer",
                   boeing("iua", "1 2 2", "(3I2)           (2I2)           (2I3)",
                          " 1 2 3\n 1 1\n -7123\n"),
                   "1x2 (0,0)-7+0i (0,1)123+0i"},
        BoeingCase{"complex_hermitian",
                   boeing("cha", "2 2 2", "(3I2)           (2I2)           (4F5.1)",
                          " 1 3 3\n 1 2\n  3.0  0.0  1.5 -2.0\n"),
                   "2x2 (0,0)3+0i (0,1)1.5+2i (1,0)1.5+-2i"},
        BoeingCase{"skew_of_upper_triangle",
                   boeing("rza", "2 2 1", "(3I2)           (2I2)           (4F5.1)",
                          " 1 1 2\n 1\n  3.5\n"),
                   "2x2 (0,1)3.5+0i (1,0)-3.5+-0i"},
        BoeingCase{"rectangular_with_duplicates",
                   boeing("rra", "1 3 3", "(4I2)           (3I2)           (3F4.0)",
                          " 1 1 1 4\n 1 1 1\n  1.  2.  4.\n"),
                   "1x3 (0,2)7+0i"},
        BoeingCase{"rows_out_of_order",
                   boeing("rsa", "3 3 3", "(4I2)           (3I2)           (3F4.0)",
                          " 1 4 4 4\n 3 1 2\n  1.  2.  4.\n"),
                   "3x3 (0,0)2+0i (0,1)4+0i (0,2)1+0i (1,0)4+0i (2,0)1+0i"},
        BoeingCase{"implied_point_and_scale",
                   boeing("rua", "1 3 3", "(4I2)           (3I2)           (1P,3F6.2)",
                          " 1 2 3 4\n 1 1 1\n   1501.5E01    15\n"),
                   "1x3 (0,0)0.15+0i (0,1)15+0i (0,2)0.015+0i"},
        BoeingCase{"exponents_without_letter",
                   boeing("rua", "1 2 2", "(3I2)           (2I2)           (2E9.2)",
                          " 1 2 3\n 1 1\n 1.25-1021.25+102\n"),
                   "1x2 (0,0)1.25e-102+0i (0,1)1.25e+102+0i"},
        BoeingCase{"without_columns",
                   boeing("rua", "2 0 0", "(3I2)           (2I2)           (2F9.2)", " 1\n"),
                   "2x0"}),
    [](const auto& test) { return std::string(test.param.name); });

struct BoeingFault {
  const char* name;
  std::string text;
  std::vector<std::string> message;
};
void PrintTo(const BoeingFault& c, std::ostream* out) {
  *out << c.name;
}
class BoeingError : public ::testing::TestWithParam<BoeingFault> {};
TEST_P(BoeingError, NamesThePlace) {
  expect_error([&] { read_boeing(GetParam().text); }, ErrorCode::parse, GetParam().message);
}

constexpr const char* kFormats = "(3I2)           (2I2)           (2F4.0)";
INSTANTIATE_TEST_SUITE_P(
    Rules, BoeingError,
    ::testing::Values(
        BoeingFault{"first_pointer",
                    boeing("rua", "2 2 2", kFormats, " 2 2 3\n 1 2\n"),
                    {"a.rb:5:2: column pointer \"2\" is outside 1..1"}},
        BoeingFault{"falling_pointer",
                    boeing("rua", "2 2 2", kFormats, " 1 3 2\n 1 2\n"),
                    {"a.rb:5:6: column pointer \"2\" is outside 3..3"}},
        BoeingFault{"last_pointer",
                    boeing("rua", "2 2 2", kFormats, " 1 2 2\n 1 2\n"),
                    {"a.rb:5:6: column pointer \"2\" is the last one and should be 3"}},
        BoeingFault{"row",
                    boeing("rua", "2 2 2", kFormats, " 1 2 3\n 1 3\n"),
                    {"a.rb:6:4: row index \"3\" is outside 1..2"}},
        BoeingFault{"row_zero",
                    boeing("rua", "2 2 2", kFormats, " 1 2 3\n 0 1\n"),
                    {"a.rb:6:2: row index \"0\" is outside 1..2"}},
        BoeingFault{"value",
                    boeing("rua", "2 2 2", kFormats, " 1 2 3\n 1 2\n 1.0****\n"),
                    {"a.rb:7:5: value \"****\" is not a number"}},
        BoeingFault{"value_beyond_double",
                    boeing("rua", "1 1 1", "(3I2)           (2I2)           (2E9.0)",
                           " 1 2\n 1\n   1.D999\n"),
                    {"a.rb:7:4: value \"1.D999\" is beyond the largest double"}},
        BoeingFault{"missing_value",
                    boeing("rua", "2 2 2", kFormats, " 1 2 3\n 1 2\n 1.0\n"),
                    {"a.rb:7:5: there is no value in the 4 characters"}},
        BoeingFault{"missing_line",
                    boeing("rua", "2 2 2", kFormats, " 1 2 3\n 1 2\n"),
                    {"a.rb:7:1: the file ends after 0 of 2 values"}},
        BoeingFault{"both_triangles",
                    boeing("rsa", "2 2 2", kFormats, " 1 2 3\n 2 1\n"),
                    {"a.rb:6:4: row index \"1\" puts entry (1, 2) in the upper triangle"}},
        BoeingFault{"skew_diagonal",
                    boeing("rza", "2 2 2", kFormats, " 1 2 3\n 1 2\n 0. 1. \n"),
                    {"a.rb:7:5: value \"1.\" is on the diagonal of a skew-symmetric matrix"}},
        BoeingFault{
            "not_square", boeing("rsa", "2 3 2", kFormats, ""), {"a.rb:3:1:", "not square"}},
        BoeingFault{"skew_pattern", boeing("pza", "2 2 2", kFormats, ""), {"a.rb:3:2: a pattern"}},
        BoeingFault{"format",
                    boeing("rua", "2 2 2", "(3A2)           (2I2)", ""),
                    {"a.rb:4:1: \"(3A2)", "(13I6)"}},
        BoeingFault{"counts",
                    boeing("rua", "2 2000 2", kFormats, " 1 2 3\n"),
                    {"a.rb:3:1: the header promises 2000 columns"}}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(RutherfordBoeing, ElementMatricesAreNotSupported) {
  expect_error([] { read_boeing(boeing("rse", "2 2 2", kFormats, " 1 2 3\n")); },
               ErrorCode::unsupported, {"unassembled element matrices (type rse)"});
}

TEST(RutherfordBoeing, ComplexEntriesNeedAComplexType) {
  expect_error([] { read_boeing(boeing("cua", "1 1 1", kFormats, " 1 2\n 1\n 1.0 2.0\n")); },
               ErrorCode::unsupported, {"complex entries", "f64"});
}

TEST(RutherfordBoeing, DuplicatesAreKeptOrRejectedWithBothLines) {
  const std::string text = boeing("rua", "1 1 3", "(2I2)           (1I2)           (3F4.0)",
                                  " 1 4\n 1\n 1\n 1\n 1.0 2.0 4.0\n");
  EXPECT_EQ(read_boeing(text, {io::Duplicates::keep}), "1x1 (0,0)1 (0,0)2 (0,0)4");
  expect_error([&] { read_boeing(text, {io::Duplicates::reject}); }, ErrorCode::parse,
               {"a.rb:7:1: entry (1, 1) stands in line 6 already"});
}

TEST(RutherfordBoeing, CutAnywhereIsAnError) {
  const TemporaryDirectory directory;
  const std::string whole = kExample;
  for (std::size_t length = 0; length + 1 < whole.size();
       ++length) {  // less the last newline: whole
    const auto path = directory.file("a.rb", whole.substr(0, length));
    expect_error([&] { io::read_csr<double>(path); }, ErrorCode::parse, {"a.rb:"});
  }
}

TEST(RutherfordBoeing, FloatIsRoundedOnce) {
  const TemporaryDirectory directory;
  const auto path =
      directory.file("a.rb", boeing("rua", "1 1 1", "(2I2)           (1I2)           (1E20.7)",
                                    " 1 2\n 1\n        7.038531E-26\n"));
  EXPECT_EQ(io::read_csr<float>(path).values.at(0), 7.038531e-26F);
}

TEST(FortranFormats, AreUnderstood) {
  const auto check = [](const char* text, std::int64_t per_line, std::int64_t width,
                        std::int64_t decimals, std::int64_t scale) {
    const auto format = io::parse_fortran_format(text);
    ASSERT_TRUE(format) << text;
    EXPECT_EQ(format->per_line, per_line) << text;
    EXPECT_EQ(format->width, width) << text;
    EXPECT_EQ(format->decimals, decimals) << text;
    EXPECT_EQ(format->scale, scale) << text;
  };
  check("(13I6)", 13, 6, 0, 0);
  check("(3E26.18)", 3, 26, 18, 0);
  check("(1P,4D20.12)", 4, 20, 12, 1);
  check("(1P4E20.12)", 4, 20, 12, 1);
  check(" ( 5f16.0 ) ", 5, 16, 0, 0);
  check("(I8)", 1, 8, 0, 0);
  check("(3(E24.16E3))", 3, 24, 16, 0);
  check("(1p,3(es25.17))", 3, 25, 17, 1);
  check("(16I5.5)", 16, 5, 0, 0);
  for (const char* text : {"", "(", "13I6", "(13I6", "(13I)", "(0I6)", "(13I6)x", "(13A6)", "(4X)",
                           "(2I6,3I5)", "(99999I6)", "(I-6)", "(E20.)", "(9999(9999I6))"})
    EXPECT_FALSE(io::parse_fortran_format(text)) << text;
}

}  // namespace
}  // namespace lanky
