// Launches of the gram kernels; instantiated type by type in gram_<type>.cu.
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/text.hpp"
#include "dense/cuda/gram/direct.cuh"
#include "dense/cuda/gram/executor.hpp"
#include "dense/cuda/gram/fma.cuh"
#include "dense/cuda/gram/row_strip.cuh"
#include "dense/cuda/gram/row_vector.cuh"
#include "dense/cuda/gram/rows.cuh"
#include "dense/cuda/gram/staged.cuh"
#include "dense/cuda/gram/triangle.cuh"
#include "dense/cuda/gram/vector.cuh"
#include "dense/cuda/gram/wgmma.cuh"
#include "dense/cuda/gram/words.cuh"

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
struct GramLaunch {
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
GramLaunch<T> vector_launch_of(int tile) {
  constexpr int kWidest = gram_widest(kDType<T>);
  static constexpr GramKernelPointer<T> kKernels[] = {
      &gram_vector_kernel<T, 1, 1, kAny>, &gram_vector_kernel<T, 2, 2, kAny>,
      &gram_vector_kernel<T, 4, 4, kAny>, &gram_vector_kernel<T, kWidest, kWidest, kAny>,
      &gram_vector_kernel<T, 8, 1, kAny>, &gram_vector_kernel<T, 3, 3, kAny>};
  return {kKernels[tile], nullptr, kGramVectorWarps * 32, 0, 0};
}

template <class T>
GramLaunch<T> vector_launch(const GramConfiguration& c) {
  return c.vectors ? vector_launch_of<T, false>(c.tile) : vector_launch_of<T, true>(c.tile);
}

/// m = n = `columns`, from 2 on.
template <class T, int... kMore>
GramLaunch<T> row_vector_launch(int columns, std::integer_sequence<int, kMore...> /*all*/) {
  static constexpr GramKernelPointer<T> kKernels[] = {&gram_row_vector_kernel<T, kMore + 2>...};
  if constexpr (sizeof(T) == 2) {
    if (columns == 8) return {&gram_row_vector_kernel<T, 8>, nullptr, kGramVectorWarps * 32, 0, 0};
  }
  return {kKernels[columns - 2], nullptr, kGramVectorWarps * 32, 0, 0};
}

/// Tile 0 for one column of B, 1 for up to 8 (those that tensor cores do not serve).
template <class T>
GramLaunch<T> row_strip_launch(int tile, std::int64_t m, std::int64_t n) {
  constexpr std::int64_t kVector = 16 / sizeof(T);
  const std::int64_t parts = kGramVectorWarps * (32 / (m / kVector));
  const auto sums = static_cast<std::size_t>(parts * m * n);
  constexpr int kColumns = std::is_same_v<T, float> || kIsComplex<T> ? 8 : 1;
  return {tile == 0 ? &gram_row_strip_kernel<T, 1> : &gram_row_strip_kernel<T, kColumns>, nullptr,
          kGramVectorWarps * 32, sums * sizeof(Accumulator<T>), 0};
}

/// Tile 0 for sides up to 8, 1 for 16; floats have this one alone, aligned.
template <class T>
GramLaunch<T> direct_launch(int tile, bool aligned) {
  if constexpr (std::is_same_v<T, float>) {
    return {&gram_direct_kernel<T, 16, 4, true>, nullptr, kGramDirectWarps * 32, 0, 0};
  } else {
    static constexpr GramKernelPointer<T> kKernels[2][2] = {
        {&gram_direct_kernel<T, 8, 8, false>, &gram_direct_kernel<T, 16, 4, false>},
        {&gram_direct_kernel<T, 8, 8, true>, &gram_direct_kernel<T, 16, 4, true>}};
    return {kKernels[aligned ? 1 : 0][tile], nullptr, kGramDirectWarps * 32, 0, 0};
  }
}

/// Tile 0 for wide rows of 8 units, 1 for 16. Floats have no kernel for any strides.
template <class T>
GramLaunch<T> rows_launch(int tile, bool any) {
  using Fragment = RowFragment<device::DeviceElement<T>>;
  constexpr bool kHalf = sizeof(T) == 2;
  constexpr int kUnroll = kHalf ? 1 : 2;  // of the larger
  const std::size_t wide = (tile + 1) * 8 * sizeof(typename Fragment::Unit) / sizeof(T);
  const std::size_t sums = kGramRowsWarps * wide * (wide + 1) * sizeof(typename Fragment::Sum);
  GramKernelPointer<T> kernel = nullptr;
  if constexpr (std::is_same_v<T, float>) {
    kernel = tile == 0 ? &gram_rows_kernel<T, 1, 8, false> : &gram_rows_kernel<T, 2, 4, false>;
  } else {
    static constexpr GramKernelPointer<T> kKernels[2][2] = {
        {&gram_rows_kernel<T, 1, 4, false>, &gram_rows_kernel<T, 2, kUnroll, false>},
        {&gram_rows_kernel<T, 1, 4, true>, &gram_rows_kernel < T, kHalf ? 1 : 2, kHalf ? 4 : 2,
         true > }};
    kernel = kKernels[any ? 1 : 0][tile];
  }
  return {kernel, nullptr, kGramRowsWarps * 32, sums, 0};
}

template <class T, Math kMath, int kIndex, GramLayout kLayout>
GramLaunch<T> staged_launch_of() {
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
GramLaunch<T> staged_launch_of_large(int tile) {
  return tile == 1 ? staged_launch_of<T, kMath, 1, GramLayout::columns>()
                   : staged_launch_of<T, kMath, 2, GramLayout::columns>();
}

template <class T>
GramLaunch<T> staged_launch(const GramConfiguration& c) {
  constexpr Math kIeee = Math::ieee;
  if constexpr (std::is_same_v<T, float>) {
    if (c.row_major) return staged_launch_of<T, kIeee, 0, GramLayout::rows>();
    if (c.mixed) {
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
GramLaunch<T> fma_launch_of() {
  constexpr FmaTile kTile = kFmaTile<T, kIndex>;
  if constexpr (kTile.wide == kRowMajor) {  // wide tiles are for columns alone, others for rows
    return {};
  } else {
    constexpr std::size_t kTotals =
        static_cast<std::size_t>(kTile.workers() * kTile.sums()) *
        (kTile.wide ? sizeof(T) / sizeof(MapElement<T>) * sizeof(double) : sizeof(T));
    constexpr std::size_t kRing =
        static_cast<std::size_t>(kTile.slots) * kTile.template slot_bytes<T>(kRowMajor);
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
GramLaunch<T> fma_launch(int tile, std::integer_sequence<int, kIndices...> /*all*/) {
  static constexpr GramLaunch<T> (*kLaunches[])() = {&fma_launch_of<T, kIndices, kRowMajor>...};
  return kLaunches[tile]();
}

template <class T, int kTiles, bool kRowMajor>
GramLaunch<T> wgmma_launch_of() {
  using Tile = WgmmaTile<kTiles>;
  constexpr std::size_t kAlignment = 1024;
  return {nullptr,         &gram_wgmma_kernel<T, kTiles, kRowMajor>,
          Tile::kThreads,  Tile::kRingBytes + kAlignment,
          Tile::kSegments, Tile::kSide,
          Tile::kSide,     true};
}

template <class T>
GramLaunch<T> wgmma_launch(const GramConfiguration& c) {
  if (c.row_major)
    return c.tile == 1 ? wgmma_launch_of<T, 1, true>() : wgmma_launch_of<T, 2, true>();
  return c.tile == 1 ? wgmma_launch_of<T, 1, false>() : wgmma_launch_of<T, 2, false>();
}

template <class T, Math kMath, int kGroups, bool kRowMajor = false>
GramLaunch<T> triangle_launch_of() {
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
GramLaunch<T> triangle_launch(const GramConfiguration& c) {
  if constexpr (std::is_same_v<T, double>) {
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
GramLaunch<T> unlimited_launch_of(const GramConfiguration& configuration, const Problem& problem) {
  switch (configuration.kernel) {
    case GramKernel::vector:
      return vector_launch<T>(configuration);
    case GramKernel::row_vector:
      return row_vector_launch<T>(
          configuration.tile,
          std::make_integer_sequence<int, gram_row_vector_widest(kDType<T>) - 1>());
    case GramKernel::row_strip:
      return row_strip_launch<T>(configuration.tile, problem.m, problem.n);
    case GramKernel::staged:
      if constexpr (!kIsComplex<T>) return staged_launch<T>(configuration);
      break;
    case GramKernel::fma:
      if constexpr (kHasFma<T>) {
        constexpr int kTiles = static_cast<int>(std::size(FmaTiles<T>::kTiles));
        const std::make_integer_sequence<int, kTiles> all;
        return configuration.row_major ? fma_launch<T, true>(configuration.tile, all)
                                       : fma_launch<T, false>(configuration.tile, all);
      }
      break;
    case GramKernel::direct:
      if constexpr (!kIsComplex<T>)
        return direct_launch<T>(configuration.tile, configuration.vectors);
      break;
    case GramKernel::rows:
      if constexpr (!kIsComplex<T>) return rows_launch<T>(configuration.tile, configuration.any);
      break;
    case GramKernel::wgmma:
      if constexpr (sizeof(T) == 2) return wgmma_launch<T>(configuration);
      break;
    case GramKernel::triangle:
      if constexpr (sizeof(T) > 2 && !kIsComplex<T>) return triangle_launch<T>(configuration);
      break;
    case GramKernel::words:
      if constexpr (kDType<T> != DType::c128) {
        return {
            &gram_words_kernel<T>, nullptr, kGramWordsThreads,
            static_cast<std::size_t>(gram_words_bytes(problem, kDType<T>, configuration.run_log2)),
            0};
      }
      break;
    case GramKernel::none:
      break;
  }
  return {};
}

/// No more blocks than configuration.resident have room for their shared memory.
template <class T>
GramLaunch<T> launch_of(const GramConfiguration& configuration, const Problem& problem) {
  GramLaunch<T> launch = unlimited_launch_of<T>(configuration, problem);
  constexpr std::size_t kOfMultiprocessor = 228U << 10;
  constexpr std::size_t kOfSystem = 1U << 10;  // in every block
  if (configuration.resident > 0) {
    launch.shared_bytes = std::max(
        launch.shared_bytes, kOfMultiprocessor / (configuration.resident + 1) - kOfSystem + 16);
  }
  return launch;
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
GramMaps maps_of(const GramArguments<T>& g, const T* a, const T* b, bool row_major, bool mixed,
                 const GramLaunch<T>& launch) {
  const auto segments = static_cast<unsigned>(launch.segments);
  const auto pitch = [&](int columns) {
    return launch.panels ? kSegmentBytes : row_pitch(columns);
  };
  if (mixed) {
    const std::int64_t whole = g.k - g.k % (kSegmentBytes / static_cast<std::int64_t>(sizeof(T)));
    const T* const rest = b + whole * g.b_strides.row;
    return {column_map(a, g.m, g.a_stride, g.k, segments, launch.tile_m, false),
            row_map(b, g.n, g.b_strides.row, whole, segments, pitch(g.n)),
            column_map(a, g.m, g.a_stride, g.k, segments, launch.tile_m, true),
            row_map(whole < g.k ? rest : b, g.n, g.b_strides.row, whole < g.k ? g.k - whole : whole,
                    segments, pitch(g.n))};
  }
  if (row_major) {
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

template <class T>
void load_gram_kernel(const Stream& stream, const GramConfiguration& configuration,
                      const Problem& problem) {
  const GramLaunch<T> launch = launch_of<T>(configuration, problem);
  device::load_kernels(stream, launch.kernel());
  // Beyond what every kernel may have, a kernel has one size in all plans.
  device::allow_shared_memory(stream, launch.kernel(), static_cast<int>(launch.shared_bytes));
}

template <class T, class TOut>
GramExecutor<T, TOut>::GramExecutor(const Stream& stream, const Problem& problem, bool symmetric)
    : configuration_(configuration(stream.device(), problem)),
      exchanged_(configuration_.mixed && problem.a.col != 1),
      problem_(exchanged_ ? exchanged(problem) : problem),
      symmetric_(symmetric ? symmetric_configuration(stream.device(), problem)
                           : GramConfiguration{}),
      unaligned_(unaligned_gram(configuration_, problem_, kDType<T>, machine_of(stream.device()))),
      arrivals_(stream, configuration_.one_launch || symmetric_.one_launch || unaligned_.one_launch
                            ? 1
                            : 0),
      misaligned_(stream, problem_, "") {
  arrivals_.fill_zero();
  device::load_kernels(stream, &gram_sum_kernel<T>);
  for (const GramConfiguration& c : {configuration_, symmetric_, unaligned_})
    if (c.kernel != GramKernel::none) load_gram_kernel<T>(stream, c, problem_);
  const DeviceGuard guard(stream.device().index());
  // As much of the first cache as there is: where the kernel ahead fills the shared memory, the sum
  // ends .7 to 1.1 us earlier than as the driver chooses (H200, 16 and 32 columns, k = 1e5).
  check_cuda(
      cudaFuncSetAttribute(&gram_sum_kernel<T>, cudaFuncAttributePreferredSharedMemoryCarveout,
                           cudaSharedmemCarveoutMaxL1),
      "cudaFuncSetAttribute");
}

/// The counter of arriving blocks belongs to the first workspace that the plan sees, which serves
/// one run at a time; runs in other workspaces may overlap with it and leave the sum to
/// gram_sum_kernel.
template <class T, class TOut>
unsigned* GramExecutor<T, TOut>::arrivals_of(void* workspace) const noexcept {
  if (arrivals_.size() == 0) return nullptr;
  void* owner = nullptr;
  if (owner_.compare_exchange_strong(owner, workspace)) owner = workspace;
  return owner == workspace ? arrivals_.data() : nullptr;
}

template <class T, class TOut>
std::int64_t GramExecutor<T, TOut>::workspace_bytes() const noexcept {
  const int blocks = std::max(
      {configuration_.blocks, configuration_.below_blocks, symmetric_.blocks, unaligned_.blocks});
  const std::int64_t partials =
      blocks * problem_.m * problem_.n * static_cast<std::int64_t>(sizeof(Accumulator<T>));
  return unaligned_.kernel != GramKernel::none ? partials
                                               : std::max(partials, misaligned_.workspace_bytes());
}

template <class T, class TOut>
std::string GramExecutor<T, TOut>::explain_same() const {
  return describe(symmetric_);
}

template <class T, class TOut>
std::string GramExecutor<T, TOut>::explain() const {
  std::string text = describe(configuration_);
  if (symmetric_.kernel != GramKernel::none) text += concat("; where A is B ", explain_same());
  if (needs_alignment(configuration_.kernel)) {
    text += concat("; for pointers off 16 bytes: ", unaligned_.kernel != GramKernel::none
                                                        ? describe(unaligned_)
                                                        : misaligned_.explain());
  }
  return text;
}

template <class T, class TOut>
bool GramExecutor<T, TOut>::same(const Operands<T, TOut>& operands) const noexcept {
  return operands.a == operands.b && problem_.m == problem_.n &&
         problem_.a == problem_.b.transposed();
}

template <class T>
bool is_off(const T* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 != 0;
}

template <class T, class TOut>
bool GramExecutor<T, TOut>::runs_as_same(const Operands<T, TOut>& operands) const noexcept {
  return symmetric_.kernel != GramKernel::none && same(operands) && !is_off(operands.a);
}

template <class T, class TOut>
void GramExecutor<T, TOut>::run(const Stream& stream, const Operands<T, TOut>& given) const {
  Operands<T, TOut> operands = given;
  if (exchanged_) std::swap(operands.a, operands.b);
  if (runs_as_same(operands)) return launch(stream, operands, symmetric_);
  const bool fits = !is_off(operands.a) && !is_off(operands.b);
  if (fits && configuration_.kernel != GramKernel::none)
    return launch(stream, operands, configuration_);
  if (unaligned_.kernel != GramKernel::none) return launch(stream, operands, unaligned_);
  misaligned_.run(stream, operands);
}

template <class T, class TOut>
void GramExecutor<T, TOut>::launch(const Stream& stream, const Operands<T, TOut>& operands,
                                   const GramConfiguration& configuration) const {
  using Acc = Accumulator<T>;
  const bool row_major = configuration.row_major;
  GramArguments<T> arguments{
      .m = static_cast<int>(problem_.m),
      .n = static_cast<int>(problem_.n),
      .k = problem_.k,
      .a = device::device_pointer(operands.a),
      .b = device::device_pointer(operands.b),
      .a_stride = row_major ? problem_.a.col : problem_.a.row,
      .b_stride = row_major ? problem_.b.row : problem_.b.col,
      .a_strides = problem_.a,
      .b_strides = problem_.b,
      .symmetric = same(operands),
      .conj_a = problem_.conj_a,
      .conj_b = problem_.conj_b,
      .vectors = configuration.vectors,
      .a_turned = configuration.a_turned,
      .b_turned = configuration.b_turned,
      .strips = configuration.strips,
      .stacked = configuration.stacked,
      .spread = configuration.spread,
      .packed = configuration.packed,
      .walkers = configuration.blocks,
      .diagonal_walkers = 0,
      .run_log2 = configuration.run_log2,
      .partials = device::device_pointer(static_cast<Acc*>(operands.workspace)),
      .sum_columns_log2 = configuration.sum_columns_log2,
      // Not where A and B must not be touched.
      .prefetch = configuration.prefetch && operands.alpha.pointer() == nullptr &&
                  operands.alpha.value() != Acc(0),
      .arrivals = configuration.one_launch ? arrivals_of(operands.workspace) : nullptr,
      .c = operands.c,
      .c_strides = problem_.c,
      .c_is_wide = std::is_same_v<TOut, Acc>,
      .alpha = device::DeviceScalar<Acc>(operands.alpha),
      .beta = device::DeviceScalar<Acc>(operands.beta)};
  const GramLaunch<T> kernel = launch_of<T>(configuration, problem_);
  int blocks = configuration.blocks * configuration.strips;
  if (arguments.symmetric && configuration.below_blocks > 0) {
    arguments.walkers = configuration.below_blocks;
    arguments.diagonal_walkers = configuration.diagonal_blocks;
    blocks = arguments.walkers + 2 * arguments.diagonal_walkers;
  }
  const device::LaunchScope scope(stream);
  const device::LaunchSize size{static_cast<unsigned>(blocks), kernel.threads, kernel.shared_bytes};
  if (kernel.plain != nullptr) {
    device::launch_dependent(stream, kernel.plain, size, arguments);
  } else {
    device::launch_dependent(
        stream, kernel.staged, size,
        maps_of(arguments, operands.a, operands.b, row_major, configuration.mixed, kernel),
        arguments);
  }
  if (arguments.arrivals != nullptr) return;
  const int sum_blocks =
      device::ceil_div(arguments.m * arguments.n, 1 << arguments.sum_columns_log2);
  device::launch_dependent(stream, &gram_sum_kernel<T>,
                           {static_cast<unsigned>(sum_blocks), kGramSumThreads}, arguments);
}

}  // namespace lanky::dense::cuda
