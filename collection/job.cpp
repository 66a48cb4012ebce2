#include "collection/job.hpp"

#include <algorithm>
#include <chrono>
#include <lanky/error.hpp>
#include <list>

#include "core/text.hpp"

namespace lanky::collection {

namespace {

constexpr int kWaitMilliseconds = 20;
constexpr std::chrono::milliseconds kTick(100);

}  // namespace

void Session::start(Request request, Receiver& receiver) const {
  request.stall_seconds = stall_seconds_;
  network_.start(request, receiver);
}

void Session::see(const Request& request, const Reply& reply) {
  const bool unreachable = reply.fault == Fault::unreachable;
  if (!connected_ && (unreachable || reply.fault == Fault::refused))
    throw Error(ErrorCode::io, concat("cannot reach ", request.url, ": ", reply.message,
                                      unreachable ? "; is there a network?" : ""));
  connected_ = true;
}

void run_jobs(Network& network, const std::vector<std::unique_ptr<Job>>& jobs, int at_once,
              const std::function<void()>& tick) {
  std::list<Job*> begun;
  std::chrono::steady_clock::time_point ticked;
  auto next = jobs.begin();
  const auto turn = [](const Job* job) { return job->takes_turn(); };
  while (next != jobs.end() || !begun.empty()) {
    while (next != jobs.end() && std::count_if(begun.begin(), begun.end(), turn) < at_once) {
      Job* job = (next++)->get();
      job->advance();
      if (!job->done()) begun.push_back(job);
    }
    for (Job* job : begun)
      job->advance();
    begun.remove_if([](const Job* job) { return job->done(); });
    if (!begun.empty()) network.wait(kWaitMilliseconds);
    const auto now = std::chrono::steady_clock::now();
    if (now - ticked < kTick) continue;
    ticked = now;
    tick();
  }
  tick();
}

}  // namespace lanky::collection
