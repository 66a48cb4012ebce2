// The C interface on the CPU: bytes become calls with arguments that a C caller may hand over. Each
// gives a status, and nothing is read or written beyond what the caller has.
#include <array>
#include <limits>

#include "fuzz/allocation_limit.hpp"
#include "fuzz/capi/script.hpp"

namespace lanky::fuzz {

void check_capi(Bytes bytes) {
  constexpr int kMostCalls = 24;
  static constexpr std::array kCalls = {capi::call_sparse, capi::call_dense,     capi::call_sddmm,
                                        capi::call_files,  capi::call_operators, capi::call_solvers,
                                        capi::call_tuning, capi::call_basics};
  const AllocationLimit limit(std::size_t{1} << 28);
  capi::Script script(bytes);
  capi::Handles handles;
  for (int calls = 0; calls < kMostCalls && !script.done(); ++calls)
    kCalls[script.byte() % kCalls.size()](script, handles);
}

}  // namespace lanky::fuzz
