// Things to be fetched, several at a time, each in steps that never wait.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collection/network.hpp"

namespace lanky::collection {

/// What jobs of one run share.
class Session {
 public:
  Session(Network& network, double stall_seconds)
      : network_(network), stall_seconds_(stall_seconds) {}

  /// `request.stall_seconds` is the session's.
  void start(Request request, Receiver& receiver) const;
  const Network& network() const { return network_; }

  /// Every reply is shown to the session. Error(io) where the very first could not ask: the network
  /// is missing then, or the address is wrong, and no other attempt is worth its while.
  void see(const Request& request, const Reply& reply);

 private:
  Network& network_;
  double stall_seconds_;
  bool connected_ = false;
};

class Job {
 public:
  virtual ~Job() = default;
  /// Does what can be done now: called again and again until done().
  virtual void advance() = 0;
  virtual bool done() const = 0;
  /// False while it waits for another process, and others may take its turn.
  virtual bool takes_turn() const { return true; }
};

/// Has every job done, `at_once` of them together; `tick` is called ten times a second, and at
/// the end. What a job or a receiver throws ends all.
void run_jobs(Network& network, const std::vector<std::unique_ptr<Job>>& jobs, int at_once,
              const std::function<void()>& tick);

}  // namespace lanky::collection
