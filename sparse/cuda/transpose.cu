// The transpose of a CSR matrix: its entries sorted by columns, stably. Beside the arrays of the
// result, sorting takes 16 bytes an entry.
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <utility>

#include "core/plan_types.hpp"
#include "device/element.cuh"
#include "device/launch.cuh"
#include "sparse/backend.hpp"

namespace lanky::sparse::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int kEntriesPerThread = 8;
constexpr int kBlockEntries = kThreads * kEntriesPerThread;

unsigned blocks_of(std::int64_t count, int per_block) {
  return static_cast<unsigned>(device::ceil_div<std::int64_t>(count, per_block));
}

__device__ std::int64_t thread_of_grid() {
  return std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
}

/// keys, entries: [nnz] the column of each entry, zero-based, and its number
__global__ void __launch_bounds__(kThreads)
    list_entries_kernel(CsrPattern a, std::uint32_t* keys, std::uint32_t* entries) {
  const std::int64_t i = thread_of_grid();
  if (i >= a.nnz) return;
  keys[i] = static_cast<std::uint32_t>(a.columns[i] - a.index_base);
  entries[i] = static_cast<std::uint32_t>(i);
}

/// offsets: [cols + 1] first of the sorted keys that is not below each column
__global__ void __launch_bounds__(kThreads)
    find_offsets_kernel(const std::uint32_t* keys, std::int64_t nnz, std::int64_t cols,
                        std::int64_t* offsets) {
  const std::int64_t column = thread_of_grid();
  if (column > cols) return;
  std::int64_t first = 0;
  std::int64_t end = nnz;
  while (first < end) {
    const std::int64_t middle = (first + end) / 2;
    if (keys[middle] < column) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  offsets[column] = first;
}

/// The row, of `first` to `end` - 1, that has an entry.
__device__ std::int64_t row_of(const std::int64_t* offsets, std::int64_t first, std::int64_t end,
                               std::int64_t entry) {
  while (end - first > 1) {
    const std::int64_t middle = (first + end) / 2;
    if (offsets[middle] <= entry) {
      first = middle;
    } else {
      end = middle;
    }
  }
  return first;
}

/// rows: [nnz] the row of each entry. A block looks up the rows of its first and last entry;
/// threads look between them.
__global__ void __launch_bounds__(kThreads)
    expand_rows_kernel(const std::int64_t* offsets, std::int64_t row_count, std::int64_t nnz,
                       std::int32_t* rows) {
  __shared__ std::int64_t ends[2];
  const std::int64_t first = std::int64_t{blockIdx.x} * kBlockEntries;
  const std::int64_t last = min(first + kBlockEntries, nnz) - 1;
  if (threadIdx.x < 2)
    ends[threadIdx.x] = row_of(offsets, 0, row_count, threadIdx.x == 0 ? first : last);
  __syncthreads();  // both rows are there
  for (std::int64_t i = first + threadIdx.x; i <= last; i += kThreads)
    rows[i] = static_cast<std::int32_t>(row_of(offsets, ends[0], ends[1] + 1, i));
}

/// target[i] = source[entries[i]], or its conjugate.
template <class E>
__global__ void __launch_bounds__(kThreads)
    gather_kernel(const std::uint32_t* entries, std::int64_t count, bool conjugated,
                  const E* source, E* target) {
  const std::int64_t i = thread_of_grid();
  if (i < count) target[i] = device::conjugate_if(conjugated, source[entries[i]]);
}

template <class E>
void launch_gather(const Stream& stream, const std::uint32_t* entries, std::int64_t count,
                   bool conjugated, const E* source, E* target) {
  if (count == 0) return;
  const device::LaunchScope scope(stream);
  gather_kernel<<<blocks_of(count, kThreads), kThreads, 0, stream.native()>>>(
      entries, count, conjugated, source, target);
  scope.check("gather_kernel");
}

/// Two arrays between which a sort goes back and forth.
struct SortArrays {
  SortArrays(const Stream& stream, std::int64_t count, Allocator* allocator)
      : first(stream, count, allocator),
        second(stream, count, allocator),
        both(first.data(), second.data()) {}
  /// The one that holds what is sorted.
  Buffer<std::uint32_t> take() {
    return std::move(both.Current() == first.data() ? first : second);
  }

  Buffer<std::uint32_t> first;
  Buffer<std::uint32_t> second;
  cub::DoubleBuffer<std::uint32_t> both;
};

void sort(const Stream& stream, SortArrays& keys, SortArrays& entries, std::int64_t count,
          std::int64_t cols) {
  const int bits = std::bit_width(static_cast<std::uint64_t>(cols));
  const auto run = [&](void* memory, std::size_t& bytes) {
    check_cuda(cub::DeviceRadixSort::SortPairs(memory, bytes, keys.both, entries.both, count, 0,
                                               bits, stream.native()),
               "cub::DeviceRadixSort::SortPairs");
  };
  std::size_t bytes = 0;
  run(nullptr, bytes);
  const Buffer<std::byte> memory(stream, static_cast<std::int64_t>(bytes));
  run(memory.data(), bytes);
}

}  // namespace

