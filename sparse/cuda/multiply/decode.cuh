// Decode: codes of six kinds, as the plan holds them (docs/packed_format.md), to the columns that
// the entries of a slice are in, or to places among those that are staged.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "device/guarded_load.cuh"
#include "sparse/cuda/warp.cuh"
#include "sparse/packed.hpp"

namespace lanky::sparse::cuda {

using device::Stay;

/// A slice as a warp sees it.
template <class E>
struct SliceView {
  const E* values;              // by slots
  const std::uint8_t* indices;  // by slots (shared: by pieces)
  const std::uint32_t* bases;   // by steps
  int width;                    // pieces
  int depth;                    // steps
  int shortest;                 // steps that all pieces have
};

/// visit(kind) with `kind`, of a slice that is wide or not, as a constant.
template <bool kWideSlice, class Visit>
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
    case IndexKind::diagonal:
      if constexpr (kWideSlice)
        return visit(std::integral_constant<IndexKind, IndexKind::diagonal>());
      break;
    case IndexKind::absolute:
      break;
  }
  return visit(std::integral_constant<IndexKind, IndexKind::absolute>());
}

/// The code that a column is stored as.
template <IndexKind kKind>
using IndexWord = std::conditional_t<
    kKind == IndexKind::offset8, std::uint8_t,
    std::conditional_t<kKind == IndexKind::absolute, std::uint32_t, std::uint16_t>>;

/// Columns of a slice that is not wide, of one piece a lane. Kind: IndexKind, for short code, or a
/// constant.
template <class Kind, Stay kStay>
class NarrowColumns {
 public:
  /// `slot`: the lane's in the slice's first step.
  template <class E>
  __device__ NarrowColumns(const SliceView<E>& slice, Kind kind, unsigned slot)
      : kind_(kind), indices_(slice.indices), bases_(slice.bases) {
    load_code<std::uint16_t>(shift_, slot, kind == IndexKind::shared && slice.width > 0);
  }
  template <class Other>
  __device__ NarrowColumns(const NarrowColumns<Other, kStay>& other, Kind kind)
      : kind_(kind), indices_(other.indices_), bases_(other.bases_), shift_(other.shift_) {}

  __device__ IndexKind kind() const { return kind_; }

  /// The base of `step`, for add_bases().
  __device__ std::uint32_t load_base(int step, bool exists) const {
    std::uint32_t base = 0;
    if (has_bases(kind_)) device::load_widened_if<kStay>(base, bases_ + step, exists);
    return base;
  }

  /// visit(load), where load(code, slot, exists) has code = that of the entry in `slot`.
  template <class Visit>
  __device__ void with_load(Visit visit) const {
    switch (kind_) {
      case IndexKind::shared:
        return visit([&](std::uint32_t& code, unsigned, bool) { code = shift_; });
      case IndexKind::offset8:
        return visit(loads_of<std::uint8_t>());
      case IndexKind::staged:
      case IndexKind::offset16:
        return visit(loads_of<std::uint16_t>());
      case IndexKind::absolute:
        return visit(loads_of<std::uint32_t>());
      case IndexKind::diagonal:
        return;  // of wide slices alone
    }
  }

  /// Codes of kSteps steps to columns; `base`: of the step that is `lane` steps after the first.
  template <int kSteps>
  __device__ void add_bases(std::uint32_t base, std::uint32_t (&columns)[kSteps]) const {
    if (!std::is_same_v<Kind, IndexKind> && !has_bases(kind_)) return;
#pragma unroll
    for (int i = 0; i < kSteps; ++i)
      columns[i] += __shfl_sync(kAllLanes, base, i);
  }

 private:
  template <class Other, Stay kOther>
  friend class NarrowColumns;

  template <class Index>
  __device__ void load_code(std::uint32_t& code, unsigned slot, bool exists) const {
    device::load_widened_if<kStay>(code, reinterpret_cast<const Index*>(indices_) + slot, exists);
  }
  template <class Index>
  __device__ auto loads_of() const {
    return [this](std::uint32_t& code, unsigned slot, bool exists) {
      load_code<Index>(code, slot, exists);
    };
  }

