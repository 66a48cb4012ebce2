// A file that is there whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace lanky::report {

/// Written beside its target and renamed at the end; what is no regular file (a pipe, /dev/null) is
/// written to directly. "-" is standard output. Error(io) where that fails: the target is as it
/// was.
void write_whole(const std::string& path, std::string_view text);

}  // namespace lanky::report
