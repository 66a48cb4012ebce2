// Cutting rows into windows: a tile of rows a block. What split rows cost is summed over the tiles,
// then the windows that begin in each, then they are written; the last block to end a pass scans
// its sums.
#include "sparse/cuda/pack/windows.cuh"

#include <algorithm>
#include <limits>

#include "sparse/cuda/pack/grid.cuh"
#include "sparse/errors.hpp"

namespace lanky::sparse::cuda {

namespace {

constexpr int kRowsPerThread = 8;
constexpr int kTileRows = kThreads * kRowsPerThread;

using device::block_exclusive_sum;

/// Sums over the rows of each tile, which become sums over the tiles before it.
struct TileSums {
  std::int64_t* split_cost;  // [tiles]
  std::int64_t* begins;      // [tiles] windows of rows that are not split
  std::int64_t* partials;    // [tiles] windows of split rows
  std::int64_t* split_rows;  // [tiles]
};
constexpr int kTileSums = 4;

struct CutArguments {
  const std::int64_t* offsets;  // [rows + 1]
  std::int64_t rows;
  std::int64_t tiles;
  Shape shape;
  TileSums sums;
  WindowTotals* totals;
  WindowStart* starts;

  __device__ std::int64_t length(std::int64_t row) const { return offsets[row + 1] - offsets[row]; }
  __device__ bool split(std::int64_t row) const { return is_split(length(row), shape); }
  __device__ std::int64_t split_cost(std::int64_t row) const {
    return split(row) ? length(row) + shape.row_cost : 0;
  }
  __device__ std::int64_t windows_of_split(std::int64_t row) const {
    return (length(row) + shape.window_cost - 1) / shape.window_cost;
  }
  /// `split_before`: the split costs of the rows before `row`.
  __device__ bool begins(std::int64_t row, std::int64_t split_before) const {
    if (row == 0 || split(row) || split(row - 1)) return true;
    if (static_cast<unsigned>(row) % static_cast<unsigned>(shape.granule) != 0) return false;
    const std::int64_t before = row - shape.granule;
    std::int64_t cost_before = offsets[before] + before * shape.row_cost - split_before;
    if (totals->split_cost > 0) {
      for (std::int64_t i = before; i < row; ++i)
        cost_before += split_cost(i);
    }
    const std::int64_t cost = offsets[row] + row * shape.row_cost - split_before;
    return begins_window(row, cost, cost_before, shape);
  }
};

/// Classes of rows, and the split costs of each tile.
__global__ void __launch_bounds__(kThreads) measure_rows_kernel(CutArguments a) {
  std::int64_t class_rows[kRowClasses] = {};
  std::int64_t class_entries[kRowClasses] = {};
  for (std::int64_t tile = blockIdx.x; tile < a.tiles; tile += gridDim.x) {
    std::int64_t cost = 0;
#pragma unroll
    for (int i = 0; i < kRowsPerThread; ++i) {
      const std::int64_t row = tile * kTileRows + i * kThreads + threadIdx.x;
      if (row >= a.rows) break;
      const std::int64_t length = a.length(row);
      const auto row_class = static_cast<int>(class_of(length, a.shape));
#pragma unroll
      for (int c = 0; c < kRowClasses; ++c) {
        class_rows[c] += c == row_class ? 1 : 0;
        class_entries[c] += c == row_class ? length : 0;
      }
      cost += a.split_cost(row);
    }
    std::int64_t total;
    block_exclusive_sum(cost, total);
    if (threadIdx.x == 0) a.sums.split_cost[tile] = total;
  }
#pragma unroll
  for (int c = 0; c < kRowClasses; ++c) {
    add_of_block(a.totals->class_rows[c], class_rows[c]);
    add_of_block(a.totals->class_entries[c], class_entries[c]);
  }
  if (!is_last_block(&a.totals->arrivals[0])) return;
  const std::int64_t cost = device::scan_by_block(a.sums.split_cost, a.tiles);
  if (threadIdx.x == 0) a.totals->split_cost = cost;
}

/// The rows of this thread in the block's tile, kRowsPerThread from `first` on.
struct ThreadRows {
  std::int64_t first;
  unsigned begins = 0;  // bit i: row first + i begins a window

  __device__ explicit ThreadRows(const CutArguments& a)
      : first(std::int64_t{blockIdx.x} * kTileRows + threadIdx.x * kRowsPerThread) {
    if (a.totals->split_cost > 0) {
      test_rows(a);
    } else {
      test_granules(a);
    }
  }

