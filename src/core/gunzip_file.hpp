// The bytes of a file, gunzipped where it is gzipped. zlib's own gzFile says nothing of what
// follows the end of a gzip stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct z_stream_s;

namespace lanky {

/// A gzip file is one or more members, which zeros may follow, as on tapes; anything else behind
/// them is a fault. A file that is no gzip file is given as it stands.
class GunzipFile {
 public:
  /// Throws Error(io) where the file cannot be opened.
  explicit GunzipFile(const std::filesystem::path& path);
  ~GunzipFile();
  GunzipFile(const GunzipFile&) = delete;
  GunzipFile& operator=(const GunzipFile&) = delete;

  /// The next bytes, kept until the next call; none at the end and behind a fault.
  std::string_view next();
  /// Why next() has nothing more to give; "" where that is the end of the file.
  const std::string& fault() const noexcept { return fault_; }
  /// True where the bytes that next() gave are those of the file.
  bool plain() const noexcept { return state_ == State::plain; }

 private:
  enum class State : std::uint8_t { start, plain, member, behind_member, behind_all };

  void look_for_member();
  std::string_view inflate_some();
  std::string_view give_input();
  void pass_zeros();
  bool read_more();

  int file_;
  State state_ = State::start;
  std::vector<unsigned char> input_;  // its unread part is the input of stream_
  std::vector<unsigned char> output_;
  std::unique_ptr<z_stream_s> stream_;
  std::int64_t bytes_read_ = 0;  // of the file
  std::string fault_;
};

}  // namespace lanky
