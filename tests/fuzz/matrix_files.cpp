#include "fuzz/check_input.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <filesystem>
#include <lanky/error.hpp>
#include <lanky/io.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/cache_layout.hpp"
#include "io/checksum.hpp"

namespace lanky::fuzz {

namespace {

/// A valid file may say that it has so many rows in a few bytes, each of which takes 8 bytes of
/// memory.
constexpr std::int64_t kMostRows = 1 << 20;

/// A file in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::uint8_t> bytes)
      : file_(memfd_create("lanky-fuzz", MFD_CLOEXEC)) {
    if (file_ < 0 || write(file_, bytes.data(), bytes.size()) != std::ssize(bytes)) {
      throw std::runtime_error("no file in memory can be made");
    }
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

void require(bool condition, const char* what) {
  if (!condition) throw std::logic_error(what);
}

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

template <class T>
void check_round_trip(const CsrMatrix<T>& a) {
  static const std::filesystem::path path =
      "/dev/shm/lanky-fuzz-" + std::to_string(getpid()) + ".lanky";
  io::write_cache(path, a.view());
  const auto b = io::read_csr<T>(path, {.duplicates = io::Duplicates::keep});
  std::filesystem::remove(path);
  require(a.rows == b.rows && a.cols == b.cols && a.row_offsets == b.row_offsets &&
              a.col_indices == b.col_indices && a.values.size() == b.values.size(),
          "the cache gives another pattern");
  require(a.values.empty() ||
              std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(T)) == 0,
          "the cache gives other values");
}

template <class T>
void read_and_check(const std::filesystem::path& path, io::Duplicates duplicates) {
  const CsrMatrix<T> a = io::read_csr<T>(path, {.duplicates = duplicates});
  check_sound(a, duplicates);
  check_round_trip(a);
}

}  // namespace

void check_input(std::span<const std::uint8_t> bytes) {
  const MemoryFile file(bytes);
  const unsigned choice = bytes.empty() ? 0 : bytes.back();
  const auto duplicates =
      std::array{io::Duplicates::sum, io::Duplicates::keep, io::Duplicates::reject}[choice % 3];
  try {
    if (io::read_header(file.path()).rows > kMostRows) return;
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
  } catch (const Error&) {
    return;
  }
}

void check_forged_cache(std::span<const std::uint8_t> bytes) {
  std::vector<std::uint8_t> forged(bytes.begin(), bytes.end());
  io::CacheHeader header;
  if (forged.size() < sizeof header) return check_input(bytes);
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
  check_input(forged);
}

}  // namespace lanky::fuzz