  Kind kind_;
  const std::uint8_t* indices_;
  const std::uint32_t* bases_;
  std::uint32_t shift_;  // kind shared: the offset of the lane's piece
};

/// The offsets of a lane's pieces, lane, lane + 32, ..., of a repeated kind.
template <int kPieces, IndexKind kKind>
struct PieceOffsets {
  IndexWord<kKind> of_piece[kPieces];

  __device__ void load(const IndexWord<kKind>* indices, int width, int lane) {
    if constexpr (kKind == IndexKind::diagonal) {
      of_piece[0] = static_cast<std::uint16_t>(lane);
    } else if constexpr (kKind == IndexKind::shared) {
#pragma unroll
      for (int r = 0; r < kPieces; ++r)
        of_piece[r] = __ldg(indices + min(r * kLanes + lane, width - 1));
    }
  }
};

/// One step of a lane's pieces, as the plan holds it.
template <int kPieces, IndexKind kKind>
struct StepCodes {
  using Index = IndexWord<kKind>;

  std::uint32_t base;
  Index index[kPieces];

  __device__ void load_index(const Index* source, const PieceOffsets<kPieces, kKind>& offsets,
                             bool exists) {
    if constexpr (kKind == IndexKind::diagonal) {
      index[0] = offsets.of_piece[0];
    } else if constexpr (kKind == IndexKind::shared) {
      memcpy(index, offsets.of_piece, sizeof(index));
    } else {
      device::load_if<Stay::briefly>(index, source, exists);
    }
  }

  /// The column of piece r is column(r) + further(r): one address serves all pieces of diagonals.
  __device__ std::uint32_t column(int r) const {
    const std::uint32_t code = index[kKind == IndexKind::diagonal ? 0 : r];
    return has_bases(kKind) ? code + base : code;
  }
  static __device__ constexpr int further(int r) {
    return kKind == IndexKind::diagonal ? r * kLanes : 0;
  }
};

/// kCount steps of a lane's pieces, as the plan holds them.
template <class E, int kPieces, IndexKind kKind, int kCount>
struct StepEntries {
  StepCodes<kPieces, kKind> codes[kCount];
  E values[kCount][kPieces];
};

/// The entries of a wide slice, of kPieces pieces a lane, from some step on.
template <class E, int kPieces, IndexKind kKind>
class WideEntries {
 public:
  __device__ WideEntries(const SliceView<E>& slice, int lane)
      : values_(slice.values + lane * kPieces),
        indices_(reinterpret_cast<const Index*>(slice.indices) + lane * kPieces),
        bases_(slice.bases) {
    offsets_.load(reinterpret_cast<const Index*>(slice.indices), slice.width, lane);
  }

  /// The next kCount steps; exists(i): whether the slice has step i of these.
  template <int kCount, class Exists>
  __device__ void load(StepEntries<E, kPieces, kKind, kCount>& steps, Exists exists) const {
    if constexpr (has_bases(kKind)) load_bases(steps.codes);
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      steps.codes[i].load_index(indices_ + i * kWidth, offsets_, exists(i));
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      device::load_if<Stay::briefly>(steps.values[i], values_ + i * kWidth, exists(i));
  }

  __device__ void advance(int steps) {
    bases_ += steps;
    indices_ += steps * kWidth;
    values_ += steps * kWidth;
  }

 private:
  using Index = IndexWord<kKind>;
  static constexpr int kWidth = kPieces * kLanes;

  template <int kCount>
  __device__ void load_bases(StepCodes<kPieces, kKind> (&codes)[kCount]) const {
    constexpr int kUnit = kCount == 2 ? 2 : kBaseUnit;
#pragma unroll
    for (int first = 0; first < kCount; first += kUnit) {
      std::uint32_t unit[kUnit];
      device::load_if<Stay::briefly>(unit, bases_ + first, true);
#pragma unroll
      for (int i = first; i < first + kUnit && i < kCount; ++i)
        codes[i].base = unit[i - first];
    }
  }

  const E* values_;             // of the lane, in the next step
  const Index* indices_;        // likewise
  const std::uint32_t* bases_;  // of the next step
  PieceOffsets<kPieces, kKind> offsets_;
};

}  // namespace lanky::sparse::cuda
