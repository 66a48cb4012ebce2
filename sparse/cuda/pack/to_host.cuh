// One value out of device memory.
#pragma once

#include <lanky/stream.hpp>

#include "core/runtime.hpp"

namespace lanky::sparse::cuda {

/// Waits for the stream.
template <class T>
T to_host(const Stream& stream, const T* data) {
  T value;
  runtime::copy(&value, data, sizeof(T), stream.native(), stream.device().index());
  stream.synchronize();
  return value;
}

}  // namespace lanky::sparse::cuda
