#include "collection/retry.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>

#include "core/text.hpp"

namespace lanky::collection {

namespace {

constexpr double kMostPause = 60;
constexpr std::int64_t kMostRetryAfter = 600;

const char* meaning(int status) {
  switch (status) {
    case 401:
    case 403:
      return " (forbidden)";
    case 404:
      return " (not found)";
    case 416:
      return " (no such range)";
    case 429:
      return " (too many requests)";
    case 500:
      return " (server error)";
    case 503:
      return " (unavailable)";
    default:
      return "";
  }
}

}  // namespace

Verdict judge(const Reply& reply) {
  if (reply.fault == Fault::refused) return Verdict::hopeless;
  if (reply.fault != Fault::none) return Verdict::retry;
  switch (reply.status) {
    case 200:
    case 206:
      return Verdict::good;
    case 408:
    case 416:
    case 425:
    case 429:
      return Verdict::retry;
    default:
      return reply.status >= 500 ? Verdict::retry : Verdict::hopeless;
  }
}

std::string reason(const Reply& reply) {
  if (!reply.message.empty()) return reply.message;
  std::string text = concat("HTTP ", reply.status, meaning(reply.status));
  if (reply.retry_after > kMostRetryAfter)
    text += concat(", to be asked again in ", reply.retry_after, " s");
  return text;
}

bool Attempts::again(std::int64_t retry_after) {
  if (failed_ >= policy_.retries || retry_after > kMostRetryAfter) return false;
  const double jitter = std::uniform_real_distribution<double>(0.5, 1)(random_);
  const double pause = std::min(kMostPause, policy_.first_pause * std::exp2(failed_)) * jitter;
  ++failed_;
  pause_ = std::max(pause, static_cast<double>(retry_after));
  postpone(pause_);
  return true;
}

void Attempts::postpone(double seconds) {
  due_ = Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

std::string Attempts::announcement() const {
  TextStream seconds;
  seconds << std::fixed << std::setprecision(1) << pause_;
  return concat("again in ", seconds.str(), " s (", failed_, " of ", policy_.retries, ")");
}

}  // namespace lanky::collection
