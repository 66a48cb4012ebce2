// Another process of this program that does what it is told, line by line, and may die of it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lanky::cli {

/// The file descriptor on which a worker answers.
inline constexpr int kReplyDescriptor = 3;

/// How a process ended.
struct Ending {
  int exit_code = 0;
  int signal = 0;                 // 0 where it exited by itself
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

  enum class Event { line, ended, quiet };
  /// Waits up to `milliseconds` for the next whole line. ended: there will be none.
  Event next(int milliseconds, std::string& line);

  /// Main memory in use now.
  std::int64_t resident_bytes() const;
  void kill();
  /// Tells it that nothing more will come, and waits for its end; kills it after `milliseconds`.
  Ending finish(int milliseconds);

 private:
  /// Whether it has ended, by waitpid() with these options.
  bool reap(int options);

  pid_t process_ = -1;
  int tasks_ = -1;    // to the worker
  int replies_ = -1;  // from it
  std::string buffer_;
  bool reaped_ = false;
  Ending ending_;
};

}  // namespace lanky::cli
