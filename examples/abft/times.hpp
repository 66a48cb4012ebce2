// What protection takes: encoding by lanky beside encoding by the vendor's library, part by part
// and end to end.
#pragma once

#include <cstdint>
#include <lanky/stream.hpp>
#include <string>
#include <vector>

namespace lanky::examples::abft {

/// Milliseconds, medians of interleaved rounds. Total: prepare, multiply, check and correct.
struct ProtectionTimes {
  std::string contestant;  // who multiplies with the weights: "lanky" or "cublas"
  double encode_a_ms = 0;  // A^T W
  double encode_b_ms = 0;  // B V
  double expect_ms = 0;    // B^T R and A S
  double bound_ms = 0;
  double gemm_ms = 0;  // alone, by cuBLAS (on the CPU by lanky)
  double check_ms = 0;
  double total_ms = 0;
  double overhead = 0;     // total / gemm - 1
  std::string verdict{};   // of the last check: "clean"
  std::string encoding{};  // explain() of lanky's plan
};

/// One set of times for each contestant: on the CPU lanky alone.
template <class T>
std::vector<ProtectionTimes> time_protection(const Stream& stream, std::int64_t m, std::int64_t n,
                                             std::int64_t k, int rounds);

}  // namespace lanky::examples::abft
