// When a request that failed is made again: exponential back-off with jitter, Retry-After.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>
#include <string>

#include "collection/network.hpp"

namespace lanky::collection {

using Clock = std::chrono::steady_clock;

struct RetryPolicy {
  int retries = 5;         // after the first attempt
  double first_pause = 1;  // seconds; each pause is twice the one before, up to a minute,
                           // less a random part of up to half of it
};

enum class Verdict : std::uint8_t { good, retry, hopeless };

/// 200 and 206 are good; faults of the line, 408, 416, 425, 429 and 5xx may pass.
Verdict judge(const Reply& reply);
/// What libcurl says of a transfer that failed, or "HTTP 404 (not found)".
std::string reason(const Reply& reply);

/// The attempts at one thing.
class Attempts {
 public:
  explicit Attempts(const RetryPolicy& policy) : policy_(policy) {}

  bool due() const { return Clock::now() >= due_; }
  /// One failed. False: there is no further one. Else the next is due after a pause, the server's
  /// `retry_after` seconds at least; what asks for more than ten minutes ends the attempts.
  bool again(std::int64_t retry_after = 0);
  void postpone(double seconds);
  /// Something was gained: counting begins anew.
  void reset() { failed_ = 0; }
  /// "again in 2.1 s (2 of 5)"
  std::string announcement() const;

 private:
  RetryPolicy policy_;
  int failed_ = 0;
  double pause_ = 0;
  Clock::time_point due_;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace lanky::collection
