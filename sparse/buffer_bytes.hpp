// The memory of several buffers.
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>

namespace lanky::sparse {

template <class... E>
std::int64_t bytes_of(const Buffer<E>&... buffers) {
  return ((buffers.size() * static_cast<std::int64_t>(sizeof(E))) + ...);
}

}  // namespace lanky::sparse
