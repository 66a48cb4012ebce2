// The CPU's own form of a sparse matrix: rows in chunks of up to eight, side by side or one after
// another, with compressed columns (docs/cpu_format.md). SELL-C-sigma: Kreutzer et al., SISC 2014.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/dtype.hpp>

#include "sparse/buffer_bytes.hpp"

namespace lanky::sparse::cpu {

/// Rows of a chunk at most, and partial sums of a row that is multiplied alone: as many lanes on
/// every processor, so that the width of its vectors changes no bits.
inline constexpr int kChunkRows = 8;

/// How the columns of a chunk are stored.
enum class Codes : std::uint8_t {
  none,  // side by side: column of row i in step k is base(k) + i; else a row's follow each other
  offset8,   // from the base of the step or, of a row alone, of the row
  offset16,  // likewise
  absolute
};
inline constexpr int kCodes = 4;
[[gnu::always_inline]] inline constexpr int code_bytes(Codes codes) {
  return codes == Codes::none ? 0 : codes == Codes::offset8 ? 1 : codes == Codes::offset16 ? 2 : 4;
}
constexpr Codes codes_of_spread(std::int64_t spread) {
  return spread <= 0xff ? Codes::offset8 : spread <= 0xffff ? Codes::offset16 : Codes::absolute;
}

/// Where the sums of a chunk go.
enum class Target : std::uint8_t {
  consecutive,  // rows from first_row on
  listed,       // rows whose distances from first_row are listed
  partial       // one piece of a cut row: to partial sum first_row
};

/// What tells apart the loops that multiply chunks.
struct ChunkKind {
  Codes codes;
  std::uint8_t beside;  // 1: rows side by side; 0: each alone
  Target target;
  std::uint8_t rows;  // 1 .. kChunkRows
  friend bool operator==(const ChunkKind&, const ChunkKind&) = default;
};

struct Chunk {
  std::int32_t first_row;
  std::uint16_t depth;     // side by side: entries of the longest row
  std::uint16_t shortest;  // and of the shortest, 0 where there are fewer than kChunkRows rows
  ChunkKind kind;
  friend bool operator==(const Chunk&, const Chunk&) = default;
};
static_assert(sizeof(Chunk) == 12);

inline constexpr int kShortRow = 4;  // entries of a short row at most

// Rows of more entries are cut into pieces of kPieceEntries, which threads share.
inline constexpr std::int64_t kCutEntries = 16'384;
inline constexpr std::int64_t kPieceEntries = 8192;
constexpr bool is_cut(std::int64_t entries) {
  return entries > kCutEntries;
}
constexpr std::int64_t pieces_of_cut(std::int64_t entries) {
  return (entries + kPieceEntries - 1) / kPieceEntries;
}
/// Of rows side by side.
inline constexpr std::int64_t kDepthMost = kCutEntries;

/// What a plan chooses for a whole matrix.
struct ChunkShape {
  // Rows that are sorted by length, a multiple of 8: from 8 (none are) to kScopeMost.
  std::int32_t scope = kChunkRows;
  // Slots that a row alone costs besides its entries. Rows of a chunk are set side by side where
  // that takes no more slots; never where this is kAlone.
  std::int32_t row_cost = 8;
  friend bool operator==(const ChunkShape&, const ChunkShape&) = default;
};
inline constexpr std::int32_t kScopeMost = 4096;
inline constexpr std::int32_t kAlone = -1;

/// Whether a chunk's rows stand side by side: of `entries` in all, the longest row of `depth`.
constexpr bool stands_beside(std::int64_t depth, std::int64_t entries, int rows,
                             const ChunkShape& shape) {
  return shape.row_cost != kAlone &&
         depth * kChunkRows <= entries + std::int64_t{shape.row_cost} * rows;
}

/// Where the part of a task begins in each array.
struct Task {
  std::int64_t first_chunk;
  std::int64_t first_value;
  std::int64_t first_code;  // byte
};

/// What a matrix in this form is made of.
struct ChunkHeader {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  ChunkShape shape;
  std::int64_t chunks = 0;
  std::int64_t slots = 0;       // of values, padding included
  std::int64_t code_bytes = 0;  // padding at the end included
  std::int64_t tasks = 0;
  std::int64_t cut_rows = 0;
  std::int64_t partials = 0;
  std::int64_t empty_rows = 0;
  std::int64_t short_rows = 0;  // of up to kShortRow entries
  std::int64_t short_entries = 0;
  std::int64_t cut_entries = 0;
  std::int64_t beside_rows = 0;
  std::int64_t beside_entries = 0;
  std::array<std::int64_t, kCodes> code_entries{};
  bool threads = false;  // whether a product is worth waking them
  friend bool operator==(const ChunkHeader&, const ChunkHeader&) = default;
};

/// The form without values, ready for products.
struct ChunkView {
  const ChunkHeader* header;
  const Chunk* chunks;              // [chunks]
  const std::byte* codes;           // [code_bytes]
  const Task* tasks;                // [tasks + 1]
  const std::int32_t* cut_rows;     // [cut_rows]
  const std::int64_t* cut_starts;   // [cut_rows + 1] first partial sum of each
  const std::int64_t* row_offsets;  // [rows + 1] of CSR
};

/// The arrays themselves. Values decide none of them but `values`.
template <class T>
struct ChunkMatrix {
  ChunkHeader header;
  Buffer<Chunk> chunks;
  Buffer<std::byte> codes;
  Buffer<Task> tasks;
  Buffer<std::int32_t> cut_rows;
  Buffer<std::int64_t> cut_starts;
  Buffer<std::int64_t> row_offsets;
  Buffer<T> values;

