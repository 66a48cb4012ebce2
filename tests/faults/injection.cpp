#include "faults/injection.hpp"

#include <atomic>

namespace lanky::faults {

namespace {

// No memory is taken here: operator new asks.
std::atomic<bool> armed{false};
std::atomic<Source> armed_source{Source::host};
std::atomic<std::int64_t> armed_nth{kNever};
std::atomic<std::int64_t> counted{0};
std::atomic<const char*> failed_call{nullptr};
std::atomic<bool> is_passed_over{false};

}  // namespace

Injection::Injection(Source source, std::int64_t nth) {
  armed_source = source;
  armed_nth = nth;
  counted = 0;
  failed_call = nullptr;
  is_passed_over = false;
  armed = true;
}

void Injection::end() noexcept {
  armed = false;
}

std::int64_t Injection::calls() const noexcept {
  return counted;
}

const char* Injection::failed() const noexcept {
  return failed_call;
}

bool Injection::may_be_passed_over() const noexcept {
  return is_passed_over;
}

bool detail::fails(Source source, const char* what, bool passed_over) noexcept {
  if (!armed.load(std::memory_order_relaxed)) return false;
  const Source wanted = armed_source;
  if ((wanted == Source::cuda) != (source == Source::cuda)) return false;
  const std::int64_t number = ++counted;
  if (wanted == Source::host_from ? number < armed_nth : number != armed_nth) return false;
  failed_call = what;
  is_passed_over = passed_over;
  return true;
}

}  // namespace lanky::faults
