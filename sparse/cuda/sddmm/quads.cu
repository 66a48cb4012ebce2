#include "sparse/cuda/sddmm/quads.hpp"

#include <cub/device/device_scan.cuh>

#include "sparse/cuda/pack/cub_memory.cuh"
#include "sparse/cuda/pack/grid.cuh"

namespace lanky::sparse::cuda {

namespace {

/// quads.columns without marks. A thread an entry.
__global__ void __launch_bounds__(kThreads)
    list_columns_kernel(CsrPattern a, std::int64_t padded, std::uint32_t* columns) {
  for (std::int64_t i = thread_of_grid(); i < padded; i += threads_of_grid())
    columns[i] = i < a.nnz ? static_cast<std::uint32_t>(a.columns[i] - a.index_base) : 0;
}

/// has_entries: [rows] 1 or 0. A thread a row.
__global__ void __launch_bounds__(kThreads)
    mark_first_kernel(CsrPattern a, std::uint32_t* columns, std::int32_t* has_entries) {
  const std::int64_t row = thread_of_grid();
  if (row >= a.rows) return;
  const std::int64_t first = a.row_offsets[row];
  const bool filled = first < a.row_offsets[row + 1];
  if (filled) columns[first] |= kBeginsRow;
  if (has_entries != nullptr) has_entries[row] = filled ? 1 : 0;
}

/// filled[numbers[row]] = row where it has entries. A thread a row.
__global__ void __launch_bounds__(kThreads)
    list_filled_kernel(CsrPattern a, const std::int32_t* numbers, std::int32_t* filled) {
  const std::int64_t row = thread_of_grid();
  if (row >= a.rows) return;
  if (a.row_offsets[row] < a.row_offsets[row + 1])
    filled[numbers[row]] = static_cast<std::int32_t>(row);
}

/// numbers: [rows] of rows among those that have entries; nullptr: all have. A thread a quad.
__global__ void __launch_bounds__(kThreads)
    find_first_kernel(CsrPattern a, const std::int32_t* numbers, std::int64_t quads,
                      std::int32_t* first) {
  for (std::int64_t i = thread_of_grid(); i < quads; i += threads_of_grid()) {
    const std::int64_t row = row_of(a.row_offsets, std::int64_t{0}, a.rows, i * kQuad);
    first[i] = numbers != nullptr ? numbers[row] : static_cast<std::int32_t>(row);
  }
}

}  // namespace

Quads make_quads(const Stream& stream, const LoadedPattern& loaded, Allocator* allocator) {
  const CsrPattern& a = loaded.pattern;
  const std::int64_t quads = device::ceil_div<std::int64_t>(a.nnz, kQuad);
  const std::int64_t empty = loaded.facts.empty;
  Quads made{.columns = Buffer<std::uint32_t>(stream, quads * kQuad, allocator),
             .first = Buffer<std::int32_t>(stream, quads, allocator),
             .filled = Buffer<std::int32_t>(stream, empty > 0 ? a.rows - empty : 0, allocator),
             .entries = a.nnz};
  if (a.nnz == 0) return made;
  const auto blocks = [](std::int64_t count) {
    return blocks_at_most(device::ceil_div<std::int64_t>(count, kThreads));
  };
  Buffer<std::int32_t> numbers(stream, empty > 0 ? a.rows : 0);
  launch(stream, "list_columns_kernel", list_columns_kernel, blocks(quads * kQuad), a,
         quads * kQuad, made.columns.data());
  launch(stream, "mark_first_kernel", mark_first_kernel, blocks_of(a.rows), a, made.columns.data(),
         numbers.data());
  if (empty > 0) {
    with_cub_memory(stream, "cub::DeviceScan::ExclusiveSum", [&](void* memory, std::size_t& bytes) {
      return cub::DeviceScan::ExclusiveSum(memory, bytes, numbers.data(), numbers.data(), a.rows,
                                           stream.native());
    });
    launch(stream, "list_filled_kernel", list_filled_kernel, blocks_of(a.rows), a, numbers.data(),
           made.filled.data());
  }
  launch(stream, "find_first_kernel", find_first_kernel, blocks(quads), a, numbers.data(), quads,
         made.first.data());
  return made;
}

}  // namespace lanky::sparse::cuda