  ChunkView view() const {
    return {&header,         chunks.data(),     codes.data(),      tasks.data(),
            cut_rows.data(), cut_starts.data(), row_offsets.data()};
  }
  std::int64_t bytes() const {
    return bytes_of(chunks, codes, tasks, cut_rows, cut_starts, row_offsets, values);
  }
};

// What the kernels call is inlined everywhere: a copy compiled for AVX-512 could be the one that
// the linker keeps for every processor.

// Codes of a chunk, one after another, each part from a multiple of 4 bytes on:
//   listed rows    uint16  [kChunkRows]  distances from first_row      where target is listed
//   lengths        uint16  [kChunkRows]                                side by side, uneven
//                  uint32  [rows]                                      each alone
//   bases          int32   [depth]; each alone: [rows]                 unless codes are absolute
//   codes          uint8, uint16 or int32  [slots]                     unless there are none

inline constexpr std::int64_t kCodeAlign = 4;
/// Bytes behind the last code, and values behind the last slot, that vectors may read.
inline constexpr std::int64_t kCodesBehind = 64;
inline constexpr std::int64_t kValuesBehind = 64 / 2;

[[gnu::always_inline]] inline constexpr bool is_uneven(const Chunk& chunk) {
  return chunk.kind.beside == 1 && chunk.shortest != chunk.depth;
}
[[gnu::always_inline]] inline constexpr std::int64_t listed_bytes(const Chunk& chunk) {
  return chunk.kind.target == Target::listed ? kChunkRows * std::int64_t{sizeof(std::uint16_t)} : 0;
}
[[gnu::always_inline]] inline constexpr std::int64_t length_bytes(const Chunk& chunk) {
  return chunk.kind.beside == 0 ? chunk.kind.rows * std::int64_t{sizeof(std::uint32_t)}
         : is_uneven(chunk)     ? kChunkRows * std::int64_t{sizeof(std::uint16_t)}
                                : 0;
}
[[gnu::always_inline]] inline constexpr std::int64_t base_bytes(const Chunk& chunk) {
  if (chunk.kind.codes == Codes::absolute) return 0;
  const int bases = chunk.kind.beside == 1 ? int{chunk.depth} : int{chunk.kind.rows};
  return bases * std::int64_t{sizeof(std::int32_t)};
}
/// All codes of a chunk of so many slots.
[[gnu::always_inline]] inline constexpr std::int64_t codes_size(const Chunk& chunk,
                                                                std::int64_t slots) {
  const std::int64_t bytes = listed_bytes(chunk) + length_bytes(chunk) + base_bytes(chunk) +
                             slots * code_bytes(chunk.kind.codes);
  return (bytes + kCodeAlign - 1) / kCodeAlign * kCodeAlign;
}

/// Pointers to the parts of a chunk's codes.
struct CodeParts {
  const std::uint16_t* listed;
  const std::uint16_t* beside_lengths;
  const std::uint32_t* alone_lengths;
  const std::int32_t* bases;
  const std::byte* codes;
};
[[gnu::always_inline]] inline CodeParts parts_of(const Chunk& chunk, const std::byte* at) {
  const std::byte* const lengths = at + listed_bytes(chunk);
  const std::byte* const bases = lengths + length_bytes(chunk);
  return {reinterpret_cast<const std::uint16_t*>(at),
          reinterpret_cast<const std::uint16_t*>(lengths),
          reinterpret_cast<const std::uint32_t*>(lengths),
          reinterpret_cast<const std::int32_t*>(bases), bases + base_bytes(chunk)};
}

/// Slots of a chunk.
[[gnu::always_inline]] inline std::int64_t slots_of(const Chunk& chunk, const CodeParts& parts) {
  if (chunk.kind.beside == 1) return std::int64_t{chunk.depth} * kChunkRows;
  std::int64_t slots = 0;
  for (int i = 0; i < chunk.kind.rows; ++i)
    slots += parts.alone_lengths[i];
  return slots;
}

}  // namespace lanky::sparse::cpu
