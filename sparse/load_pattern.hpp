// A caller's pattern, checked, without values: load.hpp for products that have none.
#pragma once

#include <cstdint>
#include <lanky/stream.hpp>
#include <lanky/view.hpp>
#include <memory>

#include "sparse/load.hpp"

namespace lanky::sparse {

/// A pattern with what keeps its arrays: they are the caller's own, copies, or made of them.
struct LoadedPattern {
  CsrPattern pattern;
  RowFacts facts;
  std::shared_ptr<const void> owner;
};

/// The pattern with `extents`. Throws Error as the constructor of SparsePlan does.
LoadedPattern load_pattern(const Stream& stream, const CsrPattern& extents,
                           const RowOffsets& offsets, const std::int32_t* columns,
                           const Examination& examine);

}  // namespace lanky::sparse
