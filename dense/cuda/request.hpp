// A product that launches are chosen for, and what a run of its plan brings.
#pragma once

#include <lanky/dense.hpp>

#include "core/machine.hpp"
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

/// A product that launches are chosen for; C is not empty.
struct Request {
  Problem problem;
  GemmFamily family;
  Types types;
  const Machine& machine;

  bool can_be_same() const noexcept {
    return problem.m == problem.n && problem.a == problem.b.transposed();
  }
};

}  // namespace lanky::dense
