// The text of a matrix file as blocks of whole lines: parts of the mapped file where it is plain,
// else what an ArchiveReader gives, copied into buffers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/archive_reader.hpp"
#include "io/mapped_file.hpp"

namespace lanky::io {

class LineBlocks {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{2} << 20;
  /// The longest line that comes whole, its newline included.
  static constexpr std::size_t kLongestLine = std::size_t{64} << 20;

  /// Blocks of at most `block_bytes` (1 or more), or of one line where that is longer.
  explicit LineBlocks(ArchiveReader& reader, std::size_t block_bytes = kBlockBytes);

  /// The next block, empty at the end of the text. It stands in `buffer`, which the caller keeps as
  /// long as the block, or in the mapped file.
  std::string_view next(std::vector<char>& buffer);
  /// True where a block is kLongestLine bytes of a line that is longer.
  static bool is_cut(std::string_view block) noexcept;
  /// Says that this block and all before it are no longer needed.
  void release(std::string_view block) noexcept;

  /// The file, and the member of a tar, as messages name it.
  const std::string& name() const noexcept { return reader_.name(); }
  /// Bytes of the whole text, known where a plain file holds it.
  std::optional<std::int64_t> text_bytes() const noexcept;
  /// About how many blocks there are; 0 where that is not known.
  std::int64_t count() const noexcept;

 private:
  std::string_view next_mapped();
  std::string_view next_read(std::vector<char>& buffer);

  ArchiveReader& reader_;
  MappedFile mapped_;
  std::size_t block_bytes_;
  std::size_t given_ = 0;   // bytes of the mapped file that were given out
  std::vector<char> tail_;  // read behind the last block: the start of the next line
  bool at_end_ = false;
};

}  // namespace lanky::io
