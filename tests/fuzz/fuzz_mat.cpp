// libFuzzer target: any bytes as a .mat file of version 5. HDF5, which reads version 7.3, cannot be
// checked beforehand and is not fuzzed.
#include <algorithm>
#include <array>

#include "fuzz/check_input.hpp"

/// What libmatio itself does not give back when it fails is no fault of ours.
extern "C" const char* __lsan_default_suppressions() {  // NOLINT: the sanitizer's name
  return "leak:libmatio";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kVersionAt = 124;
  constexpr std::array<std::uint8_t, 2> kVersion73 = {0, 2};
  if (size < kVersionAt + kVersion73.size()) return 0;
  if (std::equal(kVersion73.begin(), kVersion73.end(), data + kVersionAt)) return 0;
  lanky::fuzz::check_input({data, size});
  return 0;
}
