// The columns of which a packed matrix has a list of its own, for many of its entries are in them.
#pragma once

#include "sparse/csr.hpp"
#include "sparse/packed.hpp"

namespace lanky::sparse::cuda {

struct HotColumns {
  Buffer<std::int32_t> columns;  // ascending
  Buffer<std::int32_t> places;   // [cols] place in `columns`, or -1; empty where none is hot
  std::int64_t sampled = 0;      // entries in them
};

/// Memory of `columns` comes from `allocator`. Waits for the stream where columns may be hot.
HotColumns find_hot_columns(const Stream& stream, const CsrPattern& a, const Shape& shape,
                            Allocator* allocator);

}  // namespace lanky::sparse::cuda
