// From exceptions to statuses: every function of the C interface does its work inside guarded().
#pragma once

#include <lanky/lanky.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace lanky::capi {

/// A status that a caller's function returned, which the function of lanky.h returns in turn.
class CallerFailure : public std::exception {
 public:
  CallerFailure(lanky_status status, std::string message)
      : status_(status), message_(std::move(message)) {}
  lanky_status status() const noexcept { return status_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  lanky_status status_;
  std::string message_;
};

/// Keeps `message` as the calling thread's last failure.
void set_last_error(std::string_view message) noexcept;

/// The status of the exception that is being handled, whose message becomes the thread's last
/// failure. For catch clauses alone.
lanky_status status_of_exception() noexcept;

/// Failures of the calling thread so far.
unsigned long failure_count() noexcept;

/// Throws CallerFailure for a status that is no success. The message names the function, and tells
/// the thread's last failure where there was one after `failures`.
void check_callback(lanky_status status, const char* function, unsigned long failures);

/// Calls a caller's function, which returns a status; throws CallerFailure.
template <class F>
void call_back(const char* function, F&& f) {
  const unsigned long failures = failure_count();
  check_callback(f(), function, failures);
}

/// Runs f(). No exception leaves.
template <class F>
lanky_status guarded(F&& f) noexcept {
  try {
    f();
    return LANKY_SUCCESS;
  } catch (...) {
    return status_of_exception();
  }
}

}  // namespace lanky::capi

namespace capi = lanky::capi;  // for the functions of lanky.h, which belong to no namespace
