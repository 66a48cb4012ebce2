// The binary cache: what is written comes back to the bit, what is damaged, forged or stale never.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <lanky/error.hpp>
#include <lanky/io.hpp>
#include <string>
#include <thread>

#include "io/cache.hpp"
#include "io/checksum.hpp"
#include "support/csr_text.hpp"
#include "support/expect_error.hpp"
#include "support/random_csr.hpp"
#include "support/temporary_directory.hpp"

namespace lanky {
namespace {

namespace fs = std::filesystem;
using testing::content;
using testing::csr_text;
using testing::TemporaryDirectory;

/// 3 x 4, a repeated entry in the last row.
const CsrMatrix<double>& sample() {
  static const CsrMatrix<double> a{3, 4, {0, 2, 2, 5}, {0, 3, 1, 1, 2}, {1, -2.5, 0.1, 4, 5}};
  return a;
}

template <class T>
class Cache : public ::testing::Test {};
using CacheTypes =
    ::testing::Types<double, float, half, bfloat16, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Cache, CacheTypes);

TYPED_TEST(Cache, IsExactForRandomMatrices) {
  const TemporaryDirectory directory;
  constexpr std::uint64_t kSeed = 20261123;
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 50; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", matrix " + std::to_string(i));
    const auto a = testing::random_matrix<TypeParam>(random);
    const fs::path path = directory.path() / "a.lanky";
    io::write_cache(path, a.view());
    const auto b = io::read_csr<TypeParam>(path);
    ASSERT_EQ(a.rows, b.rows);
    ASSERT_EQ(a.cols, b.cols);
    ASSERT_EQ(a.row_offsets, b.row_offsets);
    ASSERT_EQ(a.col_indices, b.col_indices);
    ASSERT_TRUE(testing::same_bits(a.values, b.values));
  }
}

TEST(CacheFile, HoldsSeveralBlocksOfChecksums) {
  const TemporaryDirectory directory;
  const auto a = io::generate<double>("uniform:30000:16");
  ASSERT_GT(a.nnz() * 8, 3 * static_cast<std::int64_t>(io::kBlockOfChecksum));
  io::write_cache(directory.path() / "a.lanky", a.view());
  const auto b = io::read_csr<double>(directory.path() / "a.lanky");
  EXPECT_EQ(a.col_indices, b.col_indices);
  EXPECT_EQ(a.values, b.values);
}

