#include "sparse/cuda/multiply/policy.hpp"

#include <algorithm>
#include <lanky/error.hpp>
#include <lanky/visit_dtype.hpp>
#include <limits>

#include "core/ceil_div.hpp"
#include "core/text.hpp"
#include "sparse/cuda/multiply/block.hpp"
#include "sparse/policy.hpp"

namespace lanky::sparse::cuda {

namespace {

// Slices of a multiprocessor that are not half of what is resident, so that the next product's are,
// too.
constexpr double kFewMost = 14.4;
// Warps of a multiprocessor that are resident of elements of 8 bytes, by kernel.
constexpr std::int64_t kFewResident = 25;
constexpr std::int64_t kSingleResident = 32;
// The share of the L2 that plan and vectors may take to be there from product to product.
constexpr double kKeptShare = 5.0 / 6;
// Slots of the largest matrix whose blocks have shares of it fetched.
constexpr std::int64_t kSharedSlotsMost = 150'000;

/// A matrix, and the GPU that multiplies it.
struct Setting {
  const PackedHeader& a;
  Path path;
  const Machine& machine;
  int shared_bytes;  // of a block, at most
  // By the type of elements:
  int bytes;         // of an element
  int few_steps;     // that the code for slices of few steps takes
  int slice_bytes;   // of shared memory, for the slices of a window
  int cell_bytes;    // for its sums
  int staged_bytes;  // for the columns that it stages

