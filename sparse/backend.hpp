// The two executors of a packed matrix behind one interface. Both make and read the same bits;
// cuda/absent.cpp stands in where there is no CUDA.
#pragma once

#include <cstddef>
#include <lanky/buffer.hpp>
#include <lanky/operation.hpp>
#include <lanky/stream.hpp>
#include <lanky/symmetry.hpp>
#include <lanky/view.hpp>
#include <limits>
#include <span>

#include "sparse/launch.hpp"
#include "sparse/packed.hpp"
#include "sparse/policy.hpp"

namespace lanky::sparse {

/// The operands of y = alpha A x + beta y, all on the executor's device.
template <class T, class TOut>
struct Product {
  const T* x;  // [cols]
  TOut* y;     // [rows]
  Scalar<Accumulator<T>> alpha;
  Scalar<Accumulator<T>> beta;
  Accumulator<T>* partials;  // [header.partials] workspace: sums of the windows of split rows
  unsigned* arrivals;        // [counters(header)] workspace: zeros, before and after a product

  /// False where beta is known to be 0.
  bool may_add() const noexcept {
    return beta.pointer() != nullptr || beta.value() != Accumulator<T>{0};
  }
};

/// A CSR matrix in the executor's memory, checked, its offsets 64 bits wide and zero-based.
template <class T>
struct Csr {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  const std::int64_t* row_offsets = nullptr;  // [rows + 1]
  const std::int32_t* columns = nullptr;      // [nnz], from index_base on
  const T* values = nullptr;                  // [nnz]
  int index_base = 0;

  Csr<std::byte> pattern() const {
    return {rows, cols, nnz, row_offsets, columns, nullptr, index_base};
  }
};

/// A matrix without its values, on which alone the packed form depends.
using CsrPattern = Csr<std::byte>;

// reach_facts() looks at so many rows at most, one of each of as many parts (not always the first:
// that of a stencil might be on the boundary), and takes the columns of a row to be in order.
inline constexpr std::int64_t kReachRows = 4096;
constexpr std::int64_t reach_row(std::int64_t rows, std::int64_t i) {
  constexpr std::int64_t kPrime = 7919;
  const std::int64_t of_part = rows / kReachRows;
  return rows <= kReachRows ? i : i * of_part + i * kPrime % of_part;
}

/// Sums over such rows.
struct ReachSums {
  std::int64_t columns = 0;  // as RowFacts::reach
  // Rows whose first, middle and last column the next row has, shifted by one.
  std::int64_t repeated = 0;
  std::int64_t rows = 0;  // that have entries
};

/// RowFacts::reach and repeated.
struct ReachFacts {
  std::int64_t mean = 0;
  int repeated = 0;
  friend bool operator==(const ReachFacts&, const ReachFacts&) = default;
};
constexpr ReachFacts reach_facts_of(const ReachSums& sums) {
  if (sums.rows == 0) return {};
  return {sums.columns / sums.rows, static_cast<int>(100 * sums.repeated / sums.rows)};
}

/// Of the i-th row of those alone.
constexpr ReachSums reach_of(const CsrPattern& a, std::int64_t i) {
  const std::int64_t row = reach_row(a.rows, i);
  const std::int64_t begin = a.row_offsets[row];
  const std::int64_t end = a.row_offsets[row + 1];
  if (begin == end) return {};
  const std::int64_t first = a.columns[begin];
  const std::int64_t last = a.columns[end - 1];
  const std::int64_t next = a.columns[end < a.nnz ? end : begin];
  const std::int64_t low = last < first ? last : first;
  const std::int64_t high = last < first ? first : last;
  const std::int64_t length = end - begin;
  const auto follows = [&](std::int64_t entry) {
    return a.columns[entry + length] == a.columns[entry] + 1;
  };
  const bool repeated = row + 1 < a.rows && a.row_offsets[row + 2] == end + length &&
                        follows(begin) && follows(begin + length / 2) && follows(end - 1);
  return {(next > high ? next : high) - (next < low ? next : low) + 1, repeated ? 1 : 0, 1};
}

/// RowFacts::hot_least and hot_entries.
struct HotFacts {
  std::int32_t least = 0;
  std::int64_t entries = 0;
  friend bool operator==(const HotFacts&, const HotFacts&) = default;
};
// A hot column's x is copied by each of about 128 blocks: it must have as many entries, at least.
// Of more than the most hot_facts() counts no more.
inline constexpr int kHeatLeast = 128 / kColumnSample;
inline constexpr int kHeatMost = 65'535;
/// The least count of sampled entries that at most `most` columns have, or pass, and the entries of
/// these; none, if there is no such count. heats[n] columns have n sampled ones, 0 .. kHeatMost.
constexpr HotFacts hot_facts_of(std::span<const std::uint32_t> heats, std::int64_t most) {
  std::int64_t columns = 0;
  std::int64_t sampled = 0;
  int least = kHeatMost + 1;
  for (; least > kHeatLeast; --least) {
    const int heat = least - 1;
    columns += heats[heat];
    if (columns > most) break;
    sampled += std::int64_t{heat} * heats[heat];
  }
  if (least > kHeatMost) return {};
  return {least, sampled * kColumnSample};
}

/// The pattern of a matrix made of A's entries, zero-based, with the way back.
struct Arrangement {
  RowFacts facts;
  Buffer<std::int64_t> row_offsets;  // [rows + 1]
  Buffer<std::int32_t> columns;      // [nnz]
  Buffer<std::uint32_t> entries;     // [nnz] A's number of each entry, of a triangle with marks
};
inline constexpr std::int64_t kTransposedEntriesMost = std::numeric_limits<std::uint32_t>::max();

/// Marks the number of an entry whose value is the mirrored one.
inline constexpr std::uint32_t kMirrored = std::uint32_t{1} << 31;
inline constexpr std::int64_t kTriangleEntriesMost = kMirrored - 1;

/// The marks of entries off the diagonal, of op(A), where A is expanded from a triangle: op leaves
/// the pattern as it is, and turns what was given into what was mirrored.
struct TriangleMarks {
  explicit constexpr TriangleMarks(Op op)
      : given(op == Op::none ? 0 : kMirrored), mirrored(op == Op::none ? kMirrored : 0) {}

