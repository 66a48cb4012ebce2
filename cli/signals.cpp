#include "cli/signals.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "cli/exit_code.hpp"

namespace lanky::cli {

namespace {

std::array<char, 256> current_task{};  // zero-terminated
volatile std::sig_atomic_t received_signal = 0;

/// Only what is safe in a signal handler.
void say(const char* text) {
  const ssize_t ignored = write(STDERR_FILENO, text, std::strlen(text));
  static_cast<void>(ignored);
}

void end_with_message(int signal) {
  const bool asked = signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
  say(asked ? "\nlanky: interrupted" : "\nlanky: crashed");
  if (current_task[0] != 0) {
    say(" during ");
    say(current_task.data());
  }
  say(asked ? "; every result so far is written\n"
            : " (a defect of lanky or of a vendor's library); every result so far is written\n");
  _exit(kSignalled + signal);
}

}  // namespace

void install_signal_messages() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    // What a shell ignores for a program in the background stays ignored.
    if (std::signal(signal, end_with_message) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
  std::signal(SIGXFSZ, SIG_IGN);  // write() tells instead that a file may not grow
  std::signal(SIGCHLD, SIG_DFL);  // where it is ignored, nobody hears how a worker ended
}

void restore_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    std::signal(signal, SIG_DFL);
}

void stop_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;  // as a shell does for the background
    action.sa_handler = [](int received) { received_signal = received; };
    action.sa_flags = 0;  // waiting calls return
    sigaction(signal, &action, nullptr);
  }
}

int stop_signal() noexcept {
  return received_signal;
}

void set_current_task(const std::string& task) {
  const std::size_t length = std::min(task.size(), current_task.size() - 1);
  std::copy_n(task.data(), length, current_task.data());
  current_task[length] = 0;
}

}  // namespace lanky::cli
