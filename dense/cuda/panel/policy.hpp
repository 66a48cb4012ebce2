// How a panel product is cut up: tiles of rows of C and steps of k to the blocks, which share a
// tile where that is needed to give each the same work, and both to the warps of a block. A pure
// function of the shape and the machine.
#pragma once

#include <cstdint>
#include <lanky/dense.hpp>
#include <lanky/dtype.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/host_device.hpp"
#include "core/machine.hpp"
#include "dense/problem.hpp"

namespace lanky::dense {

inline constexpr int kPanelConsumerWarps = 8;
inline constexpr int kPanelProducers = 4;  // warps: a warp group, which setmaxnreg asks for
inline constexpr int kPanelConsumerThreads = 32 * kPanelConsumerWarps;
inline constexpr int kPanelThreads = 32 * (kPanelConsumerWarps + kPanelProducers);
inline constexpr int kPanelSumThreads = 256;
inline constexpr int kPanelChunkBytes = 4096;  // of A, what one warp multiplies at a time

/// Slots of the ring at least, in code for a capability: one for each producer where blocks have as
/// much shared memory as is known (sm_90); elsewhere some producers wait for others' slots.
LANKY_HOST_DEVICE constexpr int panel_least_slots(int capability) noexcept {
  return shared_bytes_for(capability) == shared_bytes_for(90) ? kPanelProducers : 2;
}

/// The work of one warp and one slot, as the kernel of an element type fixes it.
struct PanelChunk {
  int rows;       // of A
  int depth;      // of k; rows x depth elements are kPanelChunkBytes
  int columns;    // of B
  int slice;      // columns whose sums pass through shared memory at a time
  int bytes_b;    // of depth x columns elements of B in shared memory
  int bytes_sum;  // of one sum
  int together;   // warps that must share a part of B
  int stages;     // slots of the ring at most
};

/// Lines of A (columns, or rows where k is adjacent) off 16 bytes: line q is of class q % count,
/// and lines of a class are a multiple of 16 bytes apart. Each class is a product of its own, from
/// an aligned address on: rows lie up to `room` elements further down, or up to as many of the
/// first k are left out, to be added when sums go to C.
struct PanelClasses {
  int log2 = 0;       // of count, a power of two
  bool of_k = false;  // of columns: the products of all classes are added up
  int room = 0;       // 0: all lines begin at multiples of 16 bytes

  friend bool operator==(const PanelClasses&, const PanelClasses&) = default;
};

/// What the host must know of a kernel.
struct PanelKernel {
  std::string_view way;  // how it multiplies: "fma", "mma of doubles"
  Math math;
  bool along_k;  // A has adjacent k, else adjacent rows
  PanelChunk chunk;
  int line_bytes;
  int boxes;  // of a chunk
  bool swizzled;
  bool always_packed;
  bool maps_b;
  bool warp_groups;  // exists in code for sm_90a alone
};

/// All kernels for elements of a type, narrow groups of columns before wide ones. None in a build
/// without CUDA.
std::vector<PanelKernel> panel_kernels(DType in);

struct PanelPlan {
  int warps_m = 0;        // chunks of a slot along the rows
  int warps_k = 0;        // and along k
  int warps_n = 0;        // groups of columns; warps_m * warps_k * warps_n warps work
  int group_columns = 0;  // of B, in a group
  int stages = 0;         // slots of the ring, panel_least_slots() or more
  int blocks = 0;
  int tile_rows = 0;
  int step = 0;   // of k, in a slot
  int steps = 0;  // slots along k
  std::int64_t tiles = 0;
  int slot_bytes = 0;   // of A in a slot
  int small_bytes = 0;  // of B in a slot
  int small_width = 0;  // n rounded up to a power of two
  int sum_bytes = 0;    // of the sums of a slice
  int shared_bytes = 0;
  int sum_parts = 1;   // threads that share out the partial sums of 16 bytes of C
  int sum_pieces = 0;  // blocks that add up a tile
  PanelClasses classes;
  int kept = 2;  // tiles that a block leaves partial sums of, at most

  /// Whether any tile is worked at by several blocks.
  constexpr bool shared_tiles() const noexcept { return tiles % blocks != 0; }
  /// Tile t is tile t / count of class t % count: the class, and the first row, of those of a
  /// class.
  LANKY_HOST_DEVICE constexpr int class_of(std::int64_t tile) const noexcept {
    return static_cast<int>(tile & ((1 << classes.log2) - 1));
  }
  LANKY_HOST_DEVICE constexpr std::int64_t first_row(std::int64_t tile) const noexcept {
    return (tile >> classes.log2) * tile_rows;
  }
  /// Where the work of a block begins.
  LANKY_HOST_DEVICE constexpr std::int64_t first_unit(int block) const noexcept {
    return tiles * steps * block / blocks;
  }
  /// The block that does a unit.
  LANKY_HOST_DEVICE constexpr int block_of(std::int64_t unit) const noexcept {
    return static_cast<int>(((unit + 1) * blocks - 1) / (tiles * steps));
  }

  friend bool operator==(const PanelPlan&, const PanelPlan&) = default;
};

struct PanelLaunch {
  std::string name{};  // of the kernel
  int variant = 0;     // its index in panel_kernels()
  PanelPlan plan{};
  bool packs = false;   // panel_pack_kernel puts B in order, ahead of the kernel
  bool maps_b = false;  // B comes by boxes of a tensor map

  friend bool operator==(const PanelLaunch&, const PanelLaunch&) = default;
};

/// Every kernel that covers n, in every cut.
std::vector<PanelLaunch> panel_candidates(const Problem& problem, DType in, const Machine& machine,
                                          bool a_off, bool b_off);

/// Where in the workspace B lies as slots take it, behind the partial sums.
std::int64_t packed_at(const PanelLaunch& launch, const Problem& problem,
                       std::int64_t sum_bytes) noexcept;
std::int64_t workspace_bytes(const PanelLaunch& launch, const Problem& problem,
                             std::int64_t sum_bytes) noexcept;

std::string kernel_name(const PanelLaunch& launch);
/// What tells it from other candidates, whatever the extents.
std::string algorithm_name(const PanelLaunch& launch);
std::string describe(const PanelLaunch& launch);

/// Groups of columns that cover n, each a warp's; 0 where there are not warps enough.
int panel_column_groups(std::int64_t n, const PanelChunk& chunk) noexcept;

/// The classes of A's lines where its address is any multiple of an element's `bytes`.
PanelClasses panel_classes(const Problem& problem, int bytes) noexcept;

/// Every plan for chunks of one kind; none where the problem is beyond the kernel.
std::vector<PanelPlan> panel_plans(const Problem& problem, const PanelChunk& chunk,
                                   const Machine& machine, PanelClasses classes = {});

}  // namespace lanky::dense
