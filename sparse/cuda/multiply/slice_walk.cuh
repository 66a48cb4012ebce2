// How a warp multiplies one slice on CUDA cores: lane l sums pieces l, l + 32, ... of the slice,
// step by step (docs/packed_format.md draws the slots). What the plan holds of several steps is
// loaded before the first of it is used, and the gathers from x likewise.
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/element.cuh"
#include "device/guarded_load.cuh"
#include "device/mbarrier.cuh"
#include "sparse/cuda/multiply/block.hpp"
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

/// What a slice is multiplied by.
template <class E>
struct Factors {
  const E* x;
  const E* staged;  // the part of x that the window staged in shared memory

  /// Slices have columns of this kind.
  static constexpr bool has(IndexKind /*kind*/) { return true; }
  /// Wide slices may have pieces of different lengths.
  static constexpr bool kRagged = true;
  /// Floats have registers left, for WideWalk::kLastSteps.
  static constexpr bool kSpare = true;
  /// Before `staged` is read.
  __device__ void wait_for_staged() const {}
  /// factor = x[column].
  __device__ void load(E& factor, std::uint32_t column, bool exists) const {
    device::load_if<Stay::normally>(factor, x + column, exists);
  }
};

/// The same where `staged` may still be on its way.
template <class E>
struct LateFactors : Factors<E> {
  static constexpr bool kSpare = false;
  device::Mbarrier* arrived;

  __device__ void wait_for_staged() const { device::mbarrier_wait(arrived, 0); }
};

/// The same where the matrix has hot columns, whose x is in shared memory: indices with kHotBit are
/// places there.
template <class E>
struct HotFactors {
  const E* x;
  const E* staged;

  static constexpr bool has(IndexKind kind) {
    return kind == IndexKind::shared || kind == IndexKind::absolute;
  }
  static constexpr bool kRagged = false;
  static constexpr bool kSpare = false;
  __device__ void wait_for_staged() const {}
  __device__ void load(E& factor, std::uint32_t column, bool exists) const {
    const E* const source = (column & kHotBit) != 0 ? staged : x;
    factor = exists ? source[column & ~kHotBit] : E{};
  }
};

/// A slice of up to kLanes pieces. Kind: IndexKind, for short code, or a constant, for fewer
/// registers and steps that all pieces have without conditions. kStay: of what the plan holds.
template <class E, class Kind, Stay kStay>
class NarrowWalk {
 public:
  using Sum = decltype(device::widen(E{}));

  /// `length`: of the lane's piece, 0 where there is none.
  __device__ NarrowWalk(const SliceView<E>& slice, Kind kind, int lane, int length)
      : slice_(slice),
        kind_(kind),
        lane_(lane),
        length_(length),
        slot_(static_cast<unsigned>(min(lane, slice.width - 1))) {
    device::load_widened_if<kStay>(shift_, indices<std::uint16_t>() + slot_,
                                   kind == IndexKind::shared && slice.width > 0);
  }
  /// Where `other` stands.
  template <class Other>
  __device__ NarrowWalk(const NarrowWalk<E, Other, kStay>& other, Kind kind)
      : slice_(other.slice_),
        kind_(kind),
        lane_(other.lane_),
        length_(other.length_),
        slot_(other.slot_),
        step_(other.step_),
        shift_(other.shift_) {}

  /// Adds all steps that are left to the sum of the lane's piece.
  template <class SliceFactors>
  __device__ void add_all(const SliceFactors& factors, Sum& sum) {
    do {
      add(factors, sum, [](std::uint32_t /*columns*/) { return true; });
    } while (goes_on());
  }

  /// Whether steps are left.
  __device__ bool goes_on() const { return step_ < slice_.depth; }

  /// Adds the next steps to the sum of the lane's piece. ready(columns) is called before x is read,
  /// when the rest is loaded, with all bits of the columns; it tells whether x of any is staged.
  template <class SliceFactors, class Ready>
  __device__ void add(const SliceFactors& factors, Sum& sum, Ready ready) {
    if (!kShort && step_ + kSteps <= slice_.shortest) {
      add_steps<true>(factors, sum, ready);
    } else {
      add_steps<false>(factors, sum, ready);
    }
  }

