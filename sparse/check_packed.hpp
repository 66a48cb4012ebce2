// The one checker of the packed format: does it hold exactly this matrix, and is padding inert?
#pragma once

#include <string>

#include "sparse/packed.hpp"

namespace lanky::sparse {

/// Empty if the packed matrix keeps the contract of docs/packed_format.md for `a`: counts and tile
/// ranges consistent, each row in one place of its class, each CSR entry in exactly one slot of its
/// row, in order, with its column and the bits of its value, and every other slot inert. Otherwise
/// the first violation in words, with its values. Reads host memory; knows nothing of pack.cpp.
template <class T>
std::string check_packed(const PackedView<T>& packed, const HostCsr<T>& a);

}  // namespace lanky::sparse
