// The one front door: which format a file is of, and whether a cached copy serves.
#include <algorithm>
#include <complex>
#include <iterator>
#include <lanky/io.hpp>
#include <utility>

#include "io/cache.hpp"
#include "io/cached_source.hpp"
#include "io/file_format.hpp"
#include "io/mat_reader.hpp"
#include "io/matrix_market_reader.hpp"
#include "io/rutherford_boeing_reader.hpp"

namespace lanky::inline v1::io {

namespace {

template <class T>
CsrMatrix<T> read_format(FileFormat format, const std::filesystem::path& path,
                         const ReadOptions& options) {
  switch (format) {
    case FileFormat::rutherford_boeing:
      return read_rutherford_boeing<T>(path, options);
    case FileFormat::mat:
      return read_mat<T>(path, options);
    case FileFormat::cache:
      return CacheFile(path).read<T>(options.duplicates);
    case FileFormat::matrix_market:
      break;
  }
  return read_matrix_market<T>(path, options);
}

/// What is no regular file can be read only once, and has no times.
bool is_worth_caching(FileFormat format, const std::filesystem::path& path) {
  std::error_code unknown;
  return format != FileFormat::cache && std::filesystem::is_regular_file(path, unknown);
}

}  // namespace

template <class T>
CsrMatrix<T> read_csr(const std::filesystem::path& path, const ReadOptions& options) {
  const FileFormat format = file_format(path);
  if (options.cache.empty() || !is_worth_caching(format, path)) {
    return read_format<T>(format, path, options);
  }
  CachedSource source(path, options, kDType<T>);
  if (auto cached = source.find<T>()) return *std::move(cached);
  source.note_content();
  std::vector<std::string> warnings;
  ReadOptions with_warnings = options;
  with_warnings.warnings = &warnings;
  CsrMatrix<T> matrix = read_format<T>(format, path, with_warnings);
  if (warnings.empty()) source.keep(matrix);  // a copy could not warn
  if (options.warnings != nullptr)
    std::ranges::move(warnings, std::back_inserter(*options.warnings));
  return matrix;
}

Header read_header(const std::filesystem::path& path, const ReadOptions& options) {
  switch (file_format(path)) {
    case FileFormat::rutherford_boeing:
      return read_rutherford_boeing_header(path);
    case FileFormat::mat:
      return read_mat_header(path, options);
    case FileFormat::cache:
      return CacheFile(path).description();
    case FileFormat::matrix_market:
      break;
  }
  return read_matrix_market_header(path);
}

template CsrMatrix<double> read_csr(const std::filesystem::path&, const ReadOptions&);
template CsrMatrix<float> read_csr(const std::filesystem::path&, const ReadOptions&);
template CsrMatrix<half> read_csr(const std::filesystem::path&, const ReadOptions&);
template CsrMatrix<bfloat16> read_csr(const std::filesystem::path&, const ReadOptions&);
template CsrMatrix<std::complex<float>> read_csr(const std::filesystem::path&, const ReadOptions&);
template CsrMatrix<std::complex<double>> read_csr(const std::filesystem::path&, const ReadOptions&);

}  // namespace lanky::inline v1::io
