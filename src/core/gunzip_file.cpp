#include "core/gunzip_file.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <lanky/error.hpp>
#include <new>
#include <system_error>
#include <utility>

#include "core/text.hpp"

namespace lanky {

namespace {

constexpr std::size_t kGunzipBytes = std::size_t{1} << 18;
constexpr int kGzipWindow = 15 + 16;  // the largest window, in a gzip stream and no other
constexpr unsigned char kGzipMagic[] = {0x1f, 0x8b};

std::string_view text_of(const unsigned char* bytes, std::size_t count) {
  return {reinterpret_cast<const char*>(bytes), count};
}

}  // namespace

GunzipFile::GunzipFile(const std::filesystem::path& path)
    : input_(kGunzipBytes), output_(kGunzipBytes), stream_(std::make_unique<z_stream>()) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    throw Error(ErrorCode::io, path.string() + ": is a directory");
  if (inflateInit2(stream_.get(), kGzipWindow) != Z_OK) throw std::bad_alloc();
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ >= 0) return;
  const int cause = errno;
  inflateEnd(stream_.get());
  throw Error(
      ErrorCode::io,
      concat(path.string(), ": cannot be opened: ", std::generic_category().message(cause)));
}

GunzipFile::~GunzipFile() {
  inflateEnd(stream_.get());
  ::close(file_);
}

std::string_view GunzipFile::next() {
  while (fault_.empty()) {
    switch (state_) {
      case State::start:
      case State::behind_member:
        look_for_member();
        break;
      case State::plain:
        return give_input();
      case State::member:
        if (const std::string_view bytes = inflate_some(); !bytes.empty()) return bytes;
        break;
      case State::behind_all:
        pass_zeros();
        return {};
    }
  }
  return {};
}

void GunzipFile::look_for_member() {
  while (stream_->avail_in < sizeof kGzipMagic && read_more()) {
  }
  if (stream_->avail_in >= sizeof kGzipMagic &&
      std::memcmp(stream_->next_in, kGzipMagic, sizeof kGzipMagic) == 0) {
    inflateReset(stream_.get());
    state_ = State::member;
  } else {
    state_ = state_ == State::start ? State::plain : State::behind_all;
  }
}

std::string_view GunzipFile::give_input() {
  if (stream_->avail_in == 0) read_more();
  return text_of(stream_->next_in, std::exchange(stream_->avail_in, 0));
}

/// As much as there is room for; less at the end of a member, and in front of a fault.
std::string_view GunzipFile::inflate_some() {
  stream_->next_out = output_.data();
  stream_->avail_out = static_cast<uInt>(output_.size());
  while (state_ == State::member && fault_.empty() && stream_->avail_out > 0) {
    if (stream_->avail_in == 0 && !read_more()) {
      if (fault_.empty()) fault_ = "unexpected end of file";
      break;
    }
    const int code = inflate(stream_.get(), Z_NO_FLUSH);
    if (code == Z_STREAM_END) {
      state_ = State::behind_member;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      fault_ = stream_->msg == nullptr ? "no memory is left to inflate it" : stream_->msg;
    }
  }
  return text_of(output_.data(), output_.size() - stream_->avail_out);
}

/// Up to the end of the file.
void GunzipFile::pass_zeros() {
  do {
    const unsigned char* begin = stream_->next_in;
    const unsigned char* end = begin + stream_->avail_in;
    const unsigned char* other = std::find_if(begin, end, [](unsigned char c) { return c != 0; });
    if (other != end) {
      fault_ = concat("byte ", bytes_read_ - (end - other),
                      " is behind the end of the gzip stream and begins no other one; fetch the "
                      "file again");
      return;
    }
    stream_->avail_in = 0;
  } while (read_more());
}

/// Puts further bytes of the file behind the unread ones; false at its end, and where it cannot be
/// read.
bool GunzipFile::read_more() {
  const std::size_t unread = stream_->avail_in;
  if (unread > 0) std::memmove(input_.data(), stream_->next_in, unread);
  stream_->next_in = input_.data();
  ssize_t count = 0;
  do {
    count = ::read(file_, input_.data() + unread, input_.size() - unread);
  } while (count < 0 && errno == EINTR);
  if (count < 0) fault_ = std::generic_category().message(errno);
  if (count <= 0) return false;
  stream_->avail_in += static_cast<uInt>(count);
  bytes_read_ += count;
  return true;
}

}  // namespace lanky