TEST(CacheFile, KeepsNanWithItsPayload) {
  const TemporaryDirectory directory;
  const CsrMatrix<double> a{
      1, 1, {0, 1}, {0}, {std::bit_cast<double>(std::uint64_t{0x7ff8'0000'dead'beef})}};
  io::write_cache(directory.path() / "a.lanky", a.view());
  const auto b = io::read_csr<double>(directory.path() / "a.lanky");
  EXPECT_TRUE(testing::same_bits(a.values, b.values));
}

TEST(CacheFile, OfAPatternHoldsNoValues) {
  const TemporaryDirectory directory;
  auto a = io::generate<std::complex<double>>("uniform:1000:16");
  a.values.assign(a.values.size(), 1.0);
  const fs::path path = directory.path() / "a.lanky";
  io::write_cache(path, a.view());
  EXPECT_LT(fs::file_size(path), a.values.size() * 4 + 1001 * 4 + 512);
  EXPECT_EQ(io::read_header(path).field, io::Field::pattern);
  EXPECT_EQ(io::read_csr<std::complex<double>>(path).values, a.values);
  EXPECT_EQ(io::read_csr<double>(path).values, std::vector<double>(a.values.size(), 1.0));
}

TEST(CacheFile, TakesOneWithANegativeZeroForNoPattern) {
  const TemporaryDirectory directory;
  const CsrMatrix<std::complex<double>> a{1, 1, {0, 1}, {0}, {{1, -0.0}}};
  io::write_cache(directory.path() / "a.lanky", a.view());
  EXPECT_TRUE(testing::same_bits(
      io::read_csr<std::complex<double>>(directory.path() / "a.lanky").values, a.values));
}

TEST(CacheFile, TellsItsHeader) {
  const TemporaryDirectory directory;
  io::write_cache(directory.path() / "a.lanky", sample().view());
  const io::Header header = io::read_header(directory.path() / "a.lanky");
  EXPECT_EQ(header.field, io::Field::real);
  EXPECT_EQ(header.rows, 3);
  EXPECT_EQ(header.cols, 4);
  EXPECT_EQ(header.stored_entries, 5);
}

TEST(CacheFile, IsFoundByContentNotByName) {
  const TemporaryDirectory directory;
  io::write_cache(directory.path() / "a.mtx", sample().view());
  EXPECT_EQ(io::read_csr<double>(directory.path() / "a.mtx", {io::Duplicates::keep}).nnz(), 5);
}

TEST(CacheFile, AnswersEachWishForDuplicates) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "a.lanky";
  io::write_cache(path, sample().view());
  EXPECT_EQ(csr_text(io::read_csr<double>(path, {io::Duplicates::keep})), csr_text(sample()));
  EXPECT_EQ(csr_text(io::read_csr<double>(path)), "3x4 (0,0)1 (0,3)-2.5 (2,1)4.1 (2,2)5");
  expect_error([&] { io::read_csr<double>(path, {io::Duplicates::reject}); }, ErrorCode::parse,
               {"a.lanky: holds entry (3, 2) more than once"});
}

TEST(CacheFile, IsReadAsOtherTypes) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "a.lanky";
  const CsrMatrix<double> a{1, 3, {0, 3}, {0, 1, 2}, {1.5, 0.1, 1e300}};
  io::write_cache(path, a.view());
  EXPECT_EQ(io::read_csr<float>(path).values,
            (std::vector<float>{1.5F, 0.1F, std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(io::read_csr<std::complex<float>>(path).values[0], std::complex<float>(1.5F, 0));
  const CsrMatrix<std::complex<double>> c{1, 1, {0, 1}, {0}, {{1, 2}}};
  io::write_cache(path, c.view());
  expect_error([&] { io::read_csr<double>(path); }, ErrorCode::unsupported, {"complex", "f64"});
}

TEST(CacheFile, SortsColumnsAndTakesBaseOne) {
  const TemporaryDirectory directory;
  const std::vector<std::int32_t> offsets = {1, 4, 5};
  const std::vector<std::int32_t> cols = {3, 1, 3, 2};
  const std::vector<double> values = {1, 2, 3, 4};
  const CsrView<double> a{2, 3, 4, offsets.data(), cols.data(), values.data(), 1};
  io::write_cache(directory.path() / "a.lanky", a);
  EXPECT_EQ(csr_text(io::read_csr<double>(directory.path() / "a.lanky", {io::Duplicates::keep})),
            "2x3 (0,0)2 (0,2)1 (0,2)3 (1,1)4");
}

TEST(CacheFile, IsNotCompressed) {
  const TemporaryDirectory directory;
  expect_error([&] { io::write_cache(directory.path() / "a.lanky.gz", sample().view()); },
               ErrorCode::invalid_argument, {".lanky"});
  EXPECT_TRUE(fs::is_empty(directory.path()));
}

TEST(CacheFile, EveryDamagedByteIsSeenOrDoesNotMatter) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "a.lanky";
  io::write_cache(path, sample().view());
  const std::string whole = content(path);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    try {
      const auto a =
          io::read_csr<double>(directory.file("b.lanky", damaged), {io::Duplicates::keep});
      EXPECT_EQ(csr_text(a), csr_text(sample())) << "byte " << i;  // between sections
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::parse) << error.what();
      ++refused;
    }
  }
  // All but the zeros between 16 bytes of offsets, 20 of columns and 40 of values.
  EXPECT_EQ(refused, io::kHeaderBytes + 16 + 20 + 40);
}

TEST(CacheFile, CutAnywhereIsAnError) {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "a.lanky";
  io::write_cache(path, sample().view());
  const std::string whole = content(path);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const fs::path cut = directory.file("b.lanky", whole.substr(0, length));
    EXPECT_THROW(io::read_csr<double>(cut), Error) << length;
  }
  EXPECT_THROW(io::read_csr<double>(directory.file("b.lanky", whole + '\0')), Error);
}

/// A file of that header and these sections, all checksums right.
fs::path forge(const TemporaryDirectory& directory,
               const std::function<void(io::CacheHeader&)>& edit,
               const std::vector<std::uint32_t>& offsets, const std::vector<std::int32_t>& cols) {
  io::CacheHeader header;
  std::copy(io::kCacheMagic.begin(), io::kCacheMagic.end(), header.magic.begin());
  header.offset_bytes = 4;
  header.all_ones = 1;
  header.rows = static_cast<std::int64_t>(offsets.size()) - 1;
  header.cols = 3;
  header.nnz = static_cast<std::int64_t>(cols.size());
  header.checksums = {io::section_checksum(offsets.data(), offsets.size() * 4),
                      io::section_checksum(cols.data(), cols.size() * 4),
                      io::section_checksum(nullptr, 0)};
  edit(header);
  header.checksum = io::header_checksum(header);
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(offsets.data()), offsets.size() * 4);
  bytes.resize((bytes.size() + io::kAlignment - 1) / io::kAlignment * io::kAlignment);
  bytes.append(reinterpret_cast<const char*>(cols.data()), cols.size() * 4);
  bytes.resize((bytes.size() + io::kAlignment - 1) / io::kAlignment * io::kAlignment);
  return directory.file("forged.lanky", bytes);
}

