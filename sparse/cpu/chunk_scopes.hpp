// How the rows of a scope become chunks: which rows, side by side or each alone, and how columns
// are stored. Packing and the cost of a shape count with the same code.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sparse/cpu/chunks.hpp"
#include "sparse/csr.hpp"

namespace lanky::sparse::cpu {

/// Sums over chunks.
struct ChunkCounts {
  std::int64_t rows = 0;
  std::int64_t entries = 0;
  std::int64_t chunks = 0;
  std::int64_t slots = 0;
  std::int64_t code_bytes = 0;
  std::int64_t empty_rows = 0;
  std::int64_t short_rows = 0;
  std::int64_t short_entries = 0;
  std::int64_t beside_rows = 0;
  std::int64_t beside_entries = 0;
  std::int64_t beside_steps = 0;
  std::int64_t alone_rows = 0;  // that have entries
  std::int64_t listed_rows = 0;
  std::int64_t uneven_chunks = 0;
  std::array<std::int64_t, kCodes> code_entries{};

  ChunkCounts& operator+=(const ChunkCounts& other);
};

/// The rows of a scope but the cut ones, in the order in which chunks take them.
class ScopeOrder {
 public:
  /// Of the rows from `first` to `last`, at most kScopeMost; by length, the longest first, where
  /// `sorts`, equal ones as they are.
  std::span<const std::uint16_t> of(const CsrPattern& a, std::int64_t first, std::int64_t last,
                                    bool sorts);

 private:
  static constexpr int kCountedMost = 1024;  // entries of rows that are sorted by counting

  void sort_by_counting(int longest, int rows);
  void sort_by_comparing(int rows);

  std::array<std::uint16_t, kScopeMost> order_;
  std::array<std::uint16_t, kScopeMost> rows_;     // that are not cut
  std::array<std::uint16_t, kScopeMost> lengths_;  // of these
  std::array<std::uint16_t, kCountedMost + 2> counts_;
};

/// A chunk with what its arrays hold.
struct PlannedChunk {
  Chunk chunk;
  // Of the chunk's rows alone: the rest is not set, which setups would notice.
  std::array<std::int64_t, kChunkRows> row;  // of the matrix
  std::array<std::int64_t, kChunkRows> begin;
  std::array<std::int64_t, kChunkRows> length;
  std::int64_t entries;
  std::int64_t slots;
};

/// The chunk of the rows `first` + order[i], at most kChunkRows, its codes not chosen yet.
PlannedChunk place_chunk(const CsrPattern& a, std::int64_t first,
                         std::span<const std::uint16_t> order, const ChunkShape& shape);
/// That of one piece of a cut row, which is partial sum `partial`; likewise.
PlannedChunk place_piece(const CsrPattern& a, std::int64_t row, std::int64_t piece,
                         std::int32_t partial);
/// The narrowest codes that hold its columns.
Codes choose_codes(const CsrPattern& a, const PlannedChunk& planned);

/// Takes a chunk, its codes chosen, into the counts.
void count_chunk(const PlannedChunk& planned, ChunkCounts& counts);

/// Scopes of a matrix: all but the last one have shape.scope rows.
constexpr std::int64_t scopes_of(std::int64_t rows, const ChunkShape& shape) {
  return (rows + shape.scope - 1) / shape.scope;
}

}  // namespace lanky::sparse::cpu
