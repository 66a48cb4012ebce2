// A request whose answer is kept in memory: the index, or the size of a file.
#pragma once

#include <cstdint>
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
  bool take(std::string_view bytes) override;
  void end(const Reply& reply) override;
  void check_size(std::int64_t bytes) const;

  Session& session_;
  Request request_;
  Attempts attempts_;
  State state_ = State::waiting;
  Reply reply_;
  std::string body_;
};

}  // namespace lanky::collection
