// What endurance asks of CUDA itself: graphs of a caller's, and how much memory is in use.
#pragma once

#include <cstdint>
#include <functional>
#include <lanky/stream.hpp>

namespace lanky::endurance {

/// Work that is captured once; each call gives it to the stream again. On the CPU it is called.
std::function<void()> replayed(const Stream& stream, const std::function<void()>& work);

/// Bytes of the device that are in use, by this process or others, what pools keep for later left
/// out; 0 on the CPU.
std::int64_t device_bytes(const Stream& stream);

}  // namespace lanky::endurance
