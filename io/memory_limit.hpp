// Failures of memory, as an Error that says for what the memory was meant.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <lanky/error.hpp>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/text.hpp"

namespace lanky::inline v1::io {

/// Refuses more elements than the machine has memory for: Linux would grant them, and end the
/// process when they are touched.
class MemoryLimit {
 public:
  MemoryLimit(std::size_t bytes_each, std::string what)
      : bytes_each_(static_cast<double>(bytes_each)),
        what_(std::move(what)),
        memory_(static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                static_cast<double>(sysconf(_SC_PAGE_SIZE))) {}

  /// Throws Error(out_of_memory) where so many elements are too many.
  void check(std::int64_t count) const {
    const double bytes = static_cast<double>(count) * bytes_each_;
    if (bytes <= memory_) return;
    throw Error(ErrorCode::out_of_memory,
                concat(what_, " needs at least ", bytes, " bytes, but this machine has ", memory_));
  }

 private:
  double bytes_each_;
  std::string what_;
  double memory_;  // bytes
};

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

}  // namespace lanky::inline v1::io
