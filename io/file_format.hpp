// Which format a matrix file is of: its content decides, its name does not matter.
#pragma once

#include <cstdint>
#include <filesystem>

namespace lanky::inline v1::io {

enum class FileFormat : std::uint8_t { matrix_market, rutherford_boeing, mat, cache };

/// Looks at the first bytes, of wrapped text at those inside. What is no regular file can be read
/// only once: it, and what nothing else fits, is taken for Matrix Market, whose reader says what is
/// wrong. Throws Error(io).
FileFormat file_format(const std::filesystem::path& path);

}  // namespace lanky::inline v1::io