 private:
  template <class OtherE, class Other, Stay kOther>
  friend class NarrowWalk;

  static constexpr bool kShort = std::is_same_v<Kind, IndexKind>;
  static constexpr int kSteps = kStepsAtOnce<E, kShort>;

  /// Which of kSteps steps the lane's piece has, and how many pieces of the slice have each.
  struct Existing {
    bool own[kSteps];
    std::uint32_t counts[(kSteps + 3) / 4] = {};  // a byte each

    __device__ void count(int step, int pieces) {
      counts[step / 4] |= static_cast<std::uint32_t>(pieces) << (step % 4 * 8);
    }
    __device__ unsigned pieces(int step) const {
      return counts[step / 4] >> (step % 4 * 8) & 0xffU;
    }
  };

  /// What is loaded of kSteps steps.
  struct Steps {
    std::uint32_t column[kSteps];
    E value[kSteps];
  };

  template <class Index>
  __device__ const Index* indices() const {
    return reinterpret_cast<const Index*>(slice_.indices);
  }

  /// kWhole: all pieces have the steps; lanes that have no piece do as the last one does.
  template <bool kWhole, class SliceFactors, class Ready>
  __device__ void add_steps(const SliceFactors& factors, Sum& sum, Ready ready) {
    Existing existing;
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      existing.own[i] = kWhole || step_ + i < length_;
      // Ahead of all loads: ptxas would have these wait for each other between ballots.
      if (!kWhole) existing.count(i, __popc(__ballot_sync(kAllLanes, existing.own[i])));
    }
    Steps steps;
    load<kWhole>(existing, steps);
    std::uint32_t columns = 0;
#pragma unroll
    for (const std::uint32_t column : steps.column)
      columns |= column;
    const bool has_staged = ready(columns);
    if (!kShort) __syncwarp();  // as in WideWalk
    multiply(existing, steps, has_staged && kind_ == IndexKind::staged, factors, sum);
    step_ += kSteps;
  }

  template <bool kWhole>
  __device__ void load(const Existing& existing, Steps& steps) {
    std::uint32_t base = 0;  // of step step_ + lane_
    if (has_bases(kind_)) {
      const int step = step_ + lane_;
      device::load_widened_if<kStay>(base, slice_.bases + step,
                                     lane_ < kSteps && step < slice_.depth);
    }
    load_entries<kWhole>(existing, steps);
    if (!kShort && !has_bases(kind_)) return;
#pragma unroll
    for (int i = 0; i < kSteps; ++i)
      steps.column[i] += __shfl_sync(kAllLanes, base, i);
  }

  /// Values, and columns less their bases.
  template <bool kWhole>
  __device__ void load_entries(const Existing& existing, Steps& steps) {
    switch (kind_) {
      case IndexKind::shared:
#pragma unroll
        for (int i = 0; i < kSteps; ++i)
          steps.column[i] = shift_;
        return load_steps<kWhole>(existing, steps, [](unsigned /*slot*/, int /*i*/) {});
      case IndexKind::offset8:
        return load_with<kWhole, std::uint8_t>(existing, steps);
      case IndexKind::staged:
      case IndexKind::offset16:
        return load_with<kWhole, std::uint16_t>(existing, steps);
      case IndexKind::absolute:
        return load_with<kWhole, std::uint32_t>(existing, steps);
      case IndexKind::diagonal:
        return;  // of wide slices alone
    }
  }

  template <bool kWhole, class Index>
  __device__ void load_with(const Existing& existing, Steps& steps) {
    load_steps<kWhole>(existing, steps, [&](unsigned slot, int i) {
      device::load_widened_if<kStay>(steps.column[i], indices<Index>() + slot, existing.own[i]);
    });
  }

  /// Values, after load_index(slot, i) of the same step.
  template <bool kWhole, class LoadIndex>
  __device__ void load_steps(const Existing& existing, Steps& steps, LoadIndex load_index) {
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      load_index(slot_, i);
      device::load_if<kStay>(steps.value[i], slice_.values + slot_, existing.own[i]);
      slot_ += kWhole ? static_cast<unsigned>(slice_.width) : existing.pieces(i);
    }
  }

  template <class SliceFactors>
  __device__ void multiply(const Existing& existing, const Steps& steps, bool staged,
                           const SliceFactors& factors, Sum& sum) const {
    const auto& exists = existing.own;
    E factor[kSteps];
    if (staged) {
      factors.wait_for_staged();
#pragma unroll
      for (int i = 0; i < kSteps; ++i)
        factor[i] = exists[i] ? factors.staged[steps.column[i]] : E{};
    } else {
#pragma unroll
      for (int i = 0; i < kSteps; ++i)
        factors.load(factor[i], steps.column[i], exists[i]);
    }
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      if (exists[i]) sum = fma(device::widen(steps.value[i]), device::widen(factor[i]), sum);
    }
  }

  SliceView<E> slice_;
  Kind kind_;
  int lane_;
  int length_;
  unsigned slot_;        // of the lane in the next step
  int step_ = 0;         // the next one
  std::uint32_t shift_;  // kind shared: the offset of the lane's piece
};

