#include "examples/solvers/solve.hpp"

#include <algorithm>
#include <lanky/error.hpp>
#include <string>

namespace lanky::examples::solvers {

std::unique_ptr<Replay> capture(const Stream& stream, const std::function<void()>& work) {
  if (!stream.device().is_cuda()) {
    throw Error(ErrorCode::unsupported, "a CUDA graph runs on a GPU, the device is cpu");
  }
  return cuda_capture(stream, work);
}

Loop::Loop(Iteration& iteration, int check, bool graph) : iteration_(iteration), check_(check) {
  if (check < 1) {
    throw Error(ErrorCode::invalid_argument, "an iteration is looked at every " +
                                                 std::to_string(check) + ", not every 1 or more");
  }
  if (!graph) return;
  replay_ = capture(iteration.stream(), [&] {
    for (int i = 0; i < check; ++i)
      iteration.iterate();
  });
}

Progress Loop::run(std::int64_t iterations,
                   const std::function<void(const Progress&)>& look) const {
  if (iterations <= 0) return iteration_.progress();
  Progress progress;
  for (std::int64_t left = iterations; left > 0 && progress.state == State::running;) {
    const std::int64_t now = std::min<std::int64_t>(left, check_);
    if (replay_ != nullptr && now == check_) {
      replay_->launch(iteration_.stream());
    } else {
      for (std::int64_t i = 0; i < now; ++i)
        iteration_.iterate();
    }
    left -= now;
    progress = iteration_.progress();
    if (look) look(progress);
  }
  return progress;
}

}  // namespace lanky::examples::solvers
