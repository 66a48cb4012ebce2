// Shapes of dense products that make sense.
#include <cstdint>
#include <lanky/error.hpp>

#include "core/arguments.hpp"
#include "core/text.hpp"
#include "dense/problem.hpp"

namespace lanky::dense {

std::string_view layout_name(Layout layout) noexcept {
  return layout == Layout::col ? "column-major" : "row-major";
}

namespace {

void check_not_negative(std::int64_t value, const char* what) {
  if (value >= 0) return;
  throw Error(ErrorCode::invalid_argument, concat(what, " is ", value, ", but counts elements"));
}

void check_ld(std::int64_t ld, StoredExtents extents, Layout layout, DType dtype,
              const char* what) {
  const std::int64_t tight = tight_ld(extents, layout);
  if (ld < tight) {
    throw Error(ErrorCode::invalid_argument,
                concat(what, " is ", ld, ", but a ", layout_name(layout), " ", extents.rows, " x ",
                       extents.cols, " matrix needs ", tight));
  }
  const std::int64_t vectors = layout == Layout::col ? extents.cols : extents.rows;
  if (!within_memory(ld, vectors, size_of(dtype))) {
    throw Error(ErrorCode::invalid_argument,
                concat(what, " of ", ld, " with ", extents.rows, " x ", extents.cols,
                       " elements exceeds the ", kPhysicalAddressBits, " bits of addresses"));
  }
}

}  // namespace

GemmShape checked(GemmShape shape, DType in, DType out, Math math) {
  check_not_negative(shape.m, "m");
  check_not_negative(shape.n, "n");
  check_not_negative(shape.k, "k");
  check_math(math, in);
  if (math != Math::ieee && has_wide_sums(in, out)) {
    throw Error(ErrorCode::unsupported,
                concat("Math::", to_string(math), " rounds what is multiplied, but products of ",
                       to_string(in), " with results of ", to_string(out),
                       " are not rounded; use Math::ieee"));
  }
  shape = with_leading_dimensions(shape);
  check_ld(shape.lda, stored_extents(shape.m, shape.k, shape.op_a), shape.layout, in, "lda");
  check_ld(shape.ldb, stored_extents(shape.k, shape.n, shape.op_b), shape.layout, in, "ldb");
  check_ld(shape.ldc, {shape.m, shape.n}, shape.layout, out, "ldc");
  return shape;
}

}  // namespace lanky::dense
