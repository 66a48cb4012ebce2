// How long a product takes by the kernel that was chosen for it, in the spirit of TSM2's model
// (Chen et al., ICS '19): a start, and the slower of memory and arithmetic at the shares of their
// nominal rates that the kernel is known to reach. Operands are distinct and come from memory, not
// from a cache.
#pragma once

#include <string_view>

#include "dense/policy.hpp"

namespace lanky::dense {

/// A row of dense/model_table.hpp, fitted to measured times by bench/scripts/fit_model.py.
struct KernelModel {
  std::string_view kernel;      // GemmRoute::kernel; "" for kernels that were not measured
  GemmFamily family;            // the plan's
  std::string_view arithmetic;  // arithmetic_of(); "" for those without a row of their own
  double start;                 // microseconds
  double bandwidth;             // share of the nominal bandwidth
  double peak;                  // share of Bound::peak: on tensor cores it may exceed 1
  int granule;                  // the kernel computes as if short sides of C were multiples of this

  /// Microseconds of a product with this bound.
  double predict(const Problem& problem, const Bound& bound) const noexcept;
};

/// "f64", "f32", "tf32x3", "tf32", "half", "c64" or "c128".
std::string_view arithmetic_of(DType in, Math math) noexcept;

/// The row of a kernel, or of its family where nothing was measured of it; null where nothing was
/// measured of the family.
const KernelModel* find_model(std::string_view kernel, GemmFamily family, DType in,
                              Math math) noexcept;

}  // namespace lanky::dense
