// y = alpha A x + beta y on a packed matrix: a block for each window, a warp for
// each slice. Shared memory: a sum for each cell of the window.
#pragma once

#include <cstdint>

#include "device/element.cuh"
#include "device/grid_dependency.cuh"
#include "device/guarded_load.cuh"
#include "sparse/backend.hpp"
#include "sparse/cuda/slice_mma.cuh"
#include "sparse/cuda/slice_walk.cuh"

namespace lanky::sparse::cuda {

// Warps of a block: 8 share what a window stages; otherwise 4, which wait for each other less. 32
// warps of a multiprocessor are resident; 24 where no slice is wide, as small matrices need
// registers more.
inline constexpr int kWarpsMost = 8;
template <int kWide>
inline constexpr int kThreadsMost = (kWide > 1 ? kWarpsMost : kWarpsMost / 2) * kLanes;
template <int kWide>
inline constexpr int kBlocks = kWide > 1 ? 4 : 6;
inline constexpr int kFinishThreads = 128;
inline constexpr int kCellsOfThread = 8;  // that one thread adds up, for a row

/// A Product as a kernel argument.
template <class T, class TOut>
struct DeviceProduct {
  const device::DeviceElement<T>* x;  // [cols]
  device::DeviceElement<TOut>* y;     // [rows]
  device::DeviceScalar<Accumulator<T>> alpha;
  device::DeviceScalar<Accumulator<T>> beta;
  device::DeviceAccumulator<T>* partials;  // [header.partials]
};

/// Writes rows of y with alpha and beta, which are read once a warp.
template <class T, class TOut>
class RowWriter {
 public:
  using Sum = device::DeviceAccumulator<T>;

  __device__ explicit RowWriter(const DeviceProduct<T, TOut>& product)
      : y_(product.y), alpha_(product.alpha.load()), beta_(product.beta.load()) {}

  /// y[row] = alpha sum + beta y[row]; with beta = 0, y is not read.
  __device__ void write(std::int32_t row, Sum sum) const {
    const Sum scaled = alpha_ * sum;
    y_[row] = device::narrow<device::DeviceElement<TOut>>(
        beta_ == Sum{0} ? scaled : fma(beta_, static_cast<Sum>(device::widen(y_[row])), scaled));
  }

 private:
  device::DeviceElement<TOut>* y_;
  Sum alpha_;
  Sum beta_;
};

/// The sum of `value` over the lanes of groups of kCount neighbours, in a fixed order.
template <int kCount, class Sum>
__device__ Sum sum_of_neighbours(Sum value) {
#pragma unroll
  for (int mask = 1; mask < kCount; mask *= 2)
    value = value + device::shuffle_xor(value, mask);
  return value;
}

/// What a warp needs to multiply a slice: x, and its part that the window staged.
template <class E>
struct Factors {
  const E* x;
  const E* staged;  // in shared memory, from the window's first column on
};

/// sums[r] of the lane's piece r of a slice, by SpmvPath::cuda: fused multiply-adds in the
/// arithmetic of the accumulator type. `length`: of the lane's piece of a slice that is not wide.
struct ByCudaCores {
  template <int kPieces, class E, class Sum>
  static __device__ void walk(const SliceView<E>& slice, IndexKind kind, const Factors<E>& factors,
                              int lane, int length, Sum (&sums)[kPieces]) {
    switch (kind) {
      case IndexKind::shared:
        return walk_kind<IndexKind::shared>(slice, factors.x, lane, length, sums);
      case IndexKind::staged:
        return walk_kind<IndexKind::staged>(slice, factors.staged, lane, length, sums);
      case IndexKind::offset8:
        return walk_kind<IndexKind::offset8>(slice, factors.x, lane, length, sums);
      case IndexKind::offset16:
        return walk_kind<IndexKind::offset16>(slice, factors.x, lane, length, sums);
      case IndexKind::absolute:
        return walk_kind<IndexKind::absolute>(slice, factors.x, lane, length, sums);
    }
  }

 private:
  template <IndexKind kKind, int kPieces, class E, class Sum>
  static __device__ void walk_kind(const SliceView<E>& slice, const E* x, int lane, int length,
                                   Sum (&sums)[kPieces]) {
    const SliceWalk<E, kPieces, kKind> walk(slice, x, lane);
    walk.walk_whole(sums);
    if constexpr (kPieces == 1) {
      if (slice.shortest < slice.depth) walk.walk_ragged(sums, length);
    }
  }
};

/// The same by SpmvPath::mma, on tensor cores.
struct ByTensorCores {
  template <int kPieces, class E, class Sum>
  static __device__ void walk(const SliceView<E>& slice, IndexKind kind, const Factors<E>& factors,
                              int lane, int length, Sum (&sums)[kPieces]) {
    const E* const x = kind == IndexKind::staged ? factors.staged : factors.x;
    SliceMma<E, kPieces>(slice, kind, x, lane).walk(sums, length);
  }
};

/// One window, by one block. kWide: pieces of a lane in wide slices.
template <class Walk, int kWide, class T, class TOut>
class WindowProduct {
 public:
  using E = device::DeviceElement<T>;
  using Sum = device::DeviceAccumulator<T>;

