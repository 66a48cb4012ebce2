#include "bench/harness/session.hpp"

#include "bench/cases/operand.hpp"
#include "bench/harness/gpu.hpp"

namespace lanky::bench {

namespace {

ClockWatch clock_of(const Stream& stream) {
  if (!stream.device().is_cuda()) return ClockWatch();
  return ClockWatch([stream] { return gpu::sm_clock_mhz(stream); });
}

}  // namespace

Session::Session(Device device, const MeasureOptions& measure_options)
    : stream(device),
      options(measure_options),
      clock(clock_of(stream)),
      flush(stream, uncached_bytes(device)),
      operands(stream),
      floor_source(stream),
      floor_target(stream) {}

char* Arena::reserve(std::int64_t bytes, bool* fresh) {
  constexpr std::int64_t kStep = 256LL << 20;  // fewer growths, where it matters
  const bool grows = bytes > buffer_.size();
  if (fresh != nullptr) *fresh = grows;
  if (grows) {
    const std::int64_t size = bytes < kStep ? bytes : (bytes + kStep - 1) / kStep * kStep;
    buffer_ = Buffer<char>(stream_, 0);  // both at once may be too much
    stream_.synchronize();
    buffer_ = Buffer<char>(stream_, size);
  }
  return buffer_.data();
}

}  // namespace lanky::bench
