#include "collection/small_request.hpp"

#include <lanky/error.hpp>

#include "core/text.hpp"

namespace lanky::collection {

namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;

}  // namespace

void SmallRequest::advance() {
  if (state_ != State::waiting || !attempts_.due()) return;
  body_.clear();
  state_ = State::asking;
  session_.start(request_, *this);
}

bool SmallRequest::begin(const Reply& reply) {
  return judge(reply) == Verdict::good;
}

void SmallRequest::take(std::string_view bytes) {
  if (body_.size() + bytes.size() > kMostBytes)
    throw Error(ErrorCode::io, concat(request_.url, " has more than ", kMostBytes,
                                      " bytes, which is none of the small texts expected there"));
  body_.append(bytes);
}

void SmallRequest::end(const Reply& reply) {
  session_.see(request_, reply);
  reply_ = reply;
  const bool again = judge(reply) == Verdict::retry && attempts_.again(reply.retry_after);
  state_ = again ? State::waiting : State::done;
}

}  // namespace lanky::collection