  std::uint32_t given;
  std::uint32_t mirrored;
};

/// Where values of op(A) come from, and what becomes of them on the way.
struct ValueMap {
  const std::uint32_t* entries;  // [count] of an Arrangement
  std::int64_t count;
  Symmetry symmetry;  // of A; general: there are no marks
  bool conjugated;    // all values; so mirrored ones of a Hermitian matrix are not

  constexpr std::uint32_t number(std::uint32_t entry) const {
    return symmetry == Symmetry::general ? entry : entry & ~kMirrored;
  }
  constexpr bool conjugates(std::uint32_t entry) const {
    return conjugated != (symmetry == Symmetry::hermitian && (entry & kMirrored) != 0);
  }
  constexpr bool negates(std::uint32_t entry) const {
    return symmetry == Symmetry::skew_symmetric && (entry & kMirrored) != 0;
  }
};

namespace cpu {
/// The transpose of at most kTransposedEntriesMost entries; those of a row stand in the order of
/// A's rows. Memory of `entries` comes from `allocator`.
Arrangement transpose(const Stream& stream, const CsrPattern& a, Allocator* allocator);

/// The matrix of which A, of at most kTriangleEntriesMost entries, is one triangle, marked for op.
/// The given part of a row stands as in A, its part of the transpose (and the diagonal) as there:
/// left of the diagonal, on it, right of it. Throws Error where A has entries on both sides.
Arrangement expand(const Stream& stream, const CsrPattern& a, const TriangleMarks& marks,
                   Allocator* allocator);

template <class T>
void gather_values(const ValueMap& map, const T* source, T* target);

/// Over rows that have entries.
ReachFacts reach_facts(const CsrPattern& a);

/// For at most `most` hot columns.
HotFacts hot_facts(const CsrPattern& a, std::int64_t most);

template <class T>
PackedMatrix<T> pack(const Stream& stream, const Csr<T>& a, const Shape& shape,
                     Allocator* allocator);

/// Values in CSR order to the slots that pack() gave them.
template <class T>
void update_values(const PackedView<T>& a, const T* values, T* slots);

template <class T, class TOut>
void run(const PackedView<T>& a, const Product<T, TOut>& product);
}  // namespace cpu

namespace cuda {
/// What a pass over row offsets in device memory finds.
struct ExaminedRows {
  Buffer<std::int64_t> offsets;  // [rows + 1], zero-based
  RowFacts facts;
};

/// Checks a caller's row offsets as CheckedCsr does; of `a` only extents and index_base are read.
ExaminedRows examine_rows(const Stream& stream, const RowOffsets& offsets, const CsrPattern& a);

/// Checks that all columns are in range; throws as CheckedCsr does.
void check_columns(const Stream& stream, const CsrPattern& a);

Arrangement transpose(const Stream& stream, const CsrPattern& a, Allocator* allocator);

Arrangement expand(const Stream& stream, const CsrPattern& a, const TriangleMarks& marks,
                   Allocator* allocator);

template <class T>
void gather_values(const Stream& stream, const ValueMap& map, const T* source, T* target);

/// As cpu::reach_facts. Waits for the stream.
ReachFacts reach_facts(const Stream& stream, const CsrPattern& a);

/// As cpu::hot_facts. Waits for the stream.
HotFacts hot_facts(const Stream& stream, const CsrPattern& a, std::int64_t most);

/// As cpu::pack, bit by bit. Waits for the stream.
template <class T>
PackedMatrix<T> pack(const Stream& stream, const Csr<T>& a, const Shape& shape,
                     Allocator* allocator);

template <class T>
void update_values(const Stream& stream, const PackedView<T>& a, const T* values, T* slots);

/// Chooses how `path` multiplies `a`, and loads the kernels, so that run need not.
template <class T, class TOut>
Launches prepare(const Stream& stream, SpmvPath path, const PackedHeader& a);

/// Launches on the stream and returns; `launches` are those of `a`.
template <class T, class TOut>
void run(const Stream& stream, const Launches& launches, const PackedView<T>& a,
         const Product<T, TOut>& product);
}  // namespace cuda

}  // namespace lanky::sparse
