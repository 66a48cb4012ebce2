// Which kernel computes a gram product, and how: a function of shape, type and device alone.
#pragma once

#include <cstdint>
#include <lanky/device.hpp>
#include <lanky/dtype.hpp>
#include <string>

#include "dense/problem.hpp"

namespace lanky::dense {

/// The kernels of dense/cuda/gram_<name>.cuh; none where the product goes elsewhere.
enum class GramKernel : std::uint8_t { none, vector, direct, staged, rows, row_vector, row_strip };

struct GramConfiguration {
  GramKernel kernel = GramKernel::none;
  int tile = 0;             // index into the kernel's tiles
  bool row_major = false;   // the m elements of a row of A^T are adjacent, not the k of a column
  bool vectors = false;     // leading dimensions allow loads of 16 bytes
  Math math = Math::ieee;   // staged: what float is multiplied in
  int strips = 1;           // of rows of A, side by side in the grid
  int blocks = 0;           // of each strip; each leaves partial sums
  bool one_launch = false;  // the last block adds the partial sums
  bool spread = false;      // direct: the loads that a warp has in flight are far apart
  int run_log2 = 0;         // staged: 2^run_log2 neighbouring slots' worth of k go to one block
  int packed = 1;           // rows: rows that make a wide row
};

/// Side lengths of tiles, in the order of their indices.
inline constexpr int kGramVectorM[] = {1, 2, 4, 8, 8};
inline constexpr int kGramVectorN[] = {1, 2, 4, 8, 1};
inline constexpr int kGramStaged[] = {16, 32, 64};

GramConfiguration choose_gram(const Problem& problem, DType type, int multiprocessors,
                              int compute_capability);

/// One line of explain().
std::string describe(const GramConfiguration& configuration);

}  // namespace lanky::dense