template <class T>
void gather_values(const Stream& stream, const std::uint32_t* entries, std::int64_t count,
                   bool conjugated, const T* source, T* target) {
  launch_gather(stream, entries, count, conjugated && is_complex(kDType<T>),
                device::device_pointer(source), device::device_pointer(target));
}

template <class T>
TransposedCsr<T> transpose(const Stream& stream, const Csr<T>& a, bool conjugated,
                           Allocator* allocator) {
  const CsrPattern pattern{.rows = a.rows,
                           .cols = a.cols,
                           .nnz = a.nnz,
                           .row_offsets = a.row_offsets,
                           .columns = a.columns,
                           .index_base = a.index_base};
  TransposedCsr<T> transposed(stream, a);
  const device::LaunchScope scope(stream);
  {
    SortArrays keys(stream, a.nnz, nullptr);
    SortArrays entries(stream, a.nnz, allocator);
    if (a.nnz > 0) {
      list_entries_kernel<<<blocks_of(a.nnz, kThreads), kThreads, 0, stream.native()>>>(
          pattern, keys.first.data(), entries.first.data());
      sort(stream, keys, entries, a.nnz, a.cols);
    }
    find_offsets_kernel<<<blocks_of(a.cols + 1, kThreads), kThreads, 0, stream.native()>>>(
        keys.both.Current(), a.nnz, a.cols, transposed.row_offsets.data());
    transposed.entries = entries.take();
  }
  scope.check("kernels that sort entries");
  if (a.nnz > 0) {
    const Buffer<std::int32_t> rows(stream, a.nnz);
    expand_rows_kernel<<<blocks_of(a.nnz, kBlockEntries), kThreads, 0, stream.native()>>>(
        a.row_offsets, a.rows, a.nnz, rows.data());
    scope.check("expand_rows_kernel");
    launch_gather(stream, transposed.entries.data(), a.nnz, false, std::as_const(rows).data(),
                  transposed.columns.data());
  }
  gather_values(stream, transposed.entries.data(), a.nnz, conjugated, a.values,
                transposed.values.data());
  transposed.facts = examine_rows(stream, std::as_const(transposed.row_offsets).data(),
                                  {.rows = a.cols, .cols = a.rows, .nnz = a.nnz})
                         .facts;
  return transposed;
}

#define LANKY_INSTANTIATE(T)                                                                     \
  template void gather_values(const Stream&, const std::uint32_t*, std::int64_t, bool, const T*, \
                              T*);                                                               \
  template TransposedCsr<T> transpose(const Stream&, const Csr<T>&, bool, Allocator*);
LANKY_FOR_EACH_ELEMENT(LANKY_INSTANTIATE)
#undef LANKY_INSTANTIATE

}  // namespace lanky::sparse::cuda
