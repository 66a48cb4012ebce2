// Names in any case, and what was meant by a misspelled one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lanky::collection {

/// ASCII letters in lower case.
std::string lowered(std::string_view text);

/// "; did you mean WORD?" with the first of `known` that takes the fewest letters to change, in any
/// case, where those are at most a third of the word's; else "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace lanky::collection
