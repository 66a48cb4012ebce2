#include "io/checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <vector>

#include "io/input_file.hpp"

namespace lanky::inline v1::io {

std::uint64_t block_checksum(const void* data, std::size_t bytes) noexcept {
  return XXH3_64bits(data, bytes);
}

std::uint64_t checksum_of_blocks(const std::uint64_t* blocks, std::size_t count) noexcept {
  return XXH3_64bits(blocks, count * sizeof *blocks);
}

std::uint64_t section_checksum(const void* data, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  std::vector<std::uint64_t> blocks(count_of_blocks(bytes));
#pragma omp parallel for schedule(static) if (blocks.size() > 1)
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::size_t at = i * kBlockOfChecksum;
    blocks[i] = block_checksum(begin + at, std::min(kBlockOfChecksum, bytes - at));
  }
  return checksum_of_blocks(blocks.data(), blocks.size());
}

std::uint64_t header_checksum(const CacheHeader& header) noexcept {
  return XXH3_64bits(&header, offsetof(CacheHeader, checksum));
}

ContentHash hash_text(std::string_view text) noexcept {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {hash.low64, hash.high64};
}

ContentHash hash_file(const std::filesystem::path& path) {
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_128bits_reset(&state);
  const InputFile file(path);
  std::vector<std::byte> block(kBlockOfChecksum);
  std::int64_t at = 0;
  while (const std::size_t bytes = file.read_some(block.data(), block.size(), at)) {
    XXH3_128bits_update(&state, block.data(), bytes);
    at += static_cast<std::int64_t>(bytes);
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(&state);
  return {hash.low64, hash.high64};
}

}  // namespace lanky::inline v1::io