TEST(ForgedCache, NeverGivesAnIndexOutOfRange) {
  const TemporaryDirectory directory;
  const auto nothing = [](io::CacheHeader&) {};
  EXPECT_EQ(csr_text(io::read_csr<double>(forge(directory, nothing, {0, 1, 2}, {0, 2}))),
            "2x3 (0,0)1 (1,2)1");
  const auto refuses = [&](const std::vector<std::uint32_t>& offsets,
                           const std::vector<std::int32_t>& cols, const char* why) {
    const fs::path path = forge(directory, nothing, offsets, cols);
    expect_error([&] { io::read_csr<double>(path); }, ErrorCode::parse, {why});
  };
  refuses({0, 1, 2}, {0, 3}, "columns that are out of range");
  refuses({0, 1, 2}, {-1, 2}, "columns that are out of range");
  refuses({0, 2, 2}, {2, 1}, "or not sorted");
  refuses({0, 3, 2}, {0, 2}, "row offsets that fall");
  refuses({0, 1, 1}, {0, 2}, "row offsets that fall");
  refuses({1, 1, 2}, {0, 2}, "row offsets that fall");
}

TEST(ForgedCache, PromisedSizesTakeNoMemory) {
  const TemporaryDirectory directory;
  constexpr std::int64_t kHuge = std::int64_t{1} << 61;
  for (const auto& edit : std::vector<std::function<void(io::CacheHeader&)>>{
           [](io::CacheHeader& h) { h.rows = kHuge; }, [](io::CacheHeader& h) { h.nnz = kHuge; },
           [](io::CacheHeader& h) { h.nnz = -1; }, [](io::CacheHeader& h) { h.cols = kHuge; },
           [](io::CacheHeader& h) { h.dtype = 6; }, [](io::CacheHeader& h) { h.offset_bytes = 3; },
           [](io::CacheHeader& h) { h.all_ones = 0; }, [](io::CacheHeader& h) { h.rows = 1000; }}) {
    const fs::path path = forge(directory, edit, {0, 1, 2}, {0, 2});
    EXPECT_THROW(io::read_csr<double>(path), Error);
    EXPECT_THROW(io::read_header(path), Error);
  }
}

TEST(ForgedCache, OfAnotherVersionOrByteOrderIsNamedSo) {
  const TemporaryDirectory directory;
  const fs::path later =
      forge(directory, [](io::CacheHeader& h) { h.version = 2; }, {0, 1, 2}, {0, 2});
  expect_error([&] { io::read_csr<double>(later); }, ErrorCode::parse, {"another version"});
  const fs::path other =
      forge(directory, [](io::CacheHeader& h) { h.byte_order = 0x04030201; }, {0, 1, 2}, {0, 2});
  expect_error([&] { io::read_csr<double>(other); }, ErrorCode::parse, {"another byte order"});
}

