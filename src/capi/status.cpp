// Statuses and the last failure of each thread.
#include "capi/status.hpp"

#include <lanky/lanky.h>
#include <lanky/error.hpp>

#include <exception>
#include <new>
#include <string>
#include <utility>

namespace lanky::capi {

namespace {

/// What a thread remembers of its last failure. Where memory is not enough even for the message, a
/// constant stands for it.
struct LastError {
  std::string message;
  const char* shown = "";
  unsigned long count = 0;
};

LastError& last_error() noexcept {
  thread_local LastError instance;
  return instance;
}

lanky_status status_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return LANKY_INVALID_ARGUMENT;
    case ErrorCode::size_mismatch:
      return LANKY_SIZE_MISMATCH;
    case ErrorCode::wrong_memory:
      return LANKY_WRONG_MEMORY;
    case ErrorCode::no_device:
      return LANKY_NO_DEVICE;
    case ErrorCode::out_of_memory:
      return LANKY_OUT_OF_MEMORY;
    case ErrorCode::unsupported:
      return LANKY_UNSUPPORTED;
    case ErrorCode::parse:
      return LANKY_PARSE_ERROR;
    case ErrorCode::io:
      return LANKY_IO_ERROR;
    case ErrorCode::device:
      return LANKY_DEVICE_ERROR;
  }
  return LANKY_INTERNAL_ERROR;
}

}  // namespace

void set_last_error(std::string_view message) noexcept {
  LastError& last = last_error();
  ++last.count;
  try {
    last.message = message;
    last.shown = last.message.c_str();
  } catch (const std::bad_alloc&) {
    last.shown = "out of memory, also for the message";
  }
}

unsigned long failure_count() noexcept {
  return last_error().count;
}

void check_callback(lanky_status status, const char* function, unsigned long failures) {
  if (status == LANKY_SUCCESS) return;
  std::string message = std::string(function) + " returned the status " + std::to_string(status) +
                        " (" + lanky_status_to_string(status) + ")";
  if (failure_count() != failures) message += std::string(": ") + lanky_last_error();
  throw CallerFailure(status, std::move(message));
}

lanky_status status_of_exception() noexcept {
  try {
    throw;
  } catch (const CallerFailure& failure) {
    set_last_error(failure.what());
    return failure.status();
  } catch (const Error& error) {
    set_last_error(error.what());
    return status_of(error.code());
  } catch (const std::bad_alloc&) {
    set_last_error("out of host memory");
    return LANKY_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    set_last_error(error.what());
  } catch (...) {
    set_last_error("an exception that is no std::exception");
  }
  return LANKY_INTERNAL_ERROR;
}

}  // namespace lanky::capi

const char* lanky_last_error(void) {
  return lanky::capi::last_error().shown;
}

const char* lanky_status_to_string(lanky_status status) {
  switch (status) {
    case LANKY_SUCCESS:
      return "success";
    case LANKY_INVALID_ARGUMENT:
      return "invalid_argument";
    case LANKY_SIZE_MISMATCH:
      return "size_mismatch";
    case LANKY_WRONG_MEMORY:
      return "wrong_memory";
    case LANKY_NO_DEVICE:
      return "no_device";
    case LANKY_OUT_OF_MEMORY:
      return "out_of_memory";
    case LANKY_UNSUPPORTED:
      return "unsupported";
    case LANKY_PARSE_ERROR:
      return "parse";
    case LANKY_IO_ERROR:
      return "io";
    case LANKY_DEVICE_ERROR:
      return "device";
    case LANKY_INTERNAL_ERROR:
      return "internal_error";
    default:
      return "unknown";
  }
}
