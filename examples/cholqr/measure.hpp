// One tall matrix factored by every contestant: time and accuracy.
#pragma once

#include <cstdint>
#include <lanky/stream.hpp>
#include <string>
#include <vector>

namespace lanky::examples::cholqr {

struct Case {
  std::int64_t m = 0;
  std::int64_t n = 0;
  double condition = 1;
  bool shifted = false;
  int rounds = 5;
  std::uint64_t seed = 1;
};

struct Outcome {
  std::string contestant;  // "lanky-cholqr2", "lanky-shifted-cholqr3", "cusolver", "cublas-cholqr2"
  double ms = 0;           // median; a CUDA graph of lanky's
  double orthogonality = 0;   // |Q^T Q - I|, Frobenius
  double residual = 0;        // |A - Q R| / |A|
  std::string status = "ok";  // or the code of the Error that it ended in
  std::string error{};        // its message; ms, orthogonality and residual mean nothing then
};

/// On the CPU lanky alone. A contestant's breakdown is in its outcome.
template <class T>
std::vector<Outcome> measure(const Stream& stream, const Case& tall);

}  // namespace lanky::examples::cholqr
