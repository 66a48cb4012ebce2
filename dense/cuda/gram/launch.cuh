// Launches of the gram kernels; instantiated type by type in gram_<type>.cu.
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/machine.hpp"
#include "core/text.hpp"
#include "dense/cuda/gram/direct.cuh"
#include "dense/cuda/gram/double.cuh"
#include "dense/cuda/gram/fma.cuh"
#include "dense/cuda/gram/row_ring.cuh"
#include "dense/cuda/gram/row_strip.cuh"
#include "dense/cuda/gram/row_vector.cuh"
#include "dense/cuda/gram/rows.cuh"
#include "dense/cuda/gram/slices.cuh"
#include "dense/cuda/gram/staged.cuh"
#include "dense/cuda/gram/stream.cuh"
#include "dense/cuda/gram/triangle.cuh"
#include "dense/cuda/gram/vector.cuh"
#include "dense/cuda/gram/wgmma.cuh"
#include "dense/cuda/gram/words.cuh"
#include "dense/cuda/run.hpp"

namespace lanky::dense::cuda {

template <class T>
using GramKernelPointer = void (*)(GramArguments<T>);
template <class T>
using GramRingPointer = void (*)(GramMaps, GramArguments<T>);

template <class T>
inline constexpr bool kIsComplex = is_complex(kDType<T>);
template <class T>
inline constexpr bool kIsWidenedHalf = kIsWidened<T> && sizeof(T) == 2;
/// As policies know them: of C, what tells whether sums are wider than those of the operands' type.
template <class T>
inline constexpr Types kTypes{kDType<T>, kIsWidened<T> ? DType::f64 : kDType<T>};

/// What a tensor map takes for an element: complex ones are two.
template <class T>
using MapElement = device::RealPart<device::DeviceElement<T>>;

/// A kernel and what its launch takes beside the grid.
template <class T>
struct GramCall {
  GramKernelPointer<T> plain = nullptr;  // one of the two
  GramRingPointer<T> ring = nullptr;
  unsigned threads = 256;
  std::size_t shared_bytes = 0;  // dynamic, of a plain one
  std::size_t (*ring_bytes)(int capability) =
      nullptr;  // of a ring, from a multiple of 1024 bytes on
  // Of a ring: segments of a slot, rows of A and columns of B that pass at once, how they lie.
  int segments = 0;
  int tile_m = 0;
  int tile_n = 0;
  GramOrder order_a = GramOrder::columns;
  GramOrder order_b = GramOrder::columns;

