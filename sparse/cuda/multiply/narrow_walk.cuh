// How a warp multiplies a slice of up to kLanes pieces on CUDA cores: lane l sums piece l, several
// steps at once. Their codes and values are loaded before x is gathered, and x before it is used.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sparse/cuda/multiply/block.hpp"
#include "sparse/cuda/multiply/cells.cuh"
#include "sparse/cuda/multiply/decode.cuh"

namespace lanky::sparse::cuda {

/// E: of x, or of a few columns of X. Kind: IndexKind, for short code, or a constant, for fewer
/// registers and steps that all pieces have without conditions. kStay: of what the plan holds.
template <class E, class Kind, Stay kStay>
class NarrowWalk {
 public:
  using Value = device::MatrixElement<E>;

  /// `length`: of the lane's piece, 0 where there is none.
  __device__ NarrowWalk(const SliceView<Value>& slice, Kind kind, int lane, int length)
      : slice_(slice),
        lane_(lane),
        length_(length),
        slot_(static_cast<unsigned>(min(lane, slice.width - 1))),
        columns_(slice, kind, slot_) {}
  /// Where `other` stands.
  template <class Other>
  __device__ NarrowWalk(const NarrowWalk<E, Other, kStay>& other, Kind kind)
      : slice_(other.slice_),
        lane_(other.lane_),
        length_(other.length_),
        slot_(other.slot_),
        step_(other.step_),
        columns_(other.columns_, kind) {}

  /// Adds all steps that are left to the cell of the lane's piece.
  template <class Gather>
  __device__ void add_all(const Gather& gather, Cell<E>& cell) {
    do {
      add(gather, cell, [](std::uint32_t /*columns*/) { return true; });
    } while (goes_on());
  }

  /// Whether steps are left.
  __device__ bool goes_on() const { return step_ < slice_.depth; }

  /// Adds the next steps to the cell of the lane's piece. ready(columns) is called before x is
  /// read, when the rest is loaded, with all bits of the columns; it tells whether x of any is
  /// staged.
  template <class Gather, class Ready>
  __device__ void add(const Gather& gather, Cell<E>& cell, Ready ready) {
    if (!kShort && step_ + kSteps <= slice_.shortest) {
      add_steps<true>(gather, cell, ready);
    } else {
      add_steps<false>(gather, cell, ready);
    }
  }

 private:
  template <class OtherE, class Other, Stay kOther>
  friend class NarrowWalk;

  static constexpr bool kShort = std::is_same_v<Kind, IndexKind>;
  static constexpr int kSteps = kStepsAtOnce<E, kShort>;
  static constexpr int kGathers = kFactorsAtOnce<E, kShort>;

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

  /// kSteps steps, as they are loaded.
  struct Steps {
    std::uint32_t column[kSteps];
    Value value[kSteps];

    __device__ std::uint32_t all_bits() const {
      std::uint32_t bits = 0;
#pragma unroll
      for (const std::uint32_t one : column)
        bits |= one;
      return bits;
    }
  };

  /// kWhole: all pieces have the steps; lanes that have no piece do as the last one does.
  template <bool kWhole, class Gather, class Ready>
  __device__ void add_steps(const Gather& gather, Cell<E>& cell, Ready ready) {
    Existing existing;
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      existing.own[i] = kWhole || step_ + i < length_;
      // Ahead of all loads: ptxas would have these wait for each other between ballots.
      if (!kWhole) existing.count(i, __popc(__ballot_sync(kAllLanes, existing.own[i])));
    }
    Steps steps;
    load<kWhole>(existing, steps);
    const bool staged = ready(steps.all_bits()) && columns_.kind() == IndexKind::staged;
    if (!kShort) __syncwarp();  // as in WideWalk
    if (staged) {
      multiply<IndexKind::staged>(existing, steps, gather, cell);
    } else {
      multiply<IndexKind::absolute>(existing, steps, gather, cell);
    }
    step_ += kSteps;
  }

  template <bool kWhole>
  __device__ void load(const Existing& existing, Steps& steps) {
    const int step = step_ + lane_;
    const std::uint32_t base = columns_.load_base(step, lane_ < kSteps && step < slice_.depth);
    columns_.with_load([&](auto load_code) {
#pragma unroll
      for (int i = 0; i < kSteps; ++i) {
        load_code(steps.column[i], slot_, existing.own[i]);
        device::load_if<kStay>(steps.value[i], slice_.values + slot_, existing.own[i]);
        slot_ += kWhole ? static_cast<unsigned>(slice_.width) : existing.pieces(i);
      }
    });
    columns_.add_bases(base, steps.column);
  }

  /// kKind: staged, or another one, whose columns are those of x.
  template <IndexKind kKind, class Gather>
  __device__ void multiply(const Existing& existing, const Steps& steps, const Gather& gather,
                           Cell<E>& cell) const {
    gather.template wait<kKind>();
#pragma unroll
    for (int first = 0; first < kSteps; first += kGathers) {
      E factor[kGathers];
#pragma unroll
      for (int i = first; i < first + kGathers; ++i)
        gather.template load<kKind>(factor[i - first], steps.column[i], 0, existing.own[i]);
#pragma unroll
      for (int i = first; i < first + kGathers; ++i) {
        if (existing.own[i]) cell.add(steps.value[i], factor[i - first]);
      }
    }
  }

  SliceView<Value> slice_;
  int lane_;
  int length_;
  unsigned slot_;  // of the lane in the next step
  int step_ = 0;   // the next one
  NarrowColumns<Kind, kStay> columns_;
};

}  // namespace lanky::sparse::cuda
