// Files that a command writes: checked before it begins, and there whole or not at all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lanky::report {

/// Before any work of a command that reads `inputs` and writes `outputs` ("" and "-" are no files).
/// Error(io) where an output is one of the inputs or of the other outputs, by whatever path, is a
/// folder, lacks the folder that it is to stand in, or is a regular file that is there already,
/// unless `force` replaces it.
void check_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs,
                   bool force);

/// Written beside its target and renamed at the end; what is no regular file (a pipe, /dev/null) is
/// written to directly. "-" is standard output. Error(io) where that fails: the target is as it
/// was.
void write_whole(const std::string& path, std::string_view text);

}  // namespace lanky::report
