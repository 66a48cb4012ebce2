// From exceptions to statuses: every function of the C interface does its work inside guarded().
#pragma once

#include <lanky/lanky.h>

#include <string_view>

namespace lanky::capi {

/// Keeps `message` as the calling thread's last failure.
void set_last_error(std::string_view message) noexcept;

/// The status of the exception that is being handled, whose message becomes the thread's last
/// failure. For catch clauses alone.
lanky_status status_of_exception() noexcept;

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
