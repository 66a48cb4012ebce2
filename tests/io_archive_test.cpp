// Compressed files and SuiteSparse's archives: written by lanky, by the tools themselves, and
// damaged.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <lanky/error.hpp>
#include <lanky/io.hpp>

#include "io/archive_reader.hpp"
#include "support/csr_text.hpp"
#include "support/temporary_directory.hpp"

namespace lanky {
namespace {

namespace fs = std::filesystem;
using testing::content;
using testing::csr_text;
using testing::TemporaryDirectory;

const fs::path kFixtures = "tests/data/archives";
constexpr const char* kTiny = "3x4 (0,0)1 (1,3)-2.5 (2,1)0.1";

/// The code and message of the Error that reading the file throws; fails where it throws none.
Error failure(const fs::path& path) {
  try {
    io::read_csr<double>(path);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << path << " was read";
  return Error(ErrorCode::device, "");
}

class Compressed : public ::testing::TestWithParam<const char*> {
 protected:
  std::string name(const char* stem = "a") const { return std::string(stem) + GetParam(); }
  std::string fixture() const { return content(kFixtures / name("tiny.mtx")); }
};
INSTANTIATE_TEST_SUITE_P(Endings, Compressed, ::testing::Values(".gz", ".xz", ".zst", ".bz2"),
                         [](const auto& test) { return std::string(test.param + 1); });

TEST_P(Compressed, RoundTrips) {
  const TemporaryDirectory directory;
  const auto a = io::generate<double>("uniform:1500:30");  // more than one block of text
  const fs::path path = directory.path() / name("a.mtx");
  io::write_matrix_market(path, a.view());
  EXPECT_NE(content(path).substr(0, 2), "%%");
  const auto b = io::read_csr<double>(path);
  EXPECT_EQ(a.row_offsets, b.row_offsets);
  EXPECT_EQ(a.col_indices, b.col_indices);
  EXPECT_EQ(a.values, b.values);
}

TEST_P(Compressed, ReadsWhatTheToolWrote) {
  EXPECT_EQ(csr_text(io::read_csr<double>(kFixtures / name("tiny.mtx"))), kTiny);
}

TEST_P(Compressed, IsFoundByContentNotByName) {
  const TemporaryDirectory directory;
  EXPECT_EQ(csr_text(io::read_csr<double>(directory.file("plain.mtx", fixture()))), kTiny);
}

TEST_P(Compressed, ReadsSeveralMembersAsOne) {
  const TemporaryDirectory directory;
  const std::string both = content(kFixtures / name("part1")) + content(kFixtures / name("part2"));
  EXPECT_EQ(csr_text(io::read_csr<double>(directory.file("two.mtx", both))), kTiny);
}

TEST_P(Compressed, CutAnywhereIsAnError) {
  const TemporaryDirectory directory;
  const std::string whole = fixture();
  for (std::size_t length = 1; length < whole.size(); ++length) {
    const auto path = directory.file("cut.mtx", whole.substr(0, length));
    const Error error = failure(path);
    EXPECT_TRUE(error.code() == ErrorCode::io || error.code() == ErrorCode::parse);
    EXPECT_NE(std::string(error.what()).find(path.string() + ":"), std::string::npos);
  }
}

TEST_P(Compressed, DamageNeverGivesAnotherMatrix) {
  const TemporaryDirectory directory;
  const std::string whole = fixture();
  std::size_t errors = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    try {
      const auto a = io::read_csr<double>(directory.file("damaged.mtx", damaged));
      EXPECT_EQ(csr_text(a), kTiny) << "byte " << i;  // such as the time in a gzip header
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::io || error.code() == ErrorCode::parse)
          << error.what();
      ++errors;
    }
  }
  EXPECT_GT(errors, whole.size() * 3 / 4);
}

TEST_P(Compressed, PromisedCountTakesNoMemory) {
  // The file's own size says nothing of a compressed text's: memory grows as entries arrive.
  const TemporaryDirectory directory;
  const Error error = failure(kFixtures / name("greedy.mtx"));
  EXPECT_EQ(error.code(), ErrorCode::parse);
  EXPECT_NE(std::string(error.what()).find("after 1 of 1000000000000000 entries"),
            std::string::npos)
      << error.what();
}

TEST(GzipChecksum, IsCompared) {
  const TemporaryDirectory directory;
  std::string text = content(kFixtures / "tiny.mtx.gz");
  text[text.size() - 8] ^= 1;  // the checksum is the first of the last two words
  const auto path = directory.file("a.mtx.gz", text);
  const Error error = failure(path);
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_EQ(error.what(), path.string() + ": cannot be read: incorrect data check");
}

TEST(GzipStream, BytesBehindItAreAnError) {
  const TemporaryDirectory directory;
  for (const char* name : {"tiny.mtx.gz", "tiny.tar.gz"}) {
    const std::string whole = content(kFixtures / name);
    for (const std::string& rest : {std::string("<html>"), std::string("\0\0x", 3),
                                    std::string("\x1f"), std::string("\x1f\0", 2)}) {
      const auto path = directory.file(name, whole + rest);
      const Error error = failure(path);
      EXPECT_EQ(error.code(), ErrorCode::io);
      EXPECT_EQ(error.what(), path.string() + ": cannot be read: byte " +
                                  std::to_string(whole.size() + rest.find_first_not_of('\0')) +
                                  " is behind the end of the gzip stream and begins no other one; "
                                  "fetch the file again");
    }
  }
}

TEST(GzipStream, MayEndInZeros) {
  const TemporaryDirectory directory;
  // Tapes are written in blocks, and 300 kB are more than one read.
  for (const std::size_t zeros : {1, 511, 300'000}) {
    const std::string padded =
        content(kFixtures / "part1.gz") + content(kFixtures / "part2.gz") + std::string(zeros, 0);
    EXPECT_EQ(csr_text(io::read_csr<double>(directory.file("a.mtx.gz", padded))), kTiny);
  }
}

TEST(PlainFile, ThatGetsShorterWhileItIsReadIsOneError) {
  const TemporaryDirectory directory;
  constexpr std::size_t kBytes = 3'000'000;
  const fs::path path = directory.file("a.rb", std::string(kBytes, ' '));
  io::ArchiveReader reader(path);
  std::array<char, 1000> block;
  ASSERT_EQ(reader.read(block.data(), block.size()), block.size());
  fs::resize_file(path, kBytes / 2);
  try {
    while (reader.read(block.data(), block.size()) > 0) {
    }
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_EQ(error.what(), path.string() +
                                ": became shorter while it was read, from 3000000 bytes to 1500000 "
                                "bytes; read it again when no program writes it");
  }
}

TEST(TarArchive, GivesTheMatrixAndNotItsCompanions) {
  EXPECT_EQ(csr_text(io::read_csr<double>(kFixtures / "tiny.tar.gz")), kTiny);
  EXPECT_EQ(io::read_header(kFixtures / "tiny.tar.gz").stored_entries, 3);
}

TEST(TarArchive, MayBeRenamedOrWrappedOtherwise) {
  const TemporaryDirectory directory;
  const auto renamed = directory.file("renamed.tgz", content(kFixtures / "tiny.tar.gz"));
  EXPECT_EQ(csr_text(io::read_csr<double>(renamed)), kTiny);
  EXPECT_EQ(csr_text(io::read_csr<double>(kFixtures / "tiny.tar.xz")), kTiny);
  // This one holds ./flat.mtx, without a folder.
  EXPECT_EQ(csr_text(io::read_csr<double>(kFixtures / "flat.tar.zst")), kTiny);
}

TEST(TarArchive, ErrorsNameTheMember) {
  const Error error = failure(kFixtures / "bad.tar.gz");
  EXPECT_EQ(error.code(), ErrorCode::parse);
  EXPECT_TRUE(
      std::string(error.what()).starts_with("tests/data/archives/bad.tar.gz/bad/bad.mtx:3:1"))
      << error.what();
}

TEST(TarArchive, WithoutAMatrixSaysWhatItHolds) {
  const Error error = failure(kFixtures / "companions.tar.gz");
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_NE(std::string(error.what()).find("holds no NAME/NAME.mtx or .rb, but tiny/tiny_b.mtx"),
            std::string::npos)
      << error.what();
}

/// A tar of plain files: for each a header in the format of 1988 (ustar), and 512-byte blocks.
std::string tar(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string archive;
  for (const auto& [name, text] : files) {
    std::string header(512, '\0');
    const auto put = [&](std::size_t at, const std::string& field) {
      header.replace(at, field.size(), field);
    };
    char size[12];
    std::snprintf(size, sizeof size, "%011zo", text.size());
    put(0, name);
    put(100, "0000644");
    put(124, size);
    put(136, "00000000000");
    put(148, "        ");
    put(156, "0");
    put(257, std::string("ustar\00000", 8));
    unsigned sum = 0;
    for (const char c : header)
      sum += static_cast<unsigned char>(c);
    char checksum[8];
    std::snprintf(checksum, sizeof checksum, "%06o", sum);
    put(148, std::string(checksum, 7) + " ");
    archive += header + text + std::string((512 - text.size() % 512) % 512, '\0');
  }
  return archive + std::string(1024, '\0');
}

TEST(TarArchive, MayStartItsNamesWithADot) {
  const TemporaryDirectory directory;
  const std::string matrix =
      "%%MatrixMarket matrix coordinate real general\n3 4 3\n1 1 1\n2 4 -2.5\n3 2 0.1\n";
  const auto path = directory.file(
      "other.tar", tar({{"./tiny/tiny_b.mtx", "no matrix"}, {"./tiny/tiny.mtx", matrix}}));
  EXPECT_EQ(csr_text(io::read_csr<double>(path)), kTiny);
}

TEST(TarArchive, OfManyFilesNamesOnlyTheFirst) {
  const TemporaryDirectory directory;
  std::vector<std::pair<std::string, std::string>> files;
  for (int i = 0; i < 2000; ++i)
    files.emplace_back("many/" + std::to_string(i) + ".mtx", "no matrix");
  const Error error = failure(directory.file("a.tar", tar(files)));
  EXPECT_EQ(error.code(), ErrorCode::io);
  const std::string message = error.what();
  EXPECT_NE(message.find("but many/0.mtx, many/1.mtx"), std::string::npos) << message;
  EXPECT_NE(message.find("many/7.mtx and 1992 more; extract"), std::string::npos) << message;
}

TEST(TarArchive, DamageBehindTheMatrixIsAnErrorToo) {
  const TemporaryDirectory directory;
  std::string text = content(kFixtures / "tiny.tar.gz");
  text[text.size() - 8] ^= 1;
  EXPECT_EQ(failure(directory.file("a.tar.gz", text)).code(), ErrorCode::io);
  text.resize(text.size() - 8);
  EXPECT_EQ(failure(directory.file("b.tar.gz", text)).code(), ErrorCode::io);
}

}  // namespace
}  // namespace lanky
