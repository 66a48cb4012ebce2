// The binary cache (.lanky): one CSR matrix as it stands in memory, little-endian, with checksums.
//
//   0    CacheHeader (kHeaderBytes)          checksum over all of it that stands before
//   256  row offsets [rows + 1]              u32 where nnz < 2^32, else u64
//   ...  columns [nnz], i32                  sections begin at multiples of kAlignment,
//   ...  values [nnz], T; none if all are 1  zeros between; each has its checksum in the header
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <lanky/dtype.hpp>
#include <string_view>
#include <type_traits>

namespace lanky::inline v1::io {

/// The first byte is no text, the line ends show a transfer that changed them.
inline constexpr std::string_view kCacheMagic = "\x89LNKY\r\n\x1a";
inline constexpr std::uint32_t kCacheVersion = 1;
inline constexpr std::uint32_t kByteOrder = 0x01020304;
inline constexpr std::size_t kAlignment = 64;

/// 128 bits of XXH3.
struct ContentHash {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool operator==(const ContentHash&) const = default;
};

/// The state of the file that a cached copy was read from, and what was asked of it; all zero in a
/// file of write_cache().
struct SourceStamp {
  ContentHash question;          // absolute path, element type and options
  ContentHash content;           // the file's bytes
  std::int64_t bytes = 0;        // the file's size
  std::int64_t modified_ns = 0;  // its times, since 1970
  std::int64_t changed_ns = 0;
  std::int64_t confirmed_ns = 0;  // when the content was last hashed
};

enum CacheSection : std::size_t { kOffsets, kColumns, kValues, kSections };

struct CacheHeader {
  std::array<char, 8> magic{};
  std::uint32_t version = kCacheVersion;
  std::uint32_t byte_order = kByteOrder;
  std::uint8_t dtype = 0;         // a DType
  std::uint8_t offset_bytes = 8;  // of one row offset: 4 or 8
  std::uint8_t all_ones = 0;      // 1: there is no section of values, each is 1
  std::array<std::uint8_t, 5> unused{};
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  std::array<std::uint64_t, kSections> checksums{};
  SourceStamp source;
  std::array<std::uint8_t, 112> reserved{};
  std::uint64_t checksum = 0;
};

inline constexpr std::size_t kHeaderBytes = 256;
static_assert(sizeof(CacheHeader) == kHeaderBytes && std::is_trivially_copyable_v<CacheHeader>);
// Files hold these numbers.
static_assert(static_cast<int>(DType::f64) == 0 && static_cast<int>(DType::f32) == 1 &&
              static_cast<int>(DType::f16) == 2 && static_cast<int>(DType::bf16) == 3 &&
              static_cast<int>(DType::c64) == 4 && static_cast<int>(DType::c128) == 5);

/// Where a section stands in the file.
struct SectionPlace {
  std::int64_t begin = 0;
  std::int64_t bytes = 0;
};

/// All sections of a header whose sizes are plausible; the last one's end is that of the file.
inline std::array<SectionPlace, kSections> places_of(const CacheHeader& header) {
  const auto value_bytes = static_cast<std::int64_t>(size_of(static_cast<DType>(header.dtype)));
  const std::array<std::int64_t, kSections> bytes = {
      (header.rows + 1) * header.offset_bytes,
      header.nnz * static_cast<std::int64_t>(sizeof(std::int32_t)),
      header.all_ones == 1 ? 0 : header.nnz * value_bytes};
  std::array<SectionPlace, kSections> places;
  std::int64_t end = kHeaderBytes;
  for (std::size_t i = 0; i < kSections; ++i) {
    constexpr auto kStep = static_cast<std::int64_t>(kAlignment);
    places[i] = {(end + kStep - 1) / kStep * kStep, bytes[i]};
    end = places[i].begin + bytes[i];
  }
  return places;
}

}  // namespace lanky::inline v1::io
