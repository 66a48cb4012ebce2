// Text from files as HTML, CSV and Markdown take it.
#pragma once

#include <string>
#include <string_view>

namespace lanky::report {

/// Safe as content of an element and within a quoted attribute; control characters become U+FFFD.
std::string html(std::string_view text);
/// A field of RFC 4180, quoted where that is needed.
std::string csv_cell(std::string_view text);
/// A cell of a table, in which nothing of the text is markup.
std::string markdown_cell(std::string_view text);

/// With a question mark in the place of what a terminal would obey.
std::string terminal_text(std::string text);

}  // namespace lanky::report
