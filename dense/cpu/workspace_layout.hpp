// Where things stand in the workspace of a run on the CPU.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dense/cpu/blocking.hpp"
#include "dense/cpu/pack.hpp"
#include "dense/cpu/register_tiles.hpp"

namespace lanky::dense::cpu {

inline constexpr std::int64_t kCacheLine = 64;

constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return ceil_div(value, unit) * unit;
}

/// The workspace of a run: partial sums of chunks, a B that all tasks share, and panels of each
/// thread. Offsets and sizes in bytes.
template <class T>
struct WorkspaceLayout {
  std::int64_t shared_b = 0;  // partial sums begin at 0
  std::int64_t b_block = 0;   // of one block of packed B
  std::int64_t threads = 0;   // where panels begin; a stands first in each
  std::int64_t b = 0;
  std::int64_t sums = 0;    // Real<T>
  std::int64_t totals = 0;  // double
  std::int64_t per_thread = 0;
  int ld = 0;  // of sums and totals: [columns of C][ld rows], swapped [rows][ld columns]
  std::int64_t b_blocks_of_chunk = 0;
  std::int64_t b_blocks_of_columns = 0;

  /// `work`: the product that is computed, folded or not.
  WorkspaceLayout(const Problem& work, const Blocking& blocking,
                  const RegisterTiles<Real<T>>& tiles) {
    constexpr std::int64_t kSize = sizeof(Real<T>);
    const auto after = [](std::int64_t offset, std::int64_t size) {
      return offset + round_up(size, kCacheLine);
    };
    shared_b = after(0, blocking.partial() ? blocking.split.count * work.m * work.n * kParts<T> *
                                                 std::int64_t{sizeof(double)}
                                           : 0);
    const std::int64_t columns = std::int64_t{blocking.columns} * kParts<T>;
    const std::int64_t depth = std::int64_t{blocking.depth} * kParts<T>;
    b_block =
        after(0, strip_start(tiles, round_up(columns, std::max(tiles.width, tiles.group)), depth) *
                     kSize);
    b_blocks_of_chunk = ceil_div(blocking.split.length, blocking.depth);
    b_blocks_of_columns = ceil_div(work.n, blocking.columns);
    threads = after(shared_b, blocking.b_shared ? b_blocks() * blocking.split.count * b_block : 0);

    const bool swapped = blocking.form == Form::swapped;
    ld = static_cast<int>(round_up(swapped ? columns : blocking.rows, tiles.width));
    const std::int64_t elements =
        std::int64_t{ld} * (swapped ? blocking.rows : columns) + tiles.width;
    const std::int64_t rows = round_up(blocking.rows, tiles.width);
    b = after(0, blocking.a_in_place ? 0 : strip_start(tiles, rows, depth) * kSize);
    sums = after(b, blocking.b_in_place || blocking.b_shared ? 0 : b_block);
    totals = after(sums, elements * kSize);
    per_thread = after(totals, blocking.promote == 0 ? 0 : elements * std::int64_t{sizeof(double)});
  }

  /// Blocks of B in one chunk of k.
  std::int64_t b_blocks() const { return b_blocks_of_chunk * b_blocks_of_columns; }
};

}  // namespace lanky::dense::cpu