  __device__ WindowProduct(const PackedView<E>& a, const DeviceProduct<T, TOut>& product,
                           unsigned char* shared)
      : a_(a),
        product_(product),
        cells_(reinterpret_cast<Sum*>(shared)),
        staged_(reinterpret_cast<E*>(shared + a.header.cells_most * sizeof(Sum))),
        window_(a.windows[blockIdx.x]) {}

  /// What the plan owns is read ahead of the wait; x, y and partial sums after it.
  __device__ void run() {
    device::let_next_kernel_start();
    Slice next = load_slice(warp());
    if (window_.gaps != 0) clear_cells();
    device::wait_for_kernel_ahead();
    if (window_.columns != 0) stage_columns();
    if (window_.gaps != 0 || window_.columns != 0)
      __syncthreads();  // cells are clear, and x is staged, before slices are multiplied
    for (int s = warp(); next.width > 0; s += warps()) {
      const Slice slice = next;
      next = load_slice(s + warps());
      if (kWide > 1 && slice.width > kLanes) {
        run_slice<kWide>(slice);
      } else {
        run_slice<1>(slice);
      }
    }
    if (window_.direct != 0) return;
    const CellRange range = row_cells(static_cast<int>(threadIdx.x));
    __syncthreads();  // all cells are written before they are added up
    if (window_.partial >= 0) {
      write_partial();
    } else if (window_.first_row_cell >= 0) {
      write_cut_rows(range);
    } else {
      write_rows();
    }
  }

 private:
  static __device__ int lane() { return static_cast<int>(threadIdx.x % kLanes); }
  static __device__ int threads() { return static_cast<int>(blockDim.x); }
  static __device__ int warps() { return static_cast<int>(blockDim.x / kLanes); }
  static __device__ int warp() { return static_cast<int>(threadIdx.x / kLanes); }

  /// Rows without entries have no piece that would write their cell.
  __device__ void clear_cells() {
    for (int row = static_cast<int>(threadIdx.x); row < window_.rows; row += threads())
      cells_[row] = Sum{0};
  }

  __device__ void stage_columns() {
    constexpr int kAtOnce = 4;
    const E* const source = product_.x + window_.first_column;
    for (int first = static_cast<int>(threadIdx.x); first < window_.columns;
         first += kAtOnce * threads()) {
      E some[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i)
        device::load_if(some[i], source + first + i * threads(),
                        first + i * threads() < window_.columns);
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (first + i * threads() < window_.columns) staged_[first + i * threads()] = some[i];
      }
    }
  }

  template <int kPieces>
  __device__ void run_slice(const Slice& slice) {
    const SliceView<E> view{a_.values + window_.first_slot + slice.first_slot * kSlotUnit,
                            a_.indices + (window_.first_index + slice.first_index) * kIndexUnit,
                            a_.bases + window_.first_base + slice.first_base * kBaseUnit,
                            slice.width,
                            slice.depth,
                            slice.shortest};
    int length = lane() < slice.width ? slice.depth : 0;
    int cells[kPieces];
#pragma unroll
    for (int r = 0; r < kPieces; ++r) {
      const int piece = r * kLanes + lane();
      const bool exists = kPieces > 1 || lane() < slice.width;
      const std::int64_t told = window_.first_piece + slice.first_piece + piece;
      cells[r] = slice.first_cell + piece;
      if (slice.listed != 0 && exists) cells[r] = a_.cells[told];
      if (kPieces == 1 && slice.shortest != slice.depth && exists) length = a_.lengths[told];
    }
    Sum sums[kPieces];
#pragma unroll
    for (int r = 0; r < kPieces; ++r)
      sums[r] = Sum{0};
    Walk::walk(view, slice.kind, Factors<E>{product_.x, staged_}, lane(), length, sums);
    if (kPieces > 1 || lane() < slice.width) leave(cells, sums);
  }

  /// Slice `number` of the window's; zeros beyond them. Waits for nothing of the window.
  __device__ Slice load_slice(int number) const {
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * a_.header.slices_most;
    Slice slice[1];
    device::load_stream_if(slice, a_.slices + first + number, number < a_.header.slices_most);
    return slice[0];
  }

  /// The sums of a slice to their cells or, where no other piece is of their rows, to y.
  template <int kPieces>
  __device__ void leave(const int (&cells)[kPieces], const Sum (&sums)[kPieces]) {
    const RowWriter<T, TOut> writer(product_);
#pragma unroll
    for (int r = 0; r < kPieces; ++r) {
      if (window_.direct != 0) {
        writer.write(window_.first_row + cells[r], sums[r]);
      } else {
        cells_[cells[r]] = sums[r];
      }
    }
  }

  /// Each row has one cell.
  __device__ void write_rows() const {
    const RowWriter<T, TOut> writer(product_);
    for (int row = static_cast<int>(threadIdx.x); row < window_.rows; row += threads())
      writer.write(window_.first_row + row, cells_[row]);
  }

