// Shapes that a matrix can be packed in, one beside the other: which of them multiplies fastest is
// for a cost, or for a measurement, to say.
#pragma once

#include <lanky/dtype.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine.hpp"
#include "sparse/facts.hpp"
#include "sparse/packed.hpp"

namespace lanky::sparse {

/// Whether the format's numbers and a block's shared memory are enough for every window of any
/// matrix of these facts.
bool fits(const Shape& shape, const RowFacts& facts, DType dtype, const Machine& machine);

/// Some hundred shapes, each once, which fit() and differ in what they are for: lengths of pieces,
/// windows from a few per multiprocessor to many, windows that stage columns, hot columns, and
/// single_shape(), where there is one. Of few entries there is that alone.
std::vector<Shape> candidates(const RowFacts& facts, DType dtype, const Machine& machine);

/// The shape of a small matrix: slices are not wide, a window has at most kSingleWarps of them, and
/// windows are as large, and pieces as short, as lets all windows be resident at once; none of a
/// matrix that is too large for that.
std::optional<Shape> single_shape(const RowFacts& facts, DType dtype, const Machine& machine);

/// The fields of a shape as SparseTrial::shape has them.
std::string name_of(const Shape& shape);
/// The shape of such a name. Throws Error(invalid_argument).
Shape shape_of(std::string_view name);

}  // namespace lanky::sparse
