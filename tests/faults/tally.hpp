// How much was tried and failed, as lines of docs/reliability.md: one a check and device, added up
// over the tests of a program, in the file that $LANKY_FAULTS_JSON names.
#pragma once

#include <cstdint>
#include <lanky/device.hpp>
#include <string>

namespace lanky::faults {

class Tally {
 public:
  Tally(std::string check, DeviceKind device, std::string unit = "calls");
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;
  /// Adds what was tried to the program's.
  ~Tally();

  void begin() { ++tried_; }
  /// A trial that was begun and never ended has failed, as where it threw.
  void end(bool good) {
    ++ended_;
    failed_ += good ? 0 : 1;
  }
  std::int64_t tried() const { return tried_; }

 private:
  std::string check_;
  DeviceKind device_;
  std::string unit_;
  double begin_s_;
  std::int64_t tried_ = 0;
  std::int64_t ended_ = 0;
  std::int64_t failed_ = 0;
};

/// Writes what all tallies have told; does nothing without $LANKY_FAULTS_JSON.
void write_tallies();

}  // namespace lanky::faults
