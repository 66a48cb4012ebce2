// The parallel reader: for any number of threads and any cut of the text into blocks, the same
// matrix, or the same error at the first fault of the file.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <complex>
#include <fstream>
#include <lanky/error.hpp>
#include <lanky/io.hpp>
#include <optional>
#include <random>
#include <thread>

#include "io/archive_writer.hpp"
#include "io/coordinate_reader.hpp"
#include "io/decimal.hpp"
#include "io/matrix_market_header.hpp"
#include "io/matrix_market_reader.hpp"
#include "support/csr_text.hpp"
#include "support/temporary_directory.hpp"

namespace lanky {
namespace {

namespace fs = std::filesystem;
using Complex = std::complex<double>;
using testing::csr_text;
using testing::TemporaryDirectory;

constexpr int kThreads[] = {1, 2, 3, 8};
constexpr std::size_t kBlockBytes[] = {1, 40, 700, std::size_t{1} << 20};

struct Placed {
  int row, col;  // from 1, as in the file
  Complex value;
};

/// A Matrix Market text in every spelling that the rules allow, and what it says.
class RandomText {
 public:
  RandomText(unsigned seed, std::string field, std::string symmetry)
      : random_(seed), field_(std::move(field)), symmetry_(std::move(symmetry)) {
    const int count = any(0, 200);
    lower_ = chance(2);
    for (int k = 0; k < count; ++k)
      add_entry();
  }

  /// Header and entry lines, `promised` entries in the size line.
  std::string text(std::size_t promised) const {
    std::string all = "%%MatrixMarket matrix coordinate " + field_ + " " + symmetry_ + "\n% c\n" +
                      std::to_string(kSide) + " " + std::to_string(kSide) + " " +
                      std::to_string(promised) + "\n";
    for (const std::string& line : lines)
      all += line;
    return all;
  }
  std::string text() const { return text(entries.size()); }

  /// Line of the text in which lines[k] ends.
  int line_number(std::size_t k) const {
    int number = 3;
    for (std::size_t i = 0; i <= k; ++i)
      number += static_cast<int>(std::ranges::count(lines[i], '\n'));
    return number;
  }

  /// The matrix by the book, as csr_text.
  std::string expected() const {
    std::vector<Placed> all;
    for (const Placed& e : entries) {
      all.push_back(e);
      if (symmetry_ == "general" || e.row == e.col) continue;
      Complex mirror = symmetry_ == "skew-symmetric" ? -e.value : e.value;
      if (symmetry_ == "hermitian" && field_ == "complex") mirror = std::conj(e.value);
      all.push_back({e.col, e.row, mirror});
    }
    std::ranges::stable_sort(all, {}, [](const Placed& e) { return std::pair(e.row, e.col); });
    std::string text = std::to_string(kSide) + "x" + std::to_string(kSide);
    for (std::size_t k = 0; k < all.size();) {
      const Placed first = all[k];
      Complex sum = first.value;
      for (++k; k < all.size() && all[k].row == first.row && all[k].col == first.col; ++k)
        sum += all[k].value;
      text += " (" + std::to_string(first.row - 1) + "," + std::to_string(first.col - 1) + ")" +
              testing::number_text(sum);
    }
    return text;
  }

  int any(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }
  bool chance(int of) { return any(1, of) == 1; }

  std::vector<std::string> lines;  // one an entry, with blank lines and comments before it
  std::vector<Placed> entries;
  static constexpr int kSide = 300;

