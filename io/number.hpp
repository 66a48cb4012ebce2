// Numbers as Matrix Market files write them: std::from_chars, and also a leading '+', Fortran's
// exponents (1.5D+03), and 0 where a value is too small for the type.
#pragma once

#include <charconv>

namespace lanky::inline v1::io {

/// Reads a number at `begin`. What double cannot hold is errc::result_out_of_range; what only F
/// cannot hold is rounded to it (infinity, 0). F: double or float.
template <class F>
std::from_chars_result parse_number(const char* begin, const char* end, F& value);

}  // namespace lanky::inline v1::io
