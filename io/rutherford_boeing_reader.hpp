// Rutherford-Boeing and Harwell-Boeing files to CSR.
#pragma once

#include <lanky/io.hpp>

namespace lanky::inline v1::io {

/// As read_csr() and read_header(), of a file that must be Rutherford-Boeing or Harwell-Boeing.
template <class T>
CsrMatrix<T> read_rutherford_boeing(const std::filesystem::path& path, const ReadOptions& options);
Header read_rutherford_boeing_header(const std::filesystem::path& path);

}  // namespace lanky::inline v1::io
