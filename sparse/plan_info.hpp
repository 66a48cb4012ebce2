// What a plan tells of itself: what its packed matrix is made of, and which kernels run it.
#pragma once

#include <cstdint>
#include <lanky/device.hpp>
#include <lanky/dtype.hpp>
#include <lanky/operation.hpp>
#include <lanky/symmetry.hpp>
#include <optional>
#include <string>

#include "sparse/cpu/chunk_info.hpp"
#include "sparse/launch.hpp"
#include "sparse/packed.hpp"
#include "sparse/policy.hpp"
#include "sparse/tiles.hpp"
#include "sparse/tune.hpp"

namespace lanky::sparse {

/// Of a second copy for several columns.
struct TileInfo {
  TileHeader header;
  std::int64_t bytes;
};

/// Likewise.
struct RowsInfo {
  std::int64_t bytes;
  std::int64_t in_parts;  // rows that warps have with few columns, or blocks
  bool sorted;
};

struct PlanInfo {
  Device device;
  DType dtype;      // of A and x
  DType out_dtype;  // of y
  Symmetry symmetry;
  std::int64_t given_entries;  // of the caller's CSR
  Op op;
  PathChoice choice;
  std::int64_t workspace_bytes;
  std::int64_t device_bytes;
  PackedHeader header;
  Launches launches = {};             // of a GPU
  std::optional<Tuning> tuning = {};  // where the plan was asked for it
  ShapeChoice model = {};             // header has another shape where that was tuned
  std::optional<TileInfo> tiles = {};
  std::optional<RowsInfo> rows_copy = {};
  // The CPU's form, in the place of header, launches, tuning and model.
  std::optional<cpu::ChunkInfo> chunks = {};
};

/// The text of SparsePlan::explain().
std::string explain(const PlanInfo& info);

/// SparsePlan::fingerprint().
std::uint64_t fingerprint(const PlanInfo& info);

/// What SparsePlan::info() gives of it.
SparseInfo summary(const PlanInfo& info);

}  // namespace lanky::sparse
