// Rungs of the SpMM ladder on a GPU, Y = A X with X and Y row-major: from a thread an element to
// tensor cores.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "bench/cases/spmv_case.hpp"
#include "bench/ladder/climb.hpp"

namespace lanky::ladder {

/// A rung of a ladder of sparse products.
struct SparseRung {
  Rung rung;
  std::function<bench::BuiltSpmv(const Stream& stream, const bench::SpmvOperands& operands)> build;
};

/// `rungs` beside lanky and the vendor's routines, in one interleaved run: a line for each, those
/// of the rungs first.
std::vector<nlohmann::ordered_json> climb_sparse(bench::Session& session, bench::SpmvMatrix& matrix,
                                                 DType dtype, bench::SpmvColumns columns,
                                                 std::string_view ladder,
                                                 const std::vector<SparseRung>& rungs,
                                                 const ClimbOptions& options);

/// Types f64, f32, f16; sums of f16 are of f32. Building one throws Error: unsupported (types;
/// `tensor` of f32), no_device (the stream is the CPU's).
std::vector<SparseRung> spmm_rungs();

}  // namespace lanky::ladder
