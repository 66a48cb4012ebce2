#include "io/line_blocks.hpp"

#include <algorithm>
#include <cstring>

namespace lanky::io {

namespace {

/// Bytes up to the last newline, with it; 0 where there is none.
std::size_t whole_lines(const char* text, std::size_t size) noexcept {
  const auto* newline = static_cast<const char*>(memrchr(text, '\n', size));
  return newline == nullptr ? 0 : static_cast<std::size_t>(newline + 1 - text);
}

}  // namespace

LineBlocks::LineBlocks(ArchiveReader& reader, std::size_t block_bytes)
    : reader_(reader),
      mapped_(reader.plain_size() ? MappedFile(reader.name()) : MappedFile()),
      block_bytes_(std::clamp(block_bytes, std::size_t{1}, kLongestLine)) {}

std::string_view LineBlocks::next(std::vector<char>& buffer) {
  return mapped_.bytes().empty() ? next_read(buffer) : next_mapped();
}

bool LineBlocks::is_cut(std::string_view block) noexcept {
  return block.size() == kLongestLine && block.back() != '\n';
}

std::string_view LineBlocks::next_mapped() {
  const std::string_view left = mapped_.bytes().substr(given_);
  std::size_t size = block_bytes_;
  std::size_t lines = 0;
  while (size <= left.size() && (lines = whole_lines(left.data(), size)) == 0 &&
         size < kLongestLine) {
    size = std::min(2 * size, kLongestLine);
  }
  const std::string_view block = left.substr(0, lines == 0 ? size : lines);
  given_ += block.size();
  return block;
}

std::string_view LineBlocks::next_read(std::vector<char>& buffer) {
  std::size_t limit = std::max(block_bytes_, tail_.size());
  if (buffer.size() < limit) buffer.resize(limit);
  std::copy(tail_.begin(), tail_.end(), buffer.begin());
  std::size_t size = tail_.size();
  tail_.clear();
  while (!at_end_) {
    if (size == limit) {
      const std::size_t lines = whole_lines(buffer.data(), size);
      if (lines > 0) {
        tail_.assign(buffer.data() + lines, buffer.data() + size);
        return {buffer.data(), lines};
      }
      if (limit == kLongestLine) break;
      limit = std::min(2 * limit, kLongestLine);
      buffer.resize(std::max(buffer.size(), limit));
    }
    const std::size_t bytes = reader_.read(buffer.data() + size, limit - size);
    at_end_ = bytes == 0;
    size += bytes;
  }
  return {buffer.data(), size};
}

void LineBlocks::release(std::string_view block) noexcept {
  if (mapped_.bytes().empty()) return;
  mapped_.release_before(
      static_cast<std::size_t>(block.data() + block.size() - mapped_.bytes().data()));
}

std::optional<std::int64_t> LineBlocks::text_bytes() const noexcept {
  if (mapped_.bytes().empty()) return reader_.plain_size();
  return static_cast<std::int64_t>(mapped_.bytes().size());
}

std::int64_t LineBlocks::count() const noexcept {
  const auto bytes = text_bytes();
  return bytes ? 1 + *bytes / static_cast<std::int64_t>(block_bytes_) : 0;
}

}  // namespace lanky::io
