// What random_cases is asked for.
#pragma once

#include <cstdint>
#include <lanky/device.hpp>
#include <optional>
#include <string>

namespace lanky::random_cases {

/// What is done to results before they are judged, to show that it is noticed.
enum class Tampering : std::uint8_t { none, bound, bit, padding };

struct Options {
  Device device = Device::best();
  std::string kind = "sparse";       // or dense, ieee
  std::int64_t cases = 0;            // 0: until the seconds are over
  double seconds = 0;                // 0: until the cases are done
  std::uint64_t seed = 1;            // of all cases
  int threads = 1;                   // of the host, each with streams of its own
  std::optional<std::int64_t> only;  // this case alone, with all that is known of it
  std::string json;                  // lines of counts are appended to this file; "": none
  std::string table;                 // of kind ieee: a Markdown page, "-" for standard output
  std::string check;                 // of kind ieee: such a page, to be compared
  std::int64_t most_failures = 20;   // so many are told one by one, all are counted
  bool apart = false;                // each operand in device memory of its own
  Tampering tampering = Tampering::none;
};

}  // namespace lanky::random_cases
