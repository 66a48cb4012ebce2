#include "examples/kmeans/points.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <lanky/error.hpp>
#include <string_view>

#include "examples/support/npy.hpp"

namespace lanky::examples {

namespace {

/// What the header of an .npy file says.
struct NpyHeader {
  int element_bytes = 0;
  bool by_columns = false;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

[[noreturn]] void fail(ErrorCode code, const std::string& path, const std::string& why) {
  throw Error(code, path + ": " + why);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// Whether all of `text` is one number.
template <class Number>
bool parses(std::string_view text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

/// What follows 'key': in the dictionary of a header.
std::string_view value_of(const std::string& path, std::string_view header, std::string_view key) {
  const std::size_t at = header.find("'" + std::string(key) + "'");
  const std::size_t colon = at == std::string_view::npos ? at : header.find(':', at);
  if (colon == std::string_view::npos)
    fail(ErrorCode::parse, path, "its header has no '" + std::string(key) + "'");
  return trimmed(header.substr(colon + 1));
}

NpyHeader parse_npy_header(const std::string& path, std::string_view header) {
  NpyHeader parsed;
  const std::string_view type = value_of(path, header, "descr");
  const std::string_view name = trimmed(type.substr(0, type.find_first_of(",}")));
  if (name == "'<f8'") parsed.element_bytes = 8;
  if (name == "'<f4'") parsed.element_bytes = 4;
  if (parsed.element_bytes == 0) {
    fail(ErrorCode::unsupported, path,
         "its elements are " + std::string(name) + ", points are '<f4' or '<f8'");
  }
  parsed.by_columns = value_of(path, header, "fortran_order").starts_with("True");
  const std::string_view shape = value_of(path, header, "shape");
  const std::size_t comma = shape.find(',');
  const std::size_t end = shape.find(')');
  const bool two_axes = shape.starts_with("(") && end != std::string_view::npos && comma < end &&
                        parses(trimmed(shape.substr(1, comma - 1)), parsed.rows) &&
                        parses(trimmed(shape.substr(comma + 1, end - comma - 1)), parsed.cols);
  if (!two_axes || parsed.rows < 1 || parsed.cols < 1) {
    fail(ErrorCode::parse, path,
         "its shape is " + std::string(shape.substr(0, end + (end != std::string_view::npos))) +
             ", points are a table of n rows and d columns");
  }
  return parsed;
}

template <class T, class Stored>
void read_elements(std::ifstream& file, const NpyHeader& header, Table<T>& table) {
  const std::int64_t lines = header.by_columns ? header.cols : header.rows;
  const std::int64_t length = header.by_columns ? header.rows : header.cols;
  std::vector<Stored> line(static_cast<std::size_t>(length));
  for (std::int64_t i = 0; i < lines; ++i) {
    file.read(reinterpret_cast<char*>(line.data()),
              static_cast<std::streamsize>(line.size() * sizeof(Stored)));
    for (std::int64_t j = 0; j < length; ++j) {
      const std::int64_t at = header.by_columns ? j * header.cols + i : i * header.cols + j;
      table.values[static_cast<std::size_t>(at)] =
          static_cast<T>(line[static_cast<std::size_t>(j)]);
    }
  }
}

template <class T>
Table<T> read_npy(const std::string& path, std::ifstream& file) {
  file.seekg(0, std::ios::end);
  const std::int64_t file_bytes = file.tellg();
  file.seekg(0);
  char start[12] = {};
  file.read(start, 8);
  const int version = static_cast<unsigned char>(start[6]);
  if (!file || std::string_view(start, 6) != kNpyMagic)
    fail(ErrorCode::parse, path, "is no .npy file");
  if (version < 1 || version > 3)
    fail(ErrorCode::unsupported, path, "is of version " + std::to_string(version) + " of .npy");
  const int length_bytes = version == 1 ? 2 : 4;
  std::uint32_t header_bytes = 0;
  file.read(start + 8, length_bytes);
  std::memcpy(&header_bytes, start + 8, static_cast<std::size_t>(length_bytes));
  const std::int64_t data_start = 8 + length_bytes + std::int64_t{header_bytes};
  if (!file || data_start > file_bytes) fail(ErrorCode::parse, path, "ends within its header");
  std::string text(header_bytes, '\0');
  file.read(text.data(), header_bytes);

  const NpyHeader header = parse_npy_header(path, text);
  const std::int64_t held = (file_bytes - data_start) / header.element_bytes;
  if (header.rows > held / header.cols) {
    fail(ErrorCode::parse, path,
         "holds " + std::to_string(held) + " numbers, its header tells of " +
             std::to_string(header.rows) + " x " + std::to_string(header.cols));
  }
  Table<T> table{.rows = header.rows, .cols = header.cols, .values = {}};
  table.values.resize(static_cast<std::size_t>(header.rows * header.cols));
  if (header.element_bytes == 8) read_elements<T, double>(file, header, table);
  if (header.element_bytes == 4) read_elements<T, float>(file, header, table);
  if (!file) fail(ErrorCode::io, path, "cannot be read to its end");
  return table;
}

template <class T>
Table<T> read_csv(const std::string& path, std::ifstream& file) {
  Table<T> table;
  std::string line;
  bool at_first = true;  // of the lines that are not blank
  for (std::int64_t number = 1; std::getline(file, line); ++number) {
    std::string_view rest = line;
    if (number == 1 && rest.starts_with("\xef\xbb\xbf"))
      rest.remove_prefix(3);  // a byte order mark
    if (trimmed(rest).empty()) continue;
    const std::string where = path + ":" + std::to_string(number);
    std::int64_t fields = 0;
    std::int64_t numbers = 0;
    std::string first_other;  // the first field that is no number, and where it stands
    for (bool more = true; more; ++fields) {
      const std::size_t comma = rest.find(',');
      more = comma != std::string_view::npos;
      const std::string_view field = trimmed(rest.substr(0, comma));
      double value = 0;
      if (parses(field, value) && std::isfinite(static_cast<T>(value))) {
        ++numbers;
        table.values.push_back(static_cast<T>(value));
      } else if (first_other.empty()) {
        first_other = "column " + std::to_string(fields + 1) + ": \"" + std::string(field) + "\"";
      }
      if (more) rest.remove_prefix(comma + 1);
    }
    const bool heading = at_first && numbers == 0;
    at_first = false;
    if (heading) continue;
    if (!first_other.empty()) fail(ErrorCode::parse, where, first_other + " is no finite number");
    if (table.rows == 0) table.cols = fields;
    if (fields != table.cols) {
      fail(ErrorCode::parse, where,
           "has " + std::to_string(fields) + " fields, the rows above have " +
               std::to_string(table.cols));
    }
    ++table.rows;
  }
  if (table.rows == 0) fail(ErrorCode::parse, path, "has no row of numbers");
  return table;
}

}  // namespace

template <class T>
Table<T> read_points(const std::string& path) {
  const bool npy = path.ends_with(".npy");
  if (!npy && !path.ends_with(".csv"))
    fail(ErrorCode::unsupported, path, "points are read from files that end in .npy or .csv");
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(ErrorCode::io, path, "cannot be opened");
  if (!npy) return read_csv<T>(path, file);
  Table<T> table = read_npy<T>(path, file);
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    if (std::isfinite(table.values[i])) continue;
    const auto cols = static_cast<std::size_t>(table.cols);
    fail(ErrorCode::parse, path,
         "row " + std::to_string(i / cols) + ", column " + std::to_string(i % cols) +
             " (counted from 0) is no finite number");
  }
  return table;
}

template Table<float> read_points(const std::string&);
template Table<double> read_points(const std::string&);

}  // namespace lanky::examples