/// A matrix file with a folder of caches.
class CachedRead : public ::testing::Test {
 protected:
  static std::string text(const char* value) {
    return std::string("%%MatrixMarket matrix coordinate real general\n1 2 1\n1 1 ") + value + "\n";
  }
  template <class T = double>
  T read(io::Duplicates duplicates = io::Duplicates::sum) const {
    return io::read_csr<T>(source_, {.duplicates = duplicates, .cache = folder_}).values.at(0);
  }
  std::vector<fs::path> caches() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_))
      found.push_back(entry.path());
    return found;
  }
  /// Puts another value into the one cached copy, so that a read shows whether it is used.
  void plant(double value) const {
    ASSERT_EQ(caches().size(), 1U);
    const CsrMatrix<double> planted{1, 2, {0, 1}, {0}, {value}};
    io::write_stamped_cache(caches()[0], planted.view(), stamp());
  }
  io::SourceStamp stamp() const { return io::CacheFile(caches().at(0)).header().source; }

  const TemporaryDirectory directory_;
  const fs::path source_ = directory_.file("a.mtx", text("0.5"));
  const fs::path folder_ = directory_.path() / "new" / "caches";
};

TEST_F(CachedRead, UsesTheCopyWhileTheFileIsTheSame) {
  EXPECT_EQ(read(), 0.5);
  plant(7);
  EXPECT_EQ(read(), 7);
}

TEST_F(CachedRead, SeesOtherContentOfTheSameSizeAndTime) {
  EXPECT_EQ(read(), 0.5);
  const auto time = fs::last_write_time(source_);
  directory_.file("a.mtx", text("0.6"));
  fs::last_write_time(source_, time);
  EXPECT_EQ(read(), 0.6);
  plant(7);
  EXPECT_EQ(read(), 7) << "the copy was made anew";
}

TEST_F(CachedRead, SeesOtherSizes) {
  EXPECT_EQ(read(), 0.5);
  directory_.file("a.mtx", text("0.625"));
  EXPECT_EQ(read(), 0.625);
}

TEST_F(CachedRead, KeepsTheCopyOfAFileThatWasOnlyTouched) {
  EXPECT_EQ(read(), 0.5);
  plant(7);
  fs::last_write_time(source_, fs::last_write_time(source_) - std::chrono::hours(24));
  const std::int64_t before = stamp().modified_ns;
  EXPECT_EQ(read(), 7);
  EXPECT_LT(stamp().modified_ns, before) << "its times are noted";
}

TEST_F(CachedRead, TrustsTimesOnlyOfFilesThatHaveSettled) {
  EXPECT_EQ(read(), 0.5);
  io::SourceStamp forged = stamp();
  forged.content = {};  // so that only times can speak for it
  const CsrMatrix<double> planted{1, 2, {0, 1}, {0}, {7}};
  io::write_stamped_cache(caches()[0], planted.view(), forged);
  EXPECT_EQ(read(), 0.5) << "it was hashed right after the file had changed";
  forged = stamp();
  forged.content = {};
  forged.confirmed_ns += 3'000'000'000;
  io::write_stamped_cache(caches()[0], planted.view(), forged);
  EXPECT_EQ(read(), 7);
}

TEST_F(CachedRead, NeverTrustsADamagedCopy) {
  EXPECT_EQ(read(), 0.5);
  const fs::path cache = caches().at(0);
  const std::string whole = content(cache);
  for (std::size_t length = 0; length < whole.size(); length += 16) {
    std::ofstream(cache, std::ios::binary) << whole.substr(0, length);
    EXPECT_EQ(read(), 0.5) << length;
    EXPECT_EQ(content(cache).size(), whole.size()) << "it is made anew";
  }
}

