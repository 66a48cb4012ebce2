// Which of lanky's launches have ended well, so that an error of the CUDA context can be told to be
// another's: kernels run after their launch, and CUDA names none when one ruins its context.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace lanky::runtime {

/// lanky is about to give kernels to the stream. Takes some nanoseconds and no memory.
void note_launch(const CUstream_st* stream) noexcept;

/// What has been launched on a stream: read before waiting for it, noted as ended afterwards.
struct Launched {
  const CUstream_st* stream;
  std::uint64_t count;
};
Launched launched(const CUstream_st* stream) noexcept;
void note_ended(Launched launched) noexcept;

/// A stream that goes with work under way: another one may have its address next.
void forget_stream(const CUstream_st* stream) noexcept;

/// Whether no launch of lanky's can be under way or have failed. Replays of a caller's graphs are
/// not counted; launches on streams that nobody waited for by lanky are.
bool all_launches_ended() noexcept;

}  // namespace lanky::runtime