  const void* kernel() const {
    return plain != nullptr ? reinterpret_cast<const void*>(plain)
                            : reinterpret_cast<const void*>(ring);
  }
};

/// A kernel that gram_ring() is the body of, with this Product.
template <class Product, class T>
GramCall<T> ring_call(GramRingPointer<T> kernel) {
  return {.ring = kernel,
          .threads = kGramRingThreads<Product>,
          .ring_bytes = &Product::shared_bytes,
          .segments = Product::kSegments,
          .tile_m = Product::kM,
          .tile_n = Product::kN,
          .order_a = Product::kOrderA,
          .order_b = Product::kOrderB};
}

/// Tiles 0 to 3 of 1, 2, 4 and 8 (or fewer) rows and columns, 4 of 8 rows and one column,
/// 5 of 3 rows and columns.
template <class T, bool kAny>
GramKernelPointer<T> vector_kernel(int tile) {
  constexpr int kWidest = gram_widest(kTypes<T>);
  static constexpr GramKernelPointer<T> kKernels[] = {
      &gram_vector_kernel<T, 1, 1, kAny>, &gram_vector_kernel<T, 2, 2, kAny>,
      &gram_vector_kernel<T, 4, 4, kAny>, &gram_vector_kernel<T, kWidest, kWidest, kAny>,
      &gram_vector_kernel<T, 8, 1, kAny>, &gram_vector_kernel<T, 3, 3, kAny>};
  return kKernels[tile];
}

template <class T>
GramCall<T> call_of(const GramVector& c, const Problem& /*problem*/) {
  if constexpr (kIsWidenedHalf<T>) {
    return {.plain = c.tile == 0 ? &gram_vector_kernel<T, 1, 1, true>
                                 : &gram_vector_kernel<T, 4, 4, true>};
  } else {
    return {.plain = c.wide ? vector_kernel<T, false>(c.tile) : vector_kernel<T, true>(c.tile)};
  }
}

/// m = n = `columns`, from 2 on.
template <class T, int... kMore>
GramKernelPointer<T> row_vector_kernel(int columns, std::integer_sequence<int, kMore...> /*all*/) {
  static constexpr GramKernelPointer<T> kKernels[] = {&gram_row_vector_kernel<T, kMore + 2>...};
  if constexpr (sizeof(T) == 2) {
    if (columns == 8) return &gram_row_vector_kernel<T, 8>;
  }
  return kKernels[columns - 2];
}

template <class T>
GramCall<T> call_of(const GramRowVector& c, const Problem& /*problem*/) {
  if constexpr (kIsWidenedHalf<T>) {
    return {};
  } else {
    constexpr int kMost = gram_row_vector_widest(kTypes<T>);
    return {.plain = row_vector_kernel<T>(c.tile, std::make_integer_sequence<int, kMost - 1>())};
  }
}

/// Tile 0 for one column of B, 1 for up to 8 (those that tensor cores do not serve).
template <class T>
GramCall<T> call_of(const GramRowStrip& c, const Problem& problem) {
  if constexpr (kIsWidenedHalf<T>) {
    return {};
  } else {
    constexpr std::int64_t kVector = 16 / sizeof(T);
    const std::int64_t parts = kGramVectorWarps * (32 / (problem.m / kVector));
    const auto sums = static_cast<std::size_t>(parts * problem.m * problem.n);
    constexpr int kColumns = std::is_same_v<T, float> || kIsComplex<T> ? 8 : 1;
    return {
        .plain = c.tile == 0 ? &gram_row_strip_kernel<T, 1> : &gram_row_strip_kernel<T, kColumns>,
        .shared_bytes = sums * sizeof(Accumulator<T>)};
  }
}

/// Tile 0 for sides up to 8, 1 for 16; floats have this one alone, aligned, and those whose sums
/// are wider both, aligned.
template <class T>
GramCall<T> call_of(const GramDirect& c, const Problem& /*problem*/) {
  if constexpr (kIsComplex<T>) {
    return {};
  } else if constexpr (kIsWidened<T>) {
    return {.plain = c.tile == 0 ? &gram_direct_kernel<T, 8, 8, true>
                                 : &gram_direct_kernel<T, 16, 4, true>};
  } else if constexpr (std::is_same_v<T, float>) {
    return {.plain = &gram_direct_kernel<T, 16, 4, true>};
  } else {
    static constexpr GramKernelPointer<T> kKernels[2][2] = {
        {&gram_direct_kernel<T, 8, 8, false>, &gram_direct_kernel<T, 16, 4, false>},
        {&gram_direct_kernel<T, 8, 8, true>, &gram_direct_kernel<T, 16, 4, true>}};
    return {.plain = kKernels[c.wide ? 1 : 0][c.tile]};
  }
}

/// Tile 0 for wide rows of 8 units, 1 for 16. Floats have no kernel for any strides.
template <class T>
GramCall<T> call_of(const GramRows& c, const Problem& /*problem*/) {
  if constexpr (kIsComplex<T>) {
    return {};
  } else {
    using Fragment = RowFragment<T>;
    constexpr int kAligned = sizeof(T) == 2 ? 1 : 2;  // steps in flight of the larger
    constexpr int kAny = sizeof(T) == 2 ? 4 : 2;
    constexpr int kWidest = kIsWidened<T> && sizeof(T) == 4 ? 3 : 4;  // four spill
    const std::size_t wide = (c.tile + 1) * 8 * sizeof(typename Fragment::Unit) / sizeof(T);
    GramCall<T> call{.shared_bytes =
                         kGramRowsWarps * wide * (wide + 1) * sizeof(typename Fragment::Sum)};
    if constexpr (std::is_same_v<T, float> || kIsWidened<T>) {
      call.plain =
          c.tile == 0 ? &gram_rows_kernel<T, 1, 8, false> : &gram_rows_kernel<T, 2, kWidest, false>;
    } else {
      static constexpr GramKernelPointer<T> kKernels[2][2] = {
          {&gram_rows_kernel<T, 1, 4, false>, &gram_rows_kernel<T, 2, kAligned, false>},
          {&gram_rows_kernel<T, 1, 4, true>, &gram_rows_kernel<T, kAligned, kAny, true>}};
      call.plain = kKernels[c.any ? 1 : 0][c.tile];
    }
    return call;
  }
}

template <class T, Math kMath, int kIndex, GramLayout kLayout = GramLayout::columns>
GramCall<T> staged_call() {
  return ring_call<StagedProduct<T, kMath, kIndex, kLayout>, T>(
      &gram_staged_kernel<T, kMath, kIndex, kLayout>);
}

/// Tile 1 for sides up to 32, 2 for 64.
template <class T, Math kMath>
GramCall<T> staged_call_by_columns(int tile) {
  return tile == 1 ? staged_call<T, kMath, 1>() : staged_call<T, kMath, 2>();
}

template <class T>
GramCall<T> call_of(const GramStaged& c, const Problem& /*problem*/) {
  constexpr Math kIeee = Math::ieee;
  if constexpr (kIsComplex<T> || kIsWidened<T>) {
    return {};
  } else if constexpr (std::is_same_v<T, float>) {
    if (c.layout == GramLayout::rows) return staged_call<T, kIeee, 0, GramLayout::rows>();
    if (c.layout == GramLayout::mixed) {
      return c.tile == 0 ? staged_call<T, kIeee, 0, GramLayout::mixed>()
                         : staged_call<T, kIeee, 1, GramLayout::mixed>();
    }
    return c.math == Math::tf32 ? staged_call_by_columns<T, Math::tf32>(c.tile)
                                : staged_call_by_columns<T, Math::tf32x3>(c.tile);
  } else {
    return staged_call_by_columns<T, kIeee>(c.tile);
  }
}

/// Sums in double are those of the wide tiles alone.
template <class T, int kIndex>
GramCall<T> fma_call() {
  if constexpr (kIsWidened<T> && !kFmaTile<T, kIndex>.wide)
    return {};
  else
    return ring_call<FmaProduct<T, kIndex>, T>(&gram_fma_kernel<T, kIndex>);
}

template <class T, int... kIndices>
GramCall<T> fma_call_of(int tile, std::integer_sequence<int, kIndices...> /*all*/) {
  static constexpr GramCall<T> (*kCalls[])() = {&fma_call<T, kIndices>...};
  return kCalls[tile]();
}

template <class T>
GramCall<T> call_of(const GramFma& c, const Problem& problem) {
  if constexpr (kDType<T> == DType::f32 || kIsComplex<T>) {
    constexpr int kTiles = static_cast<int>(fma_tiles(kDType<T>).size());
    GramCall<T> call = fma_call_of<T>(c.tile, std::make_integer_sequence<int, kTiles>());
    const FmaTile& tile = fma_tiles(kDType<T>)[c.tile];
    call.tile_m = tile_side(tile, static_cast<int>(problem.m), call.tile_m);
    call.tile_n = tile_side(tile, static_cast<int>(problem.n), call.tile_n);
    return call;
  } else {
    return {};
  }
}

template <class T, int kTiles>
GramCall<T> wgmma_call(bool row_major) {
  return row_major
             ? ring_call<WgmmaProduct<T, kTiles, true>, T>(&gram_wgmma_kernel<T, kTiles, true>)
             : ring_call<WgmmaProduct<T, kTiles, false>, T>(&gram_wgmma_kernel<T, kTiles, false>);
}

template <class T>
GramCall<T> call_of(const GramWgmma& c, const Problem& /*problem*/) {
  if constexpr (sizeof(T) == 2 && !kIsWidened<T>) {
    return c.tile == 1 ? wgmma_call<T, 1>(c.row_major) : wgmma_call<T, 2>(c.row_major);
  } else {
    return {};
  }
}

template <class T, Math kMath, int kGroups, bool kRowMajor = false>
GramCall<T> triangle_call() {
  return ring_call<TriangleProduct<T, kMath, kGroups, kRowMajor>, T>(
      &gram_triangle_kernel<T, kMath, kGroups, kRowMajor>);
}

template <class T>
GramCall<T> call_of(const GramTriangle& c, const Problem& /*problem*/) {
  constexpr Math kIeee = Math::ieee;
  if constexpr (sizeof(T) == 2 || kIsComplex<T>) {
    return {};
  } else if constexpr (std::is_same_v<T, double>) {
    if (!c.row_major) return triangle_call<T, kIeee, 8>();
    return c.tile == 4 ? triangle_call<T, kIeee, 4, true>() : triangle_call<T, kIeee, 8, true>();
  } else {
    if constexpr (!kIsWidened<T>) {
      if (c.math == Math::tf32) return triangle_call<T, Math::tf32, 8>();
      if (c.math == Math::tf32x3) return triangle_call<T, Math::tf32x3, 4>();
    }
    return c.tile == 1   ? triangle_call<T, kIeee, 1>()
           : c.tile == 2 ? triangle_call<T, kIeee, 2>()
                         : triangle_call<T, kIeee, 4>();
  }
}

template <class T>
GramCall<T> call_of(const GramDouble& c, const Problem& /*problem*/) {
  if constexpr (std::is_same_v<T, double>) {
    return c.row_major ? ring_call<DoubleProduct<true>, T>(&gram_double_kernel<true>)
                       : ring_call<DoubleProduct<false>, T>(&gram_double_kernel<false>);
  } else {
    return {};
  }
}

template <class T>
GramCall<T> call_of(const GramRowRing& /*c*/, const Problem& /*problem*/) {
  if constexpr (kIsWidened<T> && sizeof(T) == 4) {
    return ring_call<RowRingProduct<T>, T>(&gram_row_ring_kernel<T>);
  } else {
    return {};
  }
}

template <class T>
GramCall<T> call_of(const GramSlices& c, const Problem& /*problem*/) {
  if constexpr (kIsWidened<T>) {
    return {.plain = c.one ? &gram_slices_kernel<T, true> : &gram_slices_kernel<T, false>,
            .threads = kSlicesThreads,
            .shared_bytes = c.one ? SliceSums<T, true>::kBytes : SliceSums<T, false>::kBytes};
  } else {
    return {};
  }
}

template <class T>
GramCall<T> call_of(const GramWords& c, const Problem& problem) {
  if constexpr (kDType<T> == DType::c128) {
    return {};
  } else {
    return {
        .plain = &gram_words_kernel<T>,
        .threads = kGramWordsThreads,
        .shared_bytes = static_cast<std::size_t>(gram_words_bytes(problem, kTypes<T>, c.run_log2))};
  }
}

template <class T, int kTile>
GramKernelPointer<T> stream_kernel(bool rows_of_a, bool rows_of_b) {
  if (rows_of_a) return &gram_stream_kernel<T, kTile, true, true>;
  return rows_of_b ? &gram_stream_kernel<T, kTile, false, true>
                   : &gram_stream_kernel<T, kTile, false, false>;
}

template <class T>
GramCall<T> call_of(const GramStream& c, const Problem& problem) {
  if constexpr (!kIsWidened<T> && (sizeof(T) == 2 || std::is_same_v<T, float>)) {
    const bool rows_of_a = has_rows_of_a(problem);
    const bool rows_of_b = has_rows_of_b(problem);
    return {.plain = c.tile == 0   ? stream_kernel<T, 0>(rows_of_a, rows_of_b)
                     : c.tile == 1 ? stream_kernel<T, 1>(rows_of_a, rows_of_b)
                     : c.tile == 2 ? stream_kernel<T, 2>(rows_of_a, rows_of_b)
                                   : stream_kernel<T, 3>(rows_of_a, rows_of_b),
            .threads = static_cast<unsigned>(kStreamTiles[c.tile].threads),
            .shared_bytes = static_cast<std::size_t>(gram_stream_bytes(problem, kDType<T>, c))};
  } else {
    return {};
  }
}

/// The kernel of a launch, in code for a target.
template <class T>
GramCall<T> call_of(const GramLaunch& launch, const Problem& problem, CodeTarget code) {
  constexpr std::size_t kAlignment = 1024;
  GramCall<T> call =
      std::visit([&](const auto& kernel) { return call_of<T>(kernel, problem); }, launch.kernel);
  if (call.ring_bytes != nullptr) call.shared_bytes = call.ring_bytes(code.capability) + kAlignment;
  call.shared_bytes = std::max(call.shared_bytes, static_cast<std::size_t>(launch.shared_least));
  return call;
}

/// The shared memory of a block that a launch asks for. `problem`: with A and B in their places.
template <class T>
std::size_t gram_shared_bytes(const GramLaunch& launch, const Problem& problem, CodeTarget code) {
  return call_of<T>(launch, launch.exchanged ? exchanged(problem) : problem, code).shared_bytes;
}

template <class T>
constexpr CUtensorMapDataType tensor_type() {
  using Real = MapElement<T>;
  if constexpr (std::is_same_v<Real, double>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  if constexpr (std::is_same_v<Real, float>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  if constexpr (std::is_same_v<Real, __half>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
}

/// A map of `rows` rows of elements T, each `segments` segments of `length` elements, that copies
/// boxes of so many of them at once.
template <class T>
device::TensorMap map_of(const T* data, std::int64_t length, std::int64_t rows, std::int64_t stride,
                         std::int64_t segments, device::TensorMapBox box, bool bulk) {
  constexpr std::int64_t kParts = sizeof(T) / sizeof(MapElement<T>);
  return device::make_tensor_map({data, tensor_type<T>(), sizeof(MapElement<T>), length * kParts,
                                  rows, stride * static_cast<std::int64_t>(sizeof(T)), segments},
                                 box, bulk);
}

/// An operand of a ring: `width` rows of A (columns of B), of which `tile` pass at once.
template <class T>
struct GramSource {
  static constexpr std::int64_t kSegmentK = kSegmentBytes / sizeof(T);
  static constexpr unsigned kSegmentReals = kSegmentBytes / sizeof(MapElement<T>);

  const T* data;
  std::int64_t width;
  Strides strides;  // row: from one k to the next
  int tile;
  unsigned segments;  // of a slot
  bool bulk;          // code copies in bulk

  /// Where k is adjacent: whole segments, or what remains of k (`rest`).
  device::TensorMap columns(std::int64_t k, bool rest) const {
    const auto box = static_cast<unsigned>(box_rows(std::min(static_cast<int>(width), tile)));
    const std::int64_t whole = k / kSegmentK;
    if (!rest || k % kSegmentK == 0)
      return map_of(data, kSegmentK, width, strides.col, whole, {kSegmentReals, box, segments},
                    bulk);
    return map_of(data + whole * kSegmentK, k % kSegmentK, width, strides.col, 1,
                  {kSegmentReals, box, 1}, bulk);
  }
  /// Elements of one k adjacent: `packed` rows of the memory are one of `k`.
  device::TensorMap rows(GramOrder order, std::int64_t first, std::int64_t k, int packed) const {
    const int pitch =
        order == GramOrder::panels ? kSegmentBytes : row_pitch(static_cast<int>(width));
    return map_of(data + first * strides.row, width * packed, k, strides.row * packed, 1,
                  {static_cast<unsigned>(pitch) / static_cast<unsigned>(sizeof(MapElement<T>)),
                   static_cast<unsigned>(kSegmentK) * segments, 1},
                  bulk);
  }
};

template <class T>
GramMaps maps_of(const GramArguments<T>& g, const T* a, const T* b, const GramCall<T>& call,
                 bool bulk) {
  const auto segments = static_cast<unsigned>(call.segments);
  const GramSource<T> of_a{a, g.m, g.a_strides.transposed(), call.tile_m, segments, bulk};
  const GramSource<T> of_b{b, g.n, g.b_strides, call.tile_n, segments, bulk};
  if (call.order_a != GramOrder::columns) {  // the last segment goes beyond k
    const device::TensorMap a_map = of_a.rows(call.order_a, 0, g.k / g.packed, g.packed);
    const device::TensorMap b_map = of_b.rows(call.order_b, 0, g.k / g.packed, g.packed);
    return {a_map, b_map, a_map, b_map};
  }
  GramMaps maps{of_a.columns(g.k, false), {}, of_a.columns(g.k, true), {}};
  if (call.order_b == GramOrder::columns) {
    maps.b = of_b.columns(g.k, false);
    maps.b_rest = of_b.columns(g.k, true);
  } else {
    const std::int64_t rest = g.k % GramSource<T>::kSegmentK;
    maps.b = of_b.rows(call.order_b, 0, g.k - rest, 1);
    maps.b_rest = rest == 0 ? maps.b : of_b.rows(call.order_b, g.k - rest, rest, 1);
  }
  return maps;
}

template <class T, class TOut>
void prepare(const Stream& stream, const Problem& given, const GramLaunch& launch) {
  const Problem problem = launch.exchanged ? exchanged(given) : given;
  const GramCall<T> call = call_of<T>(launch, problem, machine_of(stream.device()).code);
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
  GramArguments<T> g{.m = static_cast<int>(problem.m),
                     .n = static_cast<int>(problem.n),
                     .k = problem.k,
                     .a = device::device_pointer(operands.a),
                     .b = device::device_pointer(operands.b),
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
                     .depth = 0,
                     .group_log2 = 0,
                     .turn = 0,
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
        if constexpr (requires { kernel.one; }) g.symmetric = kernel.one;
        if constexpr (requires { kernel.depth; }) {
          g.depth = kernel.depth;
          g.group_log2 = kernel.group_log2;
          g.turn = kernel.turn;
        }
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
  const Machine& machine = machine_of(stream.device());
  const GramCall<T> call = call_of<T>(launch, problem, machine.code);
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
    device::launch_dependent(
        stream, call.ring, size,
        maps_of(arguments, operands.a, operands.b, call, machine.has_bulk_copies()), arguments);
  }
  if (arguments.arrivals != nullptr) return;
  const int sum_blocks =
      device::ceil_div(arguments.m * arguments.n, 1 << arguments.sum_columns_log2);
  device::launch_dependent(stream, &gram_sum_kernel<T>,
                           {static_cast<unsigned>(sum_blocks), kGramSumThreads}, arguments);
}

}  // namespace lanky::dense::cuda
