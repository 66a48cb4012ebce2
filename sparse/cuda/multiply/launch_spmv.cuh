// Launches a product on its kernels. Included by one .cu file for each element type.
#pragma once

#include <algorithm>
#include <lanky/error.hpp>
#include <limits>
#include <string>

#include "device/grid_dependency.cuh"
#include "device/launch.cuh"
#include "sparse/cuda/multiply/spmv_window.cuh"
#include "sparse/policy.hpp"

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

/// Tensor cores have no IEEE product of floats, and none of complex numbers.
template <class T>
inline constexpr bool kHasMma = std::is_same_v<T, double> || sizeof(T) == 2;

constexpr bool by_tensor_cores(SpmvPath path) {
  return path != SpmvPath::automatic && path != SpmvPath::cuda;
}

template <class T, class TOut>
using ProductKernel = void (*)(DeviceProduct<T, TOut>, DeviceMatrix<device::DeviceElement<T>>,
                               DeviceWorkspace<T>);

// From so many rows on a warp has several slices.
inline constexpr std::int64_t kShallowLeast = 2'000'000;
// Slices that are not half of what is resident, so that the next product's are, too.
inline constexpr std::int64_t kFewMost = 1900;

/// Whether small windows are multiplied by Slices::few. Of elements of 8 bytes its registers leave
/// 25 warps of a multiprocessor resident, not 32: not where these take fewer rounds, or have room
/// for this product and the next one.
template <class T>
bool are_few(const PackedHeader& a) {
  if (sizeof(T) > 8) return false;
  if (sizeof(T) < 8) return a.windows * a.slices_most <= kFewMost;
  if (a.slices_most == 0) return true;
  const auto rank = [&](std::int64_t warps) {
    const std::int64_t resident = kMultiprocessors * (warps / a.slices_most);
    return a.windows > resident ? -device::ceil_div(a.windows, resident)
                                : std::min<std::int64_t>(resident / a.windows, 2);
  };
  return rank(25) >= rank(32);
}

/// The kernels that `a` is for; tensor cores have those for any. `overwrites`: beta is known to be
/// 0.
template <class T>
Slices slices_of(SpmvPath path, const PackedHeader& a, bool overwrites) {
  if (by_tensor_cores(path) || a.hot > 0) return Slices::any;
  if (a.shape.lane_pieces == 1) {
    if (!one_slice_a_warp(a)) return Slices::any;
    if (a.shape.piece_most > kStepsAtOnce<T, true>) return Slices::deep;
    return are_few<T>(a) ? Slices::few : Slices::single;
  }
  const auto rows = [&](RowClass c) { return a.class_rows[static_cast<int>(c)]; };
  const bool whole = a.row_cells == 0 && a.split_rows == 0;
  if (overwrites && whole && a.columns_most > 0 &&
      few_filled(a.rows, rows(RowClass::empty), sizeof(T)))
    return Slices::straight;
  const std::int64_t shallow = rows(RowClass::short_row);
  const bool no_other = rows(RowClass::medium) + rows(RowClass::long_row) == 0;
  return no_other && a.nnz <= 2 * shallow && shallow >= kShallowLeast ? Slices::shallow
                                                                      : Slices::any;
}

template <SpmvPath kPath, class T, class TOut>
ProductKernel<T, TOut> mma_kernel(bool wide) {
  return wide ? &spmv_mma_kernel<kPath, kLanePiecesMost<T>, T, TOut>
              : &spmv_mma_kernel<kPath, 1, T, TOut>;
}

