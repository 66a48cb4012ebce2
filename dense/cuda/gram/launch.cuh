// Launches of the gram kernels; instantiated type by type in gram_<type>.cu.
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/text.hpp"
#include "dense/cuda/gram/direct.cuh"
#include "dense/cuda/gram/fma.cuh"
#include "dense/cuda/gram/row_strip.cuh"
#include "dense/cuda/gram/row_vector.cuh"
#include "dense/cuda/gram/rows.cuh"
#include "dense/cuda/gram/staged.cuh"
#include "dense/cuda/gram/triangle.cuh"
#include "dense/cuda/gram/vector.cuh"
#include "dense/cuda/gram/wgmma.cuh"
#include "dense/cuda/gram/words.cuh"
#include "dense/cuda/run.hpp"

namespace lanky::dense::cuda {

template <class T>
using GramKernelPointer = void (*)(GramArguments<T>);
template <class T>
using GramStagedPointer = void (*)(GramMaps, GramArguments<T>);

template <class T>
inline constexpr bool kIsComplex = is_complex(kDType<T>);

/// What a tensor map takes for an element: complex ones are two.
template <class T>
using MapElement = device::RealPart<device::DeviceElement<T>>;

/// A kernel and what its launch takes beside the grid.
template <class T>
struct GramCall {
  GramKernelPointer<T> plain;  // one of the two
  GramStagedPointer<T> staged;
  unsigned threads;
  std::size_t shared_bytes;  // dynamic
  int segments;              // staged: of a slot
  int tile_m = 128;          // staged: rows of A and columns of B that pass at once
  int tile_n = 128;
  bool panels = false;  // staged: row-major rows are cut into pieces of 128 bytes

