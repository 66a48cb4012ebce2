// A caller's CSR in host memory, looked at where it is: offsets checked and widened, rows counted,
// columns checked.
#include <algorithm>

#include "sparse/cpu/steps.hpp"
#include "sparse/errors.hpp"
#include "sparse/policy.hpp"

namespace lanky::sparse::cpu {

ExaminedRows examine_rows(const Stream& stream, const RowOffsets& offsets, const CsrPattern& a) {
  if (offsets[0] != a.index_base) throw_offsets_start(a, offsets[0]);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    if (offsets[row] > offsets[row + 1]) throw_offsets_fall(row, offsets[row], offsets[row + 1]);
  }
  if (offsets[a.rows] - a.index_base != a.nnz) throw_offsets_end(a, offsets[a.rows]);
  ExaminedRows rows{Buffer<std::int64_t>(stream, a.rows + 1),
                    {.rows = a.rows, .cols = a.cols, .nnz = a.nnz}};
  for (std::int64_t row = 0; row <= a.rows; ++row)
    rows.offsets.data()[row] = offsets[row] - a.index_base;
  rows.facts.count_rows(rows.offsets.data());
  return rows;
}

void check_columns(const Stream& /*stream*/, const CsrPattern& a) {
  const std::int64_t least = a.index_base;
  const std::int64_t most = a.cols - 1 + a.index_base;
  std::int64_t wrong = a.nnz;  // the first entry out of range
#pragma omp parallel for schedule(static) reduction(min : wrong) if (a.nnz >= kThreadsLeast)
  for (std::int64_t entry = 0; entry < a.nnz; ++entry) {
    if (a.columns[entry] < least || a.columns[entry] > most) wrong = std::min(wrong, entry);
  }
  if (wrong == a.nnz) return;
  const auto row =
      std::upper_bound(a.row_offsets, a.row_offsets + a.rows + 1, wrong) - a.row_offsets - 1;
  throw_column(a, wrong, row, a.columns[wrong]);
}

ReachFacts reach_facts(const CsrPattern& a) {
  ReachSums sums;
  for (std::int64_t i = 0; i < std::min(a.rows, kReachRows); ++i) {
    const ReachSums own = reach_of(a, i);
    sums.columns += own.columns;
    sums.repeated += own.repeated;
    sums.rows += own.rows;
  }
  return reach_facts_of(sums);
}

}  // namespace lanky::sparse::cpu
