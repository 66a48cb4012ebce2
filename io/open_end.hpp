// A last line without a newline: the file may have been cut short within its last number.
#pragma once

#include <cstdint>
#include <lanky/io.hpp>
#include <string>

#include "core/text.hpp"

namespace lanky::inline v1::io {

/// Tells that the last entry of the file stands in `line`, without a newline; 0: with one.
inline void warn_of_open_end(const ReadOptions& options, const std::string& name,
                             std::int64_t line) {
  if (options.warnings == nullptr || line == 0) return;
  options.warnings->push_back(
      concat(name, ":", line,
             ": the last line has no newline at its end: the file may have been cut short"));
}

}  // namespace lanky::inline v1::io
