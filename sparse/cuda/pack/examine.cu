// A caller's CSR in device memory, looked at where it is: offsets checked and widened, rows
// counted, columns checked.
#include <algorithm>
#include <iterator>
#include <lanky/buffer.hpp>
#include <vector>

#include "core/runtime.hpp"
#include "sparse/cuda/pack/grid.cuh"
#include "sparse/cuda/steps.hpp"
#include "sparse/errors.hpp"

namespace lanky::sparse::cuda {

namespace {

/// Zeros where nothing was found.
struct RowFindings {
  std::int64_t first_offset;
  std::int64_t last_offset;
  std::int64_t longest;
  std::int64_t empty;
  std::int64_t pieces8;
  std::int64_t pieces16;
  std::int64_t fall;  // rows - i for the first row i whose offsets fall
  std::int64_t long_rows[kLongClasses];
};

__device__ void keep_most(std::int64_t& target, std::int64_t value) {
  if (value > 0) atomicMax(reinterpret_cast<Count*>(&target), static_cast<Count>(value));
}

/// The greatest value of the block's threads; in thread 0 alone.
__device__ std::int64_t block_most(std::int64_t value) {
  __shared__ std::int64_t warp_most[device::kWarpsOfBlockMost];
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    value = max(value, __shfl_xor_sync(0xffffffffU, value, distance));
  __syncthreads();  // the values of an earlier call have been read
  if (threadIdx.x % 32 == 0) warp_most[threadIdx.x / 32] = value;
  __syncthreads();  // the values of all warps are there
  if (threadIdx.x == 0) {
    for (int warp = 1; warp < kThreads / 32; ++warp)
      value = max(value, warp_most[warp]);
  }
  return value;
}

/// `zero_based`: [rows + 1]
template <class Integer>
__global__ void __launch_bounds__(kThreads)
    examine_rows_kernel(const Integer* offsets, std::int64_t rows, int index_base,
                        std::int64_t* zero_based, RowFindings* findings) {
  __shared__ unsigned long_rows[kLongClasses];
  if (threadIdx.x < kLongClasses) long_rows[threadIdx.x] = 0;
  __syncthreads();  // all classes are empty
  RowFacts own;
  std::int64_t fall = 0;
  for (std::int64_t row = thread_of_grid(); row <= rows; row += threads_of_grid()) {
    const std::int64_t begin = offsets[row];
    zero_based[row] = begin - index_base;
    if (row == 0) findings->first_offset = begin;
    if (row == rows) {
      findings->last_offset = begin;
      break;
    }
    const std::int64_t end = offsets[row + 1];
    if (end < begin) {
      fall = max(fall, rows - row);
    } else {
      own.count_any_row(end - begin);
      if (end - begin >= kLongRow) atomicAdd(&long_rows[long_class(end - begin)], 1U);
    }
  }
  add_of_block(findings->empty, own.empty);
  add_of_block(findings->pieces8, own.pieces8);
  add_of_block(findings->pieces16, own.pieces16);
  const std::int64_t longest = block_most(own.longest);
  fall = block_most(fall);  // a barrier, too: all long rows are counted
  if (threadIdx.x < kLongClasses) add_to(findings->long_rows[threadIdx.x], long_rows[threadIdx.x]);
  if (threadIdx.x != 0) return;
  keep_most(findings->longest, longest);
  keep_most(findings->fall, fall);
}

/// `wrong` becomes nnz - i for the first entry i whose column is out of range.
__global__ void __launch_bounds__(kThreads)
    examine_columns_kernel(CsrPattern a, std::int64_t* wrong) {
  std::int64_t own = 0;
#pragma unroll 8
  for (std::int64_t entry = thread_of_grid(); entry < a.nnz; entry += threads_of_grid()) {
    const std::int64_t column = std::int64_t{__ldcs(a.columns + entry)} - a.index_base;
    if (column < 0 || column >= a.cols) own = max(own, a.nnz - entry);
  }
  own = block_most(own);
  if (threadIdx.x == 0) keep_most(*wrong, own);
}

__global__ void __launch_bounds__(kThreads) reach_kernel(CsrPattern a, ReachSums* total) {
  const std::int64_t i = thread_of_grid();
  const ReachSums own = i < min(a.rows, kReachRows) ? reach_of(a, i) : ReachSums{};
  add_of_block(total->columns, own.columns);
  add_of_block(total->repeated, own.repeated);
  add_of_block(total->rows, own.rows);
}

template <class Integer>
ExaminedRows examine(const Stream& stream, const Integer* offsets, const CsrPattern& a) {
  ExaminedRows rows{Buffer<std::int64_t>(stream, a.rows + 1),
                    {.rows = a.rows, .cols = a.cols, .nnz = a.nnz}};
  Buffer<RowFindings> findings(stream, 1);
  findings.fill_zero();
  launch(stream, "examine_rows_kernel", examine_rows_kernel<Integer>,
         blocks_at_most(blocks_of(a.rows + 1)), offsets, a.rows, a.index_base, rows.offsets.data(),
         findings.data());
  const auto found = to_host(stream, findings.data());
  if (found.first_offset != a.index_base) throw_offsets_start(a, found.first_offset);
  if (found.fall != 0) {
    const std::int64_t row = a.rows - found.fall;
    throw_offsets_fall(row, to_host(stream, offsets + row), to_host(stream, offsets + row + 1));
  }
  if (found.last_offset - a.index_base != a.nnz) throw_offsets_end(a, found.last_offset);
  rows.facts.longest = found.longest;
  rows.facts.empty = found.empty;
  rows.facts.pieces8 = found.pieces8;
  rows.facts.pieces16 = found.pieces16;
  std::copy(std::begin(found.long_rows), std::end(found.long_rows), rows.facts.long_rows.begin());
  return rows;
}

}  // namespace

ExaminedRows examine_rows(const Stream& stream, const RowOffsets& offsets, const CsrPattern& a) {
  return offsets.wide() ? examine(stream, static_cast<const std::int64_t*>(offsets.data()), a)
                        : examine(stream, static_cast<const std::int32_t*>(offsets.data()), a);
}

ReachFacts reach_facts(const Stream& stream, const CsrPattern& a) {
  if (a.nnz == 0) return {};
  Buffer<ReachSums> total(stream, 1);
  total.fill_zero();
  launch(stream, "reach_kernel", reach_kernel, blocks_of(std::min(a.rows, kReachRows)), a,
         total.data());
  return reach_facts_of(to_host(stream, total.data()));
}

void check_columns(const Stream& stream, const CsrPattern& a) {
  if (a.nnz == 0) return;
  Buffer<std::int64_t> wrong(stream, 1);
  wrong.fill_zero();
  launch(stream, "examine_columns_kernel", examine_columns_kernel, blocks_at_most(blocks_of(a.nnz)),
         a, wrong.data());
  const std::int64_t found = to_host(stream, wrong.data());
  if (found == 0) return;
  const std::int64_t entry = a.nnz - found;
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(a.rows + 1));
  runtime::copy(offsets.data(), a.row_offsets, offsets.size() * sizeof(std::int64_t),
                stream.native(), stream.device().index());
  const std::int32_t column = to_host(stream, a.columns + entry);  // waits for the offsets too
  const auto row = std::upper_bound(offsets.begin(), offsets.end(), entry) - offsets.begin() - 1;
  throw_column(a, entry, row, column);
}

}  // namespace lanky::sparse::cuda