 private:
  void add_entry() {
    int row = any(1, kSide);
    int col = chance(3) ? any(1, 4) : any(1, kSide);
    if (symmetry_ != "general" && (row > col) != lower_) std::swap(row, col);
    if (symmetry_ == "skew-symmetric" && row == col)
      row = row % kSide + 1, col = lower_ ? 1 : kSide;
    if (symmetry_ == "skew-symmetric" && row == col) return;
    std::string line;
    while (chance(6))
      line += chance(2) ? "% a comment, 1 1 1\n" : " \t\r\n";
    line += space(0) + index(row) + space(1) + index(col);
    Complex value = 1;
    if (field_ == "integer") {
      value = any(-1000000, 1000000);
      line += space(1) + (value.real() > 0 && chance(5) ? "+" : "") +
              std::to_string(static_cast<int>(value.real()));
    } else if (field_ != "pattern") {
      value = number(line);
      if (field_ == "complex") {
        const double imaginary = number(line);
        value.imag(symmetry_ == "hermitian" && row == col ? 0 : imaginary);
        if (value.imag() != imaginary) line.replace(line.find_last_of(" \t") + 1, line.npos, "0");
      }
    }
    line += space(0);
    if (chance(8)) line += " % 5 5 5";
    lines.push_back(line + (chance(5) ? "\r\n" : "\n"));
    entries.push_back({row, col, value});
  }

  std::string space(int least) {
    std::string text(least > 0 ? " " : "");
    while (chance(6))
      text += chance(2) ? ' ' : '\t';
    return text;
  }
  std::string index(int value) {
    return std::string(chance(9) ? "+" : "") + (chance(9) ? "000" : "") + std::to_string(value);
  }
  /// Appends a number in some spelling; its value.
  double number(std::string& line) {
    if (chance(40)) {
      line += space(1) + (chance(2) ? "Inf" : "+infinity");
      return std::numeric_limits<double>::infinity();
    }
    char digits[64];
    const double mantissa = std::uniform_real_distribution(-1.0, 1.0)(random_);
    const double value = chance(4) ? any(-99, 99) : std::ldexp(mantissa, any(-150, 150));
    const auto form = chance(2) ? std::chars_format::general : std::chars_format::scientific;
    std::string text(digits, std::to_chars(digits, digits + sizeof digits, value, form).ptr);
    if (const auto e = text.find('e'); e != text.npos) {
      text[e] = "eEdD"[any(0, 3)];
      if (text.find('.') != text.npos && chance(4)) text.insert(e, "0000000");
    } else if (text.find('.') == text.npos && chance(2)) {
      text += chance(2) ? "." : ".000";
    }
    if (text[0] != '-' && chance(9)) text = "+" + text;
    line += space(1) + text;
    return value;
  }

