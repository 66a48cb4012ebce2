#include "collection/text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <lanky/error.hpp>
#include <system_error>

#include "collection/file_descriptor.hpp"

namespace lanky::collection {

namespace {

void write_synced(const FileDescriptor& file, std::string_view text,
                  const std::filesystem::path& path) {
  while (!text.empty()) {
    const ssize_t written = write(file.get(), text.data(), text.size());
    if (written < 0) throw_errno("write", path);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fsync(file.get()) != 0) throw_errno("write", path);
}

}  // namespace

void throw_errno(const char* what, const std::filesystem::path& path) {
  const std::string reason = std::error_code(errno, std::generic_category()).message();
  throw Error(ErrorCode::io, std::string("cannot ") + what + " " + path.string() + ": " + reason);
}

std::string read_text(const std::filesystem::path& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) throw_errno("open", path);
  std::string text;
  char block[1 << 16];
  ssize_t count = 0;
  while ((count = read(file.get(), block, sizeof block)) > 0)
    text.append(block, static_cast<std::size_t>(count));
  if (count < 0) throw_errno("read", path);
  return text;
}

void write_text(const std::filesystem::path& path, std::string_view text) {
  std::string temporary = path.string() + ".new-XXXXXX";
  const FileDescriptor file(mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) throw_errno("write", path);
  try {
    write_synced(file, text, path);
    if (fchmod(file.get(), 0644) != 0 || rename(temporary.c_str(), path.c_str()) != 0)
      throw_errno("write", path);
  } catch (const Error&) {
    unlink(temporary.c_str());
    throw;
  }
  sync_folder(path.parent_path());
}

void sync_folder(const std::filesystem::path& folder) {
  const FileDescriptor directory(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() >= 0) fsync(directory.get());
}

}  // namespace lanky::collection
