// One clear message when the program is ended from outside or crashes.
#pragma once

#include <string>

namespace lanky::cli {

/// A signal that ends the program says on standard error which it is, and during what; the exit
/// code is 128 + its number. A write to a file that may not grow fails, and raises no signal.
void install_signal_messages();

/// Signals mean what they do by default.
void restore_signals();

/// From now on SIGINT, SIGTERM and SIGHUP are remembered and nothing more. stop_signal(): the last
/// of them that came, 0 where none did.
void stop_on_signals();
int stop_signal() noexcept;

/// What is being done from now on: "cant f64".
void set_current_task(const std::string& task);

}  // namespace lanky::cli
