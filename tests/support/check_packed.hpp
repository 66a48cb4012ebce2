// The one checker of the packed format: does it hold exactly this matrix, as the contract says?
#pragma once

#include <string>

#include "sparse/csr.hpp"
#include "sparse/packed.hpp"

namespace lanky::sparse {

/// Empty if the packed matrix keeps the contract of docs/packed_format.md for `a`; otherwise the
/// first violation in words, with its values. Every word of the arrays and of the header follows
/// from `a` and the header's shape; all are compared. Reads host memory, of the arrays only as
/// much as a header for `a` tells; knows nothing of how packing works.
template <class T>
std::string check_packed(const PackedView<T>& packed, const Csr<T>& a);

}  // namespace lanky::sparse
