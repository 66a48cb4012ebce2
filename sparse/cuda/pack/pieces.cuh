// The pieces of one window in shared memory: listed by cells, then sorted, stably, into slice
// order.
#pragma once

#include "device/block_scan.cuh"
#include "sparse/cuda/pack/grid.cuh"
#include "sparse/cuda/pack/windows.cuh"
#include "sparse/cuda/warp.cuh"

namespace lanky::sparse::cuda {

/// What the tables of a block must hold, for any window of a matrix.
struct PieceTableSizes {
  int cells;
  int cut_cells;  // these two: 0 where no row is cut
  int row_cells;
  int keys;  // of a sort
  int warps;
  int slices;

  __host__ __device__ int bytes() const {
    return slices * static_cast<int>(sizeof(Slice)) +
           (cells + keys) * static_cast<int>(sizeof(std::uint32_t)) +
           (cells + 2 * cut_cells + row_cells + warps * keys) *
               static_cast<int>(sizeof(std::uint16_t)) +
           (cells + cut_cells) * static_cast<int>(sizeof(std::uint8_t));
  }
};

struct PieceTables {
  Slice* slices;             // [slices]
  std::uint32_t* entries;    // [cells] first entry of a piece, from the window's
  std::uint32_t* places;     // [keys] where the cells of a key begin
  std::uint16_t* order;      // [pieces] cells in slice order
  std::uint16_t* counts;     // [warps, keys]
  std::uint16_t* row_cells;  // [rows + 1] first cell of each row, where rows are cut
  std::uint16_t* strides;    // [cells] from entry to entry, where rows are cut
  std::uint16_t* grouped;    // [cells] in the order of groups, where rows are cut
  std::uint8_t* lengths;     // [cells]; 0 of an empty row
  std::uint8_t* grades;      // [cells] kPieceGroups - group, where rows are cut
  bool cut;                  // rows are

  __device__ PieceTables(void* shared, const PieceTableSizes& sizes, const WindowStart& window)
      : slices(static_cast<Slice*>(shared)),
        entries(reinterpret_cast<std::uint32_t*>(slices + sizes.slices)),
        places(entries + sizes.cells),
        order(reinterpret_cast<std::uint16_t*>(places + sizes.keys)),
        counts(order + sizes.cells),
        row_cells(counts + sizes.warps * sizes.keys),
        strides(row_cells + sizes.row_cells),
        grouped(strides + sizes.cut_cells),
        lengths(reinterpret_cast<std::uint8_t*>(grouped + sizes.cut_cells)),
        grades(lengths + sizes.cells),
        cut(window.split >= 0 || window.cut == 1) {}

  __device__ int stride(int cell) const { return cut ? static_cast<int>(strides[cell]) : 1; }
};

/// Sorts the cells of a window by a block, stably: those of grade `grade_most` come first, those of
/// grade 0 are left out. A counting sort: each warp has a run of cells, and its own counts.
class CellSort {
 public:
  /// `source` has the cells in their order until now; nullptr: they are numbered in it.
  __device__ CellSort(const PieceTables& tables, int cells, const std::uint16_t* source,
                      const std::uint8_t* grades, int grade_most)
      : tables_(tables),
        cells_(cells),
        source_(source),
        grades_(grades),
        keys_(grade_most),
        counts_(tables.counts + warp_of_block() * grade_most) {}

  __device__ void run(std::uint16_t* sorted) const {
    for (int i = thread_of_block(); i < warps_of_block() * keys_; i += threads_of_block())
      tables_.counts[i] = 0;
    __syncthreads();  // counts are zero
    for_each_of_warp([&](int /*cell*/, int key, unsigned peers, int rank) {
      if (key < keys_ && rank == 0) count(key, peers);
    });
    __syncthreads();  // all warps have counted
    for (int key = thread_of_block(); key < keys_; key += threads_of_block()) {
      int before = 0;
      for (int warp = 0; warp < warps_of_block(); ++warp) {
        std::uint16_t& of_warp = tables_.counts[warp * keys_ + key];
        const int own = of_warp;
        of_warp = static_cast<std::uint16_t>(before);
        before += own;
      }
      tables_.places[key] = before;
    }
    __syncthreads();  // the sums of all keys are there
    if (warp_of_block() == 0) scan_places();
    __syncthreads();  // all places are there
    for_each_of_warp([&](int cell, int key, unsigned peers, int rank) {
      const bool kept = key < keys_;
      const int place = kept ? tables_.places[key] + counts_[key] + rank : 0;
      if (kept) sorted[place] = static_cast<std::uint16_t>(cell);
      __syncwarp();  // all lanes have read the count
      if (kept && rank == 0) count(key, peers);
    });
    __syncthreads();  // the cells are sorted
  }

 private:
  __device__ void count(int key, unsigned peers) const {
    counts_[key] = static_cast<std::uint16_t>(counts_[key] + __popc(peers));
  }

