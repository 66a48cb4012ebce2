// Dense shapes that follow from nothing but this file, so that golden choices stay comparable: all
// families, layouts, transposes and leading dimensions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <lanky/dense.hpp>
#include <vector>

#include "dense/problem.hpp"
#include "golden/draw.hpp"

namespace lanky::golden {

inline GemmShape draw_shape(Draw& draw) {
  const auto skinny = [&] { return 1 + draw.below(draw.below(2) == 0 ? 16 : 140); };
  GemmShape s;
  switch (draw.below(7)) {
    case 0:
    case 1:
      s = {.m = draw.length(9, 21), .n = skinny(), .k = draw.length(8, 15)};
      break;
    case 2:
    case 3:
      s = {.m = draw.length(10, 25), .n = skinny(), .k = skinny()};
      break;
    case 4:
    case 5:
      s = {.m = skinny(), .n = skinny(), .k = draw.length(8, 25)};
      if (draw.below(2) == 0) s.n = s.m;
      break;
    default:
      s = {.m = draw.length(5, 12), .n = draw.length(5, 12), .k = draw.length(5, 12)};
  }
  if (draw.below(3) == 0) std::swap(s.m, s.n);
  const Op ops[] = {Op::none, Op::trans, Op::conj_trans};
  const bool natural = draw.below(2) == 0;  // as the family's users call it
  const bool reduces = std::max(s.m, s.n) <= 128;
  s.op_a = natural ? (reduces ? Op::trans : Op::none) : ops[draw.below(3)];
  s.op_b = natural ? Op::none : ops[draw.below(3)];
  s.layout = draw.below(2) == 0 ? Layout::col : Layout::row;
  s = dense::with_leading_dimensions(s);
  const std::int64_t padding[] = {0, 0, 0, 8, 1, 3};
  s.lda += padding[draw.below(6)];
  s.ldb += padding[draw.below(6)];
  s.ldc += padding[draw.below(6)];
  return s;
}

inline std::vector<GemmShape> draw_shapes(int count) {
  Draw draw(34);
  std::vector<GemmShape> shapes;
  for (int i = 0; i < count; ++i)
    shapes.push_back(draw_shape(draw));
  return shapes;
}

}  // namespace lanky::golden
