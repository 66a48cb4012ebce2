// One run of measurements on one device: its stream, options, and clock.
#pragma once

#include <lanky/buffer.hpp>
#include <lanky/stream.hpp>

#include "bench/measure.hpp"

namespace lanky::bench {

struct Session {
  Session(Device device, const MeasureOptions& measure_options);

  Stream stream;
  MeasureOptions options;
  ClockWatch clock;
  Buffer<char> flush;  // written over to empty the caches: more than twice their size
};

}  // namespace lanky::bench
