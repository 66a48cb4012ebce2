// Which launch serves which run of a plan. A run brings what a plan cannot know (whether B is A,
// whether beta may be other than 0, where pointers begin): a table has the launch of each kind.
#pragma once

#include <array>
#include <cstdint>
#include <lanky/dense.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine.hpp"
#include "dense/backend.hpp"
#include "dense/cuda/launch.hpp"
#include "dense/problem.hpp"

namespace lanky::dense {

/// The facts that a run brings.
struct RunKind {
  static constexpr unsigned kCount = 32;

  bool same = false;   // B is A, in memory and by its strides
  bool adds = false;   // beta may be other than 0
  bool a_off = false;  // A does not begin at a multiple of 16 bytes
  bool b_off = false;
  bool c_off = false;

  constexpr unsigned index() const noexcept {
    return (same ? 1U : 0U) | (adds ? 2U : 0U) | (a_off ? 4U : 0U) | (b_off ? 8U : 0U) |
           (c_off ? 16U : 0U);
  }
  static constexpr RunKind of(unsigned index) noexcept {
    return {(index & 1U) != 0, (index & 2U) != 0, (index & 4U) != 0, (index & 8U) != 0,
            (index & 16U) != 0};
  }
};

/// The launches of a plan, and which of them a kind of run takes.
struct Routes {
  struct Route {
    std::uint8_t launch = 0;  // index into launches
    std::uint8_t own = 0;     // lanky's own, for what the vendor's cannot compute
  };
  std::vector<Launch> launches{};  // each once
  std::array<Route, RunKind::kCount> of{};
};

/// A product that launches are chosen for.
struct Request {
  Problem problem;
  GemmFamily family;
  Types types;
  const Machine& machine;

  bool can_be_same() const noexcept {
    return problem.m == problem.n && problem.a == problem.b.transposed();
  }
};

/// `vendor`: cuBLASLt is there and has words for the product.
Routes choose_routes(const Request& request, const MeasuredChoices& measured, bool vendor);

/// The launch that choose_routes() has for one kind of run.
Launch choose_launch(const Request& request, RunKind kind, const MeasuredChoices& measured,
                     bool vendor);

/// The launches of lanky's own kernels that are legal in runs of a kind, by the kernels' tables;
/// among them the one that choose_routes() takes.
std::vector<Launch> own_candidates(const Request& request, RunKind kind);

/// The kinds of runs that take a launch of the routes, in words ("where A is B"); "" for the launch
/// that plain runs take.
std::string describe_kinds(const Routes& routes, std::size_t launch);

}  // namespace lanky::dense
