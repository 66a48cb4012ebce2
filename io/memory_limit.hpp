// Failures of memory, as an Error that says for what the memory was meant.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <lanky/error.hpp>
#include <new>
#include <stdexcept>
#include <string>

#include "core/text.hpp"

namespace lanky::io {

/// Throws Error(out_of_memory) where `count` elements exceed the machine's memory: Linux would
/// grant them, and end the process when they are touched.
inline void check_memory(std::int64_t count, std::size_t bytes_each, const std::string& what) {
  const double bytes = static_cast<double>(count) * static_cast<double>(bytes_each);
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (bytes > memory) {
    throw Error(ErrorCode::out_of_memory,
                concat(what, " needs ", bytes, " bytes, but this machine has ", memory));
  }
}

/// f(), with a failed allocation turned into Error(out_of_memory).
template <class F>
auto or_out_of_memory(const std::string& what, F&& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, what + " does not fit into memory");
  } catch (const std::length_error&) {
    throw Error(ErrorCode::out_of_memory, what + " does not fit into memory");
  }
}

}  // namespace lanky::io
