// One run of measurements on one device: its stream, options, and clock.
#pragma once

#include <cstdint>
#include <lanky/buffer.hpp>
#include <lanky/stream.hpp>
#include <map>
#include <string>
#include <utility>

#include "bench/harness/measure.hpp"

namespace lanky::bench {

/// Memory that cases use one after another. It grows and never shrinks: a case does not wait for
/// gigabytes that the one before it had.
class Arena {
 public:
  explicit Arena(const Stream& stream) : stream_(stream), buffer_(stream, 0) {}
  /// `bytes` of memory, aligned to 256, that stay the caller's until the next call. `fresh`, where
  /// asked for, tells whether they are other ones than those of the last call.
  char* reserve(std::int64_t bytes, bool* fresh = nullptr);
  std::int64_t size() const { return buffer_.size(); }

 private:
  Stream stream_;
  Buffer<char> buffer_;
};

struct Session {
  Session(Device device, const MeasureOptions& measure_options);

  Stream stream;
  MeasureOptions options;
  ClockWatch clock;
  Buffer<char> flush;  // written over to empty the caches: more than twice their size
  Arena operands;      // of the one dense workload at a time
  Arena floor_source;  // of the one streaming floor at a time: zeros
  Arena floor_target;
  std::map<std::pair<std::int64_t, std::int64_t>, int> unrolls;  // best, by bytes read and written
  std::map<std::string, double> peaks;                           // flops per second, by type
};

}  // namespace lanky::bench
