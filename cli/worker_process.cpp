#include "cli/worker_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <lanky/error.hpp>
#include <string>
#include <thread>
#include <utility>

#include "bench/records/environment.hpp"
#include "cli/places.hpp"

namespace lanky::cli {

namespace {

/// Bytes; no reply is nearly as long.
constexpr std::size_t kLongestReply = std::size_t{16} << 20;

struct Pipe {
  int read = -1;
  int write = -1;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Error(ErrorCode::io, std::string("no pipe to a worker: ") + std::strerror(errno));
  return {ends[0], ends[1]};
}

/// In the child, between fork and exec: only what is safe in a signal handler.
[[noreturn]] void become_worker(const Pipe& tasks, const Pipe& replies, pid_t parent,
                                const Places& places, const char* program, char* const* arguments) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // it died before the line above
  setpgid(0, 0);
  places.unbind();
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  // Both pipes may have low numbers: out of the way first.
  const int in = fcntl(tasks.read, F_DUPFD, 10);
  const int out = fcntl(replies.write, F_DUPFD, 10);
  dup2(in, STDIN_FILENO);
  dup2(out, kReplyDescriptor);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  // What this program was given by whoever started it is not for contestants to write to.
  close_range(kReplyDescriptor + 1, ~0U, 0);
  execv("/proc/self/exe", arguments);  // the same program, also where its file was replaced
  execv(program, arguments);
  _exit(127);
}

}  // namespace

WorkerProcess::WorkerProcess(std::vector<std::string> arguments) {
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (std::string& word : arguments)
    words.push_back(word.data());
  words.push_back(nullptr);
  const Pipe tasks = make_pipe();
  const Pipe replies = make_pipe();
  const pid_t parent = getpid();
  const Places places;
  const std::string program = bench::program_path();
  process_ = fork();
  if (process_ == 0) become_worker(tasks, replies, parent, places, program.c_str(), words.data());
  const int cause = errno;
  close(tasks.read);
  close(replies.write);
  tasks_ = tasks.write;
  replies_ = replies.read;
  if (process_ < 0) {
    close(tasks_);
    close(replies_);
    throw Error(ErrorCode::io, std::string("no worker can be started: ") + std::strerror(cause));
  }
}

WorkerProcess::~WorkerProcess() {
  constexpr int kPatience = 500;  // milliseconds that a dying process is waited for
  kill();
  wait(kPatience);
  if (tasks_ >= 0) close(tasks_);
  close(replies_);
}

void WorkerProcess::send(const std::string& line) {
  const std::string text = line + "\n";
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(tasks_, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;  // next() will tell
    written += static_cast<std::size_t>(count);
  }
}

WorkerProcess::Event WorkerProcess::next(int milliseconds, std::string& line) {
  const std::size_t newline = buffer_.find('\n', searched_);
  if (newline != std::string::npos) {
    line = buffer_.substr(0, newline);
    buffer_.erase(0, newline + 1);
    searched_ = 0;
    return Event::line;
  }
  searched_ = buffer_.size();
  if (buffer_.size() > kLongestReply) return Event::endless;
  // What the worker started may hold its end of the pipe, and write to it, for ever: what had been
  // written when the worker died is all that is read.
  if (!left_ && reap()) left_ = readable_bytes();
  if (left_ && *left_ == 0) return Event::ended;
  pollfd ready{replies_, POLLIN, 0};
  // Quiet may be a signal's doing: the caller looks.
  if (poll(&ready, 1, left_ ? 0 : milliseconds) <= 0) return left_ ? Event::ended : Event::quiet;
  std::array<char, 1 << 16> block;
  const ssize_t bytes =
      read(replies_, block.data(), left_ ? std::min(block.size(), *left_) : block.size());
  if (bytes < 0 && errno == EINTR) return Event::quiet;
  if (bytes <= 0) return Event::ended;
  buffer_.append(block.data(), static_cast<std::size_t>(bytes));
  if (left_) *left_ -= static_cast<std::size_t>(bytes);
  return Event::quiet;
}

std::size_t WorkerProcess::readable_bytes() const {
  int bytes = 0;
  return ioctl(replies_, FIONREAD, &bytes) == 0 ? static_cast<std::size_t>(bytes) : 0;
}

std::int64_t WorkerProcess::resident_bytes() {
  std::ifstream file("/proc/" + std::to_string(process_) + "/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  file >> total >> resident;
  resident *= sysconf(_SC_PAGE_SIZE);
  most_seen_ = std::max(most_seen_, resident);
  return resident;
}

void WorkerProcess::kill() {
  if (!reaped_) ::kill(-process_, SIGKILL);  // and what it started
  if (!reaped_) ::kill(process_, SIGKILL);   // it may have no group of its own yet
}

bool WorkerProcess::reap() {
  if (reaped_) return true;
  siginfo_t death{};
  if (waitid(P_PID, static_cast<id_t>(process_), &death, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      death.si_pid != process_)
    return false;
  ::kill(-process_, SIGKILL);  // what it started, while nobody else can have its number
  int status = 0;
  rusage usage{};
  pid_t ended = -1;
  do {
    ended = wait4(process_, &status, 0, &usage);
  } while (ended < 0 && errno == EINTR);
  if (ended != process_) return false;
  reaped_ = true;
  ending_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  ending_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  // The system counts in steps: what exceeded a limit may be more than it knows.
  ending_.memory_bytes = std::max(std::int64_t{usage.ru_maxrss} << 10, most_seen_);
  return true;
}

bool WorkerProcess::wait(int milliseconds) {
  constexpr int kLookEvery = 2;  // milliseconds
  for (int waited = 0; !reap(); waited += kLookEvery) {
    if (waited >= milliseconds) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(kLookEvery));
  }
  return true;
}

Ending WorkerProcess::finish(int milliseconds, const std::function<bool()>& hurried) {
  constexpr int kLookEvery = 20;       // milliseconds
  constexpr int kDeathTakes = 10'000;  // milliseconds: a device's memory is given back first
  if (tasks_ >= 0) close(std::exchange(tasks_, -1));
  std::string unheard;
  const auto patience = std::chrono::milliseconds(milliseconds);
  const auto start = std::chrono::steady_clock::now();
  while (!reap() && !hurried() && std::chrono::steady_clock::now() - start < patience) {
    buffer_.clear();  // nobody hears what it still says, but it must not wait to say it
    searched_ = 0;
    if (next(kLookEvery, unheard) == Event::ended) wait(kLookEvery);
  }
  ending_.killed = !reap();
  kill();
  for (int waited = 0; waited < kDeathTakes && !hurried(); waited += kLookEvery)
    if (wait(kLookEvery)) break;
  return ending_;
}

}  // namespace lanky::cli