template <class T, class TOut>
ProductKernel<T, TOut> product_kernel(SpmvPath path, Slices slices, const PackedHeader& a) {
  constexpr int kWide = kLanePiecesMost<T>;
  const bool wide = a.shape.lane_pieces > 1;
  if constexpr (kHasMma<T>) {
    if (path == SpmvPath::mma) return mma_kernel<SpmvPath::mma, T, TOut>(wide);
  }
  if constexpr (std::is_same_v<T, float>) {
    if (path == SpmvPath::tf32) return mma_kernel<SpmvPath::tf32, T, TOut>(wide);
    if (path == SpmvPath::tf32x3) return mma_kernel<SpmvPath::tf32x3, T, TOut>(wide);
  }
  if (a.hot > 0) return &spmv_hot_kernel<kWide, T, TOut>;
  switch (slices) {
    case Slices::single:
      return &spmv_cuda_kernel<1, Slices::single, T, TOut>;
    case Slices::few:
      if constexpr (sizeof(T) <= 8) return &spmv_cuda_kernel<1, Slices::few, T, TOut>;
      break;
    case Slices::deep:
      return &spmv_cuda_kernel<1, Slices::deep, T, TOut>;
    case Slices::shallow:
      if constexpr (kWide > 1) return &spmv_cuda_kernel<kWide, Slices::shallow, T, TOut>;
      break;
    case Slices::straight:
      if constexpr (kWide > 1) return &spmv_cuda_kernel<kWide, Slices::straight, T, TOut>;
      break;
    case Slices::any:
      break;
  }
  return wide ? &spmv_cuda_kernel<kWide, Slices::any, T, TOut>
              : &spmv_cuda_kernel<1, Slices::any, T, TOut>;
}

/// Whether plan and vectors are likely in the L2 already, from the product before: half of it is
/// far from each multiprocessor. What comes from memory only gets in its own way.
template <class T>
bool fetches_ahead(const PackedHeader& a) {
  constexpr std::int64_t kMost = 50 << 20;
  const std::int64_t elements = a.slots + a.rows + a.cols;
  return elements * static_cast<std::int64_t>(sizeof(T)) + a.index_units * kIndexUnit <= kMost;
}

/// Of a small matrix whose blocks multiply a slice a warp. From 150,000 slots on it gained cold
/// products .03 and cost warm ones .01 to .015. An x of more elements than the matrix is read in
/// parts.
template <class T>
Shares shares_of(const PackedHeader& a) {
  constexpr std::int64_t kSlotsMost = 150'000;
  if (!one_slice_a_warp(a) || a.slots > kSlotsMost || !fetches_ahead<T>(a)) return {};
  const auto share = [&](std::int64_t elements, std::int64_t size) {
    const std::int64_t whole = elements * size - (kWordBytes - 1);  // words, wherever they begin
    const std::int64_t each = std::max<std::int64_t>(whole, 0) / a.windows;
    return static_cast<std::int32_t>(std::min<std::int64_t>(each, kAheadBytes) / kWordBytes *
                                     kWordBytes);
  };
  return {share(a.slots, sizeof(T)), share(a.index_units, kIndexUnit),
          share(a.cols <= a.slots ? a.cols : 0, sizeof(T))};
}

template <class T>
int hot_bytes(const PackedHeader& a) {
  return static_cast<int>(a.hot * static_cast<std::int64_t>(sizeof(T)));
}

/// Teams of a block where columns are hot: as many as there is shared memory for.
template <class T>
int teams_of(const DeviceProperties& device, const PackedHeader& a) {
  const auto most = static_cast<int>(device.shared_bytes_per_block);
  const int left = most - static_cast<int>(kHotOther) - hot_bytes<T>(a);
  return std::clamp(left / std::max(team_bytes<T>(a), 1), 1, kHotTeams);
}

/// Of a block that has `shared` bytes: where its warps share columns, as many as fill a
/// multiprocessor that holds no more blocks.
template <class T>
int warps_of(SpmvPath path, Slices slices, const PackedHeader& a, int shared) {
  constexpr int kOfEachBlock = 1 << 10;
  if (one_a_warp(slices)) return std::max(a.slices_most, 1);
  if (a.shape.lane_pieces == 1) return kOtherWarps;
  if (by_tensor_cores(path))
    return a.columns_most > 0 ? kSharingWarps : std::min(a.shape.warps, kSharingWarps);
  if (a.columns_most == 0) return a.shape.warps;
  const auto blocks = static_cast<int>(kSharedBytes) / (shared + kOfEachBlock);
  return std::max(kWarpsMost / std::max(blocks, 1), kSharingWarps);
}

