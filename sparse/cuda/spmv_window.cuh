// y = alpha A x + beta y on a packed matrix: a block for each window, a warp for each slice. Shared
// memory: a sum for each cell of the window, and the columns of x that it stages.
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/arrival.cuh"
#include "device/element.cuh"
#include "device/grid_dependency.cuh"
#include "device/guarded_load.cuh"
#include "sparse/backend.hpp"
#include "sparse/cuda/slice_mma.cuh"
#include "sparse/cuda/slice_walk.cuh"

namespace lanky::sparse::cuda {

/// The slices of a window that a kernel is for.
enum class Slices : std::uint8_t {
  single,   // one for each warp of the block at most, none wide, of few steps: of small matrices
  deep,     // the same, of more steps
  shallow,  // most of them wide, of a step or two, which a warp multiplies several of at once
  any
};

// Warps of a block: 8 share what a window stages, or have a slice each; otherwise 4, which wait for
// each other less. 32 warps of a multiprocessor are resident; 24 where no slice is wide, as small
// matrices need registers more.
inline constexpr int kWarpsMost = 8;
constexpr bool one_a_warp(Slices slices) {
  return slices == Slices::single || slices == Slices::deep;
}
template <int kWide, Slices kSlices>
inline constexpr int kThreadsMost =
    (kWide > 1 || one_a_warp(kSlices) ? kWarpsMost : kWarpsMost / 2) * kLanes;
template <int kWide, Slices kSlices, class T>
inline constexpr int kBlocks = kWide > 1                                    ? 4
                               : !one_a_warp(kSlices)                       ? 6
                               : sizeof(T) < 8 && kSlices == Slices::single ? 4
                                                                            : 3;
inline constexpr int kGroup = 4;              // shallow slices that a warp multiplies at once
inline constexpr int kCellsOfThread = 16;     // that one thread adds up, for a row
inline constexpr int kAheadBytes = 32 << 10;  // of values, and of indices, that are fetched ahead

/// A Product as a kernel argument.
template <class T, class TOut>
struct DeviceProduct {
  const device::DeviceElement<T>* x;  // [cols]
  device::DeviceElement<TOut>* y;     // [rows]
  device::DeviceScalar<Accumulator<T>> alpha;
  device::DeviceScalar<Accumulator<T>> beta;
  device::DeviceAccumulator<T>* partials;  // [header.partials]
  unsigned* arrivals;                      // [header.split_rows]
  bool fetch_ahead;                        // windows have their beginning fetched at once
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

/// visit(kind) with `kind` as a constant.
template <class Visit>
__device__ auto with_kind(IndexKind kind, Visit visit) {
  switch (kind) {
    case IndexKind::shared:
      return visit(std::integral_constant<IndexKind, IndexKind::shared>());
    case IndexKind::staged:
      return visit(std::integral_constant<IndexKind, IndexKind::staged>());
    case IndexKind::offset8:
      return visit(std::integral_constant<IndexKind, IndexKind::offset8>());
    case IndexKind::offset16:
      return visit(std::integral_constant<IndexKind, IndexKind::offset16>());
    case IndexKind::absolute:
      break;
  }
  return visit(std::integral_constant<IndexKind, IndexKind::absolute>());
}

/// Slices by SpmvPath::cuda: fused multiply-adds in the arithmetic of the accumulator type.
struct ByCudaCores {
  /// The sum of the lane's piece of a slice that is not wide.
  template <class E>
  static __device__ auto sum(const SliceView<E>& slice, IndexKind kind, const Factors<E>& factors,
                             int lane, int length) {
    decltype(device::widen(E{})) sum{0};
    with_kind(kind, [&](auto constant) {
      NarrowWalk<E, decltype(constant)> walk(slice, constant, lane, length);
      do {
        walk.add(factors, sum, [] {});
      } while (walk.goes_on());
    });
    return sum;
  }

  /// The same, its first steps by code that is fetched soon. ready() is called, by all warps,
  /// before x is read.
  template <bool kDeep, class E, class Ready>
  static __device__ auto sum_at_once(const SliceView<E>& slice, IndexKind kind,
                                     const Factors<E>& factors, int lane, int length, Ready ready) {
    decltype(device::widen(E{})) sum{0};
    NarrowWalk<E, IndexKind> first(slice, kind, lane, length);
    first.add(factors, sum, ready);
    if constexpr (kDeep) {
      if (!first.goes_on()) return sum;
      with_kind(kind, [&](auto constant) {
        NarrowWalk<E, decltype(constant)> rest(first, constant);
        do {
          rest.add(factors, sum, [] {});
        } while (rest.goes_on());
      });
    }
    return sum;
  }

