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

bool is_file(const std::string& path) {
  return !path.empty() && path != "-";
}

/// Links of either kind and other spellings included; files that are not there yet by their paths.
bool are_one(const std::string& a, const std::string& b) {
  std::error_code absent;
  const bool one = fs::equivalent(a, b, absent);
  return absent ? target_of(a) == target_of(b) : one;
}

void require_no_other(const std::string& output, const std::vector<std::string>& others,
                      const char* what) {
  for (const std::string& other : others)
    if (is_file(other) && are_one(output, other))
      throw Error(ErrorCode::io, output + ": is " + what +
                                     (output == other ? "" : " (" + other + ")") +
                                     ", and is not written; name another file");
}

}  // namespace

void check_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs,
                   bool force) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string& output = outputs[i];
    std::error_code absent;
    if (!is_file(output)) continue;
    if (fs::is_directory(output, absent)) throw Error(ErrorCode::io, output + ": is a folder");
    if (fs::exists(output, absent) && !fs::is_regular_file(output, absent)) continue;
    require_no_other(output, inputs, "read by this command");
    const auto others = outputs.begin() + static_cast<std::ptrdiff_t>(i);
    require_no_other(output, {outputs.begin(), others}, "another output of this command");
    const fs::path folder = target_of(output).parent_path();
    if (!folder.empty() && !fs::is_directory(folder, absent))
      throw Error(ErrorCode::io,
                  output + ": cannot be written: there is no folder " + folder.string());
    if (!force && fs::exists(output, absent))
      throw Error(ErrorCode::io, output + ": is there already; --force replaces it");
  }
}

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
