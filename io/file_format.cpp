#include "io/file_format.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "io/archive_reader.hpp"
#include "io/cache_layout.hpp"
#include "io/rutherford_boeing_header.hpp"

namespace lanky::inline v1::io {

namespace {

/// HDF5's signature stands behind MATLAB's 512 bytes, or first where other programs wrote the file.
constexpr std::string_view kHdf5 = "\x89HDF\r\n\x1a\n";
constexpr std::size_t kUserBlockBytes = 512;
constexpr std::size_t kLookedAtBytes = 4096;

std::string first_bytes(const std::filesystem::path& path) {
  std::string head(kLookedAtBytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return head;
}

/// The same of the text inside compressors and archives.
std::string first_text(const std::filesystem::path& path) {
  ArchiveReader archive(path);
  std::string head(kLookedAtBytes, '\0');
  std::size_t size = 0;
  while (size < head.size()) {
    const std::size_t bytes = archive.read(head.data() + size, head.size() - size);
    if (bytes == 0) break;
    size += bytes;
  }
  head.resize(size);
  return head;
}

bool is_mat(std::string_view head) {
  return head.starts_with("MATLAB 5.0 MAT-file") || head.starts_with("MATLAB 7.3 MAT-file") ||
         head.starts_with(kHdf5) ||
         (head.size() > kUserBlockBytes && head.substr(kUserBlockBytes).starts_with(kHdf5));
}

}  // namespace

FileFormat file_format(const std::filesystem::path& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return FileFormat::matrix_market;
  const std::string head = first_bytes(path);
  if (head.starts_with(kCacheMagic)) return FileFormat::cache;
  if (is_mat(head)) return FileFormat::mat;
  if (head.starts_with("%%")) return FileFormat::matrix_market;
  return is_rutherford_boeing(first_text(path)) ? FileFormat::rutherford_boeing
                                                : FileFormat::matrix_market;
}

}  // namespace lanky::inline v1::io
