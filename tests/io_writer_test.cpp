// What is written reads back to the same bits, or leaves no trace.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <bit>
#include <cmath>
#include <csignal>
#include <cstring>
#include <lanky/error.hpp>
#include <lanky/io.hpp>
#include <limits>
#include <random>

#include "support/csr_text.hpp"
#include "support/random_csr.hpp"
#include "support/temporary_directory.hpp"

namespace lanky {
namespace {

using testing::content;
using testing::random_matrix;
using testing::same_bits;
using testing::TemporaryDirectory;

template <class T>
class RoundTrip : public ::testing::Test {};
using Types =
    ::testing::Types<double, float, half, bfloat16, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(RoundTrip, Types);

TYPED_TEST(RoundTrip, IsExactForRandomMatrices) {
  const TemporaryDirectory directory;
  constexpr std::uint64_t kSeed = 20261120;
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 100; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", matrix " + std::to_string(i));
    const auto a = random_matrix<TypeParam>(random);
    const auto path = directory.path() / "a.mtx";
    io::write_matrix_market(path, a.view(), "matrix\n" + std::to_string(i));
    const auto b = io::read_csr<TypeParam>(path);
    ASSERT_EQ(a.rows, b.rows);
    ASSERT_EQ(a.cols, b.cols);
    ASSERT_EQ(a.row_offsets, b.row_offsets);
    ASSERT_EQ(a.col_indices, b.col_indices);
    ASSERT_TRUE(same_bits(a.values, b.values));
  }
}

template <class T>
class NarrowWriter : public ::testing::Test {};
using NarrowTypes = ::testing::Types<half, bfloat16>;
TYPED_TEST_SUITE(NarrowWriter, NarrowTypes);

TYPED_TEST(NarrowWriter, RoundTripsEveryValue) {
  CsrMatrix<TypeParam> a{1, 1 << 16, {0, 1 << 16}, {}, {}};
  for (int bits = 0; bits < 1 << 16; ++bits) {
    TypeParam value;
    value.bits = static_cast<std::uint16_t>(bits);
    a.col_indices.push_back(bits);
    a.values.push_back(std::isnan(static_cast<float>(value)) ? TypeParam(0.0F) : value);
  }
  const TemporaryDirectory directory;
  io::write_matrix_market(directory.path() / "a.mtx", a.view());
  EXPECT_TRUE(same_bits(io::read_csr<TypeParam>(directory.path() / "a.mtx").values, a.values));
}

TEST(Writer, KeepsTheFloatThatDoubleRoundingLoses) {
  const CsrMatrix<float> a{1, 2, {0, 2}, {0, 1}, {7.038531e-26F, -0.0F}};
  const TemporaryDirectory directory;
  io::write_matrix_market(directory.path() / "a.mtx", a.view());
  EXPECT_TRUE(same_bits(io::read_csr<float>(directory.path() / "a.mtx").values, a.values));
}

TEST(Writer, WritesNanAndInfinity) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const CsrMatrix<double> a{1, 3, {0, 3}, {0, 1, 2}, {std::nan(""), kInfinity, -kInfinity}};
  const TemporaryDirectory directory;
  io::write_matrix_market(directory.path() / "a.mtx", a.view());
  EXPECT_EQ(testing::csr_text(io::read_csr<double>(directory.path() / "a.mtx")),
            testing::csr_text(a));
}

TEST(Writer, WritesTheTextItShould) {
  const CsrMatrix<double> a{2, 3, {0, 1, 3}, {2, 0, 1}, {0.1, -2, 1e300}};
  const TemporaryDirectory directory;
  io::write_matrix_market(directory.path() / "a.mtx", a.view(), "one\ntwo");
  EXPECT_EQ(content(directory.path() / "a.mtx"),
            "%%MatrixMarket matrix coordinate real general\n% one\n% two\n2 3 3\n"
            "1 3 0.1\n2 1 -2\n2 2 1e+300\n");
}

TEST(Writer, TakesViewsWithBaseOneAndNarrowOffsets) {
  const std::vector<std::int32_t> offsets = {1, 2, 4};
  const std::vector<std::int32_t> cols = {3, 1, 2};
  const std::vector<double> values = {1, 2, 3};
  const CsrView<double> a{2, 3, 3, offsets.data(), cols.data(), values.data(), 1};
  const TemporaryDirectory directory;
  io::write_matrix_market(directory.path() / "a.mtx", a);
  EXPECT_EQ(testing::csr_text(io::read_csr<double>(directory.path() / "a.mtx")),
            "2x3 (0,2)1 (1,0)2 (1,1)3");
}

TEST(Writer, RefusesInconsistentViewsAndLeavesNothing) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "a.mtx";
  const auto refuses = [&](const CsrMatrix<double>& a) {
    EXPECT_THROW(io::write_matrix_market(path, a.view()), Error);
    EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  };
  refuses({2, 2, {0, 1, 3}, {0, 1}, {1, 2}});   // more in the offsets than there are
  refuses({2, 2, {0, 2, 1}, {0}, {1}});         // falling offsets
  refuses({2, 2, {1, 1, 2}, {0, 1}, {1, 2}});   // does not start at the base
  refuses({2, 2, {0, 1, 2}, {0, 2}, {1, 2}});   // column out of range
  refuses({2, 2, {0, 1, 2}, {0, -1}, {1, 2}});  // negative column
}

TEST(Writer, NeedsAnExistingDirectory) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "missing" / "a.mtx";
  try {
    io::write_matrix_market(path, io::generate<double>("diagonal:3").view());
    FAIL() << "was written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_NE(std::string(error.what()).find(path.string() + ": cannot be written: No such file"),
              std::string::npos)
        << error.what();
  }
}

TEST(Writer, KeepsTheOldFileWhereTheNewOneCannotTakeItsPlace) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "a.mtx";
  std::filesystem::create_directories(path / "inside");  // rename onto a directory fails
  EXPECT_THROW(io::write_matrix_market(path, io::generate<double>("diagonal:3").view()), Error);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()),
                          std::filesystem::directory_iterator()),
            1);
  EXPECT_TRUE(std::filesystem::exists(path / "inside"));
}

/// Files of this process may not grow beyond so many bytes while it lives: a disk that is full.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(Writer, LeavesTheOldFileWhereTheDiskIsFull) {
  for (const char* name : {"a.mtx", "a.mtx.gz", "a.mtx.zst", "a.mtx.bz2"}) {
    const TemporaryDirectory directory;
    const auto path = directory.file(name, "old");
    const auto a = io::generate<double>("uniform:3000");
    std::string message;
    {
      const FullDisk disk(50'000);
      try {
        io::write_matrix_market(path, a.view());
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::io);
        message = error.what();
      }
    }
    EXPECT_TRUE(message.starts_with(path.string() + ": cannot be written: ")) << message;
    EXPECT_EQ(content(path), "old");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()),
                            std::filesystem::directory_iterator()),
              1)
        << name;
  }
}

TEST(Writer, TakesNoPlaceOfADeviceOrPipe) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  try {
    io::write_matrix_market(path, io::generate<double>("diagonal:3").view());
    FAIL() << "was written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_EQ(error.what(), path.string() + ": cannot be written: it is not a regular file");
  }
  EXPECT_TRUE(std::filesystem::is_fifo(path));
}

TEST(Writer, ReplacesAnOldFile) {
  const TemporaryDirectory directory;
  const auto path = directory.file("a.mtx", "old");
  io::write_matrix_market(path, io::generate<double>("diagonal:3").view());
  EXPECT_EQ(io::read_csr<double>(path).nnz(), 3);
}

}  // namespace
}  // namespace lanky
