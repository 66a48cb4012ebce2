// y = alpha A x + beta y on a packed matrix: a block for each window, a warp for each slice. Steps:
// decode.cuh (codes of a slice -> columns), gather.cuh (columns -> x), cells.cuh (values times x ->
// the sum of each piece), writer.cuh (cells -> rows of y). narrow_walk.cuh, wide_walk.cuh and
// slice_mma.cuh take a warp through the first three for one slice; single_slice.cuh and
// many_slices.cuh take a team (team.cuh) through the slices of a window (window.cuh).
#pragma once

#include <type_traits>

#include "device/grid_dependency.cuh"
#include "sparse/cuda/multiply/arguments.cuh"
#include "sparse/cuda/multiply/block.hpp"
#include "sparse/cuda/multiply/many_slices.cuh"
#include "sparse/cuda/multiply/single_slice.cuh"
#include "sparse/cuda/multiply/slice_product.cuh"
#include "sparse/cuda/multiply/window.cuh"

namespace lanky::sparse::cuda {

template <int kWide, Slices kSlices>
inline constexpr int kThreadsMost = kLanes*(kWide > 1             ? kWarpsMost
                                            : one_a_warp(kSlices) ? kSingleWarps
                                                                  : kOtherWarps);
// Registers of small matrices leave 36 warps resident, or 32 of elements of 8 bytes, 32 and 24 of
// few slices, 24 of deep ones; for 36, blocks of nine warps are what the bound is told.
template <int kWide, Slices kSlices, class T>
inline constexpr int kBlocks = kWide > 1                                     ? 1
                               : !one_a_warp(kSlices)                        ? 6
                               : kSlices == Slices::single && sizeof(T) <= 8 ? 4
                               : kSlices == Slices::few && sizeof(T) < 8     ? 4
                                                                             : 3;
template <int kWide, Slices kSlices, class T>
inline constexpr int kThreadsBound = kSlices == Slices::single && sizeof(T) < 8
                                         ? 9 * kLanes
                                         : kThreadsMost<kWide, kSlices>;
// On tensor cores 24 warps are resident, of 80 registers a thread.
template <int kWide>
inline constexpr int kMmaWarps = kWide > 1 ? kSharingWarps : kOtherWarps;

/// One window, by one team: its slices to cells, and these to rows.
template <class Method, class Product, class E, class T>
__device__ void multiply_window(const DeviceMatrix<E>& a, const Product& product,
                                const DeviceWorkspace<T>& workspace, unsigned number,
                                unsigned char* shared, E* staged) {
  using Team = typename Method::Team;
  using W = TeamWindow<Method, Product>;
  W w(a, product, number, shared, staged);
  std::conditional_t<one_a_warp(Method::kSlices), SingleSlice<W>, ManySlices<W>> slices(w);
  const CellRange range = slices.run();
  if (w.has_no_cells()) return;
  Team::sync();  // all cells are written before they are added up
  if (w.window.partial >= 0) {
    Cell<typename W::E> sum;
    if (add_part<Team>(a, workspace, w.window, w.cells, sum)) slices.writer().write({0}, {sum});
  } else if (w.window.first_row_cell >= 0) {
    write_cut_rows<Method>(slices.writer(), w.cells, a, w.window, range);
  } else {
    write_rows<Team>(slices.writer(), w.cells, w.place(), w.window.rows);
  }
}

/// A block's window.
template <class Walk, int kWide, Slices kSlices, class Product, class E, class T>
__device__ void run_window(const DeviceMatrix<E>& a, const Product& product,
                           const DeviceWorkspace<T>& workspace) {
  using Team = WholeBlock<kThreadsMost<kWide, kSlices> / kLanes>;
  extern __shared__ __align__(16) unsigned char shared[];
  device::let_next_kernel_start();
  const bool ordered = !one_a_warp(kSlices) && a.order != nullptr;
  const unsigned number = ordered ? a.order[blockIdx.x] : blockIdx.x;
  auto* const staged = reinterpret_cast<E*>(shared + slice_bytes<T>(a) +
                                            (kSlices == Slices::straight ? 0 : cell_bytes<T>(a)));
  multiply_window<Method<Walk, Team, kWide, kSlices>>(a, product, workspace, number, shared,
                                                      staged);
}

template <int kWide, Slices kSlices, class T, class TOut>
__global__ void __launch_bounds__(kThreadsBound<kWide, kSlices, T>, kBlocks<kWide, kSlices, T>)
    spmv_cuda_kernel(const __grid_constant__ DeviceProduct<T, TOut> product,
                     const __grid_constant__ DeviceMatrix<device::DeviceElement<T>> a,
                     const __grid_constant__ DeviceWorkspace<T> workspace) {
  run_window<ByCudaCores, kWide, kSlices>(a, product, workspace);
}

template <Path kPath, int kWide, class T, class TOut>
__global__ void __launch_bounds__(kMmaWarps<kWide>* kLanes, 24 / kMmaWarps<kWide>)
    spmv_mma_kernel(const __grid_constant__ DeviceProduct<T, TOut> product,
                    const __grid_constant__ DeviceMatrix<device::DeviceElement<T>> a,
                    const __grid_constant__ DeviceWorkspace<T> workspace) {
  run_window<ByTensorCores<kPath>, kWide, Slices::any>(a, product, workspace);
}

/// Where columns are hot: as many blocks as are resident at once. Each copies x of these columns,
/// then its teams take windows in turns.
template <int kWide, class T, class TOut>
__global__ void __launch_bounds__(kHotTeams* HotTeam::kThreads, 1)
    spmv_hot_kernel(const __grid_constant__ DeviceProduct<T, TOut> product,
                    const __grid_constant__ DeviceMatrix<device::DeviceElement<T>> a,
                    const __grid_constant__ DeviceWorkspace<T> workspace) {
  using HotMethod = Method<ByCudaCores, HotTeam, kWide, Slices::any>;
  extern __shared__ __align__(16) unsigned char shared[];
  const unsigned teams = blockDim.x / HotTeam::kThreads;
  unsigned char* const own = shared + HotTeam::team() * team_bytes<T>(a);
  auto* const hot = reinterpret_cast<device::DeviceElement<T>*>(shared + teams * team_bytes<T>(a));

  device::let_next_kernel_start();
  device::wait_for_kernel_ahead();
  copy_hot_columns(product.x, a.hot_columns, static_cast<unsigned>(a.hot), hot);
  __syncthreads();  // x of the hot columns is there
  for (HotTurns turns(workspace.arrivals + a.split_rows, a.window_count); turns.goes_on();
       turns.advance()) {
    turns.ask();
    const unsigned number = a.order != nullptr ? a.order[turns.turn()] : turns.turn();
    multiply_window<HotMethod>(a, product, workspace, number, own, hot);
  }
}

}  // namespace lanky::sparse::cuda
