// Launches a product on its kernels. Included by one .cu file for each element type.
#pragma once

#include <lanky/error.hpp>
#include <limits>
#include <string>
#include <type_traits>

#include "device/launch.cuh"
#include "sparse/cuda/spmv_kernels.cuh"

namespace lanky::sparse::cuda {

/// `blocks` as a grid; rows and columns are 32-bit, so that memory ends before a grid does.
inline dim3 grid_of(std::int64_t blocks) {
  if (blocks > std::numeric_limits<std::int32_t>::max()) {
    throw Error(ErrorCode::unsupported, std::string("a launch of ")
                                            .append(std::to_string(blocks))
                                            .append(" blocks; CUDA takes 2147483647"));
  }
  return dim3(static_cast<unsigned>(blocks));
}

template <class E, class EOut, class Sum>
using ProductKernel = void (*)(PackedView<E>, DeviceProduct<E, EOut, Sum>);

/// The kernel of `path`, mma or cuda; tensor cores have no IEEE product of float.
template <class E, class EOut, class Sum>
ProductKernel<E, EOut, Sum> product_kernel(SpmvPath path) {
  if constexpr (!std::is_same_v<E, float>) {
    if (path == SpmvPath::mma) return &spmv_mma_kernel<E, EOut, Sum>;
  }
  return &spmv_cuda_kernel<E, EOut, Sum>;
}

template <class T, class TOut>
void load(const Stream& stream, SpmvPath path) {
  using E = device::DeviceElement<T>;
  using EOut = device::DeviceElement<TOut>;
  using Sum = Accumulator<T>;
  device::load_kernels(stream, product_kernel<E, EOut, Sum>(path),
                       &spmv_finish_kernel<32, E, EOut, Sum>,
                       &spmv_finish_kernel<kFinishThreads, E, EOut, Sum>);
}

template <class E, class EOut, class Sum>
void launch_finish(const Stream& stream, const PackedView<E>& a,
                   const DeviceProduct<E, EOut, Sum>& product) {
  const PackedHeader& header = a.header;
  // A warp a row, unless few rows have many pieces each (32: one round of loads for a warp).
  const bool share_block = header.split_pieces > 32 * header.split_rows;
  const std::int64_t rows_per_block = share_block ? 1 : kFinishThreads / 32;
  const dim3 grid = grid_of(device::ceil_div(header.split_rows, rows_per_block));
  if (share_block) {
    spmv_finish_kernel<kFinishThreads><<<grid, kFinishThreads, 0, stream.native()>>>(a, product);
  } else {
    spmv_finish_kernel<32><<<grid, kFinishThreads, 0, stream.native()>>>(a, product);
  }
}

template <class T, class TOut>
void run(const Stream& stream, SpmvPath path, const PackedView<T>& packed,
         const Product<T, TOut>& product) {
  using E = device::DeviceElement<T>;
  using EOut = device::DeviceElement<TOut>;
  using Sum = Accumulator<T>;
  const PackedHeader& header = packed.header;
  const std::int64_t work = units(header);
  if (work == 0) return;
  const PackedView<E> a{header,
                        device::device_pointer(packed.values),
                        packed.columns,
                        packed.piece_tiles,
                        packed.split_starts,
                        packed.block_tiles,
                        packed.long_rows,
                        packed.medium_rows,
                        packed.short_rows,
                        packed.empty_rows};
  const DeviceProduct<E, EOut, Sum> arguments{
      device::device_pointer(product.x), device::device_pointer(product.y),
      device::DeviceScalar<Sum>(product.alpha), device::DeviceScalar<Sum>(product.beta),
      product.partials};

  const device::LaunchScope scope(stream);
  const dim3 grid = grid_of(device::ceil_div<std::int64_t>(work, kWarpsPerBlock));
  constexpr int kThreads = kWarpsPerBlock * 32;
  product_kernel<E, EOut, Sum>(path)<<<grid, kThreads, 0, stream.native()>>>(a, arguments);
  scope.check("spmv kernel");
  if (header.split_rows > 0) {
    launch_finish(stream, a, arguments);
    scope.check("spmv_finish_kernel");
  }
}

}  // namespace lanky::sparse::cuda
