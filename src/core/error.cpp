#include <lanky/error.hpp>

namespace lanky::inline v1 {

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::size_mismatch:
      return "size_mismatch";
    case ErrorCode::wrong_memory:
      return "wrong_memory";
    case ErrorCode::no_device:
      return "no_device";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::parse:
      return "parse";
    case ErrorCode::io:
      return "io";
    case ErrorCode::device:
      return "device";
  }
  return "unknown";
}

}  // namespace lanky::inline v1
