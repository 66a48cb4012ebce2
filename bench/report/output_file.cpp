#include "bench/report/output_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <lanky/error.hpp>

namespace lanky::report {

namespace {

namespace fs = std::filesystem;

void write_to(const fs::path& path, std::string_view text, const std::string& shown) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (file) return;
  throw Error(ErrorCode::io, shown + ": cannot be written: " + std::strerror(errno));
}

/// Of a chain of symbolic links the end, so that renaming leaves the links.
fs::path target_of(const std::string& path) {
  std::error_code ignored;
  const fs::path real = fs::weakly_canonical(path, ignored);
  return real.empty() ? fs::path(path) : real;
}

}  // namespace

void write_whole(const std::string& path, std::string_view text) {
  if (path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);  // main() looks whether it was written
    return;
  }
  const fs::path target = target_of(path);
  std::error_code failed;
  if (fs::exists(target, failed) && !fs::is_regular_file(target, failed)) {
    write_to(target, text, path);
    return;
  }
  fs::path beside = target;
  beside += ".part-" + std::to_string(getpid());
  try {
    write_to(beside, text, path);
    fs::rename(beside, target);
  } catch (const fs::filesystem_error& error) {
    fs::remove(beside, failed);
    throw Error(ErrorCode::io, path + ": cannot be written: " + error.code().message());
  } catch (const Error&) {
    fs::remove(beside, failed);
    throw;
  }
}

}  // namespace lanky::report
