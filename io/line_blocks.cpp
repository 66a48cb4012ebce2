#include "io/line_blocks.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace lanky::inline v1::io {

namespace {

/// Bytes up to the last newline, with it; 0 where there is none.
std::size_t whole_lines(const char* text, std::size_t size) noexcept {
  const auto* newline = static_cast<const char*>(memrchr(text, '\n', size));
  return newline == nullptr ? 0 : static_cast<std::size_t>(newline + 1 - text);
}

}  // namespace

void TextBlock::pass(std::size_t bytes) {
  buffer.erase(buffer.begin(),
               buffer.begin() + static_cast<std::ptrdiff_t>(std::min(bytes, buffer.size())));
  offset += static_cast<std::int64_t>(bytes);
  size -= bytes;
  given = 0;
}

LineBlocks::LineBlocks(ArchiveReader& reader, std::size_t block_bytes)
    : reader_(reader), block_bytes_(std::clamp(block_bytes, std::size_t{1}, kLongestLine)) {
  if (!reader.plain_size()) return;
  file_.emplace(reader.name());
  file_bytes_ = file_->size();
}

void LineBlocks::take(TextBlock& block) {
  block.size = block.given = 0;
  block.offset = taken_;
  block.size = file_ ? next_in_file() : next_unwrapped(block.buffer);
  taken_ += static_cast<std::int64_t>(block.size);
}

std::string_view LineBlocks::read(TextBlock& block) const {
  const std::size_t left = block.size - block.given;
  std::size_t size = left;
  if (file_) {
    std::size_t wanted = kReadBytes;
    do {
      size = std::min(wanted, left);
      if (block.buffer.size() < size) block.buffer.resize(size);
      read_file(block.buffer.data(), size, block.offset + static_cast<std::int64_t>(block.given));
      if (size < left) size = whole_lines(block.buffer.data(), size);
      wanted *= 2;
    } while (size == 0 && left > 0);
  }
  block.given += size;
  return {block.buffer.data(), size};
}

bool LineBlocks::is_cut(std::string_view text) noexcept {
  return text.size() == kLongestLine && text.back() != '\n';
}

/// The size of the block that comes next.
std::size_t LineBlocks::next_in_file() const {
  const auto left = static_cast<std::size_t>(file_bytes_ - taken_);
  std::size_t size = block_bytes_;
  while (size < left) {
    const std::size_t lines = whole_lines_in_file(size);
    if (lines > 0) return lines;
    if (size == kLongestLine) return size;
    size = std::min(2 * size, kLongestLine);
  }
  return left;
}

/// whole_lines() of the next `size` bytes, which are looked through from their end on.
std::size_t LineBlocks::whole_lines_in_file(std::size_t size) const {
  std::array<char, 1024> window;  // longer than most lines
  for (std::size_t end = size; end > 0;) {
    const std::size_t begin = end - std::min(end, window.size());
    read_file(window.data(), end - begin, taken_ + static_cast<std::int64_t>(begin));
    const std::size_t lines = whole_lines(window.data(), end - begin);
    if (lines > 0) return begin + lines;
    end = begin;
  }
  return 0;
}

void LineBlocks::read_file(char* text, std::size_t size, std::int64_t offset) const {
  if (!file_->read_all(text, size, offset))
    throw became_shorter(name(), file_bytes_, file_->size());
}

std::size_t LineBlocks::next_unwrapped(std::vector<char>& buffer) {
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
        return lines;
      }
      if (limit == kLongestLine) break;
      limit = std::min(2 * limit, kLongestLine);
      buffer.resize(std::max(buffer.size(), limit));
    }
    const std::size_t bytes = reader_.read(buffer.data() + size, limit - size);
    at_end_ = bytes == 0;
    size += bytes;
  }
  return size;
}

std::optional<std::int64_t> LineBlocks::text_bytes() const noexcept {
  return file_ ? std::optional(file_bytes_) : std::nullopt;
}

std::int64_t LineBlocks::count() const noexcept {
  return file_ ? 1 + file_bytes_ / static_cast<std::int64_t>(block_bytes_) : 0;
}

}  // namespace lanky::inline v1::io
