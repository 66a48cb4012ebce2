// Numbers as people write them: 1e5, 2.5M, 10k.
#pragma once

#include <optional>
#include <string_view>

namespace lanky::collection {

/// All of `text` as a finite decimal number, with one of the suffixes k M G T (1e3 to 1e12, any
/// case) or none; nothing for other text.
std::optional<double> parse_quantity(std::string_view text);

}  // namespace lanky::collection