  /// Adds to sums[r] of the lane's piece r of a wide slice.
  template <int kPieces, class E, class Sum>
  static __device__ void add_wide(const SliceView<E>& slice, IndexKind kind,
                                  const Factors<E>& factors, int lane, Sum (&sums)[kPieces]) {
    with_kind(kind, [&](auto constant) {
      WideWalk<E, kPieces, constant.value>(slice, lane).add(factors, sums);
    });
  }
};

/// The same by SpmvPath::mma, on tensor cores.
struct ByTensorCores {
  template <class E>
  static __device__ auto sum(const SliceView<E>& slice, IndexKind kind, const Factors<E>& factors,
                             int lane, int length) {
    decltype(device::widen(E{})) sums[1];
    SliceMma<E, 1>(slice, kind, factors, lane).walk(sums, length);
    return sums[0];
  }

  template <int kPieces, class E, class Sum>
  static __device__ void add_wide(const SliceView<E>& slice, IndexKind kind,
                                  const Factors<E>& factors, int lane, Sum (&sums)[kPieces]) {
    SliceMma<E, kPieces>(slice, kind, factors, lane).walk(sums, slice.depth);
  }
};

/// One window, by one block. kWide: pieces of a lane in wide slices.
template <class Walk, int kWide, Slices kSlices, class T, class TOut>
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