  template <class Visit>
  __device__ void for_each_begin(Visit visit) const {
    for (unsigned left = begins; left != 0; left &= left - 1)
      visit(first + __ffs(static_cast<int>(left)) - 1);
  }

 private:
  __device__ void test_rows(const CutArguments& a) {
    std::int64_t cost = 0;
    for (int i = 0; i < kRowsPerThread; ++i) {
      if (first + i < a.rows) cost += a.split_cost(first + i);
    }
    std::int64_t total;
    std::int64_t before = a.sums.split_cost[blockIdx.x] + block_exclusive_sum(cost, total);
    for (int i = 0; i < kRowsPerThread; ++i) {
      const std::int64_t row = first + i;
      if (row >= a.rows) break;
      if (a.begins(row, before)) begins |= 1U << i;
      before += a.split_cost(row);
    }
  }

  /// Where no row is split, only multiples of the granule can begin a window.
  __device__ void test_granules(const CutArguments& a) {
    const auto granule = static_cast<unsigned>(a.shape.granule);
    const std::int64_t end = min(first + std::int64_t{kRowsPerThread}, a.rows);
    std::int64_t row = (static_cast<unsigned>(first) + granule - 1) / granule * granule;
    for (; row < end; row += granule) {
      if (a.begins(row, 0)) begins |= 1U << (row - first);
    }
  }
};

struct BeginCounts {
  std::int64_t begins = 0;
  std::int64_t partials = 0;
  std::int64_t split_rows = 0;

