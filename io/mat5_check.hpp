// The structure of a .mat file of version 5, walked from end to end before libmatio sees it:
// libmatio takes what a cut file lacks for zeros, and has crashed on sizes that contradict each
// other. MathWorks, MAT-File Format, "Level 5 MAT-File Format".
#pragma once

#include "io/input_file.hpp"

namespace lanky::inline v1::io {

/// Throws Error(parse) with the place of the first data element whose size does not fit what is
/// around it or what its own extents say, of a damaged compressed one, and of objects and
/// functions.
void check_mat5(const InputFile& file);

}  // namespace lanky::inline v1::io
