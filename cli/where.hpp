// --where, as fetch and batch take it.
#pragma once

#include <string>

#include "collection/filter.hpp"

namespace lanky::cli {

/// Every entry where the text is empty. Error(invalid_argument) with a caret below the fault.
collection::Filter parse_where(const std::string& text);

}  // namespace lanky::cli
