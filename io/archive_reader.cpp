// gzip is undone by GunzipFile, which compares the checksum and tells of bytes behind the stream
// (libarchive's gzip filter does neither); all other wrappings by libarchive.
#include "io/archive_reader.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <cerrno>
#include <exception>
#include <lanky/error.hpp>
#include <string_view>

#include "core/gunzip_file.hpp"
#include "core/text.hpp"
#include "io/input_file.hpp"

namespace lanky::inline v1::io {

namespace {

namespace fs = std::filesystem;

/// What libarchive calls for bytes. No exception may pass through its C frames.
struct Feed {
  explicit Feed(const fs::path& path) : file(path), name(path.string()) {}

  GunzipFile file;
  std::string name;
  std::exception_ptr failure;

  /// The next bytes, none at the end of the file; throws Error(io) on damage.
  std::string_view next() {
    const std::string_view bytes = file.next();
    if (bytes.empty() && !file.fault().empty())
      throw Error(ErrorCode::io, concat(name, ": cannot be read: ", file.fault()));
    return bytes;
  }
  static la_ssize_t read(archive* handle, void* self, const void** data) {
    auto& feed = *static_cast<Feed*>(self);
    try {
      const std::string_view bytes = feed.next();
      *data = bytes.data();
      return static_cast<la_ssize_t>(bytes.size());
    } catch (...) {
      feed.failure = std::current_exception();
      archive_set_error(handle, EIO, "the file cannot be read");
      return -1;
    }
  }
};

std::string member_name(archive_entry* entry) {
  const char* name = archive_entry_pathname_utf8(entry);
  if (name == nullptr) name = archive_entry_pathname(entry);
  return name == nullptr ? "" : name;
}

/// NAME/NAME.mtx, or NAME.mtx anywhere in an archive NAME.tar.gz; not NAME_b.mtx. NAME.rb alike.
bool is_the_matrix(const fs::path& member, const fs::path& archive_path) {
  if (member.extension() != ".mtx" && member.extension() != ".rb") return false;
  const std::string stem = member.stem().string();
  return member.parent_path().filename() == stem ||
         archive_path.filename().string().starts_with(stem + ".");
}

}  // namespace

struct ArchiveReader::Impl {
  explicit Impl(const fs::path& path) : feed(path), file_name(path.string()), name(file_name) {
    archive_read_support_filter_xz(handle.get());
    archive_read_support_filter_zstd(handle.get());
    archive_read_support_filter_bzip2(handle.get());
    archive_read_support_format_raw(handle.get());
    archive_read_support_format_tar(handle.get());
    archive_read_support_format_empty(handle.get());
    check(archive_read_open(handle.get(), &feed, nullptr, Feed::read, nullptr));
    find_matrix(path);
  }

  void check(la_ssize_t status) {
    if (status >= 0 || status == ARCHIVE_WARN) return;
    if (feed.failure) std::rethrow_exception(feed.failure);
    const char* cause = archive_error_string(handle.get());
    throw Error(
        ErrorCode::io,
        concat(file_name, ": cannot be read: ", cause == nullptr ? "damaged archive" : cause));
  }

  /// The next member; null after the last.
  archive_entry* next_member() {
    archive_entry* entry = nullptr;
    const int status = archive_read_next_header(handle.get(), &entry);
    if (status == ARCHIVE_EOF) return nullptr;
    check(status);
    return entry;
  }

  bool is_tar() const {
    return (archive_format(handle.get()) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_TAR;
  }

  void find_matrix(const fs::path& path) {
    constexpr int kMostNamed = 8;
    int members = 0;
    std::string named;
    while (archive_entry* entry = next_member()) {
      if (!is_tar()) {
        if (feed.file.plain() && archive_filter_count(handle.get()) == 1) note_plain_size(path);
        return;
      }
      const std::string member = member_name(entry);
      if (archive_entry_filetype(entry) != AE_IFREG) continue;
      if (is_the_matrix(member, path)) {
        name = concat(file_name, "/", member);
        return;
      }
      if (++members <= kMostNamed) named += concat(members > 1 ? ", " : "", member);
    }
    at_end = true;
    if (!is_tar()) return;
    if (members == 0) throw Error(ErrorCode::io, file_name + ": is an archive without files");
    if (members > kMostNamed) named += concat(" and ", members - kMostNamed, " more");
    throw Error(ErrorCode::io, concat(file_name, ": holds no NAME/NAME.mtx or .rb, but ", named,
                                      "; extract the matrix and give its own name"));
  }

  void note_plain_size(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return;
    const auto size = fs::file_size(path, error);
    if (!error) plain_size = static_cast<std::int64_t>(size);
  }

  /// Reads what follows the matrix, so that the checksum at the end of the file is compared.
  void drain() {
    if (is_tar()) {
      while (next_member() != nullptr) {
      }
    }
    while (!feed.next().empty()) {
    }
    at_end = true;
    if (plain_size && bytes_given < *plain_size)
      throw became_shorter(file_name, *plain_size, bytes_given);
  }

  struct Free {
    void operator()(archive* a) const noexcept { archive_read_free(a); }
  };

  Feed feed;
  std::unique_ptr<archive, Free> handle{archive_read_new()};
  std::string file_name;
  std::string name;
  std::optional<std::int64_t> plain_size;
  std::int64_t bytes_given = 0;
  bool at_end = false;
};

ArchiveReader::ArchiveReader(const fs::path& path) : impl_(std::make_unique<Impl>(path)) {}
ArchiveReader::~ArchiveReader() = default;

std::size_t ArchiveReader::read(char* buffer, std::size_t size) {
  if (impl_->at_end) return 0;
  const la_ssize_t bytes = archive_read_data(impl_->handle.get(), buffer, size);
  impl_->check(bytes);
  impl_->bytes_given += bytes;
  if (bytes > 0) return static_cast<std::size_t>(bytes);
  impl_->drain();
  return 0;
}

const std::string& ArchiveReader::name() const noexcept {
  return impl_->name;
}

std::optional<std::int64_t> ArchiveReader::plain_size() const noexcept {
  return impl_->plain_size;
}

}  // namespace lanky::inline v1::io
