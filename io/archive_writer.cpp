#include "io/archive_writer.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <lanky/error.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "core/text.hpp"

namespace lanky::inline v1::io {

namespace {

namespace fs = std::filesystem;

/// A name beside the target (so that rename stays on one file system) that no other writer uses.
fs::path name_beside(const fs::path& target) {
  static std::atomic<unsigned> count = 0;
  return concat(target.string(), ".part-", getpid(), "-", count++);
}

/// Chooses the compressor; a plain file gets none.
int add_filter(archive* handle, const std::string& ending) {
  if (ending == ".gz") return archive_write_add_filter_gzip(handle);
  if (ending == ".xz") return archive_write_add_filter_xz(handle);
  if (ending == ".zst") return archive_write_add_filter_zstd(handle);
  if (ending == ".bz2") return archive_write_add_filter_bzip2(handle);
  return archive_write_add_filter_none(handle);
}

}  // namespace

struct ArchiveWriter::Impl {
  explicit Impl(const fs::path& path) : target(path), part(name_beside(path)) {
    // The rename at the end would put a file in the place of /dev/null.
    std::error_code unknown;
    if (fs::exists(path, unknown) && !fs::is_regular_file(path, unknown)) {
      fail("it is not a regular file");
    }
    file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) fail(std::generic_category().message(errno));
  }
  ~Impl() {
    handle.reset();  // may still write to the file
    if (file >= 0) ::close(file);
    if (!committed) ::unlink(part.c_str());
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void start() {
    check(archive_write_set_format_raw(handle.get()));
    check(add_filter(handle.get(), target.extension().string()));
    check(archive_write_open_fd(handle.get(), file));
    const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    check(archive_write_header(handle.get(), entry.get()));
  }

  void finish() {
    check(archive_write_close(handle.get()));
    if (::close(std::exchange(file, -1)) != 0) fail(std::generic_category().message(errno));
    std::error_code error;
    fs::rename(part, target, error);
    if (error) fail(error.message());
    committed = true;
  }

  [[noreturn]] void fail(const std::string& cause) const {
    throw Error(ErrorCode::io, concat(target.string(), ": cannot be written: ", cause));
  }

  void check(la_ssize_t status) const {
    if (status >= 0 || status == ARCHIVE_WARN) return;
    const char* cause = archive_error_string(handle.get());
    fail(cause == nullptr ? "unknown cause" : cause);
  }

  struct Free {
    void operator()(archive* a) const noexcept { archive_write_free(a); }
  };
  struct FreeEntry {
    void operator()(archive_entry* e) const noexcept { archive_entry_free(e); }
  };

  fs::path target;
  fs::path part;
  int file = -1;
  bool committed = false;
  std::unique_ptr<archive, Free> handle{archive_write_new()};
};

ArchiveWriter::ArchiveWriter(const fs::path& path) : impl_(std::make_unique<Impl>(path)) {
  impl_->start();
}
ArchiveWriter::~ArchiveWriter() = default;

void ArchiveWriter::write(std::string_view bytes) {
  impl_->check(archive_write_data(impl_->handle.get(), bytes.data(), bytes.size()));
}

void ArchiveWriter::commit() {
  impl_->finish();
}

}  // namespace lanky::inline v1::io
