// What a plan on the CPU tells of its chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "sparse/cpu/chunk_cost.hpp"
#include "sparse/cpu/chunks.hpp"

namespace lanky::sparse::cpu {

/// A shape that was measured, and its time over that of the model's choice.
struct MeasuredChunks {
  ChunkShape shape;
  double ratio = 1;
};
struct ChunkTuning {
  std::vector<MeasuredChunks> measured{};  // the model's choice first; empty without entries
  std::size_t kept = 0;                    // of these
  double model_us = std::numeric_limits<double>::infinity();  // of the model's choice, the least
};

struct ChunkInfo {
  ChunkHeader header;
  std::string_view isa;  // of the kernels
  ChunkChoice model;     // header has another shape where that was tuned
  std::optional<ChunkTuning> tuning;
  std::int64_t x_columns = 0;  // of X that are set by rows in the workspace
};

}  // namespace lanky::sparse::cpu
