// The predicted time of a product by a shape of a sparse matrix on a GPU: what the packed matrix is
// expected to ask of the machine, as terms of a sum, by the rates of the kernel that multiplies it.
#pragma once

#include <array>
#include <cstdint>
#include <lanky/dtype.hpp>
#include <vector>

#include "core/machine.hpp"
#include "sparse/facts.hpp"
#include "sparse/packed.hpp"

namespace lanky::sparse {

/// The kernels whose rates differ: one slice a warp, of few steps or of more; several slices of 32
/// pieces a warp; wide ones; hot columns in shared memory.
enum class CostKernel : std::uint8_t { few, deep, narrow, wide, hot };
inline constexpr std::array kCostKernels = {"few", "deep", "narrow", "wide", "hot"};

// Microseconds at nominal rates of the machine, or counts where no rate is nominal. "thin": where
// few warps are resident, as many times more as there are fewer than 32. All terms add up but
// `lines`: lines of the L1 wait while the kernel does everything else.
#define LANKY_COST_TERMS(apply)                                                                   \
  apply(start) apply(memory) apply(memory_last) apply(bytes_uneven) apply(l2) apply(streams)      \
      apply(further_rounds) apply(windows) apply(rows) apply(steps) apply(longest_turn)           \
          apply(slice_starts) apply(sectors) apply(sectors_thin) apply(sectors_busiest)           \
              apply(lines) apply(loads) apply(loads_thin) apply(staged_loads) apply(staged_bytes) \
                  apply(copies) apply(stages) apply(cells) apply(pieces) apply(row_rounds)        \
                      apply(long_sums) apply(chain_sums) apply(split) apply(split_windows)
struct CostTerms {
#define LANKY_DECLARE(name) double name = 0;
  LANKY_COST_TERMS(LANKY_DECLARE)
#undef LANKY_DECLARE
};

/// The terms of a kernel, and how likely it is the one that runs.
struct KernelTerms {
  CostKernel kernel = CostKernel::few;
  double weight = 0;
  CostTerms terms;
};

/// Of each kernel. Facts do not tell whether a window of a small matrix has a slice more than a
/// block has warps, so that two kernels may be likely.
std::array<KernelTerms, kCostKernels.size()> expected_terms(const Shape& shape,
                                                            const RowFacts& facts, DType dtype,
                                                            const Machine& machine);

/// Columns of x that half of the windows reach at most, each from its first to its last.
double median_span(const Shape& shape, const RowFacts& facts);

/// Microseconds, of each shape. `facts` have the samples of columns. Shapes that cut rows alike
/// cost less where they follow each other.
std::vector<double> predict_us(const std::vector<Shape>& shapes, const RowFacts& facts, DType dtype,
                               const Machine& machine);

}  // namespace lanky::sparse
