// Measuring a ladder: every rung checked and timed in one interleaved run with lanky and the
// vendor.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cases/case.hpp"
#include "bench/cases/spmv_matrix.hpp"
#include "bench/harness/session.hpp"
#include "bench/ladder/ladder.hpp"

namespace lanky::ladder {

/// A ladder of dense products.
struct GemmLadder {
  std::string_view name;
  std::string_view about;
  bool on_gpu;
  bool lanky;     // takes part: the product is one of those that it exists for
  bool positive;  // random values are of (0, 1)
  Layout layout;
  std::vector<std::int64_t> m;  // sizes where none are asked for; k is m
  std::vector<std::int64_t> n;  // empty: n is m
  std::vector<GemmRung> (*rungs)(const bench::GemmCase& gemm, const Settings& settings);
};

const std::vector<GemmLadder>& gemm_ladders();

struct ClimbOptions {
  std::vector<std::string> rungs{};  // by name; all where empty
  bool vendors = true;
  bench::Checks checks = bench::Checks::all;
  bool transfers = false;  // time the copies to the device and back as well
};

/// One product up the ladder: a line of records for each rung, for lanky and for each of the
/// vendor's routines (docs/measuring.md names the fields). Throws Error: invalid_argument (no such
/// rung), unsupported (types), out_of_memory.
std::vector<nlohmann::ordered_json> climb(bench::Session& session, const GemmLadder& ladder,
                                          const bench::GemmCase& gemm, Settings settings,
                                          const ClimbOptions& options);

/// The ladder of sparse products, on a GPU: CSR, DASP as published, lanky, cuSPARSE.
inline constexpr std::string_view kSpmvLadder = "spmv";

/// y = A x up that ladder. The rungs' lines also say what gathers of x, arithmetic and the rest
/// take, each by leaving it out (see spmv.hpp). Throws as climb() does.
std::vector<nlohmann::ordered_json> climb_spmv(bench::Session& session, bench::SpmvMatrix& matrix,
                                               DType dtype, const ClimbOptions& options);

/// The ladder of products with several columns, on a GPU: CSR by threads, warps and words, split
/// rows, staged X, tensor cores, lanky, cuSPARSE.
inline constexpr std::string_view kSpmmLadder = "spmm";

/// Y = A X up that ladder, X and Y row-major. Throws as climb() does.
std::vector<nlohmann::ordered_json> climb_spmm(bench::Session& session, bench::SpmvMatrix& matrix,
                                               DType dtype, std::int64_t columns,
                                               const ClimbOptions& options);

/// Lines of one case as a table for people.
std::string table(std::span<const nlohmann::ordered_json> lines);

/// The fields of a line that plot() draws, from a file that anybody may have written. Error(parse)
/// where one is missing, or is no text or no number that can be.
nlohmann::ordered_json drawn_fields(const nlohmann::ordered_json& line);

/// Lines of any number of cases as an SVG image: a panel a case, a bar a rung, the peak as a line.
std::string plot(std::span<const nlohmann::ordered_json> lines);

}  // namespace lanky::ladder
