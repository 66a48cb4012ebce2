#include "bench/harness/contestant.hpp"

#include <lanky/error.hpp>
#include <new>
#include <utility>

#include "bench/harness/measure.hpp"

namespace lanky::bench {

namespace {

Status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::out_of_memory:
      return Status::oom;
    case ErrorCode::unsupported:
    case ErrorCode::no_device:
      return Status::unsupported;
    case ErrorCode::parse:
    case ErrorCode::io:
    case ErrorCode::invalid_argument:
      return Status::invalid;
    case ErrorCode::size_mismatch:
    case ErrorCode::wrong_memory:
    case ErrorCode::device:
      break;
  }
  return Status::crash;
}

}  // namespace

std::string_view to_string(Status status) noexcept {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::wrong:
      return "wrong";
    case Status::oom:
      return "oom";
    case Status::timeout:
      return "timeout";
    case Status::crash:
      return "crash";
    case Status::unsupported:
      return "unsupported";
    case Status::invalid:
      return "invalid";
  }
  return "unknown";
}

void SeenBits::add(const std::optional<std::uint64_t>& digest) {
  if (!digest) return;
  if (products_++ == 0) first_ = *digest;
  equal_ = equal_ && *digest == first_;
}

std::optional<bool> SeenBits::equal() const {
  constexpr int kFewest = 3;
  return products_ < kFewest ? std::nullopt : std::optional(equal_);
}

Status status_of_current_exception(std::string& message) {
  try {
    throw;
  } catch (const Error& error) {
    message = error.what();
    return status_of(error.code());
  } catch (const std::bad_alloc&) {
    message = "out of host memory";
    return Status::oom;
  } catch (const std::exception& error) {
    message = error.what();
    return Status::crash;
  }
}

Contestant make_contestant(std::string name, std::string variant, const Stream& stream,
                           const std::function<void(Contestant&)>& build) {
  Contestant contestant;
  contestant.name = std::move(name);
  contestant.variant = std::move(variant);
  try {
    stream.synchronize();
    const double start = steady_seconds();
    build(contestant);
    stream.synchronize();
    contestant.setup_us = (steady_seconds() - start) * 1e6;
  } catch (...) {
    contestant.status = status_of_current_exception(contestant.message);
    contestant.run = nullptr;
  }
  return contestant;
}

}  // namespace lanky::bench
