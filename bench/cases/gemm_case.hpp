// A dense product as a benchmark case: C = alpha op(A) op(B) + beta C, operands random, launches
// rotating through sets of operands that together exceed twice the last cache.
#pragma once

#include <functional>
#include <lanky/tuning.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/cases/case.hpp"
#include "bench/harness/session.hpp"
#include "bench/rivals/gemm_call.hpp"

namespace lanky::bench {

/// "gram-1e6x16", "panel-4096x8", "update-1e5x8", "syrk-1e6x16", "gemm-300x200x100" for regular
/// shapes.
std::string gemm_case_name(const GemmCase& gemm);

/// Starts one product of fixed shape on the stream.
using GemmRun = std::function<void(const Stream& stream, const GemmOperands& operands)>;

struct BuiltGemm {
  GemmRun run;
  std::string explanation{};  // of what was chosen while it was built
};

/// Makes what computes a product. `sets`: operands to try configurations on; their C is
/// overwritten. Throws Error: unsupported, where there is no such product or the device cannot
/// compute it so.
using GemmBuild = std::function<BuiltGemm(const Stream& stream, const GemmCall& gemm,
                                          std::span<const GemmOperands> sets)>;

/// A way to compute dense products that is neither lanky's nor a vendor's.
struct GemmEntrant {
  std::string contestant;
  std::string variant;
  std::optional<Math> math{};  // of f32 products, where it is not the case's
  GemmBuild build;
};

/// Who takes part.
struct GemmSelection {
  bool lanky = true;
  bool vendors = true;
  std::vector<GemmEntrant> entrants{};  // timed in batches alone, and all others with them
};

std::unique_ptr<Workload> make_gemm_workload(Session& session, const GemmCase& gemm,
                                             const GemmSelection& selection = {});

/// The ways in which a plan can compute a product, checked and timed, short ones in replayed
/// graphs.
struct TunedGemm {
  GemmQuery query;
  CaseReport report;
  std::optional<GemmChoice> fastest;  // of those that are right
  double gain = 1;                    // time of gemm_choices()[0] over that of the fastest
};

/// `gemm`, and where beta is 0 and makes a class of its own (GemmQuery::adds), the same with
/// another.
std::vector<GemmCase> with_each_beta(const Session& session, const GemmCase& gemm);

/// Of lanky's own ways the `most_own` that are predicted fastest. Throws as gemm_choices does.
TunedGemm tune_gemm(Session& session, const GemmCase& gemm, int most_own);

}  // namespace lanky::bench
