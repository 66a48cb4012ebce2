// The first four or five lines of a Rutherford-Boeing or Harwell-Boeing file.
// Duff, Grimes and Lewis, RAL-TR-97-031, 1997; Users' guide for the Harwell-Boeing collection,
// 1992.
#pragma once

#include <lanky/io.hpp>
#include <string_view>

#include "io/fortran_records.hpp"

namespace lanky::inline v1::io {

struct RutherfordBoeingHeader {
  Header matrix;
  FortranFormat pointers;
  FortranFormat indices;
  FortranFormat values;  // where the field is not pattern
};

/// Whether a text begins as these files do: a title, a line of counts, and a third line with a type
/// of three letters and counts.
bool is_rutherford_boeing(std::string_view text);

/// Reads and checks the header; the next line is the first of the pointers. Throws Error(parse),
/// and Error(unsupported) for unassembled element matrices.
RutherfordBoeingHeader parse_rutherford_boeing_header(FortranRecords& records);

}  // namespace lanky::inline v1::io
