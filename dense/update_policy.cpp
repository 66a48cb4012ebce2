#include "dense/update_policy.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "core/text.hpp"

namespace lanky::dense {

namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// A problem in the terms of the conditions below.
class Chooser {
 public:
  Chooser(const Problem& problem, DType in, DType out, int multiprocessors)
      : p_(problem),
        type_(in),
        in_(static_cast<int>(size_of(in))),
        out_(static_cast<int>(size_of(out))),
        multiprocessors_(multiprocessors) {}

  std::optional<UpdateConfig> choose() const {
    if (columns_are_wide()) {
      if (kComplexes.has(type_)) return direct();
      if (type_ == DType::f32) return p_.n > 8 && p_.n <= 32 ? tile(true) : direct();
      // A long reduction pays for padding n to 8.
      const auto fragments = p_.n <= 4 && p_.k <= 8 ? std::nullopt : mma_columns();
      return fragments || p_.n > 4 ? fragments : direct();
    }
    if (p_.a.col != 1 || p_.c.col != 1) return std::nullopt;
    for (const auto& choice : {packed(), lanes(), tile(false), mma_rows()})
      if (choice) return choice;
    return std::nullopt;
  }

 private:
  /// Every column of A and C consists of aligned words of 16 bytes.
  bool columns_are_wide() const {
    const int rows = 16 / in_;
    return p_.a.row == 1 && p_.c.row == 1 && p_.m % rows == 0 &&
           (p_.k == 1 || p_.a.col % rows == 0) && (p_.n == 1 || p_.c.col * out_ % 16 == 0);
  }
  /// Rows of A are read `span` elements at a time, rows of C written `columns` at a time.
  bool rows_divide(int span, int columns) const {
    const int word = std::min(columns, 16 / out_);
    return p_.k % span == 0 && p_.n % columns == 0 && p_.a.row % span == 0 && p_.c.row % word == 0;
  }

  /// Several passes over the rows of a block pay for B, as long as enough blocks are left.
  int passes(std::int64_t rows, int most) const {
    constexpr std::int64_t kBlocksPerMultiprocessor = 12;
    const std::int64_t blocks = ceil_div(p_.m, rows);
    return static_cast<int>(
        std::clamp<std::int64_t>(blocks / (kBlocksPerMultiprocessor * multiprocessors_), 1, most));
  }

  std::optional<UpdateConfig> direct() const {
    for (int v = 0; v < std::ssize(kUpdateDirect); ++v) {
      const UpdateDirect& shape = kUpdateDirect[v];
      const bool widest = v + 1 == std::ssize(kUpdateDirect);
      if (!shape.types.has(type_) || (p_.n > shape.columns && !widest)) continue;
      const int parts = static_cast<int>(ceil_div(p_.n, shape.columns));
      const int threads = widest ? std::max(32, 128 / parts / 32 * 32) : 128;
      const int rows = threads * (16 / in_);
      return UpdateConfig{
          .kernel = UpdateKernel::direct,
          .variant = v,
          .threads = threads,
          .parts = parts,
          .passes = widest ? passes(rows, parts == 1 ? 2 : 4) : 1,
          .rows = rows,
          .shared_bytes = static_cast<int>(p_.k) * parts * shape.columns * std::max(in_, 4)};
    }
    return std::nullopt;
  }

  std::optional<UpdateConfig> packed() const {
    const int rows = 16 / in_;
    if (p_.k != p_.n || p_.a.row != p_.k || p_.c.row != p_.n || p_.m % rows != 0) return {};
    for (int v = 0; v < std::ssize(kUpdatePacked); ++v) {
      if (!kUpdatePacked[v].types.has(type_) || p_.k != kUpdatePacked[v].side) continue;
      return UpdateConfig{
          .kernel = UpdateKernel::packed, .variant = v, .threads = 128, .rows = 128 * rows};
    }
    return std::nullopt;
  }

  std::optional<UpdateConfig> lanes() const {
    for (int v = 0; v < std::ssize(kUpdateLanes); ++v) {
      const UpdateLanes& shape = kUpdateLanes[v];
      if (!shape.types.has(type_) || p_.k > shape.lanes * shape.span ||
          p_.n > shape.lanes * shape.columns || !rows_divide(shape.span, shape.columns)) {
        continue;
      }
      return UpdateConfig{.kernel = UpdateKernel::lanes,
                          .variant = v,
                          .threads = 128,
                          .rows = 128 / shape.lanes * shape.unroll};
    }
    return std::nullopt;
  }

