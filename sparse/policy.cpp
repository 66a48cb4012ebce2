#include "sparse/policy.hpp"

#include <algorithm>
#include <array>
#include <lanky/error.hpp>
#include <vector>

#include "core/arguments.hpp"
#include "core/ceil_div.hpp"
#include "core/text.hpp"
#include "sparse/columns_copy.hpp"
#include "sparse/cost.hpp"
#include "sparse/launch.hpp"
#include "sparse/shapes.hpp"
#include "sparse/tiles.hpp"

namespace lanky::sparse {

namespace {

// Hot columns are looked for from so many entries on.
constexpr std::int64_t kHotLeast = 6'000'000;
// What a block that holds hot columns leaves the first cache, whose lines are what limits the
// gathers in flight (H200: 194 KB of shared memory are the most that is of use). More columns are
// staged for longer than they save.
constexpr std::int64_t kHotLeaves = 62 << 10;
constexpr std::int64_t kHotMost = 65'536;
constexpr int kHotPiece = 16;
constexpr int kHotRowCost = 8;
constexpr int kHotWindowCost = 8192;

}  // namespace

Shape hot_shape(std::int32_t hot_least, DType dtype) {
  return {.lane_pieces = lane_pieces_most(size_of(dtype)),
          .piece_most = kHotPiece,
          .row_cost = kHotRowCost,
          .window_cost = kHotWindowCost,
          .hot_least = hot_least};
}

void align_windows(Shape& shape, const RowFacts& facts, std::int64_t rows) {
  shape.granule = static_cast<std::int32_t>(std::max<std::int64_t>(rows, 1));
  shape.window_cost = static_cast<std::int32_t>(
      std::max<std::int64_t>(facts.longest, std::int64_t{shape.granule} * shape.row_cost));
}

// Until the last granule begins, a window's cost is below window_cost, and a cell costs row_cost or
// piece_most at least.
int window_cost_limit(const RowFacts& facts, const Shape& shape) {
  const std::int64_t longest = std::min<std::int64_t>(facts.longest, shape.window_cost);
  const std::int64_t last = shape.granule * std::max(pieces_of(longest, shape.piece_most), 1);
  const std::int64_t cost = (kCellsLimit - last) * std::min(shape.row_cost, shape.piece_most);
  return static_cast<int>(cost / shape.piece_most * shape.piece_most);
}

void limit_windows(Shape& shape, const RowFacts& facts) {
  const std::int64_t whole = kWindowCostMost / shape.piece_most * shape.piece_most;
  shape.window_cost =
      static_cast<std::int32_t>(std::min(round_up(shape.window_cost, shape.piece_most), whole));
  shape.window_cost = std::min(shape.window_cost, window_cost_limit(facts, shape));
}

bool is_shallow(const RowFacts& facts) {
  const bool none_longer = facts.longest <= kShortMost;
  return none_longer && is_shallow(facts.nnz, facts.rows - facts.empty, 0);
}

bool may_have_hot_columns(const RowFacts& facts) {
  return facts.nnz >= kHotLeast && !facts.even();
}

std::int64_t sum_bytes_of(DType dtype) {
  return is_half(dtype) ? sizeof(float) : size_of(dtype);
}

std::int64_t hot_columns_most(DType dtype, const Machine& machine) {
  const auto bytes = static_cast<std::int64_t>(size_of(dtype));
  // Of each window that a block has at once: a sum for each cell, and a slice for each 32 of them.
  const std::int64_t cells = kHotTeams * std::int64_t{kHotWindowCost / kHotRowCost};
  const std::int64_t of_windows =
      cells * sum_bytes_of(dtype) + cells / kLanes * std::int64_t{sizeof(Slice)};
  const std::int64_t held =
      std::min(machine.first_cache_bytes - kHotLeaves, machine.shared_bytes_per_block - kHotOther);
  const std::int64_t left = held - of_windows;
  return std::clamp<std::int64_t>(left / bytes, 0, kHotMost);
}

std::int64_t part_pieces_most(DType dtype, const Machine& machine) {
  const std::int64_t columns = kPartWordsLeast * word_columns(size_of(dtype));
  const std::int64_t room = machine.shared_bytes_per_block - kVariables;
  return room / (columns * sum_bytes_of(dtype)) - kVectorWarps;
}

ShapeChoice least_predicted(const std::vector<Shape>& shapes, const RowFacts& facts, DType dtype,
                            const Machine& machine) {
  if (facts.nnz == 0) return {shapes.front(), 0, shapes.size()};
  const std::vector<double> times = predict_us(shapes, facts, dtype, machine);
  const auto least = std::min_element(times.begin(), times.end());
  return {shapes[least - times.begin()], *least, shapes.size()};
}

ShapeChoice choose_shape(const RowFacts& facts, DType dtype, const Machine& machine) {
  return least_predicted(candidates(facts, dtype, machine), facts, dtype, machine);
}

bool has_mma(DType dtype) {
  return dtype == DType::f64 || is_half(dtype);
}

std::string_view to_string(Path path) noexcept {
  constexpr std::array<std::string_view, 4> kNames = {"mma", "cuda", "tf32", "tf32x3"};
  return kNames[static_cast<std::size_t>(path)];
}

PathChoice choose_path(const SparseOptions& options, DType dtype, DeviceKind device) {
  const bool by_tensor_cores = options.engine == Engine::tensor_cores;
  const bool rounds = options.math != Math::ieee;
  check_math(options.math, dtype);
  const bool tiled = has_tiles(dtype) && options.expected_columns >= tiled_columns_least(dtype);
  if (by_tensor_cores && !rounds && !has_mma(dtype) && !tiled) {
    throw Error(
        ErrorCode::unsupported,
        concat("tensor cores have no IEEE product of ", to_string(dtype),
               dtype == DType::f32 ? " for one vector; use Engine::automatic or cuda_cores, allow "
                                     "Math::tf32x3 or tf32, or expect 5 columns or more"
                                   : "; use Engine::automatic or cuda_cores"));
  }
  if (device == DeviceKind::cpu) return {Path::cuda, "the cpu has one kernel for every engine"};
  if (options.engine == Engine::cuda_cores) return {Path::cuda, "asked for"};
  if (!by_tensor_cores)
    return {Path::cuda, "one vector is bound by memory, and tensor cores win no class"};
  if (options.math == Math::tf32) return {Path::tf32, "asked for"};
  if (options.math == Math::tf32x3) return {Path::tf32x3, "asked for"};
  if (has_mma(dtype)) return {Path::mma, "asked for"};
  return {Path::cuda, "tensor cores multiply several vectors alone"};
}

}  // namespace lanky::sparse
