// One clear message when the program is ended from outside or crashes.
#pragma once

#include <string>

namespace lanky::cli {

/// Says on standard error which signal came, and during what, and ends with 128 + its number.
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
