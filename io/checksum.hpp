// Checksums by xxHash (XXH3), as quick as memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "io/cache_layout.hpp"

namespace lanky::inline v1::io {

/// Bytes that are hashed as one: a section's checksum is that of the checksums of its blocks, so
/// that blocks can be read and checked side by side.
inline constexpr std::size_t kBlockOfChecksum = std::size_t{1} << 20;
constexpr std::size_t count_of_blocks(std::size_t bytes) {
  return (bytes + kBlockOfChecksum - 1) / kBlockOfChecksum;
}

/// Of at most kBlockOfChecksum bytes.
std::uint64_t block_checksum(const void* data, std::size_t bytes) noexcept;
/// Of the checksums of all blocks, in their order.
std::uint64_t checksum_of_blocks(const std::uint64_t* blocks, std::size_t count) noexcept;
/// Of a whole section in memory.
std::uint64_t section_checksum(const void* data, std::size_t bytes);
/// Of a header, its own checksum aside.
std::uint64_t header_checksum(const CacheHeader& header) noexcept;

ContentHash hash_text(std::string_view text) noexcept;
/// Of a file's bytes. Throws Error(io).
ContentHash hash_file(const std::filesystem::path& path);

}  // namespace lanky::inline v1::io
