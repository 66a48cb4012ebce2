#include "cli/dense_file.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstring>
#include <lanky/csr.hpp>
#include <lanky/error.hpp>
#include <lanky/io.hpp>
#include <limits>
#include <string_view>
#include <type_traits>

#include "bench/report/output_file.hpp"
#include "cli/warnings.hpp"

namespace lanky::cli {

namespace {

static_assert(std::endian::native == std::endian::little, "bytes of .npy stand as in memory");

constexpr std::string_view kNpy = ".npy";
constexpr std::string_view kMatrixMarket = ".mtx";

template <class T>
constexpr bool kIsReal = std::is_floating_point_v<T>;

/// The shortest decimal that is read back to the same bits.
template <class Real>
void append_number(std::string& text, Real value) {
  char digits[std::numeric_limits<Real>::max_digits10 + 16];
  const auto end = std::to_chars(digits, digits + sizeof digits, value);
  text.append(digits, end.ptr);
}

/// Columns one after the other, as arrays of Matrix Market stand.
template <class T>
std::string matrix_market_text(std::int64_t rows, std::int64_t cols, const std::vector<T>& values) {
  std::string text = std::string("%%MatrixMarket matrix array ") +
                     (kIsReal<T> ? "real" : "complex") + " general\n" + std::to_string(rows) + " " +
                     std::to_string(cols) + "\n";
  for (std::int64_t j = 0; j < cols; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const T value = values[static_cast<std::size_t>(i * cols + j)];
      append_number(text, std::real(value));
      if constexpr (!kIsReal<T>) {
        text += ' ';
        append_number(text, std::imag(value));
      }
      text += '\n';
    }
  }
  return text;
}

/// Format 1.0 of numpy.lib.format.
template <class T>
std::string npy_text(std::int64_t rows, std::int64_t cols, const std::vector<T>& values) {
  constexpr std::size_t kAlignment = 64;  // of the elements, which the format asks for
  std::string text("\x93NUMPY\x01\x00", 8);
  const std::string type = (kIsReal<T> ? "<f" : "<c") + std::to_string(sizeof(T));
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" +
                       std::to_string(rows) + ", " + std::to_string(cols) + "), }";
  const std::size_t end = text.size() + 2 + header.size() + 1;
  header.append((kAlignment - end % kAlignment) % kAlignment, ' ');
  header += '\n';
  text += static_cast<char>(header.size() % 256);
  text += static_cast<char>(header.size() / 256);
  text += header;
  const std::size_t begin = text.size();
  text.resize(begin + values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(text.data() + begin, values.data(), values.size() * sizeof(T));
  return text;
}

}  // namespace

void check_dense_name(const std::string& option, const std::string& path) {
  if (path.empty() || path.ends_with(kMatrixMarket) || path.ends_with(kNpy)) return;
  throw Error(ErrorCode::invalid_argument,
              option + " " + path + ": the name should end with .mtx or .npy");
}

template <class T>
void write_dense(const std::string& path, std::int64_t rows, std::int64_t cols,
                 const std::vector<T>& values) {
  report::write_whole(path, path.ends_with(kNpy) ? npy_text(rows, cols, values)
                                                 : matrix_market_text(rows, cols, values));
}

template <class T>
std::vector<T> read_dense(const std::string& path, std::int64_t rows, std::int64_t& cols) {
  std::vector<std::string> warnings;
  const CsrMatrix<T> matrix = io::read_csr<T>(path, {.warnings = &warnings});
  print_warnings(warnings);
  constexpr std::int64_t kMostColumns = 65536;
  if (matrix.rows != rows || matrix.cols == 0 || matrix.cols > kMostColumns) {
    throw Error(ErrorCode::unsupported,
                path + ": has " + std::to_string(matrix.rows) + " rows and " +
                    std::to_string(matrix.cols) + " columns; " + std::to_string(rows) +
                    " rows and 1 to " + std::to_string(kMostColumns) + " columns are needed");
  }
  cols = matrix.cols;
  std::vector<T> values(static_cast<std::size_t>(rows * cols));
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (std::int64_t e = matrix.row_offsets[row]; e < matrix.row_offsets[row + 1]; ++e) {
      const auto at = static_cast<std::size_t>(e);
      const T value = matrix.values[at];
      if (!std::isfinite(std::real(value)) || !std::isfinite(std::imag(value))) {
        throw Error(ErrorCode::unsupported,
                    path + ": the element in row " + std::to_string(i + 1) + " and column " +
                        std::to_string(matrix.col_indices[at] + 1) + " is not finite");
      }
      values[static_cast<std::size_t>(i * cols + matrix.col_indices[at])] = value;
    }
  }
  return values;
}

#define LANKY_INSTANTIATE(T)                                                \
  template void write_dense(const std::string&, std::int64_t, std::int64_t, \
                            const std::vector<T>&);                         \
  template std::vector<T> read_dense(const std::string&, std::int64_t, std::int64_t&);
LANKY_INSTANTIATE(double)
LANKY_INSTANTIATE(float)
LANKY_INSTANTIATE(std::complex<double>)
LANKY_INSTANTIATE(std::complex<float>)
#undef LANKY_INSTANTIATE

}  // namespace lanky::cli
