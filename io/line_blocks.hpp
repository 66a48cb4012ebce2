// The text of a matrix file as blocks of whole lines. A thread at a time takes the next block;
// where a plain file holds the text, the threads then read their blocks side by side.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/archive_reader.hpp"
#include "io/input_file.hpp"

namespace lanky::inline v1::io {

/// A block of text that somebody has taken.
struct TextBlock {
  /// Drops its first bytes, which were given; reading begins anew behind them.
  void pass(std::size_t bytes);

  std::int64_t offset = 0;   // of the block in a plain file
  std::size_t size = 0;      // bytes; 0 at the end of the text
  std::size_t given = 0;     // bytes of it that read() gave; at 0 it begins anew
  std::vector<char> buffer;  // holds what read() gave; may serve another block then
};

class LineBlocks {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{2} << 20;
  // Bytes of a plain file read at once. Whole blocks took 4 to 6 % longer for a file of short
  // integers (Xeon with 2 MiB of L2 a core); 128 and 512 KiB take the time of 256.
  static constexpr std::size_t kReadBytes = std::size_t{1} << 18;
  /// The longest line that comes whole, its newline included.
  static constexpr std::size_t kLongestLine = std::size_t{64} << 20;

  /// Blocks of at most `block_bytes` (1 or more), or of one line where that is longer.
  explicit LineBlocks(ArchiveReader& reader, std::size_t block_bytes = kBlockBytes);

  /// Takes the next block; one thread at a time.
  void take(TextBlock& block);
  /// Its next whole lines, a part of it that stays in a core's second cache while it is parsed;
  /// empty at its end. Threads may read their blocks side by side. Throws Error(io), as take()
  /// does, where the file has become shorter.
  std::string_view read(TextBlock& block) const;
  /// True where text is kLongestLine bytes of a line that is longer.
  static bool is_cut(std::string_view text) noexcept;

  /// The file, and the member of a tar, as messages name it.
  const std::string& name() const noexcept { return reader_.name(); }
  /// Bytes of the whole text, known where a plain file holds it.
  std::optional<std::int64_t> text_bytes() const noexcept;
  /// About how many blocks there are; 0 where that is not known.
  std::int64_t count() const noexcept;

 private:
  std::size_t next_in_file() const;
  std::size_t whole_lines_in_file(std::size_t size) const;
  void read_file(char* text, std::size_t size, std::int64_t offset) const;
  std::size_t next_unwrapped(std::vector<char>& buffer);

  ArchiveReader& reader_;
  std::optional<InputFile> file_;  // where the text is plain
  std::int64_t file_bytes_ = 0;
  std::int64_t taken_ = 0;  // bytes of the file that were taken
  std::size_t block_bytes_;
  std::vector<char> tail_;  // read behind the last block: the start of the next line
  bool at_end_ = false;
};

}  // namespace lanky::inline v1::io
