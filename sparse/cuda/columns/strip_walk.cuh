// How a warp multiplies a few pieces of a slice with a strip of columns on CUDA cores: a group of
// lanes has a piece, and each of them gathers its columns of the rows of X that the entries name.
// Lanes of small groups load all entries of their piece; those of large ones load and decode one
// each, and hand it to the others by shuffles. The sum of a piece and a column is added up step by
// step, as for one vector.
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/guarded_load.cuh"
#include "sparse/cuda/columns/strip_gather.cuh"
#include "sparse/cuda/multiply/cells.cuh"
#include "sparse/cuda/multiply/decode.cuh"
#include "sparse/cuda/warp.cuh"

namespace lanky::sparse::cuda {

/// The piece of a lane's group: where its entries stand, and what leads from codes to rows of X.
template <class E>
struct PieceEntries {
  const E* values;                  // of the slice, by slots
  const std::uint8_t* indices;      // likewise (shared: by pieces)
  const std::uint32_t* bases;       // by steps
  unsigned slot;                    // in step 0
  unsigned pitch;                   // slots of a step that all pieces have
  bool ragged;                      // other steps have only as many slots as pieces have them
  std::uint32_t fixed;              // the code, where the slice has none for each step
  std::uint32_t origin;             // of rows whose codes have no bases: the first that is staged
  const std::int32_t* hot_columns;  // nullptr: there are none
  int length;                       // steps; 0: there is no piece
  int depth;                        // of the longest of the warp's pieces
  int shortest;                     // of its pieces
  int whole;                        // steps that all pieces of the slice have
  int lane_length;                  // of the slice's piece `lane`, where steps are ragged
};

/// An entry, ready to be multiplied.
template <class E>
struct StripEntry {
  typename Cell<E>::Sum value;
  std::uint32_t row;  // of X
};

template <class E, class Strip, IndexKind kKind>
class StripWalk {
 public:
  __device__ explicit StripWalk(const PieceEntries<E>& piece)
      : piece_(piece), offset_(piece.slot + lane_of_sharers() * piece.pitch) {}

  /// Adds all steps. Entries that lanes share are under way while those before are multiplied.
  __device__ void add_all(const StripGather<E, Strip>& gather, StripCells<E, Strip>& sums) {
    if constexpr (kAhead) load(0);
    int step = 0;
#pragma unroll 1
    for (; step + kSteps <= piece_.shortest; step += kSteps)
      add_steps<true>(step, gather, sums);
#pragma unroll 1
    for (; step < piece_.depth; step += kSteps)
      add_steps<false>(step, gather, sums);
  }

 private:
  using Index = IndexWord<kKind>;
  static constexpr int kSharers = kEntrySharers<Strip>;
  static constexpr int kLoads = kSharers > 1 ? 1 : kGathersAtOnce<Strip> / Strip::kWords;
  static constexpr int kSteps = kLoads * kSharers;
  static constexpr bool kAhead = kSharers > 1;
  static constexpr std::uint32_t kNone = std::uint32_t{1} << 31;  // row 0 of X, not to be used

  static __device__ int lane_of_sharers() {
    return lane_of_warp() % kSharers;
  }

  /// kWhole: all pieces have the steps.
  template <bool kWhole>
  __device__ void add_steps(int step, const StripGather<E, Strip>& gather,
                            StripCells<E, Strip>& sums) {
    if constexpr (!kAhead) load(step);
    decode<kWhole>(step);
    if constexpr (kAhead) load(step + kSteps);
    multiply<kWhole>(piece_.depth - step, gather, sums);
  }

