#include "sparse/cuda/columns/row_sharing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

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
constexpr int kTeams = 4;         // of 1, 2, 4 and 8 groups
constexpr int kWarpTeams = 4;     // of as many warps
static_assert(1 << (kWarpTeams - 1) <= kRowsThreads / kLanes);

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

/// What rows take, in microseconds: all lanes of the device, one after the other, and the row that
/// takes longest.
struct Taken {
  double lanes = 0;
  double longest = 0;
  void add(const Taken& more) {
    lanes += more.lanes;
    longest = std::max(longest, more.longest);
  }
};

/// Rows of about one length: so many, of `mean` entries on average, of `longest` about and of
/// `most` for certain.
struct LikeRows {
  double count;
  double mean;
  double longest;
  std::int64_t most;
};
/// Those of `lengths` that there are.
std::vector<LikeRows> classes_of(const RowLengths& lengths) {
  std::vector<LikeRows> classes;
  for (int i = 0; i < kRowLengths; ++i) {
    if (lengths.rows[i] == 0) continue;
    const double count = lengths.rows[i];
    const double mean = static_cast<double>(lengths.entries[i]) / count;
    const auto most = std::min(std::int64_t{1} << i, std::int64_t{lengths.longest});
    const double longest = std::min(static_cast<double>(most), kLongestOfClass * mean);
    classes.push_back({count, mean, std::ceil(longest), most});
  }
  return classes;
}

/// Predicts what rows take in a product.
class Prediction {
 public:
  Prediction(const Shape& shape, int words, DType dtype, const Machine& machine)
      : shape_(shape),
        words_(words),
        dtype_(dtype),
        machine_(machine),
        piece_(shape.piece_most),
        round_(is_half(dtype) ? kHalfRounds : 1) {}

  /// By groups, those of up to `limit` entries, of which 2^team_bits share a row.
  Taken by_groups(std::span<const LikeRows> classes, std::int64_t limit, int team_bits,
                  double waits) const {
    Taken all;
    for (const LikeRows& rows : classes) {
      if (rows.most <= limit) all.add(by_groups(rows, team_bits, waits));
    }
    return all;
  }

  /// In parts, those of more than `limit` entries: up to warp_most() by 2^warp_bits warps each,
  /// longer ones by blocks.
  Taken in_parts(std::span<const LikeRows> classes, std::int64_t limit, int warp_bits) const {
    PartCounts counts;
    for (const LikeRows& rows : classes) {
      if (rows.most <= limit) continue;
      if (is_of_warps(rows)) {
        counts.warps += static_cast<std::int64_t>(rows.count) << warp_bits;
        continue;
      }
      counts.blocks += static_cast<std::int64_t>(rows.count * ratio_up(rows.mean, part_most()));
      const double pieces = ratio_up(std::min(rows.longest, part_most()), piece_);
      counts.pieces_most = std::max(counts.pieces_most, static_cast<std::int64_t>(pieces));
    }
    const PartsLaunch launch = parts_launch(words_, counts, dtype_, machine_);
    Taken all;
    for (const LikeRows& rows : classes) {
      if (rows.most > limit) all.add(in_parts(rows, 1 << warp_bits, launch));
    }
    return all;
  }

 private:
  Taken by_groups(const LikeRows& rows, int team_bits, double waits) const {
    const GroupLanes group = group_lanes(words_);
    const int team = 1 << team_bits;
    const double strips = ratio_up(words_, group.lanes * group.words);
    const double members = team > 1 ? team : 0;
    const bool two_words = group.words > 1;
    const double round = round_ * (two_words ? kTwoWordRounds : 1);
    const double longest_round = round_ * (two_words ? kLongestTwoWordRounds : 1);
    const Turns all = turns_of(rows.mean, piece_, team);
    const Turns last = turns_of(rows.longest, piece_, team);
    return {
        .lanes = strips * team * group.lanes * rows.count *
                 (kRowUs + waits * all.rounds * round * kRoundUs + all.turns * members * kMemberUs),
        .longest = kLongestRowUs + last.rounds * longest_round * kLongestRoundUs +
                   last.turns * members * kLongestMemberUs};
  }

