#include "sparse/cuda/columns/row_sharing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sparse/cuda/columns/policy.hpp"
#include "sparse/cuda/columns/strip.hpp"

namespace lanky::sparse::cuda {

namespace {

// Microseconds of a lane. Fitted on an H200 to 44 matrices in three types, with 8 to 64 columns;
// 25 were timed with up to eight groups a row or with all limits. Fitted to every second matrix by
// name, predictions of whole products are off by 14 % in root mean square there and by 17 % on the
// others, and choices take 1.026 times as long as the best of what was timed on either half
// (docs/lab/spmm.md); these are of the same fit to all. First where lanes are shared, in which
// latencies of some warps are hidden behind others, then of one row by itself.
constexpr double kRowUs = 1.09;
constexpr double kRoundUs = 0.784;   // of kRowsAtOnce entries
constexpr double kMemberUs = 0.109;  // a member's part is handed to the others of its team
constexpr double kWarpRowUs = 0.92;  // of a row in parts
constexpr double kWarpRoundUs = 1.24;
constexpr double kLongestRowUs = 1.08;
constexpr double kLongestRoundUs = 0.47;
constexpr double kLongestMemberUs = 0.11;
constexpr double kLongestWarpUs = 0.52;
constexpr double kPartsUs = 0.4;  // of a kernel for rows in parts
// Rounds take so many times as long.
constexpr double kTwoWordRounds = 1.18;
constexpr double kLongestTwoWordRounds = 1.38;
constexpr double kHalfRounds = 1.35;
/// The longest row of those of 2^(i-1) + 1 to 2^i entries has so many times their mean, about.
constexpr double kLongestOfClass = 1.25;

constexpr int kWarpsAtOnce = 40;  // of a multiprocessor
constexpr int kTeamBitsMost = 3;

double ratio_up(double value, double of) {
  return std::ceil(value / of);
}

/// What pieces that are shared among `sharers` come to, of a row of `length` entries: turns, and
/// rounds in all of them.
struct Turns {
  double turns;
  double rounds;
};
Turns turns_of(double length, double piece, double sharers) {
  if (length <= piece) return {1, ratio_up(length, kRowsAtOnce)};
  const double turns = ratio_up(ratio_up(length, piece), sharers);
  return {turns, turns * ratio_up(piece, kRowsAtOnce)};
}

/// Predicts what the rows take where they are shared out in one way.
class Prediction {
 public:
  Prediction(const Shape& shape, int words, DType dtype, const Machine& machine, std::int64_t limit,
             int team_bits, double waits)
      : shape_(shape),
        words_(words),
        dtype_(dtype),
        machine_(machine),
        limit_(limit),
        team_(1 << team_bits),
        waits_(waits),
        round_(is_half(dtype) ? kHalfRounds : 1) {}

  /// `rows` rows, whose lengths are up to `most`, on average `mean`.
  void add(double rows, double mean, std::int64_t most) {
    const double longest = std::ceil(std::min(static_cast<double>(most), kLongestOfClass * mean));
    if (most <= limit_) return add_grouped(rows, mean, longest);
    add_in_parts(rows, mean, longest, most <= warp_most(shape_));
  }
  double parts_us() const { return in_parts_ ? kPartsUs : 0; }
  double longest_us() const { return longest_; }
  /// Microseconds of all lanes, one after the other.
  double lane_us() const { return lanes_; }

 private:
  void add_grouped(double rows, double mean, double longest) {
    const auto piece = static_cast<double>(shape_.piece_most);
    const GroupLanes group = group_lanes(words_);
    const double strips = ratio_up(words_, group.lanes * group.words);
    const double members = team_ > 1 ? team_ : 0;
    const bool two_words = group.words > 1;
    const double round = round_ * (two_words ? kTwoWordRounds : 1);
    const double longest_round = round_ * (two_words ? kLongestTwoWordRounds : 1);
    const Turns all = turns_of(mean, piece, team_);
    lanes_ += strips * team_ * group.lanes * rows *
              (kRowUs + waits_ * all.rounds * round * kRoundUs + all.turns * members * kMemberUs);
    const Turns last = turns_of(longest, piece, team_);
    longest_ = std::max(longest_, kLongestRowUs + last.rounds * longest_round * kLongestRoundUs +
                                      last.turns * members * kLongestMemberUs);
  }

  void add_in_parts(double rows, double mean, double longest, bool by_warps) {
    in_parts_ = true;
    const auto piece = static_cast<double>(shape_.piece_most);
    const int part_words = words_ > kPartsWords[0] ? kPartsWords[1] : kPartsWords[0];
    const double strips = ratio_up(words_, part_words);
    double groups = static_cast<double>(kLanes) / part_words;
    lanes_ += strips * kLanes * rows *
              (kWarpRowUs + turns_of(mean, piece, groups).rounds * round_ * kWarpRoundUs);
    if (!by_warps) {
      longest = std::min(longest, static_cast<double>(shape_.window_cost));
      const auto pieces = static_cast<std::int64_t>(ratio_up(longest, piece));
      const int warps = parts_launch(part_words, pieces, dtype_, machine_).threads / kLanes;
      groups *= warps;
    }
    const Turns last = turns_of(longest, piece, std::max(groups, 1.0));
    longest_ = std::max(longest_, kLongestWarpUs + last.rounds * round_ * kLongestRoundUs);
  }

  const Shape& shape_;
  int words_;
  DType dtype_;
  const Machine& machine_;
  std::int64_t limit_;
  int team_;
  double waits_;
  double round_;
  bool in_parts_ = false;
  double lanes_ = 0;
  double longest_ = 0;
};

}  // namespace

RowSharing share_rows(const RowLengths& lengths, const Shape& shape, int words, DType dtype,
                      const Machine& machine, const RowWaits* waits) {
  const double lanes = double{kLanes} * kWarpsAtOnce * machine.multiprocessors;
  const GroupLimits limits = group_limits(shape);
  RowSharing best;
  double best_us = std::numeric_limits<double>::infinity();
  const int team_bits_most = waits != nullptr ? 0 : kTeamBitsMost;
  for (int team_bits = 0; team_bits <= team_bits_most; ++team_bits) {
    if (group_lanes(words).lanes << team_bits > kLanes) break;
    for (int limit = kGroupLimits - 1; limit >= 0; --limit) {
      Prediction predicted(shape, words, dtype, machine, limits.of[limit], team_bits,
                           waits != nullptr ? (*waits)[limit] : 1);
      for (int i = 0; i < kRowLengths; ++i) {
        const double rows = lengths.rows[i];
        const auto most = std::min(std::int64_t{1} << i, std::int64_t{lengths.longest});
        if (rows > 0) predicted.add(rows, static_cast<double>(lengths.entries[i]) / rows, most);
      }
      const RowSharing sharing{.limit = limit,
                               .team_bits = team_bits,
                               .parts_us = predicted.parts_us(),
                               .work_us = predicted.lane_us() / lanes,
                               .longest_us = predicted.longest_us()};
      const double us = sharing.parts_us + std::hypot(sharing.work_us, sharing.longest_us);
      if (us >= best_us) continue;
      best = sharing;
      best_us = us;
    }
  }
  return best;
}

}  // namespace lanky::sparse::cuda
