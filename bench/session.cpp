#include "bench/session.hpp"

#include "bench/gpu.hpp"
#include "bench/operand.hpp"

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
      flush(stream, uncached_bytes(device)) {}

}  // namespace lanky::bench
