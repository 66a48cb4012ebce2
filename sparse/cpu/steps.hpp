// The steps of making a plan on the CPU; and those of the packed format, for tests and for programs
// that look into its choices.
#pragma once

#include <lanky/buffer.hpp>
#include <lanky/stream.hpp>
#include <vector>

#include "core/machine.hpp"
#include "sparse/arrangement.hpp"
#include "sparse/column_samples.hpp"
#include "sparse/csr.hpp"
#include "sparse/facts.hpp"
#include "sparse/load.hpp"
#include "sparse/packed.hpp"

namespace lanky::sparse::cpu {

ExaminedRows examine_rows(const Stream& stream, const RowOffsets& offsets, const CsrPattern& a);
void check_columns(const Stream& stream, const CsrPattern& a);
inline constexpr Examination kExamination = {examine_rows, check_columns};

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

/// [kAllSamples], for elements of x of so many bytes.
std::vector<ColumnSample> column_samples(const CsrPattern& a, int element_bytes);

/// For at most `most` hot columns.
HotFacts hot_facts(const CsrPattern& a, std::int64_t most);

/// Memory of the columns comes from `allocator`.
HotColumns find_hot_columns(const Stream& stream, const CsrPattern& a, const Shape& shape,
                            Allocator* allocator);

template <class T>
PackedMatrix<T> pack(const Stream& stream, const Csr<T>& a, const Shape& shape,
                     Allocator* allocator);

/// Values in CSR order to the slots that pack() gave them.
template <class T>
void update_values(const PatternView& a, const T* values, T* slots);

/// What samples a matrix as a GPU of `machine` would, and so chooses the shape that it packs.
template <class T>
class PackedSteps {
 public:
  explicit PackedSteps(const Machine& machine) : machine_(machine) {}

  ReachFacts reach_facts(const CsrPattern& a) const { return cpu::reach_facts(a); }
  std::vector<ColumnSample> column_samples(const CsrPattern& a) const {
    return cpu::column_samples(a, sizeof(T));
  }
  HotFacts hot_facts(const CsrPattern& a, std::int64_t most) const {
    return cpu::hot_facts(a, most);
  }
  const Machine& machine() const { return machine_; }

 private:
  const Machine& machine_;
};

}  // namespace lanky::sparse::cpu
