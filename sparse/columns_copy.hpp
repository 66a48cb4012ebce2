// A second copy of op(A), on a GPU, of plans that expect several columns: the packed form is made
// for one vector.
#pragma once

#include <cstdint>

namespace lanky::sparse {

template <class T>
struct ColumnsCopy {
  std::int64_t bytes() const { return 0; }
};

}  // namespace lanky::sparse