  const void* kernel() const {
    return plain != nullptr ? reinterpret_cast<const void*>(plain)
                            : reinterpret_cast<const void*>(staged);
  }
};

/// Tiles 0 to 3 of 1, 2, 4 and 8 (or fewer) rows and columns, 4 of 8 rows and one column,
/// 5 of 3 rows and columns.
template <class T, bool kAny>
GramCall<T> vector_launch_of(int tile) {
  constexpr int kWidest = gram_widest(kDType<T>);
  static constexpr GramKernelPointer<T> kKernels[] = {
      &gram_vector_kernel<T, 1, 1, kAny>, &gram_vector_kernel<T, 2, 2, kAny>,
      &gram_vector_kernel<T, 4, 4, kAny>, &gram_vector_kernel<T, kWidest, kWidest, kAny>,
      &gram_vector_kernel<T, 8, 1, kAny>, &gram_vector_kernel<T, 3, 3, kAny>};
  return {kKernels[tile], nullptr, kGramVectorWarps * 32, 0, 0};
}

template <class T>
GramCall<T> call_of(const GramVector& c, const Problem& /*problem*/) {
  return c.wide ? vector_launch_of<T, false>(c.tile) : vector_launch_of<T, true>(c.tile);
}

/// m = n = `columns`, from 2 on.
template <class T, int... kMore>
GramCall<T> row_vector_launch(int columns, std::integer_sequence<int, kMore...> /*all*/) {
  static constexpr GramKernelPointer<T> kKernels[] = {&gram_row_vector_kernel<T, kMore + 2>...};
  if constexpr (sizeof(T) == 2) {
    if (columns == 8) return {&gram_row_vector_kernel<T, 8>, nullptr, kGramVectorWarps * 32, 0, 0};
  }
  return {kKernels[columns - 2], nullptr, kGramVectorWarps * 32, 0, 0};
}

template <class T>
GramCall<T> call_of(const GramRowVector& c, const Problem& /*problem*/) {
  return row_vector_launch<T>(
      c.tile, std::make_integer_sequence<int, gram_row_vector_widest(kDType<T>) - 1>());
}

/// Tile 0 for one column of B, 1 for up to 8 (those that tensor cores do not serve).
template <class T>
GramCall<T> call_of(const GramRowStrip& c, const Problem& problem) {
  constexpr std::int64_t kVector = 16 / sizeof(T);
  const std::int64_t parts = kGramVectorWarps * (32 / (problem.m / kVector));
  const auto sums = static_cast<std::size_t>(parts * problem.m * problem.n);
  constexpr int kColumns = std::is_same_v<T, float> || kIsComplex<T> ? 8 : 1;
  return {c.tile == 0 ? &gram_row_strip_kernel<T, 1> : &gram_row_strip_kernel<T, kColumns>, nullptr,
          kGramVectorWarps * 32, sums * sizeof(Accumulator<T>), 0};
}

/// Tile 0 for sides up to 8, 1 for 16; floats have this one alone, aligned.
template <class T>
GramCall<T> call_of(const GramDirect& c, const Problem& /*problem*/) {
  if constexpr (kIsComplex<T>) {
    return {};
  } else if constexpr (std::is_same_v<T, float>) {
    return {&gram_direct_kernel<T, 16, 4, true>, nullptr, kGramDirectWarps * 32, 0, 0};
  } else {
    static constexpr GramKernelPointer<T> kKernels[2][2] = {
        {&gram_direct_kernel<T, 8, 8, false>, &gram_direct_kernel<T, 16, 4, false>},
        {&gram_direct_kernel<T, 8, 8, true>, &gram_direct_kernel<T, 16, 4, true>}};
    return {kKernels[c.wide ? 1 : 0][c.tile], nullptr, kGramDirectWarps * 32, 0, 0};
  }
}

/// Tile 0 for wide rows of 8 units, 1 for 16. Floats have no kernel for any strides.
template <class T>
GramCall<T> call_of(const GramRows& c, const Problem& /*problem*/) {
  if constexpr (kIsComplex<T>) {
    return {};
  } else {
    using Fragment = RowFragment<device::DeviceElement<T>>;
    constexpr bool kHalf = sizeof(T) == 2;
    constexpr int kUnroll = kHalf ? 1 : 2;  // of the larger
    const std::size_t wide = (c.tile + 1) * 8 * sizeof(typename Fragment::Unit) / sizeof(T);
    const std::size_t sums = kGramRowsWarps * wide * (wide + 1) * sizeof(typename Fragment::Sum);
    GramKernelPointer<T> kernel = nullptr;
    if constexpr (std::is_same_v<T, float>) {
      kernel = c.tile == 0 ? &gram_rows_kernel<T, 1, 8, false> : &gram_rows_kernel<T, 2, 4, false>;
    } else {
      static constexpr GramKernelPointer<T> kKernels[2][2] = {
          {&gram_rows_kernel<T, 1, 4, false>, &gram_rows_kernel<T, 2, kUnroll, false>},
          {&gram_rows_kernel<T, 1, 4, true>, &gram_rows_kernel < T, kHalf ? 1 : 2, kHalf ? 4 : 2,
           true > }};
      kernel = kKernels[c.any ? 1 : 0][c.tile];
    }
    return {kernel, nullptr, kGramRowsWarps * 32, sums, 0};
  }
}

template <class T, Math kMath, int kIndex, GramLayout kLayout>
GramCall<T> staged_launch_of() {
  constexpr GramTile kTile = kGramTile<T, kMath, kIndex>;
  constexpr std::size_t kSums =
      static_cast<std::size_t>(kTile.groups * kTile.m * kTile.n) * sizeof(Accumulator<T>);
  constexpr std::size_t kRing = static_cast<std::size_t>(kGramSlots) * kTile.slot_bytes();
  constexpr std::size_t kAlignment = 1024;
  return {nullptr, &gram_staged_kernel<T, kMath, kIndex, kLayout>,
          static_cast<unsigned>(kTile.threads()), std::max(kSums, kRing) + kAlignment,
          kTile.segments};
}

/// Tile 1 for sides up to 32, 2 for 64.
template <class T, Math kMath>
GramCall<T> staged_launch_of_large(int tile) {
  return tile == 1 ? staged_launch_of<T, kMath, 1, GramLayout::columns>()
                   : staged_launch_of<T, kMath, 2, GramLayout::columns>();
}

template <class T>
GramCall<T> call_of(const GramStaged& c, const Problem& /*problem*/) {
  constexpr Math kIeee = Math::ieee;
  if constexpr (kIsComplex<T>) {
    return {};
  } else if constexpr (std::is_same_v<T, float>) {
    if (c.layout == GramLayout::rows) return staged_launch_of<T, kIeee, 0, GramLayout::rows>();
    if (c.layout == GramLayout::mixed) {
      return c.tile == 0 ? staged_launch_of<T, kIeee, 0, GramLayout::mixed>()
                         : staged_launch_of<T, kIeee, 1, GramLayout::mixed>();
    }
    if (c.math == Math::tf32) return staged_launch_of_large<T, Math::tf32>(c.tile);
    return staged_launch_of_large<T, Math::tf32x3>(c.tile);
  } else {
    return staged_launch_of_large<T, kIeee>(c.tile);
  }
}

/// Where IEEE arithmetic on CUDA cores may bind.
template <class T>
inline constexpr bool kHasFma = std::is_same_v<T, float> || kIsComplex<T>;

template <class T, int kIndex, bool kRowMajor>
GramCall<T> fma_launch_of() {
  constexpr FmaTile kTile = kFmaTile<T, kIndex>;
  if constexpr (kTile.wide == kRowMajor) {  // wide tiles are for columns alone, others for rows
    return {};
  } else {
    constexpr std::size_t kTotals =
        static_cast<std::size_t>(kTile.workers() * kTile.sums()) *
        (kTile.wide ? sizeof(T) / sizeof(MapElement<T>) * sizeof(double) : sizeof(T));
    constexpr std::size_t kRing =
        static_cast<std::size_t>(kTile.slots) * fma_slot_bytes<T>(kTile, kRowMajor);
    constexpr std::size_t kAlignment = 1024;
    static_assert(kRing + kTotals + kAlignment <= 227U << 10);
    return {nullptr,
            &gram_fma_kernel<T, kIndex, kRowMajor>,
            static_cast<unsigned>(kTile.threads()),
            kRing + kTotals + kAlignment,
            kTile.segments,
            kTile.m,
            kTile.n,
            true};
  }
}

template <class T, bool kRowMajor, int... kIndices>
GramCall<T> fma_launch(int tile, std::integer_sequence<int, kIndices...> /*all*/) {
  static constexpr GramCall<T> (*kLaunches[])() = {&fma_launch_of<T, kIndices, kRowMajor>...};
  return kLaunches[tile]();
}

template <class T>
GramCall<T> call_of(const GramFma& c, const Problem& /*problem*/) {
  if constexpr (kHasFma<T>) {
    constexpr int kTiles = static_cast<int>(fma_tiles(kDType<T>).size());
    const std::make_integer_sequence<int, kTiles> all;
    return c.row_major ? fma_launch<T, true>(c.tile, all) : fma_launch<T, false>(c.tile, all);
  } else {
    return {};
  }
}

template <class T, int kTiles, bool kRowMajor>
GramCall<T> wgmma_launch_of() {
  using Tile = WgmmaTile<kTiles>;
  constexpr std::size_t kAlignment = 1024;
  return {nullptr,         &gram_wgmma_kernel<T, kTiles, kRowMajor>,
          Tile::kThreads,  Tile::kRingBytes + kAlignment,
          Tile::kSegments, Tile::kSide,
          Tile::kSide,     true};
}

template <class T>
GramCall<T> call_of(const GramWgmma& c, const Problem& /*problem*/) {
  if constexpr (sizeof(T) == 2) {
    if (c.row_major)
      return c.tile == 1 ? wgmma_launch_of<T, 1, true>() : wgmma_launch_of<T, 2, true>();
    return c.tile == 1 ? wgmma_launch_of<T, 1, false>() : wgmma_launch_of<T, 2, false>();
  } else {
    return {};
  }
}

template <class T, Math kMath, int kGroups, bool kRowMajor = false>
GramCall<T> triangle_launch_of() {
  using Tile = TriangleTile<kGroups>;
  using Acc = typename TriangleProduct<device::DeviceElement<T>, kMath, kGroups, kRowMajor>::Acc;
  constexpr std::size_t kSums = Tile::kWarps * Tile::kTiles * 128 * sizeof(Acc);
  constexpr std::size_t kRing = static_cast<std::size_t>(kTriangleSlots) * Tile::kSlotBytes;
  constexpr std::size_t kAlignment = 1024;
  return {nullptr,         &gram_triangle_kernel<T, kMath, kGroups, kRowMajor>,
          Tile::kThreads,  std::max(kSums, kRing) + kAlignment,
          Tile::kSegments, Tile::kSide,
          Tile::kSide,     true};
}

template <class T>
GramCall<T> call_of(const GramTriangle& c, const Problem& /*problem*/) {
  if constexpr (sizeof(T) == 2 || kIsComplex<T>) {
    return {};
  } else if constexpr (std::is_same_v<T, double>) {
    if (!c.row_major) return triangle_launch_of<T, Math::ieee, 8>();
    return c.tile == 4 ? triangle_launch_of<T, Math::ieee, 4, true>()
                       : triangle_launch_of<T, Math::ieee, 8, true>();
  } else {
    if (c.math == Math::tf32) return triangle_launch_of<T, Math::tf32, 8>();
    if (c.math == Math::tf32x3) return triangle_launch_of<T, Math::tf32x3, 4>();
    return c.tile == 1   ? triangle_launch_of<T, Math::ieee, 1>()
           : c.tile == 2 ? triangle_launch_of<T, Math::ieee, 2>()
                         : triangle_launch_of<T, Math::ieee, 4>();
  }
}

template <class T>
GramCall<T> call_of(const GramWords& c, const Problem& problem) {
  if constexpr (kDType<T> == DType::c128) {
    return {};
  } else {
    return {&gram_words_kernel<T>, nullptr, kGramWordsThreads,
            static_cast<std::size_t>(gram_words_bytes(problem, kDType<T>, c.run_log2)), 0};
  }
}

/// The kernel of a launch.
template <class T>
GramCall<T> call_of(const GramLaunch& launch, const Problem& problem) {
  GramCall<T> call =
      std::visit([&](const auto& kernel) { return call_of<T>(kernel, problem); }, launch.kernel);
  call.shared_bytes = std::max(call.shared_bytes, static_cast<std::size_t>(launch.shared_least));
  return call;
}

template <class T>
constexpr CUtensorMapDataType tensor_type() {
  using Real = MapElement<T>;
  if constexpr (std::is_same_v<Real, double>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  if constexpr (std::is_same_v<Real, float>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  if constexpr (std::is_same_v<Real, __half>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
}

/// `rows` rows of k adjacent elements: their whole segments, or what remains of k (`rest`); up to
/// `tile` of the rows at once.
template <class T>
CUtensorMap column_map(const T* data, std::int64_t rows, std::int64_t stride, std::int64_t k,
                       unsigned segments, int tile, bool rest) {
  using Real = MapElement<T>;
  constexpr std::int64_t kParts = sizeof(T) / sizeof(Real);
  constexpr unsigned kSegmentReals = kSegmentBytes / sizeof(Real);
  constexpr std::int64_t kSegmentK = kSegmentBytes / sizeof(T);
  const std::int64_t whole = k / kSegmentK;
  const std::int64_t remaining = k % kSegmentK;
  const unsigned box = static_cast<unsigned>(box_rows(std::min(static_cast<int>(rows), tile)));
  const std::int64_t row_bytes = stride * static_cast<std::int64_t>(sizeof(T));
  if (!rest || remaining == 0) {
    return device::make_tensor_map(
        {data, tensor_type<T>(), sizeof(Real), kSegmentReals, rows, row_bytes, whole},
        {kSegmentReals, box, segments});
  }
  return device::make_tensor_map({data + whole * kSegmentK, tensor_type<T>(), sizeof(Real),
                                  remaining * kParts, rows, row_bytes, 1},
                                 {kSegmentReals, box, 1});
}

/// k rows of `columns` adjacent elements, copied in pieces of `pitch` bytes.
template <class T>
CUtensorMap row_map(const T* data, std::int64_t columns, std::int64_t stride, std::int64_t k,
                    unsigned segments, int pitch) {
  using Real = MapElement<T>;
  constexpr std::int64_t kParts = sizeof(T) / sizeof(Real);
  constexpr unsigned kSegmentK = kSegmentBytes / sizeof(T);
  const unsigned inner = static_cast<unsigned>(pitch) / static_cast<unsigned>(sizeof(Real));
  return device::make_tensor_map({data, tensor_type<T>(), sizeof(Real), columns * kParts, k,
                                  stride * static_cast<std::int64_t>(sizeof(T)), 1},
                                 {inner, kSegmentK * segments, 1});
}

template <class T>
GramMaps maps_of(const GramArguments<T>& g, const T* a, const T* b, const GramKernel& kernel,
                 const GramCall<T>& launch) {
  const auto segments = static_cast<unsigned>(launch.segments);
  const auto pitch = [&](int columns) {
    return launch.panels ? kSegmentBytes : row_pitch(columns);
  };
  const auto* const staged = std::get_if<GramStaged>(&kernel);
  if (staged != nullptr && staged->layout == GramLayout::mixed) {
    const std::int64_t whole = g.k - g.k % (kSegmentBytes / static_cast<std::int64_t>(sizeof(T)));
    const T* const rest = b + whole * g.b_strides.row;
    return {column_map(a, g.m, g.a_stride, g.k, segments, launch.tile_m, false),
            row_map(b, g.n, g.b_strides.row, whole, segments, pitch(g.n)),
            column_map(a, g.m, g.a_stride, g.k, segments, launch.tile_m, true),
            row_map(whole < g.k ? rest : b, g.n, g.b_strides.row, whole < g.k ? g.k - whole : whole,
                    segments, pitch(g.n))};
  }
  if (is_row_major(kernel)) {
    const int rows = g.packed;  // that pass as one
    const CUtensorMap a_map =
        row_map(a, g.m * rows, g.a_stride * rows, g.k / rows, segments, pitch(g.m));
    const CUtensorMap b_map =
        row_map(b, g.n * rows, g.b_stride * rows, g.k / rows, segments, pitch(g.n));
    return {a_map, b_map, a_map, b_map};
  }
  return {column_map(a, g.m, g.a_stride, g.k, segments, launch.tile_m, false),
          column_map(b, g.n, g.b_stride, g.k, segments, launch.tile_n, false),
          column_map(a, g.m, g.a_stride, g.k, segments, launch.tile_m, true),
          column_map(b, g.n, g.b_stride, g.k, segments, launch.tile_n, true)};
}

template <class T, class TOut>
void prepare(const Stream& stream, const Problem& given, const GramLaunch& launch) {
  const Problem problem = launch.exchanged ? exchanged(given) : given;
  const GramCall<T> call = call_of<T>(launch, problem);
  device::load_kernels(stream, call.kernel(), &gram_sum_kernel<T>);
  // Beyond what every kernel may have, a kernel has one size in all plans.
  device::allow_shared_memory(stream, call.kernel(), static_cast<int>(call.shared_bytes));
  const DeviceGuard guard(stream.device().index());
  // As much of the first cache as there is: where the kernel ahead fills the shared memory, the sum
  // ends .7 to 1.1 us earlier than as the driver chooses (H200, 16 and 32 columns, k = 1e5).
  check_cuda(
      cudaFuncSetAttribute(&gram_sum_kernel<T>, cudaFuncAttributePreferredSharedMemoryCarveout,
                           cudaSharedmemCarveoutMaxL1),
      "cudaFuncSetAttribute");
}

/// The operands of C^T = B^T A^T.
template <class T, class TOut>
Operands<T, TOut> exchanged(Operands<T, TOut> operands) {
  std::swap(operands.a, operands.b);
  return operands;
}

template <class T, class TOut>
GramArguments<T> arguments_of(const Problem& problem, const GramLaunch& launch,
                              const Operands<T, TOut>& operands) {
  using Acc = Accumulator<T>;
  const bool row_major = is_row_major(launch.kernel);
  GramArguments<T> g{.m = static_cast<int>(problem.m),
                     .n = static_cast<int>(problem.n),
                     .k = problem.k,
                     .a = device::device_pointer(operands.a),
                     .b = device::device_pointer(operands.b),
                     .a_stride = row_major ? problem.a.col : problem.a.row,
                     .b_stride = row_major ? problem.b.row : problem.b.col,
                     .a_strides = problem.a,
                     .b_strides = problem.b,
                     .symmetric = operands.a == operands.b && problem.m == problem.n &&
                                  problem.a == problem.b.transposed(),
                     .conj_a = problem.conj_a,
                     .conj_b = problem.conj_b,
                     .vectors = is_wide(launch.kernel),
                     .a_turned = false,
                     .b_turned = false,
                     .strips = launch.strips,
                     .stacked = false,
                     .spread = false,
                     .packed = packed_rows(launch.kernel),
                     .walkers = launch.blocks,
                     .diagonal_walkers = 0,
                     .run_log2 = 0,
                     .partials = device::device_pointer(static_cast<Acc*>(operands.workspace)),
                     .sum_columns_log2 = launch.sum_columns_log2,
                     .prefetch = false,
                     .arrivals = launch.one_launch ? operands.counters : nullptr,
                     .c = operands.c,
                     .c_strides = problem.c,
                     .c_is_wide = std::is_same_v<TOut, Acc>,
                     .alpha = device::DeviceScalar<Acc>(operands.alpha),
                     .beta = device::DeviceScalar<Acc>(operands.beta)};
  // Nothing is prefetched where A and B must not be touched.
  const bool touches = operands.alpha.pointer() == nullptr && operands.alpha.value() != Acc(0);
  std::visit(
      [&](const auto& kernel) {
        if constexpr (requires { kernel.prefetch; }) g.prefetch = kernel.prefetch && touches;
        if constexpr (requires { kernel.run_log2; }) g.run_log2 = kernel.run_log2;
        if constexpr (requires { kernel.stacked; }) {
          g.stacked = kernel.stacked;
          g.spread = kernel.spread;
        }
        if constexpr (requires { kernel.a_turned; }) {
          g.a_turned = kernel.a_turned;
          g.b_turned = kernel.b_turned;
        }
      },
      launch.kernel);
  return g;
}

template <class T, class TOut>
void run(const Stream& stream, const Problem& given, const GramLaunch& launch,
         const Operands<T, TOut>& given_operands) {
  const Problem problem = launch.exchanged ? exchanged(given) : given;
  const Operands<T, TOut> operands = launch.exchanged ? exchanged(given_operands) : given_operands;
  GramArguments<T> arguments = arguments_of(problem, launch, operands);
  const GramCall<T> call = call_of<T>(launch, problem);
  int blocks = launch.blocks * launch.strips;
  const auto* const fma = std::get_if<GramFma>(&launch.kernel);
  if (arguments.symmetric && fma != nullptr && fma->below_blocks > 0) {
    arguments.walkers = fma->below_blocks;
    arguments.diagonal_walkers = fma->diagonal_blocks;
    blocks = arguments.walkers + 2 * arguments.diagonal_walkers;
  }
  const device::LaunchScope scope(stream);
  const device::LaunchSize size{static_cast<unsigned>(blocks), call.threads, call.shared_bytes};
  if (call.plain != nullptr) {
    device::launch_dependent(stream, call.plain, size, arguments);
  } else {
    device::launch_dependent(stream, call.staged, size,
                             maps_of(arguments, operands.a, operands.b, launch.kernel, call),
                             arguments);
  }
  if (arguments.arrivals != nullptr) return;
  const int sum_blocks =
      device::ceil_div(arguments.m * arguments.n, 1 << arguments.sum_columns_log2);
  device::launch_dependent(stream, &gram_sum_kernel<T>,
                           {static_cast<unsigned>(sum_blocks), kGramSumThreads}, arguments);
}

}  // namespace lanky::dense::cuda
