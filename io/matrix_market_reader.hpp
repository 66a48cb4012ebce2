// How a Matrix Market file is read, with what tests vary: the result is the same for all of it.
#pragma once

#include <filesystem>
#include <lanky/io.hpp>

#include "io/line_blocks.hpp"

namespace lanky::inline v1::io {

struct ReadLimits {
  std::size_t block_bytes = LineBlocks::kBlockBytes;
  int threads = 0;  // at most; 0: as many as OpenMP gives
};

/// As read_csr(), of a file that must be Matrix Market.
template <class T>
CsrMatrix<T> read_matrix_market(const std::filesystem::path& path, const ReadOptions& options,
                                const ReadLimits& limits = {});

/// As read_header(), of a file that must be Matrix Market.
Header read_matrix_market_header(const std::filesystem::path& path);

}  // namespace lanky::inline v1::io