/// A block for each window or, where columns are hot, as many as are resident at once.
template <class T>
device::LaunchSize size_of_launch(const DeviceProperties& device, SpmvPath path, Slices slices,
                                  const PackedHeader& a) {
  if (a.hot == 0) {
    const int cells = slices == Slices::straight ? 0 : cell_bytes<T>(a);
    const int shared = slice_bytes<T>(a) + cells + staged_bytes<T>(a);
    return {grid_of(a.windows), dim3(warps_of<T>(path, slices, a, shared) * kLanes),
            static_cast<std::size_t>(shared)};
  }
  const int teams = teams_of<T>(device, a);
  const std::int64_t resident = device.multiprocessors;
  const int shared = teams * team_bytes<T>(a) + hot_bytes<T>(a);
  return {grid_of(std::min(resident, device::ceil_div<std::int64_t>(a.windows, teams))),
          dim3(teams * HotTeam::kThreads), static_cast<std::size_t>(shared)};
}

template <class T, class TOut>
void load(const Stream& stream, SpmvPath path, const PackedHeader& a) {
  const auto load_kernel_of = [&](Slices slices) {
    const auto kernel = product_kernel<T, TOut>(path, slices, a);
    device::load_kernels(stream, kernel);
    const auto size = size_of_launch<T>(stream.device().properties(), path, slices, a);
    device::allow_shared_memory(stream, kernel, static_cast<int>(size.shared_bytes));
  };
  const Slices adding = slices_of<T>(path, a, false);
  const Slices overwriting = slices_of<T>(path, a, true);
  load_kernel_of(adding);
  if (overwriting != adding) load_kernel_of(overwriting);
}

template <class T>
DeviceMatrix<device::DeviceElement<T>> device_matrix(const PackedView<T>& a) {
  const PackedHeader& header = a.header;
  return {.windows = a.windows,
          .slices = a.slices,
          .slices_most = header.slices_most,
          .cells_most = header.cells_most,
          .shares = shares_of<T>(header),
          .values = device::device_pointer(a.values),
          .indices = a.indices,
          .bases = a.bases,
          .lengths = header.pieces_told > 0 ? a.lengths : nullptr,
          .cells = a.cells,
          .row_cells = a.row_cells,
          .columns_most = header.columns_most,
          .window_count = static_cast<std::uint32_t>(header.windows),
          .split_starts = a.split_starts,
          .order = ordered_windows(header) > 0 ? a.order : nullptr,
          .hot_columns = a.hot_columns,
          .hot = static_cast<std::int32_t>(header.hot),
          .split_rows = static_cast<std::int32_t>(header.split_rows),
          .slots = header.slots,
          .index_units = header.index_units,
          .fetch_ahead = fetches_ahead<T>(header)};
}

template <class T, class TOut>
void run(const Stream& stream, SpmvPath path, const PackedView<T>& packed,
         const Product<T, TOut>& product) {
  const PackedHeader& header = packed.header;
  if (header.windows == 0) return;
  const Accumulator<T> zero{0};
  const bool overwrites = product.beta.pointer() == nullptr && product.beta.value() == zero;
  const DeviceProduct<T, TOut> arguments{
      device::device_pointer(product.x), device::device_pointer(product.y),
      device::DeviceScalar<Accumulator<T>>(product.alpha),
      device::DeviceScalar<Accumulator<T>>(product.beta),
      overwrites && product.alpha.pointer() == nullptr ? 0U : 1U};
  const DeviceWorkspace<T> workspace{device::device_pointer(product.partials), product.arrivals};
  const Slices slices = slices_of<T>(path, header, overwrites);
  const device::LaunchScope scope(stream);
  device::launch_dependent(stream, product_kernel<T, TOut>(path, slices, header),
                           size_of_launch<T>(stream.device().properties(), path, slices, header),
                           arguments, device_matrix(packed), workspace);
}

}  // namespace lanky::sparse::cuda
