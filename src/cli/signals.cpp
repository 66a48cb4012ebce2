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

/// Only what is safe in a signal handler.
void say(const char* text) {
  const ssize_t ignored = write(STDERR_FILENO, text, std::strlen(text));
  static_cast<void>(ignored);
}

void end_with_message(int signal) {
  const bool asked = signal == SIGINT || signal == SIGTERM;
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
  for (const int signal : {SIGINT, SIGTERM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    // What a shell ignores for a program in the background stays ignored.
    if (std::signal(signal, end_with_message) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

void set_current_task(const std::string& task) {
  const std::size_t length = std::min(task.size(), current_task.size() - 1);
  std::copy_n(task.data(), length, current_task.data());
  current_task[length] = 0;
}

}  // namespace lanky::cli
