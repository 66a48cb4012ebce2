#include "cli/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench/harness/measure.hpp"
#include "cli/quantity_text.hpp"

namespace lanky::cli {

namespace {

constexpr std::size_t kBarWidth = 20;

std::size_t terminal_width() {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
  return size.ws_col;
}

}  // namespace

bool StatusLine::possible() {
  return isatty(STDERR_FILENO) == 1;
}

void StatusLine::show(const std::string& text) {
  std::fprintf(stderr, "\r\033[K%s", text.substr(0, terminal_width() - 1).c_str());
  std::fflush(stderr);
}

void StatusLine::hide() {
  std::fputs("\r\033[K", stderr);
}

void Progress::start(std::size_t tasks, double work) {
  on_ = StatusLine::possible();
  tasks_ = tasks;
  work_ = work;
  start_seconds_ = bench::steady_seconds();
}

void Progress::begin(const std::string& task) {
  task_ = task;
  show();
}

void Progress::finish_task(double work) {
  ++done_;
  work_done_ += work;
  show();
}

void Progress::add_speedup(double speedup) {
  logarithms_ += std::log(speedup);
  ++speedups_;
}

std::string Progress::line() const {
  const double share = work_ > 0 ? std::min(1.0, work_done_ / work_) : 1;
  const auto filled = static_cast<std::size_t>(share * kBarWidth);
  std::string text = "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '.') + "] " +
                     std::to_string(done_) + "/" + std::to_string(tasks_);
  if (work_done_ > 0) {
    const double elapsed = bench::steady_seconds() - start_seconds_;
    text += ", " + clock_text(elapsed * (work_ - work_done_) / work_done_) + " left";
  }
  if (speedups_ > 0) {
    char mean[48];
    std::snprintf(mean, sizeof mean, ", ratio %.3g",
                  std::exp(logarithms_ / static_cast<double>(speedups_)));
    text += mean;
  }
  return text + "  " + task_;
}

void Progress::hide() const {
  if (on_) StatusLine::hide();
}

void Progress::show() const {
  if (on_) StatusLine::show(line());
}

void Progress::end() {
  hide();
  on_ = false;
}

}  // namespace lanky::cli
