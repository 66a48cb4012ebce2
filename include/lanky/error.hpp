// The one exception of the library. Nothing in lanky prints, aborts or returns a status.
#pragma once

#include <lanky/export.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lanky::inline v1 {

enum class ErrorCode {
  invalid_argument,  // a value that no call accepts: a negative size, an unknown name
  size_mismatch,     // operands whose extents, leading dimensions or layouts do not fit together
  wrong_memory,      // a host pointer where device memory is needed, or the other way round
  no_device,         // no such device, or a build without CUDA
  out_of_memory,
  unsupported,  // valid, but more than this version or build can do
  parse,        // malformed file content; the message holds file, line and column
  io,           // a file that cannot be opened, read or written
  device,       // an error that the CUDA runtime or a vendor library reported
};

/// Name of the code as it stands in the enum ("size_mismatch").
LANKY_EXPORT std::string_view to_string(ErrorCode code) noexcept;

/// Thrown by every function of the library. The message is one line and holds the values at fault,
/// as in "x has 100 entries, A has 128 columns".
class LANKY_EXPORT Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace lanky::inline v1
