// The pieces of one window in shared memory: listed by cells, then sorted, stably, into slice
// order.
#pragma once

#include "device/block_scan.cuh"
#include "sparse/cuda/windows.cuh"

namespace lanky::sparse::cuda {

/// What the tables of a block must hold, for any window of a matrix.
struct PieceTableSizes {
  int cells;
  int row_cells;  // 0 where no window has cut rows
  int buckets;
  int warps;
  int slices;

  __host__ __device__ int bytes() const {
    return slices * static_cast<int>(sizeof(Slice)) +
           (cells + buckets) * static_cast<int>(sizeof(std::uint32_t)) +
           (2 * cells + row_cells + warps * buckets) * static_cast<int>(sizeof(std::uint16_t));
  }
};

struct PieceTables {
  Slice* slices;                // [slices]
  std::uint32_t* entries;       // [cells] first entry of a piece, from the window's
  std::uint32_t* places;        // [buckets] where the pieces of a bucket begin
  std::uint16_t* cell_buckets;  // [cells]; that of an empty row is `buckets`
  std::uint16_t* order;         // [pieces] cells in slice order
  std::uint16_t* row_cells;     // [rows + 1] first cell of each row, where rows are cut
  std::uint16_t* counts;        // [warps, buckets]

  __device__ PieceTables(void* shared, const PieceTableSizes& sizes)
      : slices(static_cast<Slice*>(shared)),
        entries(reinterpret_cast<std::uint32_t*>(slices + sizes.slices)),
        places(entries + sizes.cells),
        cell_buckets(reinterpret_cast<std::uint16_t*>(places + sizes.buckets)),
        order(cell_buckets + sizes.cells),
        row_cells(order + sizes.cells),
        counts(row_cells + sizes.row_cells) {}
};

/// Entries of a piece of `bucket`; 0 for that of an empty row. The inverse of bucket_of().
__device__ inline int length_of_bucket(int bucket, int piece_most) {
  return bucket < kFullBuckets ? piece_most : kFullBuckets - 1 + piece_most - bucket;
}

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
  __device__ void put(int cell, std::int64_t entry, int piece_of_row, std::int64_t left) const {
    const int length = left < piece_most_ ? static_cast<int>(left) : piece_most_;
    tables_.entries[cell] = static_cast<std::uint32_t>(entry);
    tables_.cell_buckets[cell] =
        static_cast<std::uint16_t>(bucket_of(piece_of_row, length, piece_most_));
  }

  __device__ void list_split() const {
    for (int cell = thread(); cell < window_.pieces; cell += threads()) {
      const std::int64_t entry = std::int64_t{cell} * piece_most_;
      put(cell, entry, cell, entries_ - entry);
    }
  }

  __device__ void list_whole() const {
    for (int row = thread(); row < window_.rows; row += threads())
      put(row, offsets_[row] - window_.first_entry, 0, offsets_[row + 1] - offsets_[row]);
  }

  __device__ void list_cut() const {
    int cells = 0;
    for (int first = 0; first <= window_.rows; first += threads()) {
      const int row = first + thread();
      const int own =
          row < window_.rows ? pieces_of(offsets_[row + 1] - offsets_[row], piece_most_) : 0;
      int total;
      const int before = device::block_exclusive_sum(own, total);
      if (row <= window_.rows) tables_.row_cells[row] = static_cast<std::uint16_t>(cells + before);
      cells += total;
    }
    __syncthreads();  // the first cells of all rows are there
    for (int cell = thread(); cell < window_.pieces; cell += threads()) {
      const int row = row_of(cell);
      const int piece = cell - tables_.row_cells[row];
      const std::int64_t entry = offsets_[row] + std::int64_t{piece} * piece_most_;
      put(cell, entry - window_.first_entry, piece, offsets_[row + 1] - entry);
    }
  }

