// The demands of a product by a shape of a sparse matrix on a GPU, as terms of a sum, its time:
// from facts of the rows alone, from these and a sample of columns, or from the packed matrix.
#pragma once

#include <array>
#include <cstdint>
#include <lanky/dtype.hpp>
#include <span>

#include "core/machine.hpp"
#include "sparse/column_samples.hpp"
#include "sparse/facts.hpp"
#include "sparse/packed.hpp"

namespace lanky::regret {

/// The kernels whose rates differ: one slice a warp, of few steps or of more; several slices of 32
/// pieces a warp; wide ones; hot columns in shared memory.
enum class RateKernel : std::uint8_t { few, deep, narrow, wide, hot };
inline constexpr std::array kRateKernels = {"few", "deep", "narrow", "wide", "hot"};

// Microseconds at nominal rates of the machine, or counts where no rate is nominal. "thin": where
// few warps are resident, as many times more as there are fewer than 32.
#define LANKY_COST_TERMS(apply)                                                                   \
  apply(start) apply(memory) apply(l2) apply(rounds) apply(further_rounds) apply(steps)           \
      apply(sectors) apply(sectors_thin) apply(loads) apply(loads_thin) apply(staged_loads)       \
          apply(rows) apply(staged_bytes) apply(windows) apply(copies) apply(stages) apply(split) \
              apply(cells) apply(deepest) apply(long_sums) apply(split_windows) apply(row_rounds) \
                  apply(whole_row_rounds) apply(slice_starts) apply(sectors_busiest)              \
                      apply(loads_busiest) apply(chain_sums)
struct CostTerms {
#define LANKY_DECLARE(name) double name = 0;
  LANKY_COST_TERMS(LANKY_DECLARE)
#undef LANKY_DECLARE
};

/// Rows by their entries: class i has those of 2^(i-1) to 2^i - 1 entries, class 0 the empty ones.
using RowLengths = std::array<std::int64_t, 33>;
RowLengths lengths_of(const sparse::CsrPattern& a);

using Locality = std::array<sparse::Locality, sparse::kSampleSizes>;

/// The terms of a kernel, and how likely it is the one that runs.
struct Expected {
  RateKernel kernel = RateKernel::few;
  double weight = 0;
  CostTerms terms;
};

/// By facts and lengths of the rows, and by `locality` where there is one.
std::array<Expected, 5> expected_terms(const sparse::Shape& shape, const sparse::RowFacts& facts,
                                       const RowLengths& lengths, const Locality* locality,
                                       DType dtype, const Machine& machine);

/// By a matrix that is packed in `header.shape`.
Expected packed_terms(const sparse::PackedHeader& header, std::span<const sparse::Window> windows,
                      std::span<const sparse::Slice> slices, const sparse::RowFacts& facts,
                      const RowLengths& lengths, const Locality& locality, DType dtype,
                      const Machine& machine);

}  // namespace lanky::regret
