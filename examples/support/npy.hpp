// NumPy's .npy, format 1.0 (numpy.lib.format).
#pragma once

#include <bit>
#include <cstdint>
#include <fstream>
#include <lanky/error.hpp>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace lanky::examples {

static_assert(std::endian::native == std::endian::little, "files are read and written as they are");

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

/// Writes numbers of a standard type T as an array [rows, cols] in row-major order, or [rows] where
/// `cols` is 0. Throws Error(io).
template <class T>
void write_npy(const std::string& path, const std::vector<T>& values, std::int64_t rows,
               std::int64_t cols = 0) {
  const std::string type =
      (std::numeric_limits<T>::is_integer ? "<i" : "<f") + std::to_string(sizeof(T));
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" +
                       std::to_string(rows) + "," + (cols > 0 ? std::to_string(cols) : "") + "), }";
  constexpr std::size_t kAlignment = 64;  // of the data, the format asks for it
  const std::size_t ends = kNpyMagic.size() + 4 + header.size() + 1;
  header.append((kAlignment - ends % kAlignment) % kAlignment, ' ').append("\n");
  const auto length = static_cast<std::uint16_t>(header.size());
  std::ofstream file(path, std::ios::binary);
  file << kNpyMagic << '\x01' << '\0';
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file << header;
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(T)));
  if (!file.flush()) throw Error(ErrorCode::io, path + ": cannot be written");
}

}  // namespace lanky::examples
