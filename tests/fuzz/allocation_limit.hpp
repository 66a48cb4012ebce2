// Memory that runs out, as on a small machine: under AddressSanitizer, `new` ends the program where
// it ought to throw.
#pragma once

#include <cstddef>

namespace lanky::fuzz {

/// While it lives, a `new` of more bytes than these throws std::bad_alloc.
class AllocationLimit {
 public:
  explicit AllocationLimit(std::size_t bytes) noexcept;
  ~AllocationLimit();
  AllocationLimit(const AllocationLimit&) = delete;
  AllocationLimit& operator=(const AllocationLimit&) = delete;
};

}  // namespace lanky::fuzz
