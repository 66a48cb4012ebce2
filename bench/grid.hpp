// Grids of dense products from a JSON file: every combination of the values that an entry lists.
//   {"cases": [{"family": "gram", "k": [100000, 1000000], "n": [2, 8], "dtype": ["f64", "f32"]}]}
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "bench/case.hpp"

namespace lanky::bench {

/// Keys of an entry, each a value or a list of values: family, m, n, k, op_a, op_b ("n", "t", "c"),
/// layout ("col", "row"), ld ("tight", "padded"), beta, dtype. family gives defaults: panel k = m;
/// update k = n; gram m = n and op_a = "t". Throws Error(parse) with `source`, the entry and the
/// key at fault.
std::vector<GemmCase> parse_grid(std::string_view json, const std::string& source);

/// The same from a file; Error(io) where it cannot be read.
std::vector<GemmCase> read_grid(const std::filesystem::path& path);

/// "n", "t", "c"; "col", "row". Error(invalid_argument) for other text.
Op parse_op(std::string_view text);
Layout parse_layout(std::string_view text);

}  // namespace lanky::bench
