// A ladder: ways to compute one product, from what anyone would write first to what is fastest,
// each a step from the one before. Every rung is checked and timed as all contestants of lanky
// bench are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/cases/gemm_case.hpp"
#include "bench/ladder/tsm2_model.hpp"

namespace lanky::ladder {

/// Threads of a block, and with them the tile of C that a block computes.
struct Block {
  int rows = 16;
  int cols = 16;

  int threads() const { return rows * cols; }
};

/// What a user may choose of the rungs.
struct Settings {
  Block block{};      // gemm-gpu: of the rungs before register tiles
  Tsm2Choice tsm2{};  // 0 where the model, or a trial, is to choose
  std::optional<Tsm2Card>
      card{};  // that tsm2's model reckons with; without it nothing is predicted
};

struct Rung {
  std::string name;                      // what --kernel takes
  std::string idea;                      // what it does that the rung before it does not
  std::optional<double> reads{};         // elements its threads read from global memory, by formula
  std::optional<double> predicted_us{};  // by a model of the time
};

struct GemmRung {
  Rung rung;
  bench::GemmBuild build;
  std::optional<Math> math{};  // where it is not IEEE's
};

// The rungs of a ladder, for a case in f32 or f64.

/// C = A B on the CPU, row-major: three loops, up to OpenBLAS.
std::vector<GemmRung> gemm_cpu_rungs(const bench::GemmCase& gemm);

/// C = A B on a GPU, row-major: a thread an element, up to tensor cores and cuBLAS.
std::vector<GemmRung> gemm_gpu_rungs(const bench::GemmCase& gemm, const Settings& settings);

/// C[m,n] = A[m,k] B[k,n] on a GPU, column-major, n skinny: TSM2's versions 0 to 3 (Chen et al.,
/// "TSM2: optimizing tall-and-skinny matrix-matrix multiplication on GPUs", ICS '19), lanky,
/// cuBLAS.
std::vector<GemmRung> tsm2_rungs(const bench::GemmCase& gemm, const Settings& settings);

/// What the model needs to know of a GPU; latencies, bandwidth and peaks are measured.
Tsm2Card measure_card(bench::Session& session, DType dtype);

}  // namespace lanky::ladder
