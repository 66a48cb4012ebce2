// Which kernel computes a gram product, and how: a function of shape, type and device alone.
#pragma once

#include <cstdint>
#include <lanky/device.hpp>
#include <lanky/dtype.hpp>

#include "dense/problem.hpp"

namespace lanky::dense {

enum class GramKernel : std::uint8_t { none, vector, staged, rows, row_vector, direct };

struct GramConfiguration {
  GramKernel kernel = GramKernel::none;
  int tile = 0;             // index into the kernel's tiles
  int tile_m = 0;           // rows of A that a block of the vector kernel takes
  int strips = 1;           // of tile_m rows
  int blocks = 0;           // of each strip; each leaves partial sums
  bool one_launch = false;  // the last block adds the partial sums
  int run_log2 = 0;         // staged: neighbouring slots' worth of k that one block takes
  int slots = 0;            // staged: of the ring
  int packed = 1;           // rows: rows that make a wide row
};

/// Side lengths of the tiles of both kernels, in the order of their indices.
inline constexpr int kGramVectorM[] = {1, 2, 4, 8, 8};
inline constexpr int kGramVectorN[] = {1, 2, 4, 8, 1};
inline constexpr int kGramStaged[] = {16, 32, 64};

GramConfiguration choose_gram(const Problem& problem, DType type, int multiprocessors,
                              int compute_capability);

}  // namespace lanky::dense