  /// What the plan owns may be read ahead of the wait for kernels before this one; x, y and partial
  /// sums after it.
  __device__ void run() {
    const Slice first = load_slice(warp());
    if (!one_a_warp(kSlices) && product_.fetch_ahead) fetch_ahead();
    if (window_.gaps != 0) clear_cells();
    CellRange range;
    if constexpr (one_a_warp(kSlices)) {
      range = run_single(first);
    } else {
      range = run_slices(first);
    }
    if (window_.direct != 0) return;
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

  /// From here on x may be read, and cells be written.
  __device__ void prepare() {
    device::wait_for_kernel_ahead();
    if (window_.columns != 0) stage_columns();
    if (window_.gaps != 0 || window_.columns != 0)
      __syncthreads();  // cells are clear, and x is staged, before slices are multiplied
  }

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

  __device__ SliceView<E> view_of(const Slice& slice) const {
    return {a_.values + window_.first_slot + slice.first_slot * kSlotUnit,
            a_.indices + (window_.first_index + slice.first_index) * kIndexUnit,
            a_.bases + window_.first_base + slice.first_base * kBaseUnit,
            slice.width,
            slice.depth,
            slice.shortest};
  }

  __device__ Factors<E> factors() const {
    return {product_.x, staged_};
  }

  /// The cells of one row.
  struct CellRange {
    int begin;
    int end;
  };

  /// At most one slice for each warp, and none wide: of a small matrix, of whose few steps only x
  /// is left to read after the wait. Returns the cells of the thread's row.
  __device__ CellRange run_single(const Slice& slice) {
    const CellRange range = row_cells(first_row());
    const LanePiece piece = piece_of_lane(slice);
    const Sum sum = Walk::template sum_at_once<kSlices == Slices::deep>(
        view_of(slice), slice.kind, factors(), lane(), piece.length, [&] { prepare(); });
    if (piece.exists) leave(RowWriter<T, TOut>(product_), piece.cell, sum);
    return range;
  }

  /// All slices that the warp has, from `first` on. Returns the cells of the thread's first row.
  __device__ CellRange run_slices(const Slice& first) {
    prepare();
    if constexpr (kSlices == Slices::shallow) {
      for (int number = warp(); number < a_.header.slices_most; number += kGroup * warps())
        run_group(load_slice(number + lane() % kGroup * warps()));
    } else {
      // Forth and back over the warps: slices get shorter.
      Slice next = first;
      int mirror = 0;
      for (int turn = 0; next.width > 0;) {
        const Slice slice = next;
        turn += warps();
        mirror ^= warps() - 1;
        next = load_slice(turn + (warp() ^ mirror));
        run_slice(slice);
      }
    }
    return row_cells(first_row());
  }

  /// Has the L2 nearby fetch the beginning of the window, for all warps at once.
  __device__ void fetch_ahead() const {
    const bool last = blockIdx.x + 1 == gridDim.x;
    const Window& next = a_.windows[blockIdx.x + (last ? 0 : 1)];
    const std::int64_t slots = (last ? a_.header.slots : next.first_slot) - window_.first_slot;
    const std::int64_t units =
        (last ? a_.header.index_units : next.first_index) - window_.first_index;
    fetch_ahead(a_.values + window_.first_slot, slots * static_cast<int>(sizeof(E)));
    fetch_ahead(a_.indices + window_.first_index * kIndexUnit, units * kIndexUnit);
  }
  __device__ void fetch_ahead(const void* begin, std::int64_t bytes) const {
    constexpr int kLine = 128;
    const auto* const line = static_cast<const unsigned char*>(begin);
    const auto end = static_cast<int>(min(bytes, std::int64_t{kAheadBytes}));
    for (int at = static_cast<int>(threadIdx.x) * kLine; at < end; at += threads() * kLine)
      device::prefetch(line + at);
  }

  /// kGroup slices of the warp, the j-th of which lane j has.
  __device__ void run_group(const Slice& group) {
    if (run_shallow(group)) return;
    for (int j = 0; j < kGroup; ++j)
      run_slice(of_lane(group, j));
  }

  /// The slice that lane `j` has.
  static __device__ Slice of_lane(const Slice& group, int j) {
    Slice slices[1] = {group};
    device::exchange(slices, j);
    return slices[0];
  }

  __device__ void run_slice(const Slice& slice) {
    if (kWide > 1 && slice.width > kLanes) {
      run_wide(slice);
    } else if (slice.width > 0) {
      run_narrow(slice);
    }
  }

  /// Multiplies a group of wide slices of a step or two, stored alike; false where they are not.
  __device__ bool run_shallow(const Slice& group) {
    const Slice first = of_lane(group, 0);
    const bool alike = group.width == kWide * kLanes && group.depth == first.depth &&
                       group.kind == first.kind && first.kind != IndexKind::shared &&
                       first.depth <= 2;
    if (!__all_sync(kWholeWarp, alike || group.width == 0)) return false;
    with_kind(first.kind, [&](auto kind) {
      if constexpr (kind.value != IndexKind::shared) {
        if (first.depth == 1) {
          run_joined<kind.value, 1>(group, 0);
        } else {
          run_joined<kind.value, 2>(group, 0);
          run_joined<kind.value, 2>(group, kGroup / 2);
        }
      }
    });
    return true;
  }

  /// Those from slice `first` of the group on.
  template <IndexKind kKind, int kDepth>
  __device__ void run_joined(const Slice& group, int first) {
    ShallowWalk<E, kWide, kKind, kDepth> walk;
#pragma unroll
    for (int j = 0; j < walk.kSlices; ++j)
      walk.load(j, view_of(of_lane(group, first + j)), lane());
    const RowWriter<T, TOut> writer(product_);
    const unsigned existing = __ballot_sync(kWholeWarp, group.width > 0) >> first;
    walk.multiply(
        factors(), [&](int j) { return (existing >> j & 1U) != 0; },
        [&](int j, const Sum(&sums)[kWide]) {
          const Slice slice = of_lane(group, first + j);
          int cells[kWide];
          cells_of_wide(slice, cells);
#pragma unroll
          for (int r = 0; r < kWide; ++r)
            leave(writer, cells[r], sums[r]);
        });
  }

  /// A lane's piece of a slice that is not wide.
  struct LanePiece {
    bool exists;
    int length;
    int cell;
  };
  __device__ LanePiece piece_of_lane(const Slice& slice) const {
    const bool exists = lane() < slice.width;
    const std::int64_t told = window_.first_piece + slice.first_piece + lane();
    LanePiece piece{exists, exists ? slice.depth : 0, slice.first_cell + lane()};
    if (exists && slice.shortest != slice.depth) piece.length = a_.lengths[told];
    if (exists && slice.listed != 0) piece.cell = a_.cells[told];
    return piece;
  }

  __device__ void run_narrow(const Slice& slice) {
    const LanePiece piece = piece_of_lane(slice);
    const Sum sum = Walk::sum(view_of(slice), slice.kind, factors(), lane(), piece.length);
    if (piece.exists) leave(RowWriter<T, TOut>(product_), piece.cell, sum);
  }

  __device__ void cells_of_wide(const Slice& slice, int (&cells)[kWide]) const {
#pragma unroll
    for (int r = 0; r < kWide; ++r) {
      const int piece = r * kLanes + lane();
      cells[r] = slice.listed == 0 ? slice.first_cell + piece
                                   : a_.cells[window_.first_piece + slice.first_piece + piece];
    }
  }

  __device__ void run_wide(const Slice& slice) {
    int cells[kWide];
    cells_of_wide(slice, cells);
    Sum sums[kWide];
#pragma unroll
    for (int r = 0; r < kWide; ++r)
      sums[r] = Sum{0};
    Walk::add_wide(view_of(slice), slice.kind, factors(), lane(), sums);
    const RowWriter<T, TOut> writer(product_);
#pragma unroll
    for (int r = 0; r < kWide; ++r)
      leave(writer, cells[r], sums[r]);
  }

  /// Slice `number` of the window's; zeros beyond them. Waits for nothing of the window.
  __device__ Slice load_slice(int number) const {
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * a_.header.slices_most;
    Slice slice[1];
    device::load_stream_if(slice, a_.slices + first + number, number < a_.header.slices_most);
    return slice[0];
  }

  /// A piece's sum to its cell or, where no other piece is of its row, to y.
  __device__ void leave(const RowWriter<T, TOut>& writer, int cell, Sum sum) {
    if (window_.direct != 0) {
      writer.write(window_.first_row + cell, sum);
    } else {
      cells_[cell] = sum;
    }
  }

  /// Each row has one cell.
  __device__ void write_rows() const {
    const RowWriter<T, TOut> writer(product_);
    for (int row = static_cast<int>(threadIdx.x); row < window_.rows; row += threads())
      writer.write(window_.first_row + row, cells_[row]);
  }

  /// Of row `row`, where rows are cut.
  __device__ CellRange row_cells(int row) const {
    if (window_.first_row_cell < 0 || row >= window_.rows) return {0, 0};
    const std::uint16_t* const first = a_.row_cells + window_.first_row_cell + row;
    return {__ldg(first), __ldg(first + 1)};
  }

  /// The first of the rows that the thread adds up, where rows are cut; of a few rows, all warps
  /// have some.
  __device__ int first_row() const {
    return window_.rows <= kLanes ? lane() * warps() + warp() : static_cast<int>(threadIdx.x);
  }

  /// A thread for each row; the warp together for each row of many cells. `range`: of the thread's
  /// first row.
  __device__ void write_cut_rows(CellRange range) const {
    const RowWriter<T, TOut> writer(product_);
    for (int row = first_row(); __any_sync(kWholeWarp, row < window_.rows); row += threads()) {
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

  /// All cells belong to one row, of which this is a part. The last window of the row to end adds
  /// the parts up, in their order.
  __device__ void write_partial() const {
    __shared__ bool last;
    Sum sum = sum_of_block(cells_, window_.pieces);
    const std::int64_t first = a_.split_starts[window_.split];
    const auto parts = static_cast<unsigned>(a_.split_starts[window_.split + 1] - first);
    if (threadIdx.x == 0) {
      product_.partials[window_.partial] = sum;
      last = device::arrive_at(product_.arrivals + window_.split, parts);
    }
    __syncthreads();  // `last` is there, and what other windows wrote is visible
    if (!last) return;
    sum = sum_of_block(product_.partials + first, static_cast<int>(parts));
    if (threadIdx.x == 0) RowWriter<T, TOut>(product_).write(window_.first_row, sum);
  }

  /// For thread 0: thread i adds sums i, i + threads(), ...; then lanes, then warps.
  __device__ Sum sum_of_block(const Sum* sums, int count) const {
    __shared__ Sum warp_sums[kWarpsMost];
    Sum sum{0};
    for (int i = static_cast<int>(threadIdx.x); i < count; i += threads())
      sum = sum + sums[i];
    sum = sum_of_neighbours<kLanes>(sum);
    if (lane() == 0) warp_sums[warp()] = sum;
    __syncthreads();  // every warp's sum is stored before thread 0 reads it
    for (int w = 1; w < warps(); ++w)
      sum = sum + warp_sums[w];
    return sum;
  }

  const PackedView<E>& a_;
  const DeviceProduct<T, TOut>& product_;
  Sum* cells_;  // in shared memory, [header.cells_most]
  E* staged_;   // in shared memory, [header.columns_most]
  // A slice for each warp: read at once. Otherwise in device memory, its fields are read where
  // needed.
  std::conditional_t<one_a_warp(kSlices), const Window, const Window&> window_;
};

template <class Walk, int kWide, Slices kSlices, class T, class TOut>
__device__ void run_window(const PackedView<device::DeviceElement<T>>& a,
                           const DeviceProduct<T, TOut>& product) {
  extern __shared__ __align__(16) unsigned char shared[];
  device::let_next_kernel_start();
  WindowProduct<Walk, kWide, kSlices, T, TOut>(a, product, shared).run();
}

template <int kWide, Slices kSlices, class T, class TOut>
__global__ void __launch_bounds__(kThreadsMost<kWide, kSlices>, kBlocks<kWide, kSlices, T>)
    spmv_cuda_kernel(const __grid_constant__ PackedView<device::DeviceElement<T>> a,
                     const __grid_constant__ DeviceProduct<T, TOut> product) {
  run_window<ByCudaCores, kWide, kSlices>(a, product);
}

template <int kWide, class T, class TOut>
__global__ void __launch_bounds__(kThreadsMost<kWide, Slices::any>)
    spmv_mma_kernel(const __grid_constant__ PackedView<device::DeviceElement<T>> a,
                    const __grid_constant__ DeviceProduct<T, TOut> product) {
  run_window<ByTensorCores, kWide, Slices::any>(a, product);
}

}  // namespace lanky::sparse::cuda
