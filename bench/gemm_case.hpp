// A dense product as a benchmark case: C = alpha op(A) op(B) + beta C, operands random, launches
// rotating through sets of operands that together exceed twice the last cache.
#pragma once

#include <memory>
#include <string>

#include "bench/case.hpp"
#include "bench/session.hpp"

namespace lanky::bench {

/// "gram-1e6x16", "panel-4096x8", "update-1e5x8", "syrk-1e6x16", "gemm-300x200x100" for regular
/// shapes.
std::string gemm_case_name(const GemmCase& gemm);

std::unique_ptr<Workload> make_gemm_workload(Session& session, const GemmCase& gemm, bool vendors);

}  // namespace lanky::bench
