// Whether a gzip file is whole, where no checksum is published for it.
#pragma once

#include <filesystem>
#include <string>

namespace lanky::collection {

/// "" where all of it can be decompressed and its own checksum is right; else what is wrong.
std::string fault_of_gzip(const std::filesystem::path& path);

}  // namespace lanky::collection
