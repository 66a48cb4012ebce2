// How long a launch takes: what it asks of the machine, over rates that bench/scripts/fit_cost.py
// fits to measured times (dense/cuda/cost_table.hpp). In the spirit of TSM2's model (Chen et al.,
// ICS '19).
#pragma once

#include <string>
#include <string_view>

#include "dense/cuda/launch.hpp"
#include "dense/cuda/request.hpp"

namespace lanky::dense {

/// What a launch asks of a machine, in microseconds at the machine's nominal rates where it has
/// one.
struct CostTerms {
  double memory = 0;  // bytes between memory and the chip, in sectors of 32 bytes
  double l2 = 0;      // bytes between the L2 and multiprocessors: operands read again too
  double flops = 0;   // that are executed, those of padding too
  double steps = 0;   // that a block's place takes one after the other, each as long as a load
  double fill = 1;    // share of the places that have a block, in the mean of all rounds
  int launches = 1;   // kernels, one after the other
  double side = 0;    // bytes of partial sums and packed operands, through the L2 beside the rest
  double ends = 0;    // tiles of a panel that a block ends one after the other, while A waits
  double lines = 0;   // of an L1, that loads of single elements look up, one a clock
};

CostTerms cost_terms(const Launch& launch, const Request& request, RunKind kind);

/// The words that rates depend on: the kernel's name, the arithmetic, the layout of operands, and
/// the name of the algorithm, from the coarse to the fine.
struct CostKey {
  std::string kernel;
  std::string_view arithmetic{};  // "f64", "f32", "tf32x3", "tf32", "half", "c64" or "c128"
  std::string layout{};           // which side of operands is adjacent, and whether off 16 bytes
  std::string algorithm{};
};

CostKey cost_key(const Launch& launch, const Request& request, RunKind kind);

/// Microseconds, with operands in memory, not in a cache.
double predict_us(const Launch& launch, const Request& request, RunKind kind);

}  // namespace lanky::dense