  std::optional<UpdateConfig> tile(bool by_columns) const {
    for (int v = 0; v < std::ssize(kUpdateTile); ++v) {
      const UpdateTile& shape = kUpdateTile[v];
      const int word = 16 / in_;
      const int columns = 4 * word * shape.parts;
      if (!shape.types.has(type_) || shape.by_columns != by_columns || p_.n > columns ||
          (!by_columns && !rows_divide(word, word))) {
        continue;
      }
      constexpr int kThreads = 128;
      const int deep = word * shape.words;  // k of a tile
      const int tile_words = by_columns ? 8 * deep : 32 * (shape.words | 1);
      return UpdateConfig{
          .kernel = UpdateKernel::tile,
          .variant = v,
          .threads = kThreads,
          .passes = passes(kThreads, shape.parts == 1 ? 2 : 4),
          .rows = kThreads,
          .shared_bytes = static_cast<int>(ceil_div(p_.k, deep)) * deep * columns * in_ +
                          kThreads / 32 * tile_words * 16};
    }
    return std::nullopt;
  }

  UpdateConfig mma(UpdateKernel kernel, int variant, const UpdateMma& shape, int group) const {
    const int rows = shape.warps * group * shape.groups;
    const int tiles = static_cast<int>(ceil_div(p_.n, 8 * shape.tiles)) * shape.tiles;
    // A fragment of B takes 4 * span elements of each lane's 8 columns.
    const int fragment_span = std::max(shape.span, in_ == 8 ? 2 : 4);
    return {.kernel = kernel,
            .variant = variant,
            .threads = 32 * shape.warps,
            .passes = passes(rows, shape.passes),
            .rows = rows,
            .shared_bytes = tiles * shape.steps * 32 * fragment_span * in_};
  }

  std::optional<UpdateConfig> mma_columns() const {
    for (int v = 0; v < std::ssize(kUpdateMmaColumns); ++v) {
      const UpdateMma& shape = kUpdateMmaColumns[v];
      if (shape.types.has(type_) && p_.k <= shape.depth())
        return mma(UpdateKernel::mma_columns, v, shape, 8 * (16 / in_));
    }
    return std::nullopt;
  }

  std::optional<UpdateConfig> mma_rows() const {
    for (int v = 0; v < std::ssize(kUpdateMmaRows); ++v) {
      const UpdateMma& shape = kUpdateMmaRows[v];
      const int columns = 2 * std::min(shape.tiles, 8 / out_);  // of a lane, adjacent
      if (shape.types.has(type_) && p_.k <= shape.depth() && rows_divide(shape.span, columns))
        return mma(UpdateKernel::mma_rows, v, shape, 16);
    }
    return std::nullopt;
  }

  const Problem& p_;
  DType type_;  // of A and B
  int in_;      // bytes of an element of A and B, and of C
  int out_;
  int multiprocessors_;
};

const char* name(UpdateKernel kernel) {
  switch (kernel) {
    case UpdateKernel::direct:
      return "update_direct_kernel";
    case UpdateKernel::lanes:
      return "update_lanes_kernel";
    case UpdateKernel::packed:
      return "update_packed_kernel";
    case UpdateKernel::tile:
      return "update_tile_kernel";
    case UpdateKernel::mma_columns:
      return "update_mma_kernel by columns";
    case UpdateKernel::mma_rows:
      return "update_mma_kernel by rows";
    case UpdateKernel::staged:
      return "update_staged_kernel";
  }
  return "unknown";
}

}  // namespace

UpdateConfig staged_update(const Problem& problem, DType in) {
  const int sum = std::max(4, static_cast<int>(size_of(in)));  // bytes
  return {.kernel = UpdateKernel::staged,
          .rows = kStagedBlockRows,
          .column_blocks = static_cast<int>(ceil_div(problem.n, kStagedColumns)),
          .shared_bytes = static_cast<int>(problem.k) * kStagedColumns * sum};
}

UpdateConfig choose_update(const Problem& problem, DType in, DType out, int multiprocessors) {
  constexpr int kSharedBytes = 200 << 10;  // that a block may have
  std::optional<UpdateConfig> config = Chooser(problem, in, out, multiprocessors).choose();
  if (!config || config->shared_bytes > kSharedBytes) return staged_update(problem, in);
  config->alignment = 16;
  return *config;
}

bool vendor_beats_update(const Problem& problem, DType in) noexcept {
  const bool by_rows = problem.a.row != 1;
  if (kHalves.has(in) && (problem.k > 64 || (by_rows && problem.k > 32 && problem.n < 8)))
    return true;
  if (problem.n <= 8) return false;
  // The type of C and the number of multiprocessors do not decide about wide accesses to A.
  if (kComplexes.has(in) || choose_update(problem, in, in, 1).kernel == UpdateKernel::staged)
    return true;
  if (in == DType::f64 && by_rows && std::min(problem.n, problem.k) > 24 && problem.m > 500'000)
    return true;
  return problem.n > (problem.math == Math::tf32 ? 16 : 32);
}

std::string describe(const UpdateConfig& config) {
  return concat(name(config.kernel), ", variant ", config.variant, ", ", config.threads, " x ",
                config.parts, " threads for ", config.rows, " rows, ", config.passes,
                config.passes == 1 ? " pass" : " passes");
}

}  // namespace lanky::dense
