// Which entries of the index are meant: by name, by filter, so many.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "collection/filter.hpp"
#include "collection/index.hpp"

namespace lanky::collection {

enum class Order { index, nnz, name };  // as the index has them; fewest first; GROUP/NAME

struct Selection {
  std::vector<std::string> names;  // GROUP/NAME or NAME, in any case; all where it is empty
  Filter where;
  Order order = Order::index;
  std::size_t limit = std::numeric_limits<std::size_t>::max();
};

/// The entries of those names that the filter is true of, in order, the first `limit` of them.
/// Error(invalid_argument) where a name is none of the index or that of several matrices.
std::vector<Entry> select(const Index& index, const Selection& selection);

}  // namespace lanky::collection