template <IndexKind kKind>
struct IndexWordOf {
  using Type = std::uint16_t;
};
template <>
struct IndexWordOf<IndexKind::offset8> {
  using Type = std::uint8_t;
};
template <>
struct IndexWordOf<IndexKind::absolute> {
  using Type = std::uint32_t;
};

/// A byte, times this, four times.
inline constexpr std::uint32_t kEachByte = 0x01010101U;

/// By how many steps each of the pieces 4 lane .. 4 lane + 3 of a slice is shorter than the slice
/// is deep, a byte each, for each lane: pieces that have the step before which so many are left.
__device__ inline int pieces_longer(std::uint32_t shorter, int left) {
  const unsigned longer = __vcmpltu4(shorter, static_cast<unsigned>(max(left, 0)) * kEachByte);
  return static_cast<int>(__reduce_add_sync(kAllLanes, __popc(longer)) / 8);
}

/// A wide slice, of kPieces pieces a lane. What is read for a piece that does not exist, of the
/// last slice of a window, leads to some column that does.
template <class E, int kPieces, IndexKind kKind>
class WideWalk {
 public:
  using Sum = decltype(device::widen(E{}));

  __device__ WideWalk(const SliceView<E>& slice, int lane)
      : values_(slice.values + lane * kPieces),
        indices_(reinterpret_cast<const Index*>(slice.indices) + lane * kPieces),
        bases_(slice.bases),
        left_(slice.depth) {
    if constexpr (kKind == IndexKind::diagonal) {
      offset_[0] = static_cast<std::uint16_t>(lane);
    } else if constexpr (kKind == IndexKind::shared) {
      const auto* const offsets = reinterpret_cast<const Index*>(slice.indices);
#pragma unroll
      for (int r = 0; r < kPieces; ++r)
        offset_[r] = __ldg(offsets + min(r * kLanes + lane, slice.width - 1));
    }
  }

  /// Adds to the sums of the lane's pieces. Not all of these have the last `ragged` steps; then
  /// shorter() is as above.
  template <class SliceFactors, class Shorter>
  __device__ void add(const SliceFactors& factors, int ragged, Shorter shorter,
                      Sum (&sums)[kPieces]) {
    constexpr int kRest = SliceFactors::kSpare ? kLastSteps : kSteps - 1;
    if (kWholeFirst || ragged == 0) {
      const int rest = ragged == 0 ? kRest : kSteps - 1;
      for (; left_ - ragged > rest; left_ -= kSteps)
        add_steps<kSteps>(factors, sums);
    }
    if constexpr (SliceFactors::kRagged) {
      if (ragged != 0) return add_all_ragged(factors, shorter(), sums);
    }
    add_rest<kRest>(factors, sums);
  }

