// Values to the slots of a packed matrix, by the size of an element: when it is packed, and later
// when values change.
#include <algorithm>
#include <complex>
#include <lanky/half.hpp>
#include <utility>

#include "device/block_scan.cuh"
#include "device/launch.cuh"
#include "sparse/cuda/pack.cuh"
#include "sparse/cuda/slice_steps.cuh"

namespace lanky::sparse::cuda {

namespace {

/// The bits of an element.
template <int kBytes>
using Bits = typename device::detail::WordOf<kBytes>::Type;

/// A block a window, a warp a slice. The window's entries follow each other in the order of cells,
/// so that sums of lengths lead back to them. Shared memory: entries [cells_most] uint32, lengths
/// [cells_most] uint8.
template <int kPieces, class E>
__global__ void __launch_bounds__(kThreadsMost)
    values_kernel(PackedView<E> a, const E* values, E* slots) {
  extern __shared__ std::uint32_t cell_entries[];
  auto* const cell_lengths = reinterpret_cast<std::uint8_t*>(cell_entries + a.header.cells_most);
  const std::int64_t number = blockIdx.x;
  const Window window = a.windows[number];
  const Slice* const slices = a.slices + number * a.header.slices_most;
  constexpr int kWidth = kLanes * kPieces;
  const int threads = static_cast<int>(blockDim.x);
  const int thread = static_cast<int>(threadIdx.x);
  const bool by_row = window.first_row_cell < 0 && window.partial < 0;
  const int cells = by_row ? window.rows : window.pieces;
  const auto cell_of = [&](const Slice& slice, int piece) {
    return slice.listed == 1 ? static_cast<int>(a.cells[window.first_piece + piece])
                             : slice.first_cell + piece % kWidth;
  };

  if (window.gaps == 1) {
    for (int cell = thread; cell < cells; cell += threads)
      cell_lengths[cell] = 0;
    __syncthreads();  // empty rows have their lengths
  }
  for (int piece = thread; piece < window.pieces; piece += threads) {
    const Slice slice = slices[piece / kWidth];
    cell_lengths[cell_of(slice, piece)] =
        slice.depth != slice.shortest ? a.lengths[window.first_piece + piece] : slice.depth;
  }
  __syncthreads();  // all lengths are there
  const int of_thread = device::ceil_div(cells, threads);
  const int first_cell = min(thread * of_thread, cells);
  const int end_cell = min(first_cell + of_thread, cells);
  std::uint32_t own = 0;
  for (int cell = first_cell; cell < end_cell; ++cell)
    own += cell_lengths[cell];
  std::uint32_t total;
  std::uint32_t entry = device::block_exclusive_sum(own, total);
  for (int cell = first_cell; cell < end_cell; ++cell) {
    cell_entries[cell] = entry;
    entry += cell_lengths[cell];
  }
  __syncthreads();  // all entries are there

  const E* const source = values + window.first_entry;
  E* const target = slots + window.first_slot;
  for (int i = thread / kLanes; i * kWidth < window.pieces; i += threads / kLanes) {
    const Slice slice = slices[i];
    LanePieces<kPieces> pieces;
    pieces.width = slice_width(i, window.pieces, kPieces);
    pieces.depth = slice.depth;
    pieces.shortest = slice.shortest;
    pieces.whole = whole_steps(pieces.width, slice.shortest, kPieces);
#pragma unroll
    for (int r = 0; r < kPieces; ++r) {
      const int piece = r * kLanes + lane_of_warp();
      const bool exists = piece < pieces.width;
      const int cell = exists ? cell_of(slice, i * kWidth + piece) : 0;
      pieces.entries[r] = exists ? cell_entries[cell] : 0;
      pieces.lengths[r] = exists ? cell_lengths[cell] : 0;
    }
    SlotWriter<kPieces, E> writer(pieces, target + slice.first_slot);
    for_each_step(pieces, source,
                  [&](int step, const E(&entries)[kPieces]) { writer.store(step, entries); });
    const bool last = (i + 1) * kWidth >= window.pieces;
    const std::int64_t end = slice.first_slot + pieces.total();
    writer.pad(target + round_up(end, last ? kWindowSlotAlign : kSlotAlign));
  }
}

template <int kPieces, class E>
void launch(const Stream& stream, const PackedView<E>& a, const E* values, E* slots) {
  const int bytes = a.header.cells_most * static_cast<int>(sizeof(std::uint32_t) + 1);
  const device::LaunchScope scope(stream);
  device::allow_shared_memory(stream, values_kernel<kPieces, E>, bytes);
  values_kernel<kPieces, E>
      <<<static_cast<unsigned>(a.header.windows), threads_for(a.header.slices_most), bytes,
         stream.native()>>>(a, values, slots);
  scope.check("values_kernel");
}

CsrPattern pattern_of(const auto& a) {
  return {.rows = a.rows,
          .cols = a.cols,
          .nnz = a.nnz,
          .row_offsets = a.row_offsets,
          .columns = a.columns,
          .index_base = a.index_base};
}

}  // namespace

template <class T>
void update_values(const Stream& stream, const PackedView<T>& a, const T* values, T* slots) {
  using E = Bits<sizeof(T)>;
  if (a.header.slots == 0) return;
  const PackedView<E> bits{a.header,  a.windows, a.slices,    nullptr,      a.indices,     a.bases,
                           a.lengths, a.cells,   a.row_cells, a.split_rows, a.split_starts};
  const auto* const source = reinterpret_cast<const E*>(values);
  auto* const target = reinterpret_cast<E*>(slots);
  if (a.header.shape.lane_pieces == 1) {
    launch<1>(stream, bits, source, target);
  } else {
    launch<kLanePiecesMost<T>>(stream, bits, source, target);
  }
}

template <class T>
PackedMatrix<T> pack(const Stream& stream, const Csr<T>& a, const Shape& shape,
                     Allocator* allocator) {
  PackedPattern pattern = pack_pattern(stream, pattern_of(a), shape, allocator);
  PackedMatrix<T> packed{pattern.header,
                         std::move(pattern.windows),
                         std::move(pattern.slices),
                         Buffer<T>(stream, pattern.header.slots, allocator),
                         std::move(pattern.indices),
                         std::move(pattern.bases),
                         std::move(pattern.lengths),
                         std::move(pattern.cells),
                         std::move(pattern.row_cells),
                         std::move(pattern.split_rows),
                         std::move(pattern.split_starts)};
  update_values(stream, packed.view(), a.values, packed.values.data());
  stream.synchronize();
  return packed;
}

#define LANKY_INSTANTIATE(T)                                                      \
  template void update_values(const Stream&, const PackedView<T>&, const T*, T*); \
  template PackedMatrix<T> pack(const Stream&, const Csr<T>&, const Shape&, Allocator*);
LANKY_INSTANTIATE(double)
LANKY_INSTANTIATE(float)
LANKY_INSTANTIATE(half)
LANKY_INSTANTIATE(bfloat16)
LANKY_INSTANTIATE(std::complex<float>)
LANKY_INSTANTIATE(std::complex<double>)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cuda