  __device__ BeginCounts(const CutArguments& a, const ThreadRows& rows) {
    rows.for_each_begin([&](std::int64_t row) {
      if (a.split(row)) {
        partials += a.windows_of_split(row);
        ++split_rows;
      } else {
        ++begins;
      }
    });
  }
};

__global__ void __launch_bounds__(kThreads) count_windows_kernel(CutArguments a) {
  const BeginCounts own(a, ThreadRows(a));
  std::int64_t begins;
  std::int64_t partials;
  std::int64_t split_rows;
  block_exclusive_sum(own.begins, begins);
  block_exclusive_sum(own.partials, partials);
  block_exclusive_sum(own.split_rows, split_rows);
  if (threadIdx.x == 0) {
    a.sums.begins[blockIdx.x] = begins;
    a.sums.partials[blockIdx.x] = partials;
    a.sums.split_rows[blockIdx.x] = split_rows;
  }
  if (!is_last_block(&a.totals->arrivals[1])) return;
  begins = device::scan_by_block(a.sums.begins, a.tiles);
  partials = device::scan_by_block(a.sums.partials, a.tiles);
  split_rows = device::scan_by_block(a.sums.split_rows, a.tiles);
  if (threadIdx.x == 0) {
    a.totals->windows = begins + partials;
    a.totals->partials = partials;
    a.totals->split_rows = split_rows;
  }
}

__global__ void __launch_bounds__(kThreads) place_windows_kernel(CutArguments a) {
  const ThreadRows rows(a);
  BeginCounts count(a, rows);
  std::int64_t total;
  count.begins = a.sums.begins[blockIdx.x] + block_exclusive_sum(count.begins, total);
  count.partials = a.sums.partials[blockIdx.x] + block_exclusive_sum(count.partials, total);
  count.split_rows = a.sums.split_rows[blockIdx.x] + block_exclusive_sum(count.split_rows, total);
  rows.for_each_begin([&](std::int64_t row) {
    WindowStart start{};
    start.first_entry = a.offsets[row];
    start.first_row = static_cast<std::int32_t>(row);
    start.split = -1;
    start.partial = -1;
    if (!a.split(row)) {
      a.starts[count.begins++ + count.partials] = start;
      return;
    }
    start.split = static_cast<std::int32_t>(count.split_rows++);
    for (std::int64_t left = a.windows_of_split(row); left > 0; --left) {
      start.partial = static_cast<std::int32_t>(count.partials);
      a.starts[count.begins + count.partials++] = start;
      start.first_entry += a.shape.window_cost;
    }
  });
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    WindowStart end{};
    end.first_entry = a.offsets[a.rows];
    end.first_row = static_cast<std::int32_t>(a.rows);
    a.starts[a.totals->windows] = end;
  }
}

/// Rows and pieces of each window, and the greatest of them.
__global__ void __launch_bounds__(kThreads) measure_windows_kernel(CutArguments a) {
  WindowTotals most{};
  for (std::int64_t i = blockIdx.x; i < a.totals->windows; i += gridDim.x) {
    WindowStart window = a.starts[i];
    int pieces = 0;
    bool cut = false;
    bool empty = false;
    if (window.split >= 0) {
      window.rows = 1;
      const std::int64_t entries = a.starts[i + 1].first_entry - window.first_entry;
      if (threadIdx.x == 0) pieces = pieces_of(entries, a.shape.piece_most);
    } else {
      window.rows = a.starts[i + 1].first_row - window.first_row;
      for (int row = static_cast<int>(threadIdx.x); row < window.rows; row += kThreads) {
        const std::int64_t length = a.length(window.first_row + row);
        pieces += pieces_of(length, a.shape.piece_most);
        cut = cut || length > a.shape.piece_most;
        empty = empty || length == 0;
      }
    }
    block_exclusive_sum(pieces, window.pieces);
    window.cut = __syncthreads_or(cut ? 1 : 0) != 0 ? 1 : 0;
    window.empty = __syncthreads_or(empty ? 1 : 0) != 0 ? 1 : 0;
    if (threadIdx.x == 0) {  // the fields that no other block reads
      a.starts[i].rows = window.rows;
      a.starts[i].pieces = window.pieces;
      a.starts[i].cut = window.cut;
      a.starts[i].empty = window.empty;
    }
    most.pieces_most = max(most.pieces_most, window.pieces);
    most.cells_most = max(most.cells_most, window.cells());
    if (window.cut == 1) most.cut_rows_most = max(most.cut_rows_most, window.rows);
    if (window.rows > std::numeric_limits<std::uint16_t>::max()) most.too_large = 1;
  }
  if (threadIdx.x != 0) return;
  atomicMax(&a.totals->pieces_most, most.pieces_most);
  atomicMax(&a.totals->cells_most, most.cells_most);
  atomicMax(&a.totals->cut_rows_most, most.cut_rows_most);
  atomicMax(&a.totals->too_large, most.cells_most > kCellsLimit ? 1 : most.too_large);
}

/// The most windows that rows can give: costs pass a multiple of window_cost, a row is split or
/// follows one that is, and windows of split rows.
std::int64_t windows_most(const CsrPattern& a, const Shape& shape) {
  const std::int64_t split_rows = a.nnz / (shape.window_cost + std::int64_t{1});
  const std::int64_t cost = a.nnz + a.rows * shape.row_cost;
  return 1 + cost / shape.window_cost + split_rows + (a.nnz / shape.window_cost + split_rows);
}

[[noreturn]] void throw_too_large(const Windows& windows) {
  const std::vector<WindowStart> starts = windows.starts.to_host();
  const WindowStart* window = starts.data();
  while (window->cells() <= kCellsLimit &&
         window->rows <= std::numeric_limits<std::uint16_t>::max())
    ++window;
  throw_window_too_large(window->first_row, window->rows, window->cells());
}

}  // namespace

Windows cut_windows(const Stream& stream, const CsrPattern& a, const Shape& shape) {
  const unsigned tiles = blocks_of(a.rows, kTileRows);
  const std::int64_t most = windows_most(a, shape);
  Windows windows{Buffer<WindowStart>(stream, most + 1), {}};
  if (a.rows == 0) return windows;
  Buffer<WindowTotals> totals(stream, 1);
  totals.fill_zero();
  Buffer<std::int64_t> sums(stream, std::int64_t{kTileSums} * tiles);
  std::int64_t* const sum = sums.data();
  const CutArguments arguments{a.row_offsets,
                               a.rows,
                               tiles,
                               shape,
                               {sum, sum + tiles, sum + 2 * tiles, sum + 3 * tiles},
                               totals.data(),
                               windows.starts.data()};
  launch(stream, "measure_rows_kernel", measure_rows_kernel, blocks_at_most(tiles), arguments);
  launch(stream, "count_windows_kernel", count_windows_kernel, tiles, arguments);
  launch(stream, "place_windows_kernel", place_windows_kernel, tiles, arguments);
  launch(stream, "measure_windows_kernel", measure_windows_kernel, blocks_at_most(most), arguments);
  windows.totals = totals.to_host().front();
  if (windows.totals.too_large == 1) throw_too_large(windows);
  return windows;
}

}  // namespace lanky::sparse::cuda
