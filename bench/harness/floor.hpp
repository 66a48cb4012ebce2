// The streaming floor: the time of a kernel that reads R bytes, writes W bytes, and does no more.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/harness/session.hpp"
#include "bench/harness/stopwatch.hpp"

namespace lanky::bench {

class StreamingFloor {
 public:
  /// Takes (read + write) * slots bytes of the session; slot s streams its own part of them. On a
  /// GPU the number of loads in flight that is fastest for these sizes is found by trying.
  StreamingFloor(Session& session, std::int64_t read, std::int64_t write, int slots);

  /// To be timed beside the contestants. Valid while this object lives and does not move.
  Lap lap();

 private:
  void stream_once(const Stream& stream, int slot);
  int fastest_unroll(const Stream& stream);

  std::int64_t read_;
  std::int64_t write_;
  int slots_;
  char* source_;  // [slots][read, rounded up to 256]
  char* target_;  // [slots][write, rounded up to 256]
  int unroll_ = 4;
};

/// Terabytes per second at which the device reads 2 GiB (256 MiB on a CPU).
double read_floor_tbs(Session& session);

}  // namespace lanky::bench