 private:
  // Steps whose gathers are in flight at once: 8 had no registers left on an H200 and took 1.1 to 2
  // times as long as 4, 2 took 1.02 to 1.2 times. What the plan holds of halves is small enough to
  // be loaded for twice as many, where it is no index.
  static constexpr int kGathers = 4;
  static constexpr int kSteps = sizeof(E) == 2 && is_repeated(kKind) ? 8 : 4;
  // Where not all pieces have the steps, fewer of these: registers, which the others lost to them.
  static constexpr int kRaggedSteps = sizeof(E) == 2 ? 4 : 2;
  // The last steps of stencils of floats at once. Doubles had no registers left.
  static constexpr int kLastSteps = sizeof(E) == 4 && is_repeated(kKind) ? 7 : kSteps - 1;
  static constexpr bool kWholeFirst = sizeof(E) > 2;  // steps of ragged slices
  static constexpr int kWidth = kPieces * kLanes;
  using Index = typename IndexWordOf<kKind>::Type;

  /// The last steps, of which there are kMost or fewer.
  template <int kMost, class SliceFactors>
  __device__ void add_rest(const SliceFactors& factors, Sum (&sums)[kPieces]) {
    if constexpr (kMost > 0) {
      if (left_ == kMost) return add_steps<kMost>(factors, sums);
      add_rest<kMost - 1>(factors, sums);
    }
  }

  /// What the plan holds of kCount steps.
  template <int kCount>
  struct Steps {
    std::uint32_t base[kCount <= kBaseUnit ? kBaseUnit : 2 * kBaseUnit];
    Index index[kCount][kPieces];
    E value[kCount][kPieces];
  };

  template <class SliceFactors>
  __device__ void add_all_ragged(const SliceFactors& factors, std::uint32_t shorter,
                                 Sum (&sums)[kPieces]) {
    for (; left_ > 0; left_ -= kRaggedSteps)
      add_ragged(factors, shorter, sums);
  }

  /// The next kCount steps, which all pieces have.
  template <int kCount, class SliceFactors>
  __device__ void add_steps(const SliceFactors& factors, Sum (&sums)[kPieces]) {
    Steps<kCount> steps;
    load(steps, [](int /*step*/) { return true; });
    __syncwarp();  // ptxas keeps the loads above it ahead of the gathers, which wait for some
#pragma unroll
    for (int first = 0; first < kCount; first += kGathers)
      multiply<kGathers>(
          steps, first, factors, [](int /*step*/, int /*r*/) { return true; }, sums);
    advance(kCount);
  }

  /// The next kRaggedSteps steps or what is left of them, which not all pieces have.
  template <class SliceFactors>
  __device__ void add_ragged(const SliceFactors& factors, std::uint32_t shorter,
                             Sum (&sums)[kPieces]) {
    Steps<kRaggedSteps> steps;
    load(steps, [&](int step) { return step < left_; });
    int end[kRaggedSteps];  // of the lane's pieces that have the step, from its first one
#pragma unroll
    for (int i = 0; i < kRaggedSteps; ++i)
      end[i] = pieces_longer(shorter, left_ - i) - lane_of_warp();
    __syncwarp();  // as above
    multiply<kRaggedSteps>(
        steps, 0, factors, [&](int step, int r) { return r * kLanes < end[step]; }, sums);
    advance(kRaggedSteps);
  }

  __device__ void advance(int steps) {
    bases_ += steps;
    indices_ += steps * kWidth;
    values_ += steps * kWidth;
  }