  std::mt19937 random_;
  std::string field_;
  std::string symmetry_;
  bool lower_ = true;
};

constexpr std::pair<const char*, const char*> kKinds[] = {
    {"real", "general"},           {"integer", "general"},   {"pattern", "general"},
    {"complex", "general"},        {"real", "symmetric"},    {"pattern", "symmetric"},
    {"real", "skew-symmetric"},    {"integer", "symmetric"}, {"complex", "hermitian"},
    {"complex", "skew-symmetric"}, {"real", "hermitian"}};

/// What reading gives: the matrix as csr_text, or the message of the error behind the path.
std::string outcome(const fs::path& path, const io::ReadOptions& options,
                    const io::ReadLimits& limits) {
  try {
    return csr_text(io::read_matrix_market<Complex>(path, options, limits));
  } catch (const Error& error) {
    return std::string(error.what()).substr(path.string().size());
  }
}

/// The outcome, which is the same for all numbers of threads and all blocks.
std::string common_outcome(const fs::path& path, const io::ReadOptions& options = {}) {
  const std::string first = outcome(path, options, {.block_bytes = 1 << 26, .threads = 1});
  for (const int threads : kThreads) {
    for (const std::size_t bytes : kBlockBytes)
      EXPECT_EQ(outcome(path, options, {bytes, threads}), first) << threads << " " << bytes;
  }
  return first;
}

void write_gz(const fs::path& path, std::string_view text) {
  io::ArchiveWriter writer(path);
  writer.write(text);
  writer.commit();
}

TEST(ParallelReader, ReadsEverySpelling) {
  const TemporaryDirectory directory;
  unsigned seed = 1;
  for (const auto& [field, symmetry] : kKinds) {
    SCOPED_TRACE(std::string(field) + " " + symmetry);
    const RandomText random(seed++, field, symmetry);
    const std::string expected = random.expected();
    EXPECT_EQ(common_outcome(directory.file("a.mtx", random.text())), expected);
    const std::string cut = random.text().substr(0, random.text().find_last_not_of("\r\n") + 1);
    EXPECT_EQ(common_outcome(directory.file("a.mtx", cut)), expected);
    write_gz(directory.path() / "a.mtx.gz", random.text());
    EXPECT_EQ(common_outcome(directory.path() / "a.mtx.gz"), expected);
  }
}

/// Spoils lines[k]; a part of what is to be said of it.
std::string spoil(RandomText& random, std::size_t k) {
  std::string& line = random.lines[k];
  const Placed& entry = random.entries[k];
  const std::string row = std::to_string(entry.row);
  const std::string col = std::to_string(entry.col);
  switch (random.any(0, 4)) {
    case 0:
      line = row + " " + col + " 1,5\n";
      return "value \"1,5\"";
    case 1:
      line = "301 " + col + " 1\n";
      return "row index 301 is outside";
    case 2:
      line = row + " 99999999999999999999 1\n";
      return "does not fit 64 bits";
    case 3:
      line = row + "\n";
      return "column index should stand";
    default:
      line = row + " " + col + " 1 2 3\n";
      return "the line should end before \"2\"";
  }
}

TEST(ParallelReader, NamesTheFirstFault) {
  const TemporaryDirectory directory;
  for (unsigned seed = 100; seed < 116; ++seed) {
    SCOPED_TRACE(seed);
    RandomText random(seed, "real", seed % 2 == 0 ? "general" : "symmetric");
    if (random.lines.size() < 2) continue;
    const auto last = static_cast<int>(random.lines.size()) - 1;
    const auto first_fault = static_cast<std::size_t>(random.any(0, last));
    const auto second_fault =
        static_cast<std::size_t>(random.any(static_cast<int>(first_fault), last));
    spoil(random, second_fault);
    const std::string message = spoil(random, first_fault);
    const std::string start = ":" + std::to_string(random.line_number(first_fault)) + ":";
    for (const char* name : {"a.mtx", "a.mtx.gz"}) {
      const fs::path path = directory.path() / name;
      write_gz(path, random.text());
      const std::string found = common_outcome(path);
      EXPECT_EQ(found.substr(0, start.size()), start);
      EXPECT_NE(found.find(message), std::string::npos) << found;
    }
  }
}

TEST(ParallelReader, CountsAcrossBlocks) {
  const TemporaryDirectory directory;
  RandomText random(7, "real", "general");
  const std::size_t count = random.entries.size();
  ASSERT_GT(count, 10U);
  const std::string few = common_outcome(directory.file("a.mtx", random.text(count + 1)));
  const int lines = random.line_number(count - 1);
  EXPECT_TRUE(few.starts_with(":" + std::to_string(lines + 1) + ":1: the file ends after " +
                              std::to_string(count) + " of"))
      << few;
  // What is too much is not looked at any further.
  random.lines[count - 3] = "rubbish\n";
  const std::string many = common_outcome(directory.file("a.mtx", random.text(count - 3)));
  EXPECT_TRUE(many.starts_with(":" + std::to_string(random.line_number(count - 3)) +
                               ":1: there is more text after the last of"))
      << many;
}

TEST(ParallelReader, FindsTheSecondTriangleAcrossBlocks) {
  const TemporaryDirectory directory;
  std::string text = "%%MatrixMarket matrix coordinate real symmetric\n9 9 203\n";
  for (int k = 0; k < 100; ++k)
    text += "3 3 1\n";
  text += "5 4 1\n";
  for (int k = 0; k < 100; ++k)
    text += "3 3 1\n";
  const std::string found = common_outcome(directory.file("a.mtx", text + "6 7 1\n4 5 1\n"));
  EXPECT_EQ(found,
            ":204:3: entry (6, 7) is in the upper triangle, that of line 103 in the other; keep "
            "one of them, or name the matrix general");
}

TEST(ParallelReader, RejectsTheFirstDuplicate) {
  const TemporaryDirectory directory;
  const io::ReadOptions reject{.duplicates = io::Duplicates::reject};
  for (const char* symmetry : {"general", "symmetric"}) {
    std::string text =
        std::string("%%MatrixMarket matrix coordinate pattern ") + symmetry + "\n500 500 500\n";
    for (int k = 1; k <= 500; ++k)
      text += std::to_string(k == 470 ? 300 : k == 400 ? 200 : k) + " 1\n";
    EXPECT_EQ(common_outcome(directory.file("a.mtx", text), reject),
              ":402:1: entry (200, 1) stands in line 202 already; remove one, or read with "
              "Duplicates::sum or Duplicates::keep");
  }
  const std::string upper = "%%MatrixMarket matrix coordinate pattern symmetric\n9 9 2\n2 3\n2 3\n";
  EXPECT_TRUE(common_outcome(directory.file("a.mtx", upper), reject)
                  .starts_with(":4:1: entry (2, 3) stands in line 3"));
}

TEST(ParallelReader, KeepsDuplicatesInTheOrderOfTheFile) {
  const TemporaryDirectory directory;
  std::string text = "%%MatrixMarket matrix coordinate integer general\n1 2 600\n";
  std::string odd = "", even = "";
  for (int k = 0; k < 600; ++k) {
    text += "1 " + std::to_string(k % 2 + 1) + " " + std::to_string(k) + "\n";
    (k % 2 == 0 ? even : odd) += " (0," + std::to_string(k % 2) + ")" + std::to_string(k) + "+0i";
  }
  EXPECT_EQ(common_outcome(directory.file("a.mtx", text), {.duplicates = io::Duplicates::keep}),
            "1x2" + even + odd);
}

TEST(ParallelReader, AFaultBeforeDamageComesFirst) {
  const TemporaryDirectory directory;
  std::string text = "%%MatrixMarket matrix coordinate pattern general\n9 9 200000\n1 1\n0 1\n";
  for (int k = 0; k < 199998; ++k)
    text += std::to_string(k * 7919 % 9 + 1) + " " + std::to_string(k * 131 % 9 + 1) + "\n";
  write_gz(directory.path() / "a.mtx.gz", text);
  std::string damaged = testing::content(directory.path() / "a.mtx.gz");
  damaged.resize(damaged.size() - 9);
  const fs::path path = directory.file("b.mtx.gz", damaged);
  for (const int threads : kThreads) {
    const std::string found = outcome(path, {}, {1000, threads});
    EXPECT_TRUE(found.starts_with(":4:1: row index 0 is outside")) << found;
  }
  text.replace(text.find("0 1\n"), 1, "1");
  write_gz(directory.path() / "a.mtx.gz", text);
  damaged = testing::content(directory.path() / "a.mtx.gz");
  damaged.resize(damaged.size() - 9);
  directory.file("b.mtx.gz", damaged);
  for (const int threads : kThreads) {
    const std::string found = outcome(path, {}, {1000, threads});
    EXPECT_TRUE(found.starts_with(": cannot be read:")) << found;
  }
}

TEST(ParallelReader, ReadsAPipe) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "pipe.mtx";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const RandomText random(3, "real", "general");
  std::thread writer([&] { std::ofstream(path) << random.text(); });
  EXPECT_EQ(outcome(path, {}, {100, 3}), random.expected());
  writer.join();
}

/// The message of reading a file of 20 000 entries that is cut to `left` bytes once its first block
/// of text has been read.
std::string outcome_of_a_cut(std::size_t left, std::size_t block_bytes, int threads) {
  const TemporaryDirectory directory;
  std::string text = "%%MatrixMarket matrix coordinate integer general\n20000 1 20000\n";
  for (int k = 1; k <= 20000; ++k)
    text += std::to_string(k) + " 1 " + std::to_string(k % 100) + "\n";
  const fs::path path = directory.file("a.mtx", text);
  io::ArchiveReader archive(path);
  io::LineBlocks lines(archive, block_bytes);
  io::TextCursor cursor(lines);
  const io::Header header = io::parse_header(cursor);
  fs::resize_file(path, left);
  io::CoordinateReader<double> reader(cursor, lines, header, false);
  try {
    reader.read_all(threads);
    return "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(path.string() + ": ")) << message;
    EXPECT_NE(message.find(std::to_string(text.size()) + " bytes"), std::string::npos) << message;
    return message.substr(path.string().size());
  }
}

TEST(ParallelReader, AFileThatGetsShorterWhileItIsReadIsOneError) {
  for (const int threads : kThreads) {
    for (const std::size_t block_bytes :
         {std::size_t{300}, std::size_t{5000}, std::size_t{70000}}) {
      for (const std::size_t left : {0, 70001, 100000}) {
        const std::string found = outcome_of_a_cut(left, block_bytes, threads);
        EXPECT_TRUE(found.starts_with(": became shorter while it was read, ")) << found;
        EXPECT_NE(found.find(" to " + std::to_string(left) + " bytes; read it again"),
                  std::string::npos)
            << found;
      }
    }
  }
}

TEST(ParallelReader, MayBeCalledFromSeveralThreads) {
  const TemporaryDirectory directory;
  const RandomText random(5, "complex", "hermitian");
  const fs::path path = directory.file("a.mtx", random.text());
  std::vector<std::string> found(4);
  std::vector<std::thread> callers;
  for (std::string& text : found)
    callers.emplace_back([&] { text = outcome(path, {}, {200, 3}); });
  for (std::thread& caller : callers)
    caller.join();
  for (const std::string& text : found)
    EXPECT_EQ(text, random.expected());
}

TEST(ParallelReader, ArraysOfSeveralBlocks) {
  const TemporaryDirectory directory;
  std::string text = "%%MatrixMarket matrix array integer general\n400 300\n";
  for (int k = 0; k < 400 * 300; ++k)
    text += std::to_string(k % 7) + "\n";
  const auto a = io::read_matrix_market<double>(directory.file("a.mtx", text), {}, {500, 3});
  std::size_t at = 0;
  for (int row = 0; row < 400; ++row) {
    for (int col = 0; col < 300; ++col) {
      if ((col * 400 + row) % 7 == 0) continue;
      ASSERT_EQ(a.col_indices.at(at), col);
      ASSERT_EQ(a.values.at(at++), (col * 400 + row) % 7);
    }
    ASSERT_EQ(a.row_offsets.at(static_cast<std::size_t>(row) + 1), at);
  }
}

/// Compares nearest() with from_chars; false where it does not tell.
template <class F>
bool check_nearest(std::uint64_t w, int q) {
  const std::optional<F> found = io::nearest<F>(w, q);
  if (!found) return false;
  const std::string text = std::to_string(w) + "e" + std::to_string(q);
  F expected = 0;
  std::from_chars(text.data(), text.data() + text.size(), expected);
  EXPECT_EQ(*found, expected) << text;
  return true;
}

TEST(Decimal, IsTheNearest) {
  std::mt19937_64 random(11);
  int told = 0;
  constexpr int kCount = 200'000;
  for (int k = 0; k < kCount; ++k) {
    const std::uint64_t w = random() >> (random() % 64);
    const int q = static_cast<int>(random() % 77) - 38;
    told += check_nearest<double>(w, q);
    check_nearest<float>(w, q);
    // Near the middle of two neighbours: 2^53 + odd numbers, and their multiples.
    check_nearest<double>(((std::uint64_t{1} << 53) + 1 + 2 * (random() % 1000)) * (1 + k % 3), 0);
    check_nearest<float>((std::uint64_t{1} << 24) + 1 + 2 * (random() % 1000), -k % 3);
  }
  EXPECT_GT(told, kCount * 0.98);
}

TEST(Decimal, AtTheEndsOfItsRange) {
  for (const std::uint64_t w :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{9999999999999999999u},
        std::numeric_limits<std::uint64_t>::max()}) {
    for (int q = -40; q <= 40; ++q) {
      check_nearest<double>(w, q);
      check_nearest<float>(w, q);
    }
  }
  EXPECT_FALSE(io::nearest<double>(1, 39));
  EXPECT_FALSE(io::nearest<float>(1, -38));  // subnormal
  EXPECT_FALSE(io::nearest<float>(1, 39));
  EXPECT_EQ(io::nearest<double>(25, -2), 0.25);
}

}  // namespace
}  // namespace lanky