  /// The lane's entries of kSteps steps from `first` on.
  __device__ void load(int first) {
    if (piece_.ragged && first + kSteps > piece_.whole) return load_ragged(first);
#pragma unroll
    for (int t = 0; t < kLoads; ++t)
      load(t, first, offset_ + t * kSharers * piece_.pitch);
    offset_ += kSteps * piece_.pitch;
  }
  /// The same where not all pieces of the slice have the steps.
  __device__ void load_ragged(int first) {
    unsigned slot = offset_ - lane_of_sharers() * piece_.pitch;  // of step `first`
#pragma unroll
    for (int t = 0; t < kLoads; ++t) {
      unsigned own = slot;
#pragma unroll
      for (int j = 0; j < kSharers; ++j) {
        const int step = first + t * kSharers + j;
        slot += __popc(__ballot_sync(kAllLanes, step < piece_.lane_length));
        own = lane_of_sharers() > j ? slot : own;
      }
      load(t, first, own);
    }
    offset_ = slot + lane_of_sharers() * piece_.pitch;
  }
  /// The lane's t-th entry, which is in `slot`.
  __device__ void load(int t, int first, unsigned slot) {
    const int step = first + t * kSharers + lane_of_sharers();
    const bool exists = step < piece_.length;
    if constexpr (has_bases(kKind))
      device::load_widened_if<kStay>(bases_of_[t], piece_.bases + step, exists);
    if constexpr (!is_repeated(kKind))
      device::load_widened_if<kStay>(codes_of_[t],
                                     reinterpret_cast<const Index*>(piece_.indices) + slot, exists);
    device::load_if<kStay>(values_of_[t], piece_.values + slot, exists);
  }

  /// What load(first) has loaded.
  template <bool kWhole>
  __device__ void decode(int first) {
#pragma unroll
    for (int t = 0; t < kLoads; ++t) {
      const bool exists = kWhole || first + t * kSharers + lane_of_sharers() < piece_.length;
      own_[t] = {device::widen(values_of_[t]), exists ? row_of(t) : kNone};
    }
  }

  /// The row of X of entry t of those that load() has loaded.
  __device__ std::uint32_t row_of(int t) const {
    if constexpr (is_repeated(kKind)) return piece_.fixed + bases_of_[t];
    if constexpr (has_bases(kKind)) return codes_of_[t] + bases_of_[t];
    if constexpr (kKind == IndexKind::staged) return codes_of_[t] + piece_.origin;
    const std::uint32_t code = codes_of_[t];
    if (piece_.hot_columns == nullptr || (code & kHotBit) == 0) return code;
    return static_cast<std::uint32_t>(__ldg(piece_.hot_columns + (code & ~kHotBit)));
  }

  __device__ StripEntry<E> entry(int step) const {
    if constexpr (kSharers == 1) return own_[step];
    return {device::shuffle_from(own_[0].value, step, kSharers),
            __shfl_sync(kAllLanes, own_[0].row, step, kSharers)};
  }

  /// `steps`: that are left of the longest piece.
  template <bool kWhole>
  __device__ void multiply(int steps, const StripGather<E, Strip>& gather,
                           StripCells<E, Strip>& sums) const {
    constexpr int kAtOnce = kGathersAtOnce<Strip> / Strip::kWords;
    static_assert(kSteps % kAtOnce == 0 || kSteps < kAtOnce);
    constexpr int kCount = kSteps < kAtOnce ? kSteps : kAtOnce;
#pragma unroll
    for (int first = 0; first < kSteps; first += kCount) {
      if (!kWhole && first >= steps) return;
      StripEntry<E> entries[kCount];
      E factors[kCount][Strip::kWords][Strip::kEach];
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        entries[i] = entry(first + i);
        gather.load(factors[i], kWhole ? entries[i].row : entries[i].row & ~kNone);
      }
      __syncwarp();  // ptxas keeps all these loads ahead of what waits for the first
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
#pragma unroll
        for (int w = 0; w < Strip::kWords; ++w) {
#pragma unroll
          for (int e = 0; e < Strip::kEach; ++e) {
            if (kWhole || entries[i].row != kNone)
              sums.of[w][e].add_widened(entries[i].value, factors[i][w][e]);
          }
        }
      }
    }
  }

  // Lines of entries serve several groups, and those that lanes share several rounds.
  static constexpr Stay kStay = Stay::normally;

  const PieceEntries<E>& piece_;
  unsigned offset_;  // slot of the lane's entry in the next steps, where all pieces have them
  // Of the steps that were loaded last:
  std::uint32_t bases_of_[kLoads];
  std::uint32_t codes_of_[kLoads];
  E values_of_[kLoads];
  StripEntry<E> own_[kLoads];  // of those that are multiplied
};

}  // namespace lanky::sparse::cuda
