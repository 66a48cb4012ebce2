// Small text files: read as a whole, and written so that a reader finds the old text or the new.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace lanky::collection {

/// Error(io) where it cannot be read.
std::string read_text(const std::filesystem::path& path);

/// Writes beside `path`, syncs and renames. Error(io) where that fails; nothing is left then.
void write_text(const std::filesystem::path& path, std::string_view text);

/// Makes what was renamed in `folder` last through a power cut, where the file system can.
void sync_folder(const std::filesystem::path& folder);

/// Error(io): "cannot WHAT PATH: " and the system's reason, of errno.
[[noreturn]] void throw_errno(const char* what, const std::filesystem::path& path);

}  // namespace lanky::collection
