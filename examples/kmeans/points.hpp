// Points, one a row, in files: NumPy's .npy, and .csv.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lanky::examples {

/// rows x cols numbers in row-major order.
template <class T>
struct Table {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<T> values;
};

/// The points of a file, by its ending: .npy (float32 or float64, little-endian, two axes, either
/// order) or .csv (commas; a first line without any number is a heading). T is float or double.
/// Throws Error: io, parse (with file, line and column), unsupported (another ending or type).
template <class T>
Table<T> read_points(const std::string& path);

}  // namespace lanky::examples
