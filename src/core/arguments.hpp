// Checks of a caller's operands, once, on the host, before any work starts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <lanky/device.hpp>
#include <lanky/dtype.hpp>
#include <lanky/operation.hpp>
#include <lanky/stream.hpp>
#include <string_view>

namespace lanky {

/// Throws Error(wrong_memory) unless `device` can read `pointer`, Error(invalid_argument) for a
/// null pointer to a positive number of elements. `what` names the operand in the message: "x".
void check_on_device(const void* pointer, std::int64_t count, Device device, std::string_view what);

/// Physical addresses of x86-64 and Arm processors have at most 52 bits. Sizes of operands within
/// them can be padded, widened and added up in 64 bits.
inline constexpr int kPhysicalAddressBits = 52;

/// Whether `lines` columns or rows, `ld` elements of `bytes` bytes apart, can be in a memory.
/// Extents of 0 count as 1, as for NumPy.
constexpr bool within_memory(std::int64_t ld, std::int64_t lines, std::size_t bytes) noexcept {
  constexpr std::int64_t kMost = std::int64_t{1} << kPhysicalAddressBits;
  const std::int64_t most_lines =
      kMost / static_cast<std::int64_t>(bytes) / std::max<std::int64_t>(1, ld);
  return std::max<std::int64_t>(1, lines) <= most_lines;
}

/// Throws Error(wrong_memory) unless the plan's device is also that of the stream.
void check_same_device(Device plan, Device stream);

/// Throws Error(size_mismatch) where a caller's workspace is too small, as check_on_device else.
void check_workspace(const void* data, std::int64_t bytes, std::int64_t needed, Device device);

/// Throws Error(unsupported) for tf32 and tf32x3 in products of other types than f32.
void check_math(Math math, DType dtype);

/// Throws Error(invalid_argument) while work given to the stream is captured for a CUDA graph, for
/// `what` ("a plan's constructor") waits for its work. Nothing of it has been captured, and the
/// capture goes on.
void refuse_capture(const Stream& stream, std::string_view what);

/// True where the pointer is device memory that the CPU cannot read.
bool only_on_device(const void* pointer);

}  // namespace lanky
