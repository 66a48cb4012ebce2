// MATLAB's .mat files, versions 5 and 7.3, to CSR.
#pragma once

#include <lanky/io.hpp>

namespace lanky::inline v1::io {

/// As read_csr() and read_header(), of a file that must be a .mat file.
template <class T>
CsrMatrix<T> read_mat(const std::filesystem::path& path, const ReadOptions& options);
Header read_mat_header(const std::filesystem::path& path, const ReadOptions& options);

}  // namespace lanky::inline v1::io
