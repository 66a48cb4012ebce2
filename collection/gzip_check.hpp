// Whether a gzip file is whole, where no checksum is published for it.
#pragma once

#include <filesystem>
#include <string>

namespace lanky::collection {

/// "" where all of it can be decompressed, its own checksum is right and nothing but zeros follows;
/// else what is wrong.
std::string fault_of_gzip(const std::filesystem::path& path);

}  // namespace lanky::collection
