// libFuzzer target: any bytes as a cache file, as they are and with their checksums made right.
#include "fuzz/check_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lanky::fuzz::check_input({data, size});
  lanky::fuzz::check_forged_cache({data, size});
  return 0;
}
