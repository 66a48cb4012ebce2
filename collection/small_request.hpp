// A request whose answer is kept in memory: a text, or the size of a file.
#pragma once

#include <string>

#include "collection/job.hpp"
#include "collection/retry.hpp"

namespace lanky::collection {

class SmallRequest final : public Job, public Receiver {
 public:
  /// `request` is made again as `policy` says.
  SmallRequest(Session& session, Request request, const RetryPolicy& policy)
      : session_(session), request_(std::move(request)), attempts_(policy) {}

  void advance() override;
  bool done() const override { return state_ == State::done; }

  /// Of the last attempt.
  const Reply& reply() const { return reply_; }
  const std::string& body() const { return body_; }

 private:
  enum class State : std::uint8_t { waiting, asking, done };

  bool begin(const Reply& reply) override;
  void take(std::string_view bytes) override;
  void end(const Reply& reply) override;

  Session& session_;
  Request request_;
  Attempts attempts_;
  State state_ = State::waiting;
  Reply reply_;
  std::string body_;
};

}  // namespace lanky::collection
