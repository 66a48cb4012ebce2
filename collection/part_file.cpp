#include "collection/part_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <lanky/error.hpp>
#include <utility>

#include "collection/text_file.hpp"

namespace lanky::collection {

namespace {

namespace fs = std::filesystem;

fs::path part_path(const fs::path& target) {
  return target.string() + ".part";
}

void create_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(ErrorCode::io,
                "cannot create the folder " + folder.string() + ": " + error.message());
}

/// -1 where the folder vanished: another process deletes one that it leaves empty.
FileDescriptor open_part(const fs::path& path) {
  create_folder(path.parent_path());
  FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (file.get() < 0 && errno != ENOENT) throw_errno("write", path);
  return file;
}

/// False where another process has the lock.
bool try_lock(const FileDescriptor& file, const fs::path& path) {
  if (flock(file.get(), LOCK_EX | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  throw_errno("lock (flock; a cache on a local disk has locks)", path);
}

/// False where the file was renamed or deleted by the process that had its lock before.
bool is_still_at(const fs::path& path, const FileDescriptor& file) {
  struct stat opened {};
  struct stat named {};
  return fstat(file.get(), &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

}  // namespace

std::optional<PartFile> PartFile::lock(const fs::path& target) {
  const fs::path path = part_path(target);
  while (true) {
    FileDescriptor file = open_part(path);
    if (file.get() < 0) continue;
    if (!try_lock(file, path)) return std::nullopt;
    if (!is_still_at(path, file)) continue;
    PartFile part(target, std::move(file));
    part.take_up();
    return part;
  }
}

PartFile::PartFile(const fs::path& target, FileDescriptor file)
    : target_(target), path_(part_path(target)), file_(std::move(file)) {}

PartFile::~PartFile() {
  if (file_.get() >= 0 && size_ == 0) discard();
}

/// Goes on after the bytes of an earlier process, where it is known what they are of.
void PartFile::take_up() {
  size_ = lseek(file_.get(), 0, SEEK_END);
  if (size_ < 0) throw_errno("read", path_);
  const std::optional<Origin> origin = read_origin(path_);
  if (origin) origin_ = *origin;
  if (size_ > 0 && !origin) restart({});
}

void PartFile::restart(const Origin& origin) {
  if (ftruncate(file_.get(), 0) != 0 || lseek(file_.get(), 0, SEEK_SET) != 0)
    throw_errno("write", path_);
  size_ = 0;
  origin_ = origin;
  if (!origin.url.empty()) write_origin(path_, origin);
}

void PartFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file_.get(), bytes.data(), bytes.size());
    if (written < 0) throw_errno("write", path_);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    size_ += written;
  }
}

void PartFile::sync() const {
  if (fsync(file_.get()) != 0) throw_errno("write", path_);
}

void PartFile::publish(const Origin& origin) {
  write_origin(target_, origin);
  if (rename(path_.c_str(), target_.c_str()) != 0) throw_errno("write", target_);
  unlink(origin_path(path_).c_str());
  sync_folder(target_.parent_path());
  file_ = FileDescriptor();
}

void PartFile::discard() noexcept {
  unlink(origin_path(path_).c_str());
  unlink(path_.c_str());
  rmdir(path_.parent_path().c_str());  // succeeds where it is empty
  file_ = FileDescriptor();
  size_ = 0;
}

}  // namespace lanky::collection
