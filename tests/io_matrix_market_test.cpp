// What the reader makes of valid files, and what it says of malformed ones: one case per rule.
#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <lanky/error.hpp>
#include <lanky/io.hpp>
#include <limits>
#include <locale>
#include <ostream>

#include "io/archive_writer.hpp"
#include "io/matrix_market_reader.hpp"
#include "support/csr_text.hpp"
#include "support/temporary_directory.hpp"

namespace lanky {
namespace {

using testing::csr_text;
using testing::TemporaryDirectory;

constexpr std::string_view kReal = "%%MatrixMarket matrix coordinate real general\n";

std::string with_header(std::string_view rest) {
  return std::string(kReal) + std::string(rest);
}

template <class T>
CsrMatrix<T> read_text(std::string_view content, const io::ReadOptions& options = {}) {
  const TemporaryDirectory directory;
  return io::read_csr<T>(directory.file("a.mtx", content), options);
}

/// One value read as T through a 1 x 1 matrix.
template <class T>
T read_value(const std::string& value, const std::string& field = "real") {
  return read_text<T>("%%MatrixMarket matrix coordinate " + field + " general\n1 1 1\n1 1 " + value)
      .values.at(0);
}

struct Valid {
  const char* name;
  std::string content;
  const char* expected;  // csr_text of the matrix read as c128 or f64
};
void PrintTo(const Valid& c, std::ostream* out) {
  *out << c.name;
}

class ValidFile : public ::testing::TestWithParam<Valid> {};

TEST_P(ValidFile, ReadsAsDouble) {
  EXPECT_EQ(csr_text(read_text<double>(GetParam().content)), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, ValidFile,
    ::testing::Values(
        Valid{"general", with_header("2 3 3\n2 3 -4.5\n1 1 1\n1 2 2\n"),
              "2x3 (0,0)1 (0,1)2 (1,2)-4.5"},
        Valid{"comments_everywhere",
              with_header("%c\n\n% c\n 2 2 2 % c\n%c\n1 1 1 % c\n%\n\n2 2 2\n%"),
              "2x2 (0,0)1 (1,1)2"},
        Valid{"crlf",
              "%%MatrixMarket matrix coordinate real general\r\n%c\r\n\r\n2 2 1\r\n1 2 3\r\n",
              "2x2 (0,1)3"},
        Valid{"byte_order_mark", "\xEF\xBB\xBF" + with_header("1 1 1\n1 1 7\n"), "1x1 (0,0)7"},
        Valid{"mixed_case", "%%matrixMARKET  MATRIX\tCoordinate REAL General\n1 1 1\n1 1 7\n",
              "1x1 (0,0)7"},
        Valid{"no_newline_at_the_end", with_header("1 1 1\n1 1 7"), "1x1 (0,0)7"},
        Valid{"tabs_and_indents", with_header("\t 1\t1  1 \n \t1 1\t7 \t\n"), "1x1 (0,0)7"},
        Valid{"byte_order_mark_and_crlf",
              "\xEF\xBB\xBF%%MatrixMarket matrix coordinate real general\r\n1 1 1\r\n1 1 7\r\n",
              "1x1 (0,0)7"},
        Valid{"indices_with_zeros_in_front", with_header("1 1 1\n001 01 7\n"), "1x1 (0,0)7"},
        Valid{"more_entries_than_places", with_header("1 1 3\n1 1 1\n1 1 2\n1 1 4\n"),
              "1x1 (0,0)7"},
        Valid{"nul_in_a_comment", with_header(std::string("%a\0b\n1 1 1\n1 1 7\n", 17)),
              "1x1 (0,0)7"},
        Valid{"plus_signs", with_header("+1 +1 +1\n+1 +1 +7\n"), "1x1 (0,0)7"},
        Valid{"forms_of_one", with_header("1 5 5\n1 1 1\n1 2 1.0\n1 3 1E0\n1 4 1.\n1 5 .1e+1\n"),
              "1x5 (0,0)1 (0,1)1 (0,2)1 (0,3)1 (0,4)1"},
        Valid{"explicit_zero_is_kept", with_header("1 2 2\n1 1 0\n1 2 -0\n"), "1x2 (0,0)0 (0,1)-0"},
        Valid{"no_entries", with_header("3 4 0\n"), "3x4"},
        Valid{"no_rows", with_header("0 4 0\n"), "0x4"},
        Valid{"nothing", with_header("0 0 0"), "0x0"},
        Valid{"integer", "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 -12\n",
              "1x1 (0,0)-12"},
        Valid{"pattern", "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n2 1\n1 2\n",
              "2x2 (0,1)1 (1,0)1"},
        Valid{"synonym_double", "%%MatrixMarket matrix coordinate double general\n1 1 1\n1 1 7\n",
              "1x1 (0,0)7"},
        Valid{"symmetric",
              "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1\n3 1 2\n3 2 4\n",
              "3x3 (0,0)1 (0,2)2 (1,2)4 (2,0)2 (2,1)4"},
        Valid{"symmetric_upper_triangle",
              "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n1 3 2\n2 3 4\n",
              "3x3 (0,2)2 (1,2)4 (2,0)2 (2,1)4"},
        Valid{"skew", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n2 1 5\n2 2 0\n",
              "2x2 (0,1)-5 (1,0)5 (1,1)0"},
        Valid{"hermitian_of_real_field",
              "%%MatrixMarket matrix coordinate real hermitian\n2 2 1\n2 1 5\n",
              "2x2 (0,1)5 (1,0)5"},
        Valid{"array", "%%MatrixMarket matrix array real general\n2 3\n1\n0\n3\n4\n5\n-0.0\n",
              "2x3 (0,0)1 (0,1)3 (0,2)5 (1,1)4"},
        Valid{"array_symmetric", "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n",
              "2x2 (0,0)1 (0,1)2 (1,0)2 (1,1)3"},
        Valid{"array_skew", "%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n",
              "3x3 (0,1)-1 (0,2)-2 (1,0)1 (1,2)-3 (2,0)2 (2,1)3"},
        Valid{"array_without_rows", "%%MatrixMarket matrix array real general\n0 3\n", "0x3"},
        Valid{"duplicates_are_summed", with_header("2 2 4\n2 1 1\n1 1 8\n2 1 2\n2 1 4\n"),
              "2x2 (0,0)8 (1,0)7"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(MatrixMarket, ReadsComplex) {
  const std::string general =
      "%%MatrixMarket matrix coordinate complex general\n1 2 2\n1 1 1 -2\n1 2 0 inf\n";
  EXPECT_EQ(csr_text(read_text<std::complex<double>>(general)), "1x2 (0,0)1+-2i (0,1)0+infi");
  const std::string hermitian =
      "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 3 0\n2 1 1 -2\n";
  EXPECT_EQ(csr_text(read_text<std::complex<float>>(hermitian)),
            "2x2 (0,0)3+0i (0,1)1+2i (1,0)1+-2i");
  const std::string skew = "%%MatrixMarket matrix array complex skew-symmetric\n2 2\n1.5D0 -2\n";
  EXPECT_EQ(csr_text(read_text<std::complex<double>>(skew)), "2x2 (0,1)-1.5+2i (1,0)1.5+-2i");
  EXPECT_EQ(csr_text(read_text<std::complex<double>>(with_header("1 1 1\n1 1 7\n"))),
            "1x1 (0,0)7+0i");
}

TEST(MatrixMarket, ReadsNumbersOfEveryForm) {
  EXPECT_EQ(read_value<double>("1.5D+03"), 1500.0);
  EXPECT_EQ(read_value<double>("-2d-2"), -0.02);
  EXPECT_EQ(read_value<double>("+.5"), 0.5);
  EXPECT_EQ(read_value<double>("5."), 5.0);
  EXPECT_TRUE(std::isnan(read_value<double>("NaN")));
  EXPECT_TRUE(std::isnan(read_value<double>("nan")));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(read_value<double>("Inf"), kInfinity);
  EXPECT_EQ(read_value<double>("-INFINITY"), -kInfinity);
  EXPECT_EQ(read_value<double>("+inf"), kInfinity);
  EXPECT_EQ(read_value<double>("9007199254740993", "integer"), 9007199254740992.0);
  EXPECT_EQ(read_value<double>("9007199254740995", "integer"), 9007199254740996.0);
  EXPECT_EQ(read_value<double>("123456789012345678901234567890", "integer"),
            123456789012345678901234567890.0);
}

TEST(MatrixMarket, SmallValuesBecomeSubnormalOrZero) {
  EXPECT_EQ(read_value<double>("4.9e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(read_value<double>("1e-310"), 1e-310);
  EXPECT_EQ(read_value<double>("1e-400"), 0.0);
  EXPECT_TRUE(std::signbit(read_value<double>("-1D-400")));
  EXPECT_EQ(read_value<double>("0.00001e-399"), 0.0);
  EXPECT_EQ(read_value<double>("100000e-99999999999999999999"), 0.0);
  EXPECT_EQ(read_value<double>("0e99999"), 0.0);
  EXPECT_EQ(read_value<float>("1e-46"), 0.0F);
  EXPECT_EQ(read_value<float>("1e-400"), 0.0F);
}

TEST(MatrixMarket, RoundsOnceToNarrowTypes) {
  EXPECT_EQ(read_value<float>("7.038531e-26"), 7.038531e-26F);  // through double it would be off
  EXPECT_EQ(read_value<float>("1e39"), std::numeric_limits<float>::infinity());
  // 1 + 2^-11 + 2^-40 lies above the middle of two halves, 1 and 1 + 2^-10; float drops the 2^-40.
  EXPECT_EQ(static_cast<float>(read_value<half>("1.0004882812509095")), 1.0F + 0x1p-10F);
  EXPECT_EQ(static_cast<float>(read_value<half>("1.00048828125")), 1.0F);
  EXPECT_EQ(static_cast<float>(read_value<bfloat16>("1.00390625")), 1.0F);
  EXPECT_EQ(static_cast<float>(read_value<bfloat16>("1.0039062500000002")), 1.0F + 0x1p-7F);
  EXPECT_EQ(static_cast<float>(read_value<half>("65520")), std::numeric_limits<float>::infinity());
}

TEST(MatrixMarket, DuplicatesOfHalfAreSummedInDouble) {
  // In half, 2048 + 1 = 2048: three ones would be lost one by one.
  const auto a = read_text<half>(with_header("1 1 5\n1 1 2048\n1 1 1\n1 1 1\n1 1 1\n1 1 1\n"));
  ASSERT_EQ(a.nnz(), 1);
  EXPECT_EQ(static_cast<float>(a.values[0]), 2052.0F);
}

TEST(MatrixMarket, KeepsDuplicatesInFileOrder) {
  const auto a = read_text<double>(with_header("1 2 4\n1 2 1\n1 1 8\n1 2 3\n1 2 2\n"),
                                   {.duplicates = io::Duplicates::keep});
  EXPECT_EQ(csr_text(a), "1x2 (0,0)8 (0,1)1 (0,1)3 (0,1)2");
}

TEST(MatrixMarket, RejectsDuplicatesOnRequest) {
  const io::ReadOptions reject{.duplicates = io::Duplicates::reject};
  EXPECT_EQ(read_text<double>(with_header("2 2 2\n1 1 1\n2 2 1\n"), reject).nnz(), 2);
  try {
    read_text<double>(with_header("2 2 4\n2 2 1\n%\n1 1 1\n1 1 1\n2 2 1\n"), reject);
    FAIL() << "duplicates were accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::parse);
    EXPECT_NE(std::string(error.what()).find("a.mtx:6:1: entry (1, 1) stands in line 5 already"),
              std::string::npos)
        << error.what();
  }
}

/// What reading a file `name` tells of it; ":LINE: ..." for each warning.
std::string warnings_of(const std::string& name, const std::string& content,
                        io::ReadOptions options = {}) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / name;
  if (name.ends_with(".mtx")) {
    directory.file(name, content);
  } else {
    io::ArchiveWriter writer(path);
    writer.write(content);
    writer.commit();
  }
  std::vector<std::string> warnings;
  options.warnings = &warnings;
  io::read_csr<double>(path, options);
  std::string text;
  for (const std::string& warning : warnings) {
    EXPECT_TRUE(warning.starts_with(path.string())) << warning;
    text += warning.substr(path.string().size());
  }
  return text;
}

const std::string kOpenEnd =
    " the last line has no newline at its end: the file may have been cut short";

/// Digits of 2^64 and its multiples, which 64 bits hold as 0; strtod is the judge.
TEST(MatrixMarket, ReadsMoreDigitsThanAnIntegerHolds) {
  for (const char* digits :
       {"18446744073709551616", "92233720368547758080", "36893488147419103232",
        "184467440737095516160", "340282366920938463463374607431768211456", "18446744073709551615",
        "18446744073709551617", "99999999999999999999", "00000000000000000000018446744073709551616",
        "000000000000000000000000000000000000"}) {
    for (const char* sign : {"", "-"}) {
      for (const char* tail : {"", ".0", ".5", "e0", "e-3", "e20", ".000000000000000000001"}) {
        const std::string text = std::string(sign) + digits + tail;
        const auto a = read_text<double>(
            "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 " + text + "\n");
        EXPECT_EQ(a.values[0], std::strtod(text.c_str(), nullptr)) << text;
      }
    }
    const auto integer = read_text<double>(
        std::string("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 ") + digits +
        "\n");
    EXPECT_EQ(integer.values[0], std::strtod(digits, nullptr)) << digits;
  }
}

TEST(MatrixMarket, WarnsOfALastEntryWithoutNewline) {
  for (const char* name : {"a.mtx", "a.mtx.gz", "a.mtx.xz", "a.mtx.zst", "a.mtx.bz2"}) {
    const std::string open = with_header("3 3 2\n1 1 1\n% c\n3 3 1.2");
    EXPECT_EQ(warnings_of(name, open), ":5:" + kOpenEnd);
    EXPECT_EQ(warnings_of(name, open + "5\n"), "");
    const std::string array = "%%MatrixMarket matrix array real symmetric\n2 2\n1\n0\n1.2";
    EXPECT_EQ(warnings_of(name, array), ":5:" + kOpenEnd);
    EXPECT_EQ(warnings_of(name, array + "\n"), "");
  }
  EXPECT_EQ(warnings_of("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n30 3 1\n1 1"),
            ":3:" + kOpenEnd);
}

TEST(MatrixMarket, DoesNotWarnWhereTheLastEntryIsWhole) {
  EXPECT_EQ(warnings_of("a.mtx", with_header("1 1 1\n1 1 7\n% the end")), "");
  EXPECT_EQ(warnings_of("a.mtx", with_header("1 1 1\n1 1 7\r\n  ")), "");
  EXPECT_EQ(warnings_of("a.mtx", with_header("2 2 0")), "");
  EXPECT_EQ(warnings_of("a.mtx", "%%MatrixMarket matrix array real general\n0 2"), "");
}

TEST(MatrixMarket, WarnsOfALargeFileForAnyNumberOfThreads) {
  const TemporaryDirectory directory;
  std::string text = with_header("1000 1 1000");
  for (int k = 1; k <= 1000; ++k)
    text += "\n" + std::to_string(k) + " 1 1";
  const auto path = directory.file("a.mtx", text);
  for (const int threads : {1, 2, 8}) {
    for (const std::size_t block_bytes : {1U, 50U, 5000U, 1U << 20}) {
      std::vector<std::string> warnings;
      io::read_matrix_market<double>(path, {.warnings = &warnings}, {block_bytes, threads});
      EXPECT_EQ(warnings, std::vector{path.string() + ":1002:" + kOpenEnd});
    }
  }
}

TEST(MatrixMarket, WarnsAgainWhereThereIsACache) {
  const TemporaryDirectory directory;
  const auto path = directory.file("a.mtx", with_header("3 3 1\n3 3 1.2"));
  std::vector<std::string> warnings;
  for (int i = 0; i < 2; ++i)
    io::read_csr<double>(path, {.cache = directory.path() / "cache", .warnings = &warnings});
  EXPECT_EQ(warnings.size(), 2U);
}

TEST(MatrixMarket, HeaderAlone) {
  const TemporaryDirectory directory;
  const io::Header h = io::read_header(directory.file(
      "a.mtx", "%%MatrixMarket matrix array integer symmetric\n% c\n3 3\n1\n2\n3\n4\n5\n6\n"));
  EXPECT_EQ(h.format, io::Format::array);
  EXPECT_EQ(h.field, io::Field::integer);
  EXPECT_EQ(h.symmetry, io::Symmetry::symmetric);
  EXPECT_EQ(h.rows, 3);
  EXPECT_EQ(h.cols, 3);
  EXPECT_EQ(h.stored_entries, 6);
}

TEST(MatrixMarket, IgnoresTheLocale) {
  // Where no locale with a decimal comma is installed, this shows less than it could.
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"}) {
    if (std::setlocale(LC_ALL, name) != nullptr) break;
  }
  EXPECT_EQ(read_value<double>("1.5"), 1.5);
  EXPECT_EQ(read_value<double>("1.5D0"), 1.5);
  std::setlocale(LC_ALL, "C");
}

/// A decimal comma and grouped thousands for whoever asks the locale, as C++ streams do.
class CommaLocale {
 public:
  CommaLocale() : before_(std::locale::global(std::locale(std::locale::classic(), new Commas))) {}
  ~CommaLocale() { std::locale::global(before_); }
  CommaLocale(const CommaLocale&) = delete;
  CommaLocale& operator=(const CommaLocale&) = delete;

 private:
  struct Commas : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  std::locale before_;
};

TEST(MatrixMarket, IgnoresTheLocaleOfStreams) {
  const CommaLocale commas;
  const TemporaryDirectory directory;
  const CsrMatrix<double> a{1, 1234567, {0, 2}, {1234, 1234566}, {1234.5, 1e22}};
  io::write_matrix_market(directory.path() / "a.mtx", a.view());
  const auto b = io::read_csr<double>(directory.path() / "a.mtx");
  EXPECT_EQ(b.cols, a.cols);
  EXPECT_EQ(b.col_indices, a.col_indices);
  EXPECT_EQ(b.values, a.values);
  try {
    read_text<double>(with_header("1234567 1 1\n1234568 1 1\n"));
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("1234568 is outside 1..1234567"), std::string::npos)
        << error.what();
  }
}

TEST(MatrixMarket, ALineTooLongIsNeverReadAsTwo) {
  constexpr std::size_t kMost = std::size_t{64} << 20;
  const std::string start = with_header("1 2 2\n1 1 1\n");
  // What is cut off this comment would be a good entry.
  const std::string comment = "%" + std::string(kMost - 1, 'x');
  try {
    read_text<double>(start + comment + "1 2 5\n");
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::parse);
    EXPECT_NE(std::string(error.what()).find("a.mtx:4:1: the line is longer than 64 MiB"),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(read_text<double>(start + comment.substr(0, kMost - 1) + "\n1 2 5\n").nnz(), 2);
}

TEST(MatrixMarket, LinesThatCrossBlocks) {
  // Several blocks of 1 MiB, and one comment that is longer than a block.
  constexpr int kRows = 200'000;
  std::string text = with_header("200000 200000 200000\n");
  std::string comment(3 << 20, 'x');
  text += "%" + comment + "\n";
  for (int i = 1; i <= kRows; ++i)
    text +=
        std::to_string(i) + " " + std::to_string(kRows + 1 - i) + " " + std::to_string(i) + "\n";
  const auto a = read_text<double>(text);
  ASSERT_EQ(a.nnz(), kRows);
  for (int i = 0; i < kRows; ++i) {
    const auto k = static_cast<std::size_t>(i);
    ASSERT_EQ(a.col_indices[k], kRows - 1 - i);
    ASSERT_EQ(a.values[k], i + 1);
  }
}

struct Malformed {
  const char* name;
  std::string content;
  const char* place;     // LINE:COLUMN
  const char* fragment;  // of the message
};
void PrintTo(const Malformed& c, std::ostream* out) {
  *out << c.name;
}

class MalformedFile : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedFile, IsRefusedWithItsPlace) {
  const TemporaryDirectory directory;
  const auto path = directory.file("a.mtx", GetParam().content);
  try {
    io::read_csr<std::complex<double>>(path);
    FAIL() << "was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::parse) << error.what();
    const std::string message = error.what();
    const std::string start = path.string() + ":" + GetParam().place + ": ";
    EXPECT_EQ(message.substr(0, start.size()), start);
    EXPECT_NE(message.find(GetParam().fragment), std::string::npos) << message;
  }
}

std::string banner(std::string_view rest) {
  return "%%MatrixMarket matrix " + std::string(rest);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, MalformedFile,
    ::testing::Values(
        Malformed{"empty_file", "", "1:1", "the file is empty"},
        Malformed{"blank_file", "\n \n", "3:1", "the file is empty"},
        Malformed{"no_banner", "2 2 1\n1 1 1\n", "1:1", "starts with \"2\""},
        Malformed{"bad_banner", "%%MatrixMart matrix\n", "1:1", "\"%%MatrixMart\""},
        Malformed{"binary_rubbish", std::string("\x01\xff\0z", 4), "1:1", "\"\\x01\\xff\\x00z\""},
        Malformed{"vector_object", "%%MatrixMarket vector array real general\n1\n1\n", "1:16",
                  "object \"vector\""},
        Malformed{"bad_format", banner("list real general\n1 1 1\n"), "1:23",
                  "format \"list\" is unknown; known are coordinate, array"},
        Malformed{"bad_field", banner("coordinate float general\n1 1 1\n"), "1:34",
                  "field \"float\" is unknown"},
        Malformed{"bad_symmetry", banner("coordinate real triangular\n1 1 1\n"), "1:39",
                  "symmetry \"triangular\" is unknown"},
        Malformed{"short_banner", banner("coordinate real\n1 1 1\n"), "1:38", "symmetry \"\""},
        Malformed{"long_banner", banner("coordinate real general indeed\n"), "1:47",
                  "should end before \"indeed\""},
        Malformed{"array_pattern", banner("array pattern general\n1 1\n1\n"), "1:29",
                  "cannot be of field pattern"},
        Malformed{"skew_pattern", banner("coordinate pattern skew-symmetric\n1 1 0\n"), "1:42",
                  "a pattern cannot be"},
        Malformed{"hermitian_pattern", banner("coordinate pattern hermitian\n1 1 0\n"), "1:42",
                  "a pattern cannot be"},
        Malformed{"no_size_line", with_header("% c\n"), "3:1", "ends before the size line"},
        Malformed{"size_line_cut", with_header("3 3\n"), "2:4", "where number of entries"},
        Malformed{"size_line_too_long", with_header("1 1 1 1\n1 1 1\n"), "2:7", "end before \"1\""},
        Malformed{"size_not_a_number", with_header("3 three 1\n"), "2:3",
                  "\"three\" is not an int"},
        Malformed{"size_with_fraction", with_header("3.0 3 1\n"), "2:1", "\"3.0\" is not an int"},
        Malformed{"negative_rows", with_header("-3 3 0\n"), "2:1", "rows -3 is negative"},
        Malformed{"negative_columns", with_header("3 -3 0\n"), "2:3", "columns -3 is negative"},
        Malformed{"negative_entries", with_header("3 3 -1\n"), "2:5", "entries -1 is negative"},
        Malformed{"size_beyond_64_bits", with_header("19223372036854775808 1 1\n"), "2:1",
                  "does not fit 64 bits"},
        Malformed{"symmetric_not_square", banner("coordinate real symmetric\n2 3 1\n2 1 1\n"),
                  "2:3", "2 rows and 3 columns is not square"},
        Malformed{"array_beyond_64_bits", banner("array real general\n4000000000 4000000000\n1\n"),
                  "2:12", "too many entries"},
        Malformed{"count_beyond_the_file", with_header("9 9 1000000000000\n1 1 1\n"), "2:5",
                  "promises 1000000000000 entries, but only 7 bytes"},
        Malformed{"array_beyond_the_file", banner("array real general\n1000000 1000000\n1\n"),
                  "2:9", "promises 1000000000000 entries"},
        Malformed{"too_few_entries", with_header("2 2 3\n1 1 1.000\n2 2 1.000\n"), "5:1",
                  "after 2 of 3 entries"},
        Malformed{"too_many_entries", with_header("2 2 1\n1 1 1\n2 2 1\n"), "4:1",
                  "after the last of 1 entries"},
        Malformed{"row_of_zero", with_header("2 2 1\n0 1 1\n"), "3:1",
                  "row index 0 is outside 1..2"},
        Malformed{"row_negative", with_header("2 2 1\n-1 1 1\n"), "3:1", "row index -1"},
        Malformed{"row_too_large", with_header("2 2 1\n3 1 1\n"), "3:1", "row index 3 is outside"},
        Malformed{"column_of_zero", with_header("2 2 1\n 1  0 1\n"), "3:5", "column index 0"},
        Malformed{"column_too_large", with_header("2 2 1\n1 3 1\n"), "3:3",
                  "column index 3 is out"},
        Malformed{"index_beyond_64_bits", with_header("2 2 1\n1 99999999999999999999 1\n"), "3:3",
                  "does not fit 64 bits"},
        Malformed{"index_with_fraction", with_header("2 2 1\n1.5 1 1\n"), "3:1",
                  "row index \"1.5\" is not an integer"},
        Malformed{"entry_of_no_rows", with_header("0 2 1\n1 1 1\n"), "3:1",
                  "row index 1 is outside"},
        Malformed{"column_missing", with_header("2 2 1\n2    \n\n\n"), "3:6",
                  "column index should"},
        Malformed{"value_missing", with_header("2 2 1\n1 1  \n"), "3:6",
                  "where a value should stand"},
        Malformed{"imaginary_missing", banner("coordinate complex general\n2 2 1\n1 1 2.5\n"),
                  "3:8", "where a value should stand"},
        Malformed{"value_not_a_number", with_header("2 2 1\n1 1 one\n"), "3:5", "value \"one\""},
        Malformed{"value_with_rubbish", with_header("2 2 1\n1 1 1.0x\n"), "3:5", "value \"1.0x\""},
        Malformed{"exponent_without_digits", with_header("2 2 1\n1 1 1e+\n"), "3:5", "\"1e+\""},
        Malformed{"fortran_exponent_without_digits", with_header("2 2 1\n1 1 1.5D\n"), "3:5",
                  "\"1.5D\""},
        Malformed{"two_exponents", with_header("2 2 1\n1 1 1D5D5\n"), "3:5", "\"1D5D5\""},
        Malformed{"point_alone", with_header("2 2 1\n1 1 .\n"), "3:5", "value \".\""},
        Malformed{"nul_behind_a_value", with_header(std::string("2 2 1\n1 1 1\0\n", 13)), "3:5",
                  "value \"1\\x00\""},
        Malformed{"nuls_at_the_end", with_header(std::string("2 2 1\n1 1 1\n\0\0", 14)), "4:1",
                  "more text after the last"},
        Malformed{"fraction_of_zero_in_integer_field",
                  banner("coordinate integer general\n2 2 1\n1 1 1.0\n"), "3:5",
                  "value \"1.0\" is not an integer"},
        Malformed{"array_with_a_count", banner("array real general\n1 1 1\n1\n"), "2:5",
                  "should end before \"1\""},
        Malformed{"count_of_18_digits", with_header("9 9 1000000000000000000\n1 1 1\n"), "2:5",
                  "promises 1000000000000000000 entries"},
        Malformed{"value_with_two_signs", with_header("2 2 1\n1 1 +-1\n"), "3:5", "value \"+-1\""},
        Malformed{"value_with_comma", with_header("2 2 1\n1 1 1,5\n"), "3:5", "value \"1,5\""},
        Malformed{"value_hexadecimal", with_header("2 2 1\n1 1 0x1\n"), "3:5", "value \"0x1\""},
        Malformed{"value_beyond_double", with_header("2 2 1\n1 1 -1E310\n"), "3:5",
                  "\"-1E310\" is beyond the largest double"},
        Malformed{"fortran_exponent_beyond_double", with_header("2 2 1\n1 1 1D+310\n"), "3:5",
                  "beyond the largest double"},
        Malformed{"fraction_in_integer_field",
                  banner("coordinate integer general\n2 2 1\n1 1 1.5\n"), "3:5",
                  "value \"1.5\" is not an integer; name the field real"},
        Malformed{"value_in_pattern", banner("coordinate pattern general\n2 2 1\n1 1 1\n"), "3:5",
                  "should end before \"1\""},
        Malformed{"two_values_in_array", banner("array real general\n2 1\n1 2\n3 4\n"), "3:3",
                  "should end before \"2\""},
        Malformed{"carriage_return_within", with_header("2 2 1\n1 1 1\r2 2 1\n"), "3:5",
                  "value \"1\\x0d2\""},
        Malformed{"skew_diagonal", banner("coordinate real skew-symmetric\n2 2 1\n2 2 0.5\n"),
                  "3:5", "on the diagonal of a skew-symmetric matrix"},
        Malformed{"hermitian_diagonal", banner("coordinate complex hermitian\n2 2 1\n2 2 1 0.5\n"),
                  "3:7", "imaginary part \"0.5\" is on the diagonal"},
        Malformed{"hermitian_array_diagonal", banner("array complex hermitian\n1 1\n1 -1\n"), "3:3",
                  "imaginary part \"-1\""},
        Malformed{"both_triangles",
                  banner("coordinate real symmetric\n3 3 3\n1 1 1\n2 1 5\n1 3 5\n"), "5:3",
                  "entry (1, 3) is in the upper triangle, that of line 4 in the other"}),
    [](const auto& test) { return std::string(test.param.name); });

template <class F>
void expect_error(ErrorCode code, std::string_view fragment, F&& f) {
  try {
    f();
    FAIL() << "no error, but expected " << fragment;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(fragment), std::string::npos) << error.what();
  }
}

TEST(MatrixMarket, ComplexEntriesNeedAComplexType) {
  const std::string text = banner("coordinate complex general\n1 1 1\n1 1 1 0\n");
  expect_error(ErrorCode::unsupported, "complex entries, which type f32 cannot hold",
               [&] { read_text<float>(text); });
}

TEST(MatrixMarket, ColumnsAreThirtyTwoBits) {
  EXPECT_EQ(read_text<double>(with_header("1 2147483647 1\n1 2147483647 1\n")).col_indices[0],
            2147483646);
  expect_error(ErrorCode::unsupported, "has 2147483648 columns",
               [] { read_text<double>(with_header("1 2147483648 1\n1 1 1\n")); });
}

TEST(MatrixMarket, MoreRowsThanMemoryIsAnError) {
  expect_error(ErrorCode::out_of_memory, "1000000000000000 rows",
               [] { read_text<double>(with_header("1000000000000000 1 0\n")); });
}

TEST(MatrixMarket, FilesThatCannotBeOpened) {
  const TemporaryDirectory directory;
  expect_error(ErrorCode::io, "nowhere.mtx: cannot be opened: No such file",
               [&] { io::read_csr<double>(directory.path() / "nowhere.mtx"); });
  expect_error(ErrorCode::io, "is a directory", [&] { io::read_csr<double>(directory.path()); });
}

}  // namespace
}  // namespace lanky
