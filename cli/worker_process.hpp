// Another process of this program that does what it is told, line by line, and may die of it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lanky::cli {

/// The file descriptor on which a worker answers.
inline constexpr int kReplyDescriptor = 3;

/// How a process ended.
struct Ending {
  int exit_code = 0;
  int signal = 0;                 // 0 where it exited by itself
  bool killed = false;            // by this process
  std::int64_t memory_bytes = 0;  // of main memory, its most
};

class WorkerProcess {
 public:
  /// Starts this very program with these arguments. The worker's standard input and
  /// kReplyDescriptor lead here, its standard output to standard error. It ends with this process,
  /// however that ends, and hears no signal of the terminal.
  explicit WorkerProcess(std::vector<std::string> arguments);
  /// Kills it where it still runs.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// A line for the worker, without its newline. Nothing happens where it is dead.
  void send(const std::string& line);

  enum class Event { line, quiet, ended, endless };
  /// Waits up to `milliseconds` for the next whole line. quiet: there is none yet; ended: there
  /// will be none; endless: it is longer than any reply.
  Event next(int milliseconds, std::string& line);

  /// Main memory in use now, which Ending::memory_bytes is no less than.
  std::int64_t resident_bytes();
  /// It, and what it started.
  void kill();
  /// Tells it that nothing more will come, and waits for its end; kills it after `milliseconds`, or
  /// as soon as `hurried`. A process that the system does not let die is left behind.
  Ending finish(int milliseconds, const std::function<bool()>& hurried);

 private:
  /// Whether it has ended; what it started is killed then.
  bool reap();
  bool wait(int milliseconds);
  std::size_t readable_bytes() const;

  pid_t process_ = -1;
  int tasks_ = -1;    // to the worker
  int replies_ = -1;  // from it
  std::string buffer_;
  std::size_t searched_ = 0;           // bytes of buffer_ that hold no newline
  std::optional<std::size_t> left_{};  // bytes still to be read, once it has ended
  std::int64_t most_seen_ = 0;         // bytes of main memory
  bool reaped_ = false;
  Ending ending_;
};

}  // namespace lanky::cli