  /// Of a row that blocks have, lanes are counted as if one warp had it.
  Taken in_parts(const LikeRows& rows, int warps, const PartsLaunch& launch) const {
    const bool of_warps = is_of_warps(rows);
    const int words = std::max(launch.words, 1);
    const double strips = ratio_up(words_, words);
    const double groups = static_cast<double>(kLanes) / words;
    const int counted = of_warps ? warps : 1;
    const int sharing = of_warps ? warps : std::max(launch.threads / kLanes, 1);
    const Turns all = turns_of(rows.mean, piece_, groups * counted);
    const Turns last = turns_of(std::min(rows.longest, part_most()), piece_, groups * sharing);
    return {.lanes = strips * kLanes * counted * rows.count *
                     (kWarpRowUs + all.rounds * round_ * kWarpRoundUs),
            .longest = kLongestWarpUs + last.rounds * round_ * kLongestRoundUs};
  }

  bool is_of_warps(const LikeRows& rows) const { return rows.most <= warp_most(shape_); }
  /// Entries of a row that a block has.
  double part_most() const { return static_cast<double>(shape_.window_cost); }

  const Shape& shape_;
  int words_;
  DType dtype_;
  const Machine& machine_;
  double piece_;
  double round_;
};

/// How long groups take for rows as they stand, over what they would take one by one.
double waits_of(const GroupTotals& groups) {
  return groups.entries > 0
             ? static_cast<double>(groups.taken) / static_cast<double>(groups.entries)
             : 1;
}

}  // namespace

bool is_uneven(const RowLengths& lengths, int limit) {
  constexpr double kUneven = 1.5;
  return waits_of(lengths.groups[limit]) > kUneven;
}

RowSharing share_rows(const RowLengths& lengths, const Shape& shape, int words, DType dtype,
                      const Machine& machine, bool staged) {
  const GroupLimits limits = group_limits(shape);
  const Prediction predicted(shape, words, dtype, machine);
  const std::vector<LikeRows> classes = classes_of(lengths);
  const double lanes = double{kLanes} * kWarpsAtOnce * machine.multiprocessors;
  RowSharing best;
  double best_us = std::numeric_limits<double>::infinity();
  for (int limit = kGroupLimits - 1; limit >= 0; --limit) {
    const std::int64_t most = limits.of[limit];
    const bool parts = !classes.empty() && classes.back().most > most;
    const double waits = staged ? waits_of(lengths.groups[limit]) : 1;
    Taken in_parts[kWarpTeams] = {};
    for (int i = 0; parts && i < kWarpTeams; ++i)
      in_parts[i] = predicted.in_parts(classes, most, i);
    for (int team_bits = 0; team_bits < (staged ? 1 : kTeams); ++team_bits) {
      if (group_lanes(words).lanes << team_bits > kLanes) break;
      const Taken grouped = predicted.by_groups(classes, most, team_bits, waits);
      for (int warp_bits = 0; warp_bits < (parts ? kWarpTeams : 1); ++warp_bits) {
        Taken all = grouped;
        all.add(in_parts[warp_bits]);
        const RowSharing sharing{.limit = limit,
                                 .team_bits = team_bits,
                                 .warp_bits = warp_bits,
                                 .parts_us = parts ? kPartsUs : 0,
                                 .work_us = all.lanes / lanes,
                                 .longest_us = all.longest};
        const double us = sharing.parts_us + std::hypot(sharing.work_us, sharing.longest_us);
        if (us >= best_us) continue;
        best = sharing;
        best_us = us;
      }
    }
  }
  return best;
}

}  // namespace lanky::sparse::cuda
