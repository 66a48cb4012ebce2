// Matrix files of every format: what must hold for any bytes is an Error, or a sound matrix that
// comes back the same from the binary cache and from Matrix Market.
#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <filesystem>
#include <lanky/error.hpp>
#include <lanky/io.hpp>
#include <vector>

#include "fuzz/memory_file.hpp"
#include "fuzz/target.hpp"
#include "io/cache_layout.hpp"
#include "io/checksum.hpp"

namespace lanky::fuzz {

namespace {

/// A valid file may say that it has so many rows in a few bytes, each of which takes 8 bytes of
/// memory.
constexpr std::int64_t kMostRows = 1 << 20;

template <class T>
void check_sound(const CsrMatrix<T>& a, io::Duplicates duplicates) {
  require(a.rows >= 0 && a.cols >= 0, "negative extents");
  require(std::ssize(a.row_offsets) == a.rows + 1, "not one offset a row");
  require(a.row_offsets.front() == 0 && a.row_offsets.back() == std::ssize(a.col_indices) &&
              a.col_indices.size() == a.values.size(),
          "offsets, columns and values do not agree");
  require(std::is_sorted(a.row_offsets.begin(), a.row_offsets.end()), "offsets fall");
  for (std::size_t i = 1; i < a.row_offsets.size(); ++i) {
    const auto first = a.col_indices.begin() + a.row_offsets[i - 1];
    const auto last = a.col_indices.begin() + a.row_offsets[i];
    if (first == last) continue;
    require(*first >= 0 && *(last - 1) < a.cols, "a column is out of range");
    require(std::is_sorted(first, last), "columns are not sorted");
    require(duplicates == io::Duplicates::keep || std::adjacent_find(first, last) == last,
            "a duplicate is left");
  }
}

/// The same bits, but that a NaN need not keep its payload in decimals.
template <class T>
bool same_values(const std::vector<T>& a, const std::vector<T>& b, bool in_decimals) {
  if (a.size() != b.size()) return false;
  if (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0) return true;
  if (!in_decimals) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] == a[i] && std::memcmp(&a[i], &b[i], sizeof(T)) != 0) return false;
  return true;
}

template <class T>
void require_same(const CsrMatrix<T>& a, const CsrMatrix<T>& b, bool in_decimals) {
  require(a.rows == b.rows && a.cols == b.cols && a.row_offsets == b.row_offsets &&
              a.col_indices == b.col_indices,
          "what was written reads as another pattern");
  require(same_values(a.values, b.values, in_decimals), "what was written reads as other values");
}

template <class T>
void check_round_trips(const CsrMatrix<T>& a) {
  static const io::ReadOptions keep = {.duplicates = io::Duplicates::keep};
  static const std::filesystem::path cache = scratch_folder() / "written.lanky";
  io::write_cache(cache, a.view());
  require_same(a, io::read_csr<T>(cache, keep), false);
  static const std::filesystem::path text = scratch_folder() / "written.mtx";
  io::write_matrix_market(text, a.view(), "written by a fuzzer");
  require_same(a, io::read_csr<T>(text, keep), true);
}

template <class T>
void read_and_check(const std::filesystem::path& path, io::Duplicates duplicates) {
  CsrMatrix<T> a;
  try {
    if (io::read_header(path).rows > kMostRows) return;
    a = io::read_csr<T>(path, {.duplicates = duplicates});
  } catch (const Error&) {
    return;
  }
  check_sound(a, duplicates);
  check_round_trips(a);
}

/// Any bytes with their checksums made right, so that what stands behind these is tested, too.
std::vector<std::uint8_t> forged_cache(Bytes bytes) {
  std::vector<std::uint8_t> forged(bytes.begin(), bytes.end());
  io::CacheHeader header;
  if (forged.size() < sizeof header) return forged;
  std::memcpy(&header, forged.data(), sizeof header);
  std::copy(io::kCacheMagic.begin(), io::kCacheMagic.end(), header.magic.begin());
  header.version = io::kCacheVersion;
  header.byte_order = io::kByteOrder;
  header.dtype %= 6;
  header.rows = std::min<std::int64_t>(header.rows, 1 << 20);
  header.nnz = std::min<std::int64_t>(header.nnz, 1 << 20);
  if (header.rows >= 0 && header.nnz >= 0) {
    const auto places = io::places_of(header);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto end = static_cast<std::size_t>(places[i].begin + places[i].bytes);
      if (end > (1 << 16)) break;
      if (forged.size() < end) forged.resize(end);
      header.checksums[i] = io::section_checksum(forged.data() + places[i].begin,
                                                 static_cast<std::size_t>(places[i].bytes));
    }
    forged.resize(static_cast<std::size_t>(
        std::min<std::int64_t>(places.back().begin + places.back().bytes, 1 << 16)));
  }
  header.checksum = io::header_checksum(header);
  if (forged.size() < sizeof header) forged.resize(sizeof header);
  std::memcpy(forged.data(), &header, sizeof header);
  return forged;
}

}  // namespace

/// The last byte chooses element type and options.
void check_matrix_file(Bytes bytes) {
  const MemoryFile file(bytes);
  const unsigned choice = bytes.empty() ? 0 : bytes.back();
  const auto duplicates =
      std::array{io::Duplicates::sum, io::Duplicates::keep, io::Duplicates::reject}[choice % 3];
  switch (choice / 3 % 4) {
    case 0:
      return read_and_check<double>(file.path(), duplicates);
    case 1:
      return read_and_check<float>(file.path(), duplicates);
    case 2:
      return read_and_check<bfloat16>(file.path(), duplicates);
    default:
      return read_and_check<std::complex<double>>(file.path(), duplicates);
  }
}

/// As they are, and forged.
void check_cache(Bytes bytes) {
  check_matrix_file(bytes);
  check_matrix_file(forged_cache(bytes));
}

/// Of version 5: HDF5, which reads version 7.3, cannot be checked beforehand and is not fuzzed.
void check_mat(Bytes bytes) {
  constexpr std::size_t kVersionAt = 124;
  constexpr std::array<std::uint8_t, 2> kVersion73 = {0, 2};
  if (bytes.size() < kVersionAt + kVersion73.size()) return;
  if (std::equal(kVersion73.begin(), kVersion73.end(), bytes.begin() + kVersionAt)) return;
  check_matrix_file(bytes);
}

}  // namespace lanky::fuzz
