// A pattern as sampled products on a GPU read it: quads of four entries, each with all that a group
// of lanes needs to begin with it, so that work is shared out by entries and not by rows.
//
//   columns[4 q + k]  column of entry 4 q + k, with kBeginsRow where it is the first of its row;
//                     0 behind the last entry
//   first[q]          row of entry 4 q, as its number among the rows that have entries
//   filled[i]         i-th row that has entries; empty where all have
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/stream.hpp>

#include "sparse/buffer_bytes.hpp"
#include "sparse/load_pattern.hpp"

namespace lanky::sparse::cuda {

inline constexpr int kQuad = 4;
inline constexpr std::uint32_t kBeginsRow = std::uint32_t{1} << 31;

struct Quads {
  Buffer<std::uint32_t> columns;  // [kQuad * quads]
  Buffer<std::int32_t> first;     // [quads]
  Buffer<std::int32_t> filled;    // [rows that have entries], or empty
  std::int64_t entries;

  std::int64_t bytes() const { return bytes_of(columns, first, filled); }
};

/// Of a pattern in the memory of the stream's device.
Quads make_quads(const Stream& stream, const LoadedPattern& loaded, Allocator* allocator);

}  // namespace lanky::sparse::cuda
