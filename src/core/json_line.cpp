#include "core/json_line.hpp"

#include <cerrno>
#include <cstring>
#include <lanky/error.hpp>
#include <system_error>

#include "core/text.hpp"

namespace lanky {

LineReader::LineReader(const std::filesystem::path& path)
    : path_(path), file_(path, std::ios::binary) {
  int cause = file_ ? 0 : errno;
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) cause = EISDIR;  // which a stream opens
  if (cause == 0) return;
  throw Error(ErrorCode::io, concat(path.string(), ": cannot be opened: ", std::strerror(cause)));
}

bool LineReader::next() {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  while (read_line()) {
    if (++number_ == 1 && text_.starts_with(kByteOrderMark)) text_.erase(0, kByteOrderMark.size());
    if (text_.ends_with('\r')) text_.pop_back();
    if (text_.find_first_not_of(" \t\r") != std::string::npos) return true;
  }
  if (file_.bad()) throw Error(ErrorCode::io, path_.string() + ": reading failed");
  return false;
}

/// The next line as it stands. std::getline would take all memory for /dev/zero.
bool LineReader::read_line() {
  char block[4096];
  text_.clear();
  is_whole_ = false;
  while (file_.good() && !is_whole_) {
    file_.getline(block, sizeof block);
    is_whole_ = file_.good();  // the newline counts, but is not stored
    text_.append(block, static_cast<std::size_t>(file_.gcount()) - (is_whole_ ? 1 : 0));
    if (text_.size() > kLongestLine)
      throw Error(ErrorCode::parse, concat(path_.string(), ":", number_ + 1, ": is longer than ",
                                           kLongestLine, " bytes, as no line of results is"));
    if (!file_.eof() && !file_.bad()) file_.clear();  // the block was full
  }
  return is_whole_ || !text_.empty();
}

std::string LineReader::place() const {
  return concat(path_.string(), ":", number_);
}

}  // namespace lanky
