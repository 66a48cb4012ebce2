// A second copy of op(A), on a GPU, of plans that expect several columns: the packed form is made
// for one vector.
#pragma once

#include <cstdint>
#include <optional>

#include "sparse/tiles.hpp"

namespace lanky::sparse {

template <class T>
struct ColumnsCopy {
  std::optional<Tiles<T>> tiles = {};

  std::int64_t bytes() const { return tiles ? tiles->bytes() : 0; }
  /// Whether products of so many columns are by tiles.
  bool tiled(std::int64_t columns) const {
    return tiles && columns >= tiled_columns_least(kDType<T>);
  }
};

}  // namespace lanky::sparse
