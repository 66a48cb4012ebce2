// The first lines of a Matrix Market file: the banner and the size line.
#pragma once

#include <lanky/io.hpp>

#include "io/text_cursor.hpp"

namespace lanky::inline v1::io {

/// Reads and checks banner and size line; the cursor stands in the size line afterwards. Where the
/// size of the text is known, the count of entries is checked against it.
Header parse_header(TextCursor& cursor);

}  // namespace lanky::inline v1::io