  /// The last row whose first cell is not beyond `cell`.
  __device__ int row_of(int cell) const {
    int row = 0;
    int end = window_.rows;
    while (end - row > 1) {
      const int middle = (row + end) / 2;
      if (tables_.row_cells[middle] <= cell) {
        row = middle;
      } else {
        end = middle;
      }
    }
    return row;
  }

  /// Counting sort: each warp has a run of cells, and its own counts.
  __device__ void sort() const {
    const int buckets_used = buckets(piece_most_);
    const int warps = threads() / kLanes;
    for (int i = thread(); i < warps * buckets_used; i += threads())
      tables_.counts[i] = 0;
    __syncthreads();  // counts are zero
    std::uint16_t* const counts = tables_.counts + thread() / kLanes * buckets_used;
    for_each_of_warp(buckets_used, [&](int /*cell*/, int bucket, unsigned peers, int rank) {
      if (bucket < buckets_used && rank == 0)
        counts[bucket] = static_cast<std::uint16_t>(counts[bucket] + __popc(peers));
    });
    __syncthreads();  // all warps have counted
    for (int bucket = thread(); bucket < buckets_used; bucket += threads()) {
      int before = 0;
      for (int warp = 0; warp < warps; ++warp) {
        std::uint16_t& count = tables_.counts[warp * buckets_used + bucket];
        const int own = count;
        count = static_cast<std::uint16_t>(before);
        before += own;
      }
      tables_.places[bucket] = before;
    }
    __syncthreads();  // the sums of all buckets are there
    if (thread() < kLanes) scan_places(buckets_used);
    __syncthreads();  // all places are there
    for_each_of_warp(buckets_used, [&](int cell, int bucket, unsigned peers, int rank) {
      const bool piece = bucket < buckets_used;
      const int place = piece ? tables_.places[bucket] + counts[bucket] + rank : 0;
      if (piece) tables_.order[place] = static_cast<std::uint16_t>(cell);
      __syncwarp();  // all lanes have read the count
      if (piece && rank == 0)
        counts[bucket] = static_cast<std::uint16_t>(counts[bucket] + __popc(peers));
    });
    __syncthreads();  // the order is there
  }

  /// Visits the cells of this warp, a lane each: `peers` are the lanes of the same bucket, of which
  /// `rank` stand before this one.
  template <class Visit>
  __device__ void for_each_of_warp(int none, Visit visit) const {
    const int cells = window_.cells();
    const int of_warp = (cells + threads() - 1) / threads() * kLanes;
    const int begin = thread() / kLanes * of_warp;
    const int end = min(begin + of_warp, cells);
    const int lane = thread() % kLanes;
    for (int first = begin; first < end; first += kLanes) {
      const int cell = first + lane;
      const int bucket = cell < end ? tables_.cell_buckets[cell] : none;
      const unsigned peers = __match_any_sync(0xffffffffU, bucket);
      const int rank = __popc(peers & ((1U << lane) - 1));
      visit(cell, bucket, peers, rank);
      __syncwarp();  // counts are up to date
    }
  }

  /// Sums of buckets become places, by one warp.
  __device__ void scan_places(int buckets_used) const {
    std::uint32_t sum = 0;
    for (int first = 0; first < buckets_used; first += kLanes) {
      const int bucket = first + thread();
      const std::uint32_t own = bucket < buckets_used ? tables_.places[bucket] : 0;
      const std::uint32_t inclusive = device::warp_inclusive_sum(own);
      if (bucket < buckets_used) tables_.places[bucket] = sum + inclusive - own;
      sum += __shfl_sync(0xffffffffU, inclusive, kLanes - 1);
    }
  }

  __device__ static int thread() { return static_cast<int>(threadIdx.x); }
  __device__ static int threads() { return static_cast<int>(blockDim.x); }

  const WindowStart& window_;
  const std::int64_t* offsets_;  // of the window's rows
  std::int64_t entries_;
  int piece_most_;
  const PieceTables& tables_;
};

}  // namespace lanky::sparse::cuda
