// libFuzzer target: any bytes as a file of this format.
#include "fuzz/check_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lanky::fuzz::check_input({data, size});
  return 0;
}
