// Which launch serves which run of a plan. A run brings what a plan cannot know (whether B is A,
// whether beta may be other than 0, where pointers begin): a table has the launch of each kind.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dense/backend.hpp"
#include "dense/cuda/launch.hpp"
#include "dense/cuda/request.hpp"

namespace lanky::dense {

/// The launches of a plan, and which of them a kind of run takes.
struct Routes {
  struct Route {
    std::uint8_t launch = 0;  // index into launches
    std::uint8_t own = 0;     // lanky's own, for what the vendor's cannot compute
  };
  std::vector<Launch> launches{};  // each once, that of plain runs first
  std::array<Route, RunKind::kCount> of{};
};

/// `vendor`: cuBLASLt is there and has words for the product.
Routes choose_routes(const Request& request, const MeasuredChoices& measured, bool vendor);

/// A launch and the microseconds that it is predicted to take.
struct Candidate {
  double us;
  Launch launch;
};
/// What can compute runs of a kind, by predicted time, so that costs choose the first: lanky's own,
/// and with `vendor` the first algorithm of cuBLASLt's heuristic.
std::vector<Candidate> candidates(const Request& request, RunKind kind, bool vendor);

/// The launches of lanky's own kernels that are legal in runs of a kind, by the kernels' tables.
std::vector<Launch> own_candidates(const Request& request, RunKind kind);

/// The kinds of runs that take a launch of the routes, in words ("where A is B"); "" for the launch
/// that plain runs take.
std::string describe_kinds(const Routes& routes, std::size_t launch);

}  // namespace lanky::dense
