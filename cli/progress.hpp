// The last line of a terminal: how far a batch is, what it is at, when it will be through.
#pragma once

#include <cstddef>
#include <string>

namespace lanky::cli {

/// Text that stands in the last line of the terminal, as much of it as fits.
class StatusLine {
 public:
  /// Whether standard error is a terminal.
  static bool possible();
  static void show(const std::string& text);
  static void hide();
};

/// Draws nothing before start(), nor where standard error is no terminal.
class Progress {
 public:
  /// Work comes in any unit; the time left is that of the work left, at the pace so far.
  void start(std::size_t tasks, double work);
  void begin(const std::string& task);
  void finish_task(double work);
  void add_speedup(double speedup);

  /// Around whatever else is printed.
  void hide() const;
  void show() const;
  /// For good.
  void end();

 private:
  std::string line() const;

  bool on_ = false;
  std::size_t tasks_ = 0;
  std::size_t done_ = 0;
  double work_ = 0;
  double work_done_ = 0;
  double start_seconds_ = 0;
  double logarithms_ = 0;  // of speed-ups
  std::size_t speedups_ = 0;
  std::string task_;
};

}  // namespace lanky::cli