/// A copy with the right stamp and checksums, as another user may leave it in a shared folder.
TEST_F(CachedRead, ChecksTheIndicesOfACopyThatAnotherUserForged) {
  constexpr uid_t kNobody = 65534;
  EXPECT_EQ(read(), 0.5);
  const fs::path cache = caches().at(0);
  io::SourceStamp settled = stamp();
  settled.confirmed_ns += 3'000'000'000;
  const auto plant_forged = [&](const std::vector<std::uint32_t>& offsets,
                                const std::vector<std::int32_t>& cols) {
    const fs::path forged = forge(
        directory_, [&](io::CacheHeader& h) { h.source = settled; }, offsets, cols);
    fs::rename(forged, cache);
    if (geteuid() == 0) {
      EXPECT_EQ(chown(cache.c_str(), kNobody, kNobody), 0);
    }
  };
  plant_forged({0, 1}, {2});
  EXPECT_EQ(read(), 1) << "the stamp is right: a sound copy is used";
  for (const auto& [offsets, cols] :
       std::vector<std::pair<std::vector<std::uint32_t>, std::vector<std::int32_t>>>{
           {{0, 1}, {3}}, {{0, 1}, {-1}}, {{0, 2}, {0}}, {{1, 1}, {0}}, {{0, 2}, {1, 0}}}) {
    plant_forged(offsets, cols);
    EXPECT_EQ(read(), 0.5);
  }
}

/// A link in a shared folder may lead to any file of the reader's.
TEST_F(CachedRead, NeverWritesThroughALink) {
  EXPECT_EQ(read(), 0.5);
  const fs::path cache = caches().at(0);
  const fs::path own = directory_.file("own.txt", "a file of the reader's");
  fs::remove(cache);
  fs::create_symlink(own, cache);
  EXPECT_EQ(read(), 0.5);
  EXPECT_EQ(content(own), "a file of the reader's");
  EXPECT_FALSE(fs::is_symlink(cache)) << "a copy takes the place of the link";
  // A sound copy whose times are not those of the file would get a new stamp.
  io::SourceStamp touched = stamp();
  touched.modified_ns -= 1;
  const CsrMatrix<double> sound{1, 2, {0, 1}, {0}, {0.5}};
  for (const bool hard : {false, true}) {
    const fs::path elsewhere = directory_.path() / "elsewhere.lanky";
    io::write_stamped_cache(elsewhere, sound.view(), touched);
    const std::string before = content(elsewhere);
    fs::remove(cache);
    hard ? fs::create_hard_link(elsewhere, cache) : fs::create_symlink(elsewhere, cache);
    EXPECT_EQ(read(), 0.5);
    EXPECT_EQ(content(elsewhere), before) << hard;
  }
}

TEST_F(CachedRead, KeepsTypesAndOptionsApart) {
  directory_.file("a.mtx", text("7.038531e-26"));  // rounded twice by way of double
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(read<double>(), 7.038531e-26);
    EXPECT_EQ(read<float>(), 7.038531e-26F);
  }
  EXPECT_EQ(caches().size(), 2U);
  directory_.file("a.mtx",
                  "%%MatrixMarket matrix coordinate real general\n1 2 2\n1 1 0.5\n1 1 2\n");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(read(), 2.5);
    EXPECT_EQ(read(io::Duplicates::keep), 0.5);
    EXPECT_THROW(read(io::Duplicates::reject), Error);
  }
}

TEST_F(CachedRead, DoesWithoutAFolderThatCannotBeMade) {
  directory_.file("new", "a file in its place");
  EXPECT_EQ(read(), 0.5);
}

TEST_F(CachedRead, OfAFileThatIsGoneIsAnError) {
  EXPECT_EQ(read(), 0.5);
  fs::remove(source_);
  EXPECT_THROW(read(), Error);
}

TEST_F(CachedRead, MayBeDoneBySeveralAtOnce) {
  std::vector<std::thread> readers;
  std::atomic<int> right = 0;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      for (int k = 0; k < 20; ++k)
        right += read() == 0.5 ? 1 : 0;
    });
  }
  for (std::thread& reader : readers)
    reader.join();
  EXPECT_EQ(right, 80);
  EXPECT_EQ(caches().size(), 1U);
}

TEST_F(CachedRead, MakesNoCopyOfACache) {
  io::write_cache(directory_.path() / "a.lanky", sample().view());
  io::read_csr<double>(directory_.path() / "a.lanky", {.cache = folder_});
  EXPECT_FALSE(fs::exists(folder_));
}

}  // namespace
}  // namespace lanky