  /// exists(i): whether the slice has step i of these.
  template <int kCount, class Exists>
  __device__ void load(Steps<kCount>& steps, Exists exists) const {
    if constexpr (has_bases(kKind)) {
      constexpr int kUnit = kCount == 2 ? 2 : kBaseUnit;
#pragma unroll
      for (int i = 0; i < kCount; i += kUnit) {
        std::uint32_t unit[kUnit];
        device::load_if<Stay::briefly>(unit, bases_ + i, true);
        memcpy(steps.base + i, unit, sizeof(unit));
      }
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if constexpr (kKind == IndexKind::shared) {
        memcpy(steps.index[i], offset_, sizeof(offset_));
      } else if constexpr (kKind != IndexKind::diagonal) {
        device::load_if<Stay::briefly>(steps.index[i], indices_ + i * kWidth, exists(i));
      }
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      device::load_if<Stay::briefly>(steps.value[i], values_ + i * kWidth, exists(i));
  }

  /// Adds kAtOnce of the steps from `first` on, or what is left of them; exists(i, r): whether
  /// piece r has step i. Where it has not, zeros are multiplied.
  template <int kAtOnce, int kCount, class SliceFactors, class Exists>
  __device__ void multiply(const Steps<kCount>& steps, int first, const SliceFactors& factors,
                           Exists exists, Sum (&sums)[kPieces]) const {
    E factor[kAtOnce][kPieces];
    if constexpr (kKind == IndexKind::staged) factors.wait_for_staged();
#pragma unroll
    for (int i = first; i < first + kAtOnce && i < kCount; ++i) {
#pragma unroll
      for (int r = 0; r < kPieces; ++r) {
        if constexpr (kKind == IndexKind::diagonal) {
          // One address for all pieces, which are so many columns on.
          const E* const column = factors.x + (steps.base[i] + offset_[0]);
          device::load_if<Stay::normally>(factor[i - first][r], column + r * kLanes, exists(i, r));
        } else if constexpr (kKind == IndexKind::staged) {
          factor[i - first][r] = exists(i, r) ? factors.staged[steps.index[i][r]] : E{};
        } else {
          std::uint32_t column = steps.index[i][r];
          if constexpr (has_bases(kKind)) column += steps.base[i];
          factors.load(factor[i - first][r], column, exists(i, r));
        }
      }
    }
#pragma unroll
    for (int i = first; i < first + kAtOnce && i < kCount; ++i) {
#pragma unroll
      for (int r = 0; r < kPieces; ++r)
        sums[r] =
            fma(device::widen(steps.value[i][r]), device::widen(factor[i - first][r]), sums[r]);
    }
  }

  const E* values_;                // of the lane, in the next step
  const Index* indices_;           // likewise
  const std::uint32_t* bases_;     // of the next step
  int left_;                       // steps
  std::uint16_t offset_[kPieces];  // of repeated kinds: of the lane's pieces
};

/// Several wide slices of kDepth steps, which are all of theirs: as many loads in flight as of one
/// that is deep.
template <class E, int kPieces, IndexKind kKind, int kDepth>
class ShallowWalk {
 public:
  using Sum = decltype(device::widen(E{}));
  static constexpr int kSlices = 4 / kDepth;

  /// Slice j of them.
  __device__ void load(int j, const SliceView<E>& slice, int lane) {
    const auto* const indices = reinterpret_cast<const Index*>(slice.indices) + lane * kPieces;
    const E* const values = slice.values + lane * kPieces;
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      base_[j][k] = 0;
      if constexpr (has_bases(kKind))
        device::load_widened_if<Stay::briefly>(base_[j][k], slice.bases + k, true);
      device::load_if<Stay::briefly>(index_[j][k], indices + k * kLanes * kPieces, true);
      device::load_if<Stay::briefly>(value_[j][k], values + k * kLanes * kPieces, true);
    }
  }

  /// sums[j] of slice j's pieces.
  __device__ void multiply(const Factors<E>& factors, Sum (&sums)[kSlices][kPieces]) const {
    E factor[kSlices][kDepth][kPieces];
    __syncwarp();  // as in WideWalk
#pragma unroll
    for (int j = 0; j < kSlices; ++j) {
#pragma unroll
      for (int i = 0; i < kDepth * kPieces; ++i) {
        const int k = i / kPieces;
        const int r = i % kPieces;
        if constexpr (kKind == IndexKind::staged) {
          factor[j][k][r] = factors.staged[index_[j][k][r]];
        } else {
          device::load_if<Stay::normally>(factor[j][k][r],
                                          factors.x + (base_[j][k] + index_[j][k][r]), true);
        }
      }
    }
#pragma unroll
    for (int j = 0; j < kSlices; ++j) {
#pragma unroll
      for (int r = 0; r < kPieces; ++r) {
        sums[j][r] = Sum{0};
#pragma unroll
        for (int k = 0; k < kDepth; ++k)
          sums[j][r] =
              fma(device::widen(value_[j][k][r]), device::widen(factor[j][k][r]), sums[j][r]);
      }
    }
  }

 private:
  using Index = typename IndexWordOf<kKind>::Type;

  std::uint32_t base_[kSlices][kDepth];
  Index index_[kSlices][kDepth][kPieces];
  E value_[kSlices][kDepth][kPieces];
};

}  // namespace lanky::sparse::cuda
