// The two blocks of a 27-point stencil on the box of one rank, as MPIAIJ of PETSc keeps them:
// columns of the rank's own nodes, and those of ghosts, in the order of their global numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

namespace lanky_scaling {

/// Nodes x, y, z of one rank, x fastest, and whether other ranks' boxes are below and above it. All
/// unknowns of a node are coupled with those of its neighbours.
struct LocalBox {
  std::array<std::int64_t, 3> size{};
  std::array<bool, 3> below{}, above{};
  std::int64_t unknowns = 1;

  std::int64_t rows() const { return size[0] * size[1] * size[2] * unknowns; }
};

/// A CSR matrix in host memory that nobody has zeroed: 1e9 entries take seconds to zero.
struct HostCsr {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  std::unique_ptr<std::int32_t[]> offsets{};  // [rows + 1]
  std::unique_ptr<std::int32_t[]> columns{};  // [nnz]
  std::unique_ptr<double[]> values{};         // [nnz]
};

/// Values with full significands, so that no format can store them in fewer bits.
inline double value_of(std::int64_t entry) {
  const auto mixed = (static_cast<std::uint64_t>(entry) + 1) * 0x9E3779B97F4A7C15ull;
  return static_cast<double>(static_cast<std::int64_t>(mixed)) * 0x1p-63;
}

/// Where ghosts begin that lie in direction (x, y, z), each of -1, 0, 1: by the number of the rank
/// that owns them, which grows with z, then y, then x.
class Ghosts {
 public:
  explicit Ghosts(const LocalBox& box) : box_(box) {
    for (int k = 0; k < 27; ++k) {
      const std::array<int, 3> way = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
      begin_[static_cast<std::size_t>(k)] = count_;
      bool exists = k != 13;
      std::int64_t shared = 1;
      for (std::size_t d = 0; d < 3; ++d) {
        exists = exists && (way[d] == 0 || (way[d] < 0 ? box.below[d] : box.above[d]));
        shared *= way[d] == 0 ? box.size[d] : 1;
      }
      exists_[static_cast<std::size_t>(k)] = exists;
      count_ += exists ? shared : 0;
    }
  }

  std::int64_t count() const { return count_; }

  /// The number of the ghost at a node outside of the box, or -1 where the domain ends.
  std::int64_t at(const std::array<std::int64_t, 3>& node) const {
    std::size_t direction = 0;
    std::int64_t inside = 0;
    for (std::size_t d = 3; d-- > 0;) {
      const int way = node[d] < 0 ? -1 : node[d] >= box_.size[d] ? 1 : 0;
      direction = direction * 3 + static_cast<std::size_t>(way + 1);
      if (way == 0) inside = inside * box_.size[d] + node[d];
    }
    return exists_[direction] ? begin_[direction] + inside : -1;
  }

 private:
  LocalBox box_;
  std::array<std::int64_t, 27> begin_{};
  std::array<bool, 27> exists_{};
  std::int64_t count_ = 0;
};

/// Calls take(column) for each column of a row, of the diagonal block or of the other one.
template <class Take>
void for_each_column(const LocalBox& box, const Ghosts& ghosts, bool diagonal,
                     const std::array<std::int64_t, 3>& node, Take take) {
  for (int way = 0; way < 27; ++way) {
    const std::array<std::int64_t, 3> other = {node[0] + way % 3 - 1, node[1] + way / 3 % 3 - 1,
                                               node[2] + way / 9 - 1};
    bool inside = true;
    for (std::size_t d = 0; d < 3; ++d)
      inside = inside && other[d] >= 0 && other[d] < box.size[d];
    if (inside == diagonal) {
      const std::int64_t column =
          inside ? other[0] + box.size[0] * (other[1] + box.size[1] * other[2]) : ghosts.at(other);
      for (std::int64_t k = 0; column >= 0 && k < box.unknowns; ++k)
        take(static_cast<std::int32_t>(column * box.unknowns + k));
    }
  }
}

inline HostCsr make_block(const LocalBox& box, bool diagonal) {
  const Ghosts ghosts(box);
  const auto node_of = [&](std::int64_t row) -> std::array<std::int64_t, 3> {
    const std::int64_t node = row / box.unknowns;
    return {node % box.size[0], node / box.size[0] % box.size[1], node / box.size[0] / box.size[1]};
  };
  HostCsr block;
  block.rows = box.rows();
  block.cols = diagonal ? block.rows : ghosts.count() * box.unknowns;
  block.offsets =
      std::make_unique_for_overwrite<std::int32_t[]>(static_cast<std::size_t>(block.rows) + 1);
  std::int32_t* offsets = block.offsets.get();
  offsets[0] = 0;
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < block.rows; ++row) {
    std::int32_t many = 0;
    for_each_column(box, ghosts, diagonal, node_of(row), [&](std::int32_t) { ++many; });
    offsets[row + 1] = many;
  }
  for (std::int64_t row = 0; row < block.rows; ++row)
    offsets[row + 1] += offsets[row];
  block.nnz = offsets[block.rows];
  block.columns =
      std::make_unique_for_overwrite<std::int32_t[]>(static_cast<std::size_t>(block.nnz));
  block.values = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(block.nnz));
  std::int32_t* columns = block.columns.get();
  double* values = block.values.get();
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < block.rows; ++row) {
    std::int32_t at = offsets[row];
    for_each_column(box, ghosts, diagonal, node_of(row),
                    [&](std::int32_t column) { columns[at++] = column; });
    std::sort(columns + offsets[row], columns + at);  // ghosts come by direction, not by number
    for (std::int32_t k = offsets[row]; k < at; ++k)
      values[k] = value_of(k);
  }
  return block;
}

/// The rows of a block that have entries: of an off-diagonal one, also those that neighbours want.
inline std::vector<std::int64_t> nonempty_rows(const HostCsr& block) {
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < block.rows; ++row) {
    if (block.offsets[static_cast<std::size_t>(row)] <
        block.offsets[static_cast<std::size_t>(row) + 1]) {
      rows.push_back(row);
    }
  }
  return rows;
}

/// These rows alone, as PETSc and the plug-in multiply a block most of whose rows are empty.
inline HostCsr without_empty_rows(const HostCsr& block, const std::vector<std::int64_t>& rows) {
  HostCsr result;
  result.cols = block.cols;
  result.nnz = block.nnz;
  result.rows = static_cast<std::int64_t>(rows.size());
  result.offsets = std::make_unique_for_overwrite<std::int32_t[]>(rows.size() + 1);
  result.offsets[0] = 0;
  for (std::size_t kept = 0; kept < rows.size(); ++kept)
    result.offsets[kept + 1] = block.offsets[static_cast<std::size_t>(rows[kept]) + 1];
  const auto many = static_cast<std::size_t>(block.nnz);
  result.columns = std::make_unique_for_overwrite<std::int32_t[]>(many);
  result.values = std::make_unique_for_overwrite<double[]>(many);
  std::copy_n(block.columns.get(), many, result.columns.get());
  std::copy_n(block.values.get(), many, result.values.get());
  return result;
}

}  // namespace lanky_scaling
