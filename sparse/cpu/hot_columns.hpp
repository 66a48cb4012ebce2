// The columns of which a packed matrix has a list of its own, for many of its entries are in them.
#pragma once

#include <cstdint>
#include <vector>

#include "sparse/csr.hpp"
#include "sparse/packed.hpp"

namespace lanky::sparse::cpu {

struct HotColumns {
  std::vector<std::int32_t> columns;  // ascending
  std::vector<std::int32_t> places;   // [cols] place in `columns`, or -1; empty where none is hot
  std::int64_t sampled = 0;           // entries in them
};

HotColumns find_hot_columns(const CsrPattern& a, const Shape& shape);

}  // namespace lanky::sparse::cpu
