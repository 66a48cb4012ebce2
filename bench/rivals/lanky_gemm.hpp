// lanky's own product, for types known at run time.
#pragma once

#include <cstdint>
#include <functional>
#include <lanky/dense.hpp>
#include <lanky/stream.hpp>
#include <lanky/tuning.hpp>
#include <string>

#include "bench/rivals/gemm_call.hpp"

namespace lanky::bench {

struct LankyGemm {
  std::function<void(const Stream&, const GemmOperands&)> run;
  std::int64_t workspace_bytes = 0;
  std::string explanation;
  GemmInfo info;
};

/// A plan for that product, which may follow measured choices. Throws Error: what GemmPlan does,
/// and unsupported for types without plans.
LankyGemm make_lanky_gemm(const Stream& stream, const GemmCall& gemm,
                          const GemmTuning* tuning = nullptr);

}  // namespace lanky::bench
