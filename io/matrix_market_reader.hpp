// Matrix Market files to CSR; read_csr() comes here where a file is of no other format.
#pragma once

#include <lanky/io.hpp>

namespace lanky::io {

/// As read_csr(), of a file that must be Matrix Market.
template <class T>
CsrMatrix<T> read_matrix_market(const std::filesystem::path& path, const ReadOptions& options);

/// As read_header(), of a file that must be Matrix Market.
Header read_matrix_market_header(const std::filesystem::path& path);

}  // namespace lanky::io
