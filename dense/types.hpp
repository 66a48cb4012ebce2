// The types of a dense product, as policies know them.
#pragma once

#include <cstddef>
#include <lanky/dtype.hpp>

namespace lanky::dense {

/// The types of A and B, and of C.
struct Types {
  DType in;
  DType out;

  /// Whether sums are doubles although those of `in` are floats.
  constexpr bool wide() const noexcept { return has_wide_sums(in, out); }
  /// Whether it is `type` whose products are summed as usual.
  constexpr bool plain(DType type) const noexcept { return in == type && !wide(); }
  /// Bytes of a sum.
  constexpr std::size_t sum_bytes() const noexcept {
    return wide() ? sizeof(double) : is_half(in) ? 4 : size_of(in);
  }
};

}  // namespace lanky::dense