  /// Visits the cells of this warp, a lane each: `peers` are the lanes of the same key, of which
  /// `rank` stand before this one.
  template <class Visit>
  __device__ void for_each_of_warp(Visit visit) const {
    const int of_warp = (cells_ + threads_of_block() - 1) / threads_of_block() * kLanes;
    const int begin = warp_of_block() * of_warp;
    const int end = min(begin + of_warp, cells_);
    const int lane = lane_of_warp();
    for (int first = begin; first < end; first += kLanes) {
      int cell = first + lane;
      const bool exists = cell < end;
      if (exists && source_ != nullptr) cell = source_[cell];
      const int key = exists ? keys_ - grades_[cell] : keys_;
      const unsigned peers = __match_any_sync(kAllLanes, key);
      const int rank = __popc(peers & ((1U << lane) - 1));
      visit(cell, key, peers, rank);
      __syncwarp();  // counts are up to date
    }
  }

  /// Sums of keys become places, by one warp.
  __device__ void scan_places() const {
    std::uint32_t sum = 0;
    for (int first = 0; first < keys_; first += kLanes) {
      const int key = first + thread_of_block();
      const std::uint32_t own = key < keys_ ? tables_.places[key] : 0;
      const std::uint32_t inclusive = device::warp_inclusive_sum(own);
      if (key < keys_) tables_.places[key] = sum + inclusive - own;
      sum += __shfl_sync(kAllLanes, inclusive, kLanes - 1);
    }
  }

  const PieceTables& tables_;
  int cells_;
  const std::uint16_t* source_;
  const std::uint8_t* grades_;
  int keys_;               // keys_ - 1 is that of grade 1
  std::uint16_t* counts_;  // of this warp, by keys
};

/// Lists the pieces of a window by a block, and sorts them.
class PieceSort {
 public:
  __device__ PieceSort(const WindowStart& window, const std::int64_t* row_offsets,
                       std::int64_t end_entry, const Shape& shape, const PieceTables& tables)
      : window_(window),
        offsets_(row_offsets + window.first_row),
        entries_(end_entry - window.first_entry),
        piece_most_(shape.piece_most),
        tables_(tables) {}

  __device__ void run() const {
    if (window_.split >= 0) {
      list_split();
    } else if (window_.cut == 1) {
      list_cut();
    } else {
      list_whole();
    }
    __syncthreads();  // all cells are listed
    sort();
  }

 private:
  /// Piece `number` of a row of `length` entries, from entry `first` of the window's on.
  __device__ void put(int cell, std::int64_t first, int length, int number) const {
    const PieceEntries own = piece_entries(length, piece_most_, number);
    tables_.entries[cell] = static_cast<std::uint32_t>(first + own.first);
    tables_.strides[cell] = static_cast<std::uint16_t>(own.stride);
    tables_.lengths[cell] = static_cast<std::uint8_t>(own.length);
  }

  __device__ void list_split() const {
    for (int cell = thread_of_block(); cell < window_.pieces; cell += threads_of_block())
      put(cell, 0, static_cast<int>(entries_), cell);
  }

  __device__ void list_whole() const {
    for (int row = thread_of_block(); row < window_.rows; row += threads_of_block()) {
      tables_.entries[row] = static_cast<std::uint32_t>(first_entry(row));
      tables_.lengths[row] = static_cast<std::uint8_t>(length(row));
    }
  }

  __device__ void list_cut() const {
    int cells = 0;
    for (int first = 0; first <= window_.rows; first += threads_of_block()) {
      const int row = first + thread_of_block();
      const int own = row < window_.rows ? pieces_of(length(row), piece_most_) : 0;
      int total;
      const int before = device::block_exclusive_sum(own, total);
      if (row <= window_.rows) tables_.row_cells[row] = static_cast<std::uint16_t>(cells + before);
      cells += total;
    }
    __syncthreads();  // the first cells of all rows are there
    for (int cell = thread_of_block(); cell < window_.pieces; cell += threads_of_block()) {
      const int row = row_of(tables_.row_cells, 0, window_.rows, cell);
      const int number = cell - tables_.row_cells[row];
      put(cell, first_entry(row), length(row), number);
      tables_.grades[cell] = static_cast<std::uint8_t>(kPieceGroups - group_of(number));
    }
  }

  /// By groups, then by length. Cells of one row alone stand in the order of groups.
  __device__ void sort() const {
    const bool cut = window_.cut == 1;
    const int cells = window_.cells();
    if (cut) CellSort(tables_, cells, nullptr, tables_.grades, kPieceGroups).run(tables_.grouped);
    CellSort(tables_, cells, cut ? tables_.grouped : nullptr, tables_.lengths, piece_most_)
        .run(tables_.order);
  }

  /// Of the window's row `row`.
  __device__ std::int64_t first_entry(int row) const { return offsets_[row] - window_.first_entry; }
  __device__ int length(int row) const {
    return static_cast<int>(offsets_[row + 1] - offsets_[row]);
  }

  const WindowStart& window_;
  const std::int64_t* offsets_;  // of the window's rows
  std::int64_t entries_;
  int piece_most_;
  const PieceTables& tables_;
};

}  // namespace lanky::sparse::cuda