  bool by_tensor_cores() const { return path != Path::cuda; }
  bool wide() const { return a.shape.lane_pieces > 1; }
  bool hot() const { return a.hot > 0; }
  std::int64_t rows(RowClass row_class) const { return a.class_rows[static_cast<int>(row_class)]; }
};

/// Whether small windows are multiplied by Slices::few. Of elements of 8 bytes its registers leave
/// 25 warps of a multiprocessor resident, not 32: not where these take fewer rounds, or have room
/// for this product and the next one.
bool are_few(const Setting& s) {
  if (s.bytes > 8) return false;
  if (s.bytes < 8)
    return s.a.windows * s.a.slices_most <=
           static_cast<std::int64_t>(kFewMost * s.machine.multiprocessors);
  if (s.a.slices_most == 0) return true;
  const auto rank = [&](std::int64_t warps) {
    const std::int64_t resident = s.machine.multiprocessors * (warps / s.a.slices_most);
    return s.a.windows > resident ? -ceil_div(s.a.windows, resident)
                                  : std::min<std::int64_t>(resident / s.a.windows, 2);
  };
  return rank(kFewResident) >= rank(kSingleResident);
}

/// Of slices that are not wide.
Slices narrow_slices(const Setting& s) {
  if (!one_slice_a_warp(s.a)) return Slices::any;
  if (s.a.shape.piece_most > s.few_steps) return Slices::deep;
  return are_few(s) ? Slices::few : Slices::single;
}

/// Whether sums may go to y as they are, where beta is known to be 0.
bool goes_straight(const Setting& s) {
  const bool whole = s.a.row_cells == 0 && s.a.split_rows == 0;
  return whole && s.a.columns_most > 0 && few_filled(s.a.rows, s.rows(RowClass::empty), s.bytes);
}

/// The kernel of this matrix; tensor cores have one for any.
Slices slices_of(const Setting& s, bool overwrites) {
  if (s.by_tensor_cores() || s.hot()) return Slices::any;
  if (!s.wide()) return narrow_slices(s);
  if (overwrites && goes_straight(s)) return Slices::straight;
  const std::int64_t longer = s.rows(RowClass::medium) + s.rows(RowClass::long_row);
  return is_shallow(s.a.nnz, s.rows(RowClass::short_row), longer) ? Slices::shallow : Slices::any;
}

/// Whether plan and vectors are likely in the L2 already, from the product before: half of it is
/// far from each multiprocessor. What comes from memory only gets in its own way.
bool fetches_ahead(const Setting& s) {
  const std::int64_t elements = s.a.slots + s.a.rows + s.a.cols;
  const auto bytes = static_cast<double>(elements * s.bytes + s.a.index_units * kIndexUnit);
  return bytes <= kKeptShare * static_cast<double>(s.machine.second_cache_bytes);
}

/// Of a small matrix whose blocks multiply a slice a warp. From 150,000 slots on it gained cold
/// products .03 and cost warm ones .01 to .015. An x of more elements than the matrix is read in
/// parts.
Shares shares_of(const Setting& s) {
  if (s.a.windows == 0 || !one_slice_a_warp(s.a)) return {};
  if (s.a.slots > kSharedSlotsMost || !fetches_ahead(s)) return {};
  const auto share = [&](std::int64_t elements, std::int64_t size) {
    const std::int64_t whole = elements * size - (kWordBytes - 1);  // words, wherever they begin
    const std::int64_t each = std::max<std::int64_t>(whole, 0) / s.a.windows;
    return static_cast<std::int32_t>(std::min<std::int64_t>(each, kAheadBytes) / kWordBytes *
                                     kWordBytes);
  };
  return {share(s.a.slots, s.bytes), share(s.a.index_units, kIndexUnit),
          share(s.a.cols <= s.a.slots ? s.a.cols : 0, s.bytes)};
}

/// Of a block that has `shared` bytes: where its warps share columns, as many as fill a
/// multiprocessor that holds no more blocks.
int warps_of(const Setting& s, Slices slices, int shared) {
  if (one_a_warp(slices)) return std::max(s.a.slices_most, 1);
  if (!s.wide()) return kOtherWarps;
  if (s.by_tensor_cores())
    return s.a.columns_most > 0 ? kSharingWarps : std::min(s.a.shape.warps, kSharingWarps);
  if (s.a.columns_most == 0) return s.a.shape.warps;
  const auto blocks = s.shared_bytes / (shared + static_cast<int>(kSharedBytesOfSystem));
  return std::max(kWarpsMost / std::max(blocks, 1), kSharingWarps);
}

/// A block for each window.
void size_windows(const Setting& s, Launch& launch) {
  const int cells = launch.slices == Slices::straight ? 0 : s.cell_bytes;
  launch.shared_bytes = s.slice_bytes + cells + s.staged_bytes;
  launch.threads = warps_of(s, launch.slices, launch.shared_bytes) * kLanes;
  launch.blocks = s.a.windows;
}

/// As many blocks as are resident at once, of as many teams as there is shared memory for beside x
/// of the hot columns.
void size_hot(const Setting& s, Launch& launch) {
  const auto hot_bytes = static_cast<int>(s.a.hot * s.bytes);
  const int team_bytes = s.slice_bytes + s.cell_bytes;
  const int left = s.shared_bytes - static_cast<int>(kHotOther) - hot_bytes;
  launch.teams = std::clamp(left / std::max(team_bytes, 1), 1, kHotTeams);
  launch.shared_bytes = launch.teams * team_bytes + hot_bytes;
  launch.threads = launch.teams * kHotTeamWarps * kLanes;
  launch.blocks =
      std::min<std::int64_t>(s.machine.multiprocessors, ceil_div(s.a.windows, launch.teams));
}

/// Rows and columns are 32-bit, so that memory ends before a grid does.
void check_grid(std::int64_t blocks) {
  if (blocks <= std::numeric_limits<std::int32_t>::max()) return;
  throw Error(ErrorCode::unsupported,
              concat("a launch of ", blocks, " blocks; CUDA takes 2147483647"));
}

Launch choose_launch(const Setting& s, bool overwrites) {
  Launch launch{.path = s.path,
                .slices = slices_of(s, overwrites),
                .wide = s.wide(),
                .hot = s.hot(),
                .shares = shares_of(s),
                .fetch_ahead = fetches_ahead(s)};
  if (launch.hot) {
    size_hot(s, launch);
  } else {
    size_windows(s, launch);
  }
  check_grid(launch.blocks);
  return launch;
}

template <class T>
Setting setting_of(const PackedHeader& a, Path path, const Machine& machine) {
  return {.a = a,
          .path = path,
          .machine = machine,
          .shared_bytes = static_cast<int>(machine.shared_bytes_per_block),
          .bytes = sizeof(T),
          .few_steps = kStepsAtOnce<T, true>,
          .slice_bytes = slice_bytes<T>(a),
          .cell_bytes = cell_bytes<T>(a),
          .staged_bytes = staged_bytes<T>(a)};
}

}  // namespace

Launches choose_launches(const PackedHeader& a, DType dtype, Path path, const Machine& machine) {
  const Setting setting = visit_dtype(dtype, [&](auto element) {
    return setting_of<typename decltype(element)::type>(a, path, machine);
  });
  return {.adds = choose_launch(setting, false), .overwrites = choose_launch(setting, true)};
}

}  // namespace lanky::sparse::cuda
