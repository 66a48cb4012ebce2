// How a product runs on a GPU: all that a launch needs besides its operands, frozen when the plan
// is made.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "dense/cuda/gram/policy.hpp"
#include "dense/cuda/panel/policy.hpp"
#include "dense/cuda/tiled/policy.hpp"
#include "dense/cuda/update/policy.hpp"
#include "dense/problem.hpp"
#include "dense/types.hpp"

namespace lanky::dense {

/// An algorithm of cuBLASLt by the name that it gives itself; "" for its heuristic's first.
struct VendorLaunch {
  std::string algorithm{};

  friend bool operator==(const VendorLaunch&, const VendorLaunch&) = default;
};

using Launch = std::variant<TiledLaunch, PanelLaunch, UpdateLaunch, GramLaunch, VendorLaunch>;

inline bool is_vendor(const Launch& launch) noexcept {
  return std::holds_alternative<VendorLaunch>(launch);
}

/// The kernel's name, as dense/cuda/cost_table.hpp and files of results have it.
std::string kernel_name(const Launch& launch);

/// The name that tells a launch from the other candidates of a product and of similar ones:
/// GemmChoice::algorithm.
std::string algorithm_name(const Launch& launch, Types types);

/// One line: kernel, tiles, split; it begins with the algorithm's name.
std::string describe(const Launch& launch, Types types);

/// The memory that a run works in, but for the counter of GramLaunch::one_launch.
std::int64_t workspace_bytes(const Launch& launch, const Problem& problem, Types types);

}  // namespace lanky::dense
