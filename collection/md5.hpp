// MD5, the checksum that servers of matrices publish.
#pragma once

#include <string>

namespace lanky::collection {

/// In hexadecimal. Error(io) where the file cannot be read.
std::string md5_of_file(const std::string& path);

}  // namespace lanky::collection