  /// The cells of the thread's row `row`.
  struct CellRange {
    int begin;
    int end;
  };
  __device__ CellRange row_cells(int row) const {
    if (window_.first_row_cell < 0 || row >= window_.rows) return {0, 0};
    const std::uint16_t* const first = a_.row_cells + window_.first_row_cell + row;
    return {__ldg(first), __ldg(first + 1)};
  }

  /// A thread for each row; the warp together for each row of many cells. `range`: of the row whose
  /// number is the thread's.
  __device__ void write_cut_rows(CellRange range) const {
    const RowWriter<T, TOut> writer(product_);
    for (int first = warp() * kLanes; first < window_.rows; first += threads()) {
      const int row = first + lane();
      const bool many = range.end - range.begin > kCellsOfThread;
      Sum sum{0};
      if (!many) {
        for (int cell = range.begin; cell < range.end; ++cell)
          sum = sum + cells_[cell];
      }
      for (unsigned left = __ballot_sync(kWholeWarp, many); left != 0; left &= left - 1) {
        const int owner = __ffs(static_cast<int>(left)) - 1;
        const int end = __shfl_sync(kWholeWarp, range.end, owner);
        Sum part{0};
        for (int cell = __shfl_sync(kWholeWarp, range.begin, owner) + lane(); cell < end;
             cell += kLanes)
          part = part + cells_[cell];
        part = sum_of_neighbours<kLanes>(part);
        if (lane() == owner) sum = part;
      }
      if (row < window_.rows) writer.write(window_.first_row + row, sum);
      range = row_cells(row + threads());
    }
  }

  /// All cells belong to one row, of which this is a part.
  __device__ void write_partial() const {
    __shared__ Sum warp_sums[kWarpsMost];
    Sum sum{0};
    for (int cell = static_cast<int>(threadIdx.x); cell < window_.pieces; cell += threads())
      sum = sum + cells_[cell];
    sum = sum_of_neighbours<kLanes>(sum);
    if (lane() == 0) warp_sums[warp()] = sum;
    __syncthreads();  // every warp's sum is stored before thread 0 reads it
    if (threadIdx.x != 0) return;
    for (int w = 1; w < warps(); ++w)
      sum = sum + warp_sums[w];
    product_.partials[window_.partial] = sum;
  }

  const PackedView<E>& a_;
  const DeviceProduct<T, TOut>& product_;
  Sum* cells_;            // in shared memory, [header.cells_most]
  E* staged_;             // in shared memory, [header.columns_most]
  const Window& window_;  // in device memory: its fields are read where they are needed
};

template <class Walk, int kWide, class T, class TOut>
__device__ void run_window(const PackedView<device::DeviceElement<T>>& a,
                           const DeviceProduct<T, TOut>& product) {
  extern __shared__ __align__(16) unsigned char shared[];
  WindowProduct<Walk, kWide, T, TOut>(a, product, shared).run();
}

template <int kWide, class T, class TOut>
__global__ void __launch_bounds__(kThreadsMost<kWide>, kBlocks<kWide>)
    spmv_cuda_kernel(const __grid_constant__ PackedView<device::DeviceElement<T>> a,
                     const __grid_constant__ DeviceProduct<T, TOut> product) {
  run_window<ByCudaCores, kWide>(a, product);
}

template <int kWide, class T, class TOut>
__global__ void __launch_bounds__(kThreadsMost<kWide>)
    spmv_mma_kernel(const __grid_constant__ PackedView<device::DeviceElement<T>> a,
                    const __grid_constant__ DeviceProduct<T, TOut> product) {
  run_window<ByTensorCores, kWide>(a, product);
}

/// y of split rows, a block each: thread i adds partial sums i, i + kFinishThreads, ...; then
/// lanes, then warps, in a fixed order.
template <class T, class TOut>
__global__ void __launch_bounds__(kFinishThreads)
    spmv_finish_kernel(const __grid_constant__ PackedView<device::DeviceElement<T>> a,
                       const __grid_constant__ DeviceProduct<T, TOut> product) {
  using Sum = device::DeviceAccumulator<T>;
  __shared__ Sum warp_sums[kFinishThreads / kLanes];
  device::let_next_kernel_start();
  device::wait_for_kernel_ahead();
  const std::int64_t end = a.split_starts[blockIdx.x + 1];
  Sum sum{0};
  for (std::int64_t i = a.split_starts[blockIdx.x] + threadIdx.x; i < end; i += kFinishThreads)
    sum = sum + product.partials[i];
  sum = sum_of_neighbours<kLanes>(sum);
  if (threadIdx.x % kLanes == 0) warp_sums[threadIdx.x / kLanes] = sum;
  __syncthreads();  // every warp's sum is stored before thread 0 reads it
  if (threadIdx.x != 0) return;
  for (int w = 1; w < kFinishThreads / kLanes; ++w)
    sum = sum + warp_sums[w];
  RowWriter<T, TOut>(product).write(a.split_rows[blockIdx.x], sum);
}

}  // namespace lanky::sparse::cuda
