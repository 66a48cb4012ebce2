#include "collection/small_request.hpp"

#include <lanky/error.hpp>

#include "core/text.hpp"

namespace lanky::collection {

namespace {

// The index of the site has half a million bytes.
constexpr std::int64_t kMostBytes = std::int64_t{32} << 20;

}  // namespace

void SmallRequest::advance() {
  if (state_ != State::waiting || !attempts_.due()) return;
  body_.clear();
  state_ = State::asking;
  session_.start(request_, *this);
}

bool SmallRequest::begin(const Reply& reply) {
  if (judge(reply) != Verdict::good) return false;
  if (!request_.head) check_size(reply.content_length);
  return true;
}

bool SmallRequest::take(std::string_view bytes) {
  check_size(static_cast<std::int64_t>(body_.size() + bytes.size()));
  body_.append(bytes);
  return true;
}

void SmallRequest::check_size(std::int64_t bytes) const {
  if (bytes <= kMostBytes) return;
  throw Error(ErrorCode::io, concat(request_.url, " has more than ", kMostBytes,
                                    " bytes, and is no index of the collection"));
}

void SmallRequest::end(const Reply& reply) {
  session_.see(request_, reply);
  reply_ = reply;
  const bool again = judge(reply) == Verdict::retry && attempts_.again(reply.retry_after);
  state_ = again ? State::waiting : State::done;
}

}  // namespace lanky::collection
