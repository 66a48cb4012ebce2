// Grids of dense products from a JSON file: every combination of the values that an entry lists.
//   {"cases": [{"family": "gram", "k": [100000, 1000000], "n": [2, 8], "dtype": ["f64", "f32"]}]}
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cases/case.hpp"

namespace lanky::bench {

/// Keys of an entry, each a value or a list of values: family, m, n, k, op_a, op_b ("n", "t", "c"),
/// layout ("col", "row"), ld ("tight", "padded"), alpha, beta, dtype, out. family gives defaults:
/// panel k = m; update k = n; gram and syrk (B = A) m = n and op_a = "t". Throws Error(parse) with
/// `source`, the entry and the key at fault.
std::vector<GemmCase> parse_grid(std::string_view json, const std::string& source);

/// The JSON of "demo" or "small", which the program holds; "" for other names.
std::string_view named_grid(std::string_view name) noexcept;

/// The same from a file; Error(io) where it cannot be read.
std::vector<GemmCase> read_grid(const std::filesystem::path& path);

/// A grid of this case alone, for parse_grid().
std::string to_grid(const GemmCase& gemm);

/// Which part of which grid to run.
struct GridChoice {
  std::string grid;                     // a name of the header's or full_grid.hpp's, or a file
  std::vector<std::string> families{};  // these alone; all where empty
  std::vector<std::string> types{};     // by to_string(GemmType); all where empty
  std::optional<std::uint64_t> seed{};  // of what is drawn; a new one where absent
  double share = 0.05;                  // of "sample"
  std::size_t shard = 0;                // every `shards`-th case, beginning with this one
  std::size_t shards = 1;
};

struct GridRun {
  std::vector<GemmCase> cases;
  std::optional<std::uint64_t> seed;  // that cases were drawn with
};

/// Throws as read_grid does.
GridRun choose_cases(const GridChoice& choice);

/// "n", "t", "c"; "col", "row". Error(invalid_argument) for other text.
Op parse_op(std::string_view text);
Layout parse_layout(std::string_view text);

}  // namespace lanky::bench
