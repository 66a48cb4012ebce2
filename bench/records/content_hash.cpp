#include "bench/records/content_hash.hpp"

#define XXH_INLINE_ALL
#include <sys/stat.h>
#include <xxhash.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <vector>

namespace lanky::bench {

namespace {

struct FreeState {
  void operator()(XXH3_state_t* state) const noexcept { XXH3_freeState(state); }
};

std::string hexadecimal(std::uint64_t bits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4)
    text += kDigits[(bits >> shift) & 15];
  return text;
}

}  // namespace

std::string content_hash(const std::filesystem::path& path) {
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  std::ifstream file(path, std::ios::binary);
  const std::unique_ptr<XXH3_state_t, FreeState> state(XXH3_createState());
  XXH3_128bits_reset(state.get());
  std::vector<char> block(kBlock);
  while (file.read(block.data(), static_cast<std::streamsize>(kBlock)) || file.gcount() > 0)
    XXH3_128bits_update(state.get(), block.data(), static_cast<std::size_t>(file.gcount()));
  if (!file.eof()) return "";
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return "xxh3:" + hexadecimal(hash.high64) + hexadecimal(hash.low64);
}

std::optional<FileStamp> file_stamp(const std::filesystem::path& path) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileStamp{status.st_size, status.st_mtim.tv_sec * kSecond + status.st_mtim.tv_nsec};
}

std::string text_hash(std::string_view text) {
  return hexadecimal(XXH3_64bits(text.data(), text.size()));
}

}  // namespace lanky::bench
